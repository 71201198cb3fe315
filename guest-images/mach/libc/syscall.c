// SPDX-License-Identifier: MIT
/*
 * System calls of a program on guest mach. musl turns POSIX functions into numbered system calls.
 * This file turns these system calls into messages to the UNIX server. System calls for memory,
 * time and the thread itself become calls of the kernel. shape_of() lists which parts of the
 * caller's memory a call reads and writes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <mach/message.h>
#include <mach/mig_errors.h>
#include <mach/time_value.h>
#include <mach/vm_inherit.h>
#include <mach/vm_prot.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>

#include "syscall_arch.h"

#include "mach_calls.h"
#include "mach_host_calls.h"
#include "signals.h"
#include "system.h"
#include "traps.h"
#include "unix_calls.h"
#include "unix_types.h"

#define PAGE 4096u
#define PATH_MAX_BYTES 1024
#define TICK_MS 10 /* tick of the kernel's clock */
#define OWN_FRAME __attribute__((noinline)) /* for functions that need much stack */

mach_port_t __mach_reply_port = UNIX_REPLY_PORT;

/* The memory that a call reads and writes. */
struct shape {
  const void *in;
  size_t in_length;
  void *out;
  size_t out_length;
};

static mach_port_t self(void) {
  static mach_port_t task;
  return task ? task : (task = mach_task_self());
}

/* Returns the length of a string with its NUL, or -EFAULT or -ENAMETOOLONG. */
static long string_length(const char *text) {
  size_t length = 0;
  for (;;) {
    if (__mach_probe_read(text + length)) return -EFAULT;
    do {
      if (!text[length++]) return (long)length;
      if (length > PATH_MAX_BYTES) return -ENAMETOOLONG;
    } while ((uintptr_t)(text + length) % PAGE);
  }
}

static int probe(const struct shape *shape) {
  const char *in = shape->in;
  char *out = shape->out;
  if (shape->in_length && shape->in_length <= UNIX_INLINE_MAX)
    if (__mach_probe_read(in) || __mach_probe_read(in + shape->in_length - 1)) return -EFAULT;
  if (!shape->out_length) return 0;
  if (__mach_probe_write(out) || __mach_probe_write(out + shape->out_length - 1)) return -EFAULT;
  for (uintptr_t page = ((uintptr_t)out / PAGE + 1) * PAGE; page < (uintptr_t)out + shape->out_length;
       page += PAGE)
    if (__mach_probe_write((void *)page)) return -EFAULT;
  return 0;
}

/* The request was not sent. The kernel destroyed the right to answer the request, and sends a
 * notification to the reply port. Receive the notification here, because the next call would
 * otherwise take the notification for its own answer.
 */
static long unsent(kern_return_t status) {
  struct {
    mach_msg_header_t header;
    char rest[64];
  } notice;
  mach_msg_trap(&notice.header, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof(notice), UNIX_REPLY_PORT,
                0, MACH_PORT_NULL);
  return status == MACH_SEND_INVALID_MEMORY ? -EFAULT : -EIO;
}

/* Send a request to the server. The answer is written directly to the caller's buffer. This
 * function keeps no buffer of 2 KB on the stack, because the kernel must allocate each page of the
 * stack that a new process touches.
 */
static long call(long number, const int *arguments, const struct shape *shape) {
  int result = -EIO;
  char *answer = shape->out;
  mach_msg_type_number_t count = shape->out_length;
  if (shape->in_length <= UNIX_INLINE_MAX && shape->out_length <= UNIX_INLINE_MAX) {
    kern_return_t status = unix_call(UNIX_PROCESS_PORT, number, arguments, (char *)shape->in,
                                     shape->in_length, &result, answer, &count);
    return status == KERN_SUCCESS || status == MIG_ARRAY_TOO_LARGE ? result : unsent(status);
  }
  kern_return_t status = unix_bulk(UNIX_PROCESS_PORT, number, arguments, (char *)shape->in,
                                   shape->in_length, &result, &answer, &count);
  if (status != KERN_SUCCESS) return unsent(status);
  if (answer != shape->out) { /* the answer came out of line */
    memcpy(shape->out, answer, count < shape->out_length ? count : shape->out_length);
    syscall_vm_deallocate(self(), (vm_offset_t)answer, count);
  }
  return result;
}

long __mach_plain_call(long number, const int *arguments) {
  return call(number, arguments, &(struct shape){0});
}

long __mach_data_call(long number, const int *arguments, const void *in, size_t in_length, void *out,
                      size_t out_length) {
  struct shape shape = {in, in_length, out, out_length};
  long error = probe(&shape);
  return error ? error : call(number, arguments, &shape);
}

/* --- calls of the kernel ------------------------------------------------------------- */

static int protection_of(int flags) {
  return (flags & PROT_READ ? VM_PROT_READ : 0) | (flags & PROT_WRITE ? VM_PROT_WRITE : 0) |
         (flags & PROT_EXEC ? VM_PROT_EXECUTE : 0);
}

static long map(const int *arguments) {
  vm_offset_t address = (vm_offset_t)arguments[0];
  size_t size = ((size_t)arguments[1] + PAGE - 1) & ~(PAGE - 1);
  int protection = arguments[2], flags = arguments[3];
  if (!size) return -EINVAL;
  if (flags & MAP_FIXED) {
    if (address % PAGE) return -EINVAL;
    syscall_vm_deallocate(self(), address, size);
  } else {
    address = 0;
  }
  if ((flags & MAP_ANONYMOUS) && (flags & MAP_SHARED)) {
    /* Children of the process inherit the pages as shared pages. */
    return syscall_vm_map(self(), &address, size, 0, !(flags & MAP_FIXED), MACH_PORT_NULL, 0, 0,
                          protection_of(protection), VM_PROT_ALL, VM_INHERIT_SHARE)
               ? -ENOMEM
               : (long)address;
  }
  if (syscall_vm_map(self(), &address, size, 0, !(flags & MAP_FIXED), MACH_PORT_NULL, 0, 0,
                     protection_of(protection | (flags & MAP_ANONYMOUS ? 0 : PROT_WRITE)),
                     VM_PROT_ALL, VM_INHERIT_COPY))
    return -ENOMEM;
  if (flags & MAP_ANONYMOUS) return (long)address;
  /* Map a file: the server writes the file's pages there. */
  int request[6] = {(int)address, (int)size, protection, flags, arguments[4], arguments[5]};
  long result = __mach_plain_call(SYS_mmap2, request);
  if (result) syscall_vm_deallocate(self(), address, size);
  else if (!(protection & PROT_WRITE))
    vm_protect(self(), address, size, 0, protection_of(protection));
  if (!result) return (long)address;
  if (result < 0 && result > -4096) return result;
  return (long)memset((void *)result, 0, size); /* memory of a device */
}

static long advise(const int *arguments) {
  vm_offset_t address = (vm_offset_t)arguments[0];
  size_t size = ((size_t)arguments[1] + PAGE - 1) & ~(PAGE - 1);
  switch (arguments[2]) {
    case MADV_DONTFORK: return vm_inherit(self(), address, size, VM_INHERIT_NONE) ? -EINVAL : 0;
    case MADV_DONTNEED: {
      /* Free the pages. The next access finds zeros. */
      vm_offset_t again = address;
      if (syscall_vm_deallocate(self(), address, size)) return -EINVAL;
      return syscall_vm_allocate(self(), &again, size, 0) ? -ENOMEM : 0;
    }
    default: return 0;
  }
}

static long now(int64_t *seconds, long *nanoseconds) {
  time_value_t time;
  mach_port_t host = mach_host_self();
  if (host_get_time(host, &time) != KERN_SUCCESS) return -EIO;
  *seconds = time.seconds;
  *nanoseconds = time.microseconds * 1000L;
  return 0;
}

static long clock_time(void *out, int wide) {
  int64_t seconds;
  long nanoseconds, result = now(&seconds, &nanoseconds);
  if (result || __mach_probe_write(out)) return result ? result : -EFAULT;
  if (wide) {
    ((int64_t *)out)[0] = seconds;
    ((int64_t *)out)[1] = nanoseconds;
  } else {
    ((int32_t *)out)[0] = (int32_t)seconds;
    ((int32_t *)out)[1] = nanoseconds;
  }
  return 0;
}

/* Sleep: wait for a message that never comes. If a signal may come, wait in the server instead. */
static long sleep_ms(int64_t milliseconds) {
  struct {
    mach_msg_header_t header;
    char rest[64];
  } nothing;
  if (milliseconds < 0) return 0;
  if (__mach_signals_known) {
    int request[6] = {milliseconds > INT32_MAX ? INT32_MAX : (int)milliseconds};
    return call(UNIX_SLEEP, request, &(struct shape){0});
  }
  /* The kernel counts ticks. The first tick may come at once, so wait one more tick. */
  milliseconds = milliseconds > INT32_MAX - TICK_MS ? INT32_MAX : milliseconds + TICK_MS;
  mach_msg_trap(&nothing.header, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof(nothing),
                UNIX_REPLY_PORT, (mach_msg_timeout_t)milliseconds, MACH_PORT_NULL);
  return 0;
}

static long time_of_day(int32_t *out) {
  int64_t seconds;
  long nanoseconds, result = now(&seconds, &nanoseconds);
  if (result || !out) return result;
  if (__mach_probe_write(out)) return -EFAULT;
  out[0] = (int32_t)seconds;
  out[1] = nanoseconds / 1000;
  return 0;
}

/* `wide`: seconds and their fraction have 64 bits each instead of 32. */
static long sleep_until(const void *request, int32_t *left, int wide, int absolute) {
  if (__mach_probe_read(request)) return -EFAULT;
  int64_t seconds = wide ? ((const int64_t *)request)[0] : ((const int32_t *)request)[0];
  int64_t nanoseconds = ((const int32_t *)request)[wide ? 2 : 1];
  if (nanoseconds < 0 || nanoseconds > 999999999 || seconds < 0) return -EINVAL;
  if (absolute) {
    int64_t at;
    long part, result = now(&at, &part);
    if (result) return result;
    seconds -= at;
    nanoseconds -= part;
  }
  int64_t wanted = seconds * 1000 + (nanoseconds + 999999) / 1000000, begin, end;
  long part, end_part, result;
  if (!__mach_signals_known || absolute || !left) return sleep_ms(wanted);
  now(&begin, &part);
  if ((result = sleep_ms(wanted)) != -EINTR || __mach_probe_write(left)) return result;
  now(&end, &end_part);
  wanted -= (end - begin) * 1000 + (end_part - part) / 1000000;
  if (wanted < 0) wanted = 0;
  left[0] = (int32_t)(wanted / 1000);
  left[1] = (int32_t)(wanted % 1000) * 1000000;
  return result;
}

__attribute__((__visibility__("hidden"))) long __mach_fork_call(int address, int stack, int number) {
  int arguments[6] = {address, stack};
  return __mach_plain_call(number, arguments);
}

/* --- calls of the server --------------------------------------------------------------------- */

OWN_FRAME static long vector(long number, const int *arguments, int writing) {
  const struct iovec *parts = (const struct iovec *)arguments[1];
  int count = arguments[2];
  if (count < 0 || count > 1024) return -EINVAL;
  if (count && __mach_probe_read(parts)) return -EFAULT;
  size_t total = 0;
  for (int i = 0; i < count; i++) total += parts[i].iov_len;
  if (writing && count > 1 && total <= UNIX_INLINE_MAX) {
    char together[UNIX_INLINE_MAX];
    size_t used = 0;
    for (int i = 0; i < count; i++) {
      struct shape part = {.in = parts[i].iov_base, .in_length = parts[i].iov_len};
      if (probe(&part)) return -EFAULT;
      memcpy(together + used, parts[i].iov_base, parts[i].iov_len);
      used += parts[i].iov_len;
    }
    return call(SYS_write, arguments, &(struct shape){.in = together, .in_length = used});
  }
  long done = 0;
  for (int i = 0; i < count; i++) {
    if (!parts[i].iov_len) continue;
    int one_part[6] = {arguments[0], (int)parts[i].iov_base, (int)parts[i].iov_len};
    struct shape shape = {0};
    if (writing) shape.in = parts[i].iov_base, shape.in_length = parts[i].iov_len;
    else shape.out = parts[i].iov_base, shape.out_length = parts[i].iov_len;
    long one = probe(&shape);
    if (!one) one = call(number, one_part, &shape);
    if (one < 0) return done ? done : one;
    done += one;
    /* A read ends as soon as some bytes have come, because the rest might never come. */
    if (!writing || (size_t)one < parts[i].iov_len) break;
  }
  return done;
}

OWN_FRAME static long execute(const int *arguments) {
  char *const *lists[2] = {(char *const *)arguments[1], (char *const *)arguments[2]};
  int request[6] = {0};
  long length = string_length((const char *)arguments[0]), total = length;
  if (length < 0) return length;
  for (int list = 0; list < 2; list++)
    for (char *const *word = lists[list]; word; word++) {
      if (__mach_probe_read(word)) return -EFAULT;
      if (!*word) break;
      if ((length = string_length(*word)) < 0) return length == -EFAULT ? length : -E2BIG;
      total += length;
      request[list]++;
    }
  if (total > 65536) return -E2BIG;
  char words[total];
  char *at = stpcpy(words, (const char *)arguments[0]) + 1;
  for (int list = 0; list < 2; list++)
    for (int i = 0; i < request[list]; i++) at = stpcpy(at, lists[list][i]) + 1;
  return call(SYS_execve, request, &(struct shape){.in = words, .in_length = (size_t)total});
}

/* select(): three input sets, three output sets, and a time in milliseconds or -1. The caller's
 * time has two words: seconds, and a fraction in units of 1/`unit`. With `wide` the words have 64
 * bits.
 */
static long choose(const int *arguments, int wide, int unit) {
  fd_set sets[3];
  int request[6] = {arguments[0], -1, 0};
  const int32_t *time = (const int32_t *)arguments[4];
  for (int i = 0; i < 3; i++) {
    fd_set *set = (fd_set *)arguments[1 + i];
    if (set && __mach_probe_write(set)) return -EFAULT;
    request[2] |= set ? 1 << i : 0;
    if (set) sets[i] = *set;
    else FD_ZERO(&sets[i]);
  }
  if (time && __mach_probe_read(time)) return -EFAULT;
  if (time) {
    int per_ms = unit / 1000;
    request[1] = time[0] * 1000 + (time[wide ? 2 : 1] + per_ms - 1) / per_ms;
  }
  struct shape shape = {sets, sizeof(sets), sets, sizeof(sets)};
  long result = call(SYS__newselect, request, &shape);
  for (int i = 0; i < 3 && result >= 0; i++)
    if (arguments[1 + i]) *(fd_set *)arguments[1 + i] = sets[i];
  return result;
}

#define IN(pointer, length) \
  (shape->in = (const void *)(pointer), shape->in_length = (size_t)(length))
#define OUT(pointer, length) (shape->out = (void *)(pointer), shape->out_length = (size_t)(length))

/* Controls of a terminal. The number of a control does not contain the size of its data. */
static int terminal(const int *a, struct shape *shape) {
  switch (a[1]) {
    case TCGETS: OUT(a[2], 36); return 1;
    case TCSETS:
    case TCSETSW:
    case TCSETSF: IN(a[2], 36); return 1;
    case TIOCGWINSZ: OUT(a[2], 8); return 1;
    case TIOCGPGRP: OUT(a[2], 4); return 1;
    case TIOCSPGRP: IN(a[2], 4); return 1;
    case TIOCSWINSZ: IN(a[2], 8); return 1;
    case FIONREAD: OUT(a[2], 4); return 1;
    default: return 0;
  }
}

/* Set `shape` to the memory that the call reads and writes. Returns 0 or an error. */
static long shape_of(long number, const int *a, struct shape *shape) {
  int path = -1;
  switch (number) {
    case SYS_read:
    case SYS_pread64:
    case SYS_getdents64: OUT(a[1], a[2]); break;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_sendto: IN(a[1], a[2]); break;
    case SYS_recvfrom: OUT(a[1], a[2]); break;
    case SYS_getcwd: OUT(a[0], a[1] > UNIX_INLINE_MAX ? UNIX_INLINE_MAX : a[1]); break;
    case SYS_pipe:
    case SYS_pipe2: OUT(a[0], 8); break;
    case SYS_wait4: if (a[1]) OUT(a[1], 4); break;
    case SYS__llseek: OUT(a[3], 8); break;
    case SYS_uname: OUT(a[0], sizeof(struct utsname)); break;
    case SYS_poll:
      if (a[1] < 0 || a[1] > 256) return -EINVAL;
      IN(a[0], a[1] * (int)sizeof(struct pollfd));
      OUT(a[0], a[1] * (int)sizeof(struct pollfd));
      break;
    case UNIX_DEBUG: OUT(a[0], sizeof(struct unix_debug)); break;
    case SYS_socketpair: OUT(a[3], 8); break;
    case SYS_bind:
    case SYS_connect: IN(a[1], a[2] > 128 ? 128 : a[2]); break;
    case SYS_setsockopt: IN(a[3], a[4] > 128 ? 128 : a[4]); break;
    case SYS_rt_sigpending: OUT(a[0], 8); break;
    case SYS_getitimer: OUT(a[1], 16); break;
    case SYS_setitimer:
      if (!a[1]) return -EFAULT;
      IN(a[1], 16);
      if (a[2]) OUT(a[2], 16);
      break;
    case SYS_ioctl:
      if (terminal(a, shape)) break;
      if (_IOC_DIR((unsigned)a[1]) & _IOC_WRITE) IN(a[2], _IOC_SIZE((unsigned)a[1]));
      if (_IOC_DIR((unsigned)a[1]) & _IOC_READ) OUT(a[2], _IOC_SIZE((unsigned)a[1]));
      break;
    case SYS_statx:
      path = 1;
      OUT(a[4], sizeof(struct statx));
      break;
    case SYS_readlink:
      path = 0;
      OUT(a[1], a[2] > UNIX_INLINE_MAX ? UNIX_INLINE_MAX : a[2]);
      break;
    case SYS_readlinkat:
      path = 1;
      OUT(a[2], a[3] > UNIX_INLINE_MAX ? UNIX_INLINE_MAX : a[3]);
      break;
    case SYS_openat:
    case SYS_fchmodat:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_mkdirat:
    case SYS_unlinkat: path = 1; break;
    case SYS_open:
    case SYS_access:
    case SYS_mkdir:
    case SYS_rmdir:
    case SYS_unlink:
    case SYS_chdir:
    case SYS_umount2:
    case SYS_chmod:
    case SYS_truncate64: path = 0; break;
    default: break;
  }
  if (path < 0) return 0;
  long length = string_length((const char *)a[path]);
  IN(a[path], length);
  return length < 0 ? length : 0;
}

/* rename(), link(), symlink(): two paths, one after the other. */
OWN_FRAME static long two_paths(long number, const int *a, int first, int second) {
  char both[2 * PATH_MAX_BYTES];
  long one = string_length((const char *)a[first]), other = string_length((const char *)a[second]);
  if (one < 0 || other < 0) return one < 0 ? one : other;
  memcpy(both, (const char *)a[first], (size_t)one);
  memcpy(both + one, (const char *)a[second], (size_t)other);
  return call(number, a, &(struct shape){.in = both, .in_length = (size_t)(one + other)});
}

/* mount(): the message has path, device and type in this order. */
OWN_FRAME static long mount_call(const int *a) {
  char all[3 * PATH_MAX_BYTES];
  size_t used = 0;
  static const int order[3] = {1, 0, 2};
  for (int i = 0; i < 3; i++) {
    long length = string_length((const char *)a[order[i]]);
    if (length < 0) return length;
    memcpy(all + used, (const char *)a[order[i]], (size_t)length);
    used += (size_t)length;
  }
  return used > UNIX_INLINE_MAX ? -ENAMETOOLONG
                                : call(SYS_mount, a, &(struct shape){.in = all, .in_length = used});
}

/* accept4(), getsockname(), ...: an address or a value, and a word with the size of its buffer. */
static long with_length(long number, const int *a, int where) {
  char answer[128];
  uint32_t *length = (uint32_t *)a[where + 1];
  int request[6] = {a[0], a[1], a[2], number == SYS_accept4 ? a[3] : 0};
  struct shape shape = {.out = answer, .out_length = sizeof(answer)};
  if (a[where] && (__mach_probe_write(length) || __mach_probe_write((void *)a[where])))
    return -EFAULT;
  memset(answer, 0, sizeof(answer));
  long result = call(number, request, &shape);
  if (result < 0 || !a[where]) return result;
  uint32_t there = number == SYS_getsockopt ? 4 : 2 + (uint32_t)strlen(answer + 2);
  if (there > 2 && number != SYS_getsockopt) there++;
  memcpy((void *)a[where], answer, *length < there ? *length : there);
  *length = there;
  return result;
}

/* sendmsg(), recvmsg(): bytes only, without control data. */
static long message(const int *a, int writing) {
  const struct msghdr *header = (const struct msghdr *)a[1];
  if (__mach_probe_read(header)) return -EFAULT;
  if (header->msg_controllen && writing) return -EOPNOTSUPP;
  int parts[6] = {a[0], (int)header->msg_iov, header->msg_iovlen};
  return vector(writing ? SYS_write : SYS_read, parts, writing);
}

static long map_call(long number, const int *a) {
  size_t size = ((size_t)a[1] + PAGE - 1) & ~(PAGE - 1);
  vm_offset_t address = (vm_offset_t)a[0];
  if (number == SYS_mmap2) return map(a);
  if (number == SYS_mprotect) return vm_protect(self(), address, size, 0, protection_of(a[2])) ? -ENOMEM : 0;
  if (address % PAGE || !a[1]) return -EINVAL;
  return syscall_vm_deallocate(self(), address, size) ? -EINVAL : 0;
}

static long perform(long number, const int *a) {
  switch (number) {
    case SYS_brk: return 0; /* musl then uses mmap() */
    case SYS_mmap2:
    case SYS_munmap:
    case SYS_mprotect: return map_call(number, a);
    case SYS_msync: return 0; /* a shared mapping uses the file's own memory */
    case SYS_madvise: return advise(a);
    case SYS_clock_gettime64: return clock_time((void *)a[1], 1);
    case SYS_clock_gettime32: return clock_time((void *)a[1], 0);
    case SYS_gettimeofday_time32: return time_of_day((int32_t *)a[0]);
    case SYS_clock_nanosleep_time64: return sleep_until((const void *)a[2], (int32_t *)a[3], 1, a[1] & 1);
    case SYS_clock_nanosleep_time32: return sleep_until((const void *)a[2], (int32_t *)a[3], 0, a[1] & 1);
    case SYS_nanosleep: return sleep_until((const void *)a[0], (int32_t *)a[1], 0, 0);
    case SYS_sched_yield: return swtch_pri(0), 0;
    case SYS_fork:
    case SYS_vfork: return __mach_fork((int)number);
    case SYS_execve: return execute(a);
    case SYS_readv: return vector(SYS_read, a, 0);
    case SYS_writev: return vector(SYS_write, a, 1);
    case SYS_sendmsg: return message(a, 1);
    case SYS_recvmsg: return message(a, 0);
    case SYS__newselect: return choose(a, 0, 1000000);
    case SYS_pselect6: return choose(a, 0, 1000000000);
    case SYS_pselect6_time64: return choose(a, 1, 1000000000);
    case SYS_rename:
    case SYS_link:
    case SYS_symlink: return two_paths(number, a, 0, 1);
    case SYS_renameat:
    case SYS_linkat: return two_paths(number, a, 1, 3);
    case SYS_symlinkat: return two_paths(number, a, 0, 2);
    case SYS_mount: return mount_call(a);
    case SYS_accept4:
    case SYS_getsockname:
    case SYS_getpeername: return with_length(number, a, 1);
    case SYS_getsockopt: return with_length(number, a, 3);
    case SYS_ipc: return __mach_sysv(a);
    case SYS_rt_sigprocmask:
    case SYS_rt_sigaction:
    case SYS_rt_sigsuspend: return __mach_signal_call(number, a);
    default: break;
  }
  struct shape shape = {0};
  long error = shape_of(number, a, &shape);
  if (!error) error = probe(&shape);
  return error ? error : call(number, a, &shape);
}

long __mach_syscall(long number, long a, long b, long c, long d, long e, long f) {
  const int arguments[6] = {a, b, c, d, e, f};
  for (;;) {
    __mach_signals.in_call++;
    long result = perform(number, arguments);
    __mach_signals.in_call--;
    if (!__mach_signals.pending || __mach_signals.in_call) return result;
    int again = __mach_signals_deliver();
    if (result != -EINTR || !again || !__mach_is_restarted(number)) return result;
  }
}
