/* SPDX-License-Identifier: MIT */
/* Replaces musl's arch/i386/syscall_arch.h: the system calls of BSD. p5_bsd is in the start of the
 * program (workloads/bsd/enter.S). It returns -ERROR with the error numbers of Linux. BSD returns a
 * second result or a high half in EDX: p5_bsd_wide is the same function with both. */
#define __SYSCALL_LL_E(x) \
((union { long long ll; long l[2]; }){ .ll = x }).l[0], \
((union { long long ll; long l[2]; }){ .ll = x }).l[1]
#define __SYSCALL_LL_O(x) __SYSCALL_LL_E((x))

#define P5_NO_CALL 10000 /* the first number that is no system call */
#define P5_ENOSYS 38     /* of Linux */

hidden long p5_bsd(long number, ...);
hidden long long p5_bsd_wide(long number, ...);

#define P5_CALL(n, ...) ((n) >= P5_NO_CALL ? -P5_ENOSYS : p5_bsd(n, ##__VA_ARGS__))

static inline long __syscall0(long n) { return P5_CALL(n); }
static inline long __syscall1(long n, long a) { return P5_CALL(n, a); }
static inline long __syscall2(long n, long a, long b) { return P5_CALL(n, a, b); }
static inline long __syscall3(long n, long a, long b, long c) { return P5_CALL(n, a, b, c); }
static inline long __syscall4(long n, long a, long b, long c, long d)
{
	return P5_CALL(n, a, b, c, d);
}
static inline long __syscall5(long n, long a, long b, long c, long d, long e)
{
	return P5_CALL(n, a, b, c, d, e);
}
static inline long __syscall6(long n, long a, long b, long c, long d, long e, long f)
{
	return P5_CALL(n, a, b, c, d, e, f);
}
