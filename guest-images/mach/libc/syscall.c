// SPDX-License-Identifier: MIT
/*
 * System calls of a program on guest mach. musl turns POSIX into calls by number; here they become
 * messages to the UNIX server, or, where memory, time and the thread itself are concerned, calls of
 * the kernel. What a call reads and writes of the caller's memory stands in shape_of().
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/ioctl.h>
#include <mach/message.h>
#include <mach/time_value.h>
#include <mach/vm_inherit.h>
#include <mach/vm_prot.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>

#include "syscall_arch.h"

#include "mach_calls.h"
#include "mach_host_calls.h"
#include "traps.h"
#include "unix_calls.h"
#include "unix_types.h"

#define PAGE 4096u
#define PATH_MAX_BYTES 1024
#define TICK_MS 10 /* of the kernel's clock */

mach_port_t __mach_reply_port = UNIX_REPLY_PORT;

/* What a call takes from memory and puts there. */
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

/* Length of a string with its NUL; -EFAULT or -ENAMETOOLONG. */
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

/* A request that did not go out: the right to answer it was destroyed, of which the kernel tells the
 * reply port. The next answer must not be taken for that.
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

/* Ask the server. */
static long call(long number, const int *arguments, const struct shape *shape) {
  int result = -EIO;
  if (shape->in_length > UNIX_INLINE_MAX || shape->out_length > UNIX_INLINE_MAX) {
    char *answer;
    mach_msg_type_number_t count;
    kern_return_t status = unix_bulk(UNIX_PROCESS_PORT, number, arguments, (char *)shape->in,
                                     shape->in_length, &result, &answer, &count);
    if (status != KERN_SUCCESS) return unsent(status);
    if (!count) return result;
    memcpy(shape->out, answer, count < shape->out_length ? count : shape->out_length);
    syscall_vm_deallocate(self(), (vm_offset_t)answer, count);
    return result;
  }
  small_t answer;
  mach_msg_type_number_t count = sizeof(answer);
  kern_return_t status = unix_call(UNIX_PROCESS_PORT, number, arguments, (char *)shape->in,
                                   shape->in_length, &result, answer, &count);
  if (status != KERN_SUCCESS) return unsent(status);
  if (count) memcpy(shape->out, answer, count < shape->out_length ? count : shape->out_length);
  return result;
}

static long plain(long number, const int *arguments) {
  return call(number, arguments, &(struct shape){0});
}

/* --- what the kernel does itself ------------------------------------------------------------- */

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
    /* Shared with children: the inheritance of the pages says so. */
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
  /* A file: the server writes its pages there. */
  int request[6] = {(int)address, (int)size, protection, flags, arguments[4], arguments[5]};
  long result = plain(SYS_mmap2, request);
  if (result) syscall_vm_deallocate(self(), address, size);
  else if (!(protection & PROT_WRITE))
    vm_protect(self(), address, size, 0, protection_of(protection));
  if (!result) return (long)address;
  if (result < 0 && result > -4096) return result;
  return (long)memset((void *)result, 0, size); /* a device's own memory */
}

static long advise(const int *arguments) {
  vm_offset_t address = (vm_offset_t)arguments[0];
  size_t size = ((size_t)arguments[1] + PAGE - 1) & ~(PAGE - 1);
  switch (arguments[2]) {
    case MADV_DONTFORK: return vm_inherit(self(), address, size, VM_INHERIT_NONE) ? -EINVAL : 0;
    case MADV_DONTNEED: {
      /* The pages go back; the next touch finds zeros. */
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

/* Sleep by waiting for a message that never comes. */
static long sleep_ms(int64_t milliseconds) {
  struct {
    mach_msg_header_t header;
    char rest[64];
  } nothing;
  if (milliseconds < 0) return 0;
  /* The kernel counts ticks from now on, the first of which may come at once. */
  milliseconds = milliseconds > INT32_MAX - TICK_MS ? INT32_MAX : milliseconds + TICK_MS;
  mach_msg_trap(&nothing.header, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof(nothing),
                UNIX_REPLY_PORT, (mach_msg_timeout_t)milliseconds, MACH_PORT_NULL);
  return 0;
}

/* `wide`: seconds and their part of 64 bits each, not of 32. */
static long sleep_until(const void *request, int wide, int absolute) {
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
  return sleep_ms(seconds * 1000 + (nanoseconds + 999999) / 1000000);
}

__attribute__((__visibility__("hidden"))) long __mach_fork_call(int address, int stack) {
  int arguments[6] = {address, stack};
  return plain(SYS_fork, arguments);
}

/* --- what the server does ---------------------------------------------------------------------- */

static long vector(long number, const int *arguments, int writing) {
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
    long one = __mach_syscall(number, arguments[0], (long)parts[i].iov_base, (long)parts[i].iov_len,
                              0, 0, 0);
    if (one < 0) return done ? done : one;
    done += one;
    /* A read is over when something has come: the rest might never. */
    if (!writing || (size_t)one < parts[i].iov_len) break;
  }
  return done;
}

static long execute(const int *arguments) {
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

/* select(): three sets in, three sets out, and a time in milliseconds or -1. The caller's time is
 * of two words, seconds and `unit`ths of it, of 64 bits each if it is `wide`.
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

/* Fill in what the call reads and writes. Returns 0, or an error of a path. */
static long shape_of(long number, const int *a, struct shape *shape) {
  int path = -1;
  switch (number) {
    case SYS_read:
    case SYS_pread64:
    case SYS_getdents64: OUT(a[1], a[2]); break;
    case SYS_write:
    case SYS_pwrite64: IN(a[1], a[2]); break;
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
    case SYS_ioctl:
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
    case SYS_openat:
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
    case SYS_chmod:
    case SYS_truncate64: path = 0; break;
    default: break;
  }
  if (path < 0) return 0;
  long length = string_length((const char *)a[path]);
  IN(a[path], length);
  return length < 0 ? length : 0;
}

/* rename(), mount(), link(): two paths, one behind the other. */
static long two_paths(long number, const int *a, int first, int second) {
  char both[2 * PATH_MAX_BYTES];
  long one = string_length((const char *)a[first]), other = string_length((const char *)a[second]);
  if (one < 0 || other < 0) return one < 0 ? one : other;
  memcpy(both, (const char *)a[first], (size_t)one);
  memcpy(both + one, (const char *)a[second], (size_t)other);
  return call(number, a, &(struct shape){.in = both, .in_length = (size_t)(one + other)});
}

/* There are no handlers yet: a signal ends the process, or does nothing. */
static long set_action(const int *a) {
  const uintptr_t *action = (const uintptr_t *)a[1];
  int request[6] = {a[0], -1};
  if (action && __mach_probe_read(action)) return -EFAULT;
  if (action && action[0] > 1) return -ENOSYS; /* neither SIG_DFL nor SIG_IGN */
  if (action) request[1] = (int)action[0];
  long before = plain(SYS_rt_sigaction, request);
  if (before >= 0 && a[2]) {
    if (__mach_probe_write((void *)a[2])) return -EFAULT;
    memset((void *)a[2], 0, 4 * sizeof(uintptr_t));
    *(uintptr_t *)a[2] = (uintptr_t)before;
  }
  return before < 0 ? before : 0;
}

long __mach_syscall(long number, long a, long b, long c, long d, long e, long f) {
  const int arguments[6] = {a, b, c, d, e, f};
  switch (number) {
    case SYS_brk: return 0; /* musl takes mmap() then */
    case SYS_mmap2: return map(arguments);
    case SYS_munmap:
      if (a % (long)PAGE || !b) return -EINVAL;
      return syscall_vm_deallocate(self(), (vm_offset_t)a, ((size_t)b + PAGE - 1) & ~(PAGE - 1))
                 ? -EINVAL
                 : 0;
    case SYS_mprotect:
      return vm_protect(self(), (vm_offset_t)a, ((size_t)b + PAGE - 1) & ~(PAGE - 1), 0,
                        protection_of(c))
                 ? -ENOMEM
                 : 0;
    case SYS_madvise: return advise(arguments);
    case SYS_clock_gettime64: return clock_time((void *)b, 1);
    case SYS_clock_gettime32:
    case SYS_clock_nanosleep_time64: return sleep_until((const void *)c, 1, b & 1);
    case SYS_clock_nanosleep_time32: return sleep_until((const void *)c, 0, b & 1);
    case SYS_nanosleep: return sleep_until((const void *)a, 0, 0);
    case SYS_sched_yield: return swtch_pri(0), 0;
    case SYS_fork:
    case SYS_vfork: return __mach_fork();
    case SYS_execve: return execute(arguments);
    case SYS_readv: return vector(SYS_read, arguments, 0);
    case SYS_writev: return vector(SYS_write, arguments, 1);
    case SYS__newselect: return choose(arguments, 0, 1000000);
    case SYS_pselect6: return choose(arguments, 0, 1000000000);
    case SYS_pselect6_time64: return choose(arguments, 1, 1000000000);
    case SYS_rename: return two_paths(number, arguments, 0, 1);
    case SYS_mount: return two_paths(number, arguments, 2, 1);
    case SYS_rt_sigprocmask: /* nothing is ever delivered to a handler */
      if (c && __mach_probe_write((void *)c)) return -EFAULT;
      if (c) memset((void *)c, 0, (size_t)d);
      return 0;
    case SYS_rt_sigaction: return set_action(arguments);
    default: break;
  }
  struct shape shape = {0};
  long error = shape_of(number, arguments, &shape);
  if (!error) error = probe(&shape);
  return error ? error : call(number, arguments, &shape);
}
