// SPDX-License-Identifier: MIT
/* System V messages, semaphores and shared memory. Linux has one call for all of them: ipc(). */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/syscall.h>

#include "sysv.h"
#include "system.h"
#include "traps.h"

#define DESCRIPTION 256 /* largest size of a queue, a set of semaphores or a segment */

/* The number of semaphores in a set. */
static long set_size(int name) {
  char answer[DESCRIPTION];
  int request[6] = {CALL_SEMCTL, name, 0, IPC_STAT};
  long result = __mach_data_call(SYS_ipc, request, NULL, 0, answer, sizeof(answer));
  return result ? result : ((const struct semid_ds *)answer)->sem_nsems;
}

static long control_semaphores(const int *a) {
  int command = a[3] & 0xFF, request[6] = {a[0], a[1], a[2], a[3], 0};
  const int *value = (const int *)a[4];
  if (__mach_probe_read(value)) return -EFAULT;
  request[4] = *value;
  void *memory = (void *)(uintptr_t)(unsigned)*value;
  if (command == (IPC_STAT & 0xFF))
    return __mach_data_call(SYS_ipc, request, NULL, 0, memory, sizeof(struct semid_ds));
  if (command != GETALL && command != SETALL) return __mach_plain_call(SYS_ipc, request);
  long count = set_size(a[1]);
  if (count < 0) return count;
  size_t size = (size_t)count * sizeof(unsigned short);
  return command == SETALL ? __mach_data_call(SYS_ipc, request, memory, size, NULL, 0)
                           : __mach_data_call(SYS_ipc, request, NULL, 0, memory, size);
}

static long attach(const int *a) {
  int request[6] = {a[0], a[1], a[2], a[4]};
  int *address = (int *)a[3];
  long result = __mach_plain_call(SYS_ipc, request);
  if (result < 0 && result > -4096) return result;
  *address = (int)result;
  return 0;
}

long __mach_sysv(const int *a) {
  size_t size = (size_t)a[2] + sizeof(long);
  int request[6] = {a[0], a[1], a[2], a[3], a[4]};
  switch (a[0]) {
    case CALL_MSGSND:
      if (a[2] < 0) return -EINVAL;
      return __mach_data_call(SYS_ipc, request, (const void *)a[4], size, NULL, 0);
    case CALL_MSGRCV: {
      const int *pair = (const int *)a[4]; /* the destination, and the type */
      if (a[2] < 0) return -EINVAL;
      request[4] = pair[1];
      return __mach_data_call(SYS_ipc, request, NULL, 0, (void *)pair[0], size);
    }
    case CALL_SEMOP:
      if (a[2] < 1 || a[2] > 64) return a[2] < 1 ? -EINVAL : -E2BIG;
      return __mach_data_call(SYS_ipc, request, (const void *)a[4],
                              (size_t)a[2] * sizeof(struct sembuf), NULL, 0);
    case CALL_SEMCTL: return control_semaphores(a);
    case CALL_MSGCTL:
    case CALL_SHMCTL:
      if ((a[2] & 0xFF) != (IPC_STAT & 0xFF)) return __mach_plain_call(SYS_ipc, request);
      return __mach_data_call(SYS_ipc, request, NULL, 0, (void *)a[4],
                              a[0] == CALL_MSGCTL ? 88 : 84);
    case CALL_SHMAT: return attach(a);
    case CALL_SHMDT: request[1] = a[4]; return __mach_plain_call(SYS_ipc, request);
    default: return __mach_plain_call(SYS_ipc, request);
  }
}
