// SPDX-License-Identifier: MIT
/*
 * System V messages, semaphores and shared memory. Each object is a slot of a table. The identifier
 * of an object contains the number of the slot and a count of the slot's uses. The identifier of a
 * removed object is therefore not valid for a later object in the same slot.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>

#include "mach_calls.h"
#include "server.h"
#include "sysv.h"

#define STATUS 2 /* IPC_STAT without the flag that musl adds */
#define SLOTS 128
#define DESCRIPTION 256 /* at least the size of each structure below */
#define QUEUE_BYTES 16384u /* size of one queue (Linux, MSGMNB) */
#define MESSAGE_BYTES 8192u
#define SEMAPHORES_MAX 250
#define SEMAPHORE_VALUE_MAX 32767
#define SEGMENT_MAX (16u << 20)

enum type { QUEUE, SEMAPHORES, SEGMENT, TYPES };

struct message {
  struct message *next;
  int type;
  size_t size;
  char bytes[];
};

struct segment {
  struct shared_memory *memory;
  size_t size;
  unsigned attached;
  int removed;
};

struct slot {
  int used, key;
  unsigned times;
  mode_t mode;
  /* a queue */
  struct message *first, *last;
  size_t bytes, count;
  /* semaphores */
  int number;
  unsigned short *values;
  int *pids;
  /* memory */
  struct segment *segment;
};

static struct slot slots[TYPES][SLOTS];

static int name_of(enum type type, const struct slot *slot) {
  return (int)(slot->times % 0x4000 * SLOTS) + (int)(slot - slots[type]);
}

static struct slot *slot_of(enum type type, int name) {
  struct slot *slot = name < 0 ? NULL : &slots[type][name % SLOTS];
  return slot && slot->used && name_of(type, slot) == name ? slot : NULL;
}

void sysv_count(uint32_t *objects) {
  *objects = 0;
  for (int type = 0; type < TYPES; type++)
    for (int i = 0; i < SLOTS; i++) *objects += slots[type][i].used != 0;
}

/* --- making and removing ---------------------------------------------------------------------- */

static int fill(enum type type, struct slot *slot, int size) {
  if (type == SEMAPHORES) {
    if (size < 1 || size > SEMAPHORES_MAX) return -EINVAL;
    slot->number = size;
    slot->values = calloc((size_t)size, sizeof(*slot->values));
    slot->pids = calloc((size_t)size, sizeof(*slot->pids));
    if (slot->values && slot->pids) return 0;
    free(slot->values), free(slot->pids);
    return -ENOMEM;
  }
  if (type == QUEUE) return 0;
  if (size < 1 || (unsigned)size > SEGMENT_MAX) return -EINVAL;
  slot->segment = calloc(1, sizeof(*slot->segment));
  if (!slot->segment || !(slot->segment->memory = shared_new((size_t)size))) {
    free(slot->segment);
    return -ENOMEM;
  }
  slot->segment->size = (size_t)size;
  return 0;
}

static int fits(enum type type, const struct slot *slot, int size) {
  if (type == SEMAPHORES) return size <= slot->number;
  return type == QUEUE || (size_t)size <= slot->segment->size;
}

static long get(enum type type, int key, int size, int flags) {
  struct slot *slot = NULL, *empty = NULL;
  for (int i = SLOTS - 1; i >= 0; i--) {
    struct slot *one = &slots[type][i];
    if (!one->used) empty = one;
    else if (key != IPC_PRIVATE && one->key == key) slot = one;
  }
  if (slot) {
    if ((flags & (IPC_CREAT | IPC_EXCL)) == (IPC_CREAT | IPC_EXCL)) return -EEXIST;
    return fits(type, slot, size) ? name_of(type, slot) : -EINVAL;
  }
  if (key != IPC_PRIVATE && !(flags & IPC_CREAT)) return -ENOENT;
  if (!empty) return -ENOSPC;
  unsigned times = empty->times;
  *empty = (struct slot){.times = times + 1, .key = key, .mode = (mode_t)flags & 0777};
  int error = fill(type, empty, size);
  if (error) return error;
  empty->used = 1;
  return name_of(type, empty);
}

static void segment_drop(struct segment *segment) {
  if (!segment->removed || segment->attached) return;
  shared_free(segment->memory);
  free(segment);
}

static void slot_free(enum type type, struct slot *slot) {
  slot->used = 0;
  woken = 1;
  if (type == SEMAPHORES) free(slot->values), free(slot->pids);
  while (type == QUEUE && slot->first) {
    struct message *next = slot->first->next;
    free(slot->first);
    slot->first = next;
  }
  if (type == SEGMENT) {
    slot->segment->removed = 1;
    segment_drop(slot->segment);
  }
}

/* --- messages -------------------------------------------------------------------------------- */

static long send_message(struct request *request, int name, int flags) {
  struct slot *slot = slot_of(QUEUE, name);
  if (!slot) return request->done ? -EIDRM : -EINVAL;
  request->done = 1; /* it existed before */
  long type;
  if (request->in_length < sizeof(type)) return -EINVAL;
  memcpy(&type, request->in, sizeof(type));
  size_t size = request->in_length - sizeof(type);
  if (type < 1 || size > MESSAGE_BYTES) return -EINVAL;
  if (slot->bytes + size > QUEUE_BYTES || slot->count >= QUEUE_BYTES)
    return flags & IPC_NOWAIT ? -EAGAIN : WOULD_BLOCK;
  struct message *message = malloc(sizeof(*message) + size);
  if (!message) return -ENOMEM;
  message->next = NULL;
  message->type = (int)type;
  message->size = size;
  memcpy(message->bytes, request->in + sizeof(type), size);
  if (slot->first) slot->last->next = message;
  else slot->first = message;
  slot->last = message;
  slot->bytes += size;
  slot->count++;
  woken = 1;
  return 0;
}

/* Find the requested message. It is the first message, the first message of a type, or the first
 * message of the lowest type up to -`type`.
 */
static struct message **choose(struct slot *slot, int type, int flags) {
  struct message **found = NULL;
  for (struct message **place = &slot->first; *place; place = &(*place)->next) {
    int own = (*place)->type;
    if (type == 0) return place;
    if (type > 0 && ((own == type) != ((flags & MSG_EXCEPT) != 0))) return place;
    if (type < 0 && own <= -type && (!found || own < (*found)->type)) found = place;
  }
  return found;
}

static long receive_message(struct request *request, int name, size_t room, int type, int flags) {
  struct slot *slot = slot_of(QUEUE, name);
  if (!slot) return request->done ? -EIDRM : -EINVAL;
  request->done = 1;
  struct message **place = choose(slot, type, flags), *message;
  if (!place) return flags & IPC_NOWAIT ? -ENOMSG : WOULD_BLOCK;
  message = *place;
  size_t size = message->size;
  if (size > room && !(flags & MSG_NOERROR)) return -E2BIG;
  size = MIN(size, MIN(room, request->out_room - sizeof(long)));
  *place = message->next;
  if (slot->last == message) {
    slot->last = slot->first;
    while (slot->last && slot->last->next) slot->last = slot->last->next;
  }
  long own = message->type;
  memcpy(request->out, &own, sizeof(own));
  memcpy(request->out + sizeof(own), message->bytes, size);
  request->out_length = sizeof(own) + size;
  slot->bytes -= message->size;
  slot->count--;
  free(message);
  woken = 1;
  return (long)size;
}

/* Only a message can be a long answer. */
size_t sysv_room(const struct request *request) {
  const int *a = request->arguments;
  struct slot *slot = a[0] == CALL_MSGRCV ? slot_of(QUEUE, a[1]) : NULL;
  struct message **place = slot ? choose(slot, a[4], a[3]) : NULL;
  return place ? (*place)->size + sizeof(long) : 0;
}

/* --- semaphores ------------------------------------------------------------------------------ */

/* Carry out all steps, or none. */
static long step_semaphores(struct process *process, struct request *request, int name) {
  struct slot *slot = slot_of(SEMAPHORES, name);
  const struct sembuf *steps = (const struct sembuf *)request->in;
  int count = (int)(request->in_length / sizeof(*steps)), i;
  if (!slot) return request->done ? -EIDRM : -EINVAL;
  request->done = 1;
  if (count < 1) return -EINVAL;
  for (i = 0; i < count; i++)
    if (steps[i].sem_num >= slot->number) return -EFBIG;
    else if (steps[i].sem_flg & SEM_UNDO) return -EOPNOTSUPP;
  int error = 0;
  for (i = 0; i < count && !error; i++) {
    int value = slot->values[steps[i].sem_num] + steps[i].sem_op;
    int blocked = steps[i].sem_op ? value < 0 : value != 0;
    if (blocked) error = steps[i].sem_flg & IPC_NOWAIT ? -EAGAIN : WOULD_BLOCK;
    else if (value > SEMAPHORE_VALUE_MAX) error = -ERANGE;
    else slot->values[steps[i].sem_num] = (unsigned short)value;
  }
  if (error) {
    for (i -= 2; i >= 0; i--) slot->values[steps[i].sem_num] -= (unsigned short)steps[i].sem_op;
    return error;
  }
  for (i = 0; i < count; i++) slot->pids[steps[i].sem_num] = process->pid;
  woken = 1;
  return 0;
}

/* SETVAL, SETALL: the values came with the request. */
static long control_semaphores(struct request *request, int name, int number, int command) {
  struct slot *slot = slot_of(SEMAPHORES, name);
  const unsigned short *values = (const unsigned short *)request->in;
  if (!slot) return -EINVAL;
  switch (command) {
    case GETVAL:
    case GETPID:
    case SETVAL:
      if (number < 0 || number >= slot->number) return -EINVAL;
      if (command == GETVAL) return slot->values[number];
      if (command == GETPID) return slot->pids[number];
      if (request->arguments[4] < 0 || request->arguments[4] > SEMAPHORE_VALUE_MAX) return -ERANGE;
      slot->values[number] = (unsigned short)request->arguments[4];
      woken = 1;
      return 0;
    case GETALL:
      request->out_length = (size_t)slot->number * sizeof(*values);
      memcpy(request->out, slot->values, request->out_length);
      return 0;
    case SETALL:
      if (request->in_length < (size_t)slot->number * sizeof(*values)) return -EFAULT;
      memcpy(slot->values, values, (size_t)slot->number * sizeof(*values));
      woken = 1;
      return 0;
    case GETNCNT:
    case GETZCNT: return 0;
    default: return -EINVAL;
  }
}

/* --- memory ----------------------------------------------------------------------------------- */

static long attach(struct process *process, int name, uint32_t wanted, int flags) {
  struct slot *slot = slot_of(SEGMENT, name);
  if (!slot) return -EINVAL;
  if (flags & SHM_RND) wanted &= ~(PAGE - 1);
  if (wanted % PAGE) return -EINVAL;
  struct attached *attached = malloc(sizeof(*attached));
  if (!attached) return -ENOMEM;
  vm_offset_t address = wanted;
  size_t size = PAGES(slot->segment->size);
  int protection = VM_PROT_READ | (flags & SHM_RDONLY ? 0 : VM_PROT_WRITE);
  if (shared_map(slot->segment->memory, process->task, &address, size, 0, !wanted, protection)) {
    free(attached);
    return -ENOMEM;
  }
  *attached = (struct attached){process->attached, slot->segment, address};
  process->attached = attached;
  slot->segment->attached++;
  return (long)address;
}

static long detach(struct process *process, uint32_t address) {
  struct attached **place = &process->attached, *one;
  while (*place && (*place)->address != address) place = &(*place)->next;
  if (!(one = *place)) return -EINVAL;
  vm_deallocate(process->task, address, PAGES(one->segment->size));
  one->segment->attached--;
  segment_drop(one->segment);
  *place = one->next;
  free(one);
  return 0;
}

void sysv_fork(struct process *parent, struct process *child) {
  for (const struct attached *one = parent->attached; one; one = one->next) {
    struct attached *copy = malloc(sizeof(*copy));
    if (!copy) return;
    *copy = (struct attached){child->attached, one->segment, one->address};
    child->attached = copy;
    one->segment->attached++;
  }
}

/* The task no longer exists, so its mappings do not exist either. */
void sysv_end(struct process *process) {
  while (process->attached) {
    struct attached *one = process->attached;
    process->attached = one->next;
    one->segment->attached--;
    segment_drop(one->segment);
    free(one);
  }
}

/* --- the call -------------------------------------------------------------------------------- */

static void describe_permissions(const struct slot *slot, struct ipc_perm *out) {
  out->__key = slot->key;
  out->mode = slot->mode;
}

static long control(struct request *request, enum type type, int name, int command) {
  struct slot *slot = slot_of(type, name);
  if (!slot) return -EINVAL;
  memset(request->out, 0, DESCRIPTION);
  switch (command & 0xFF) {
    case IPC_RMID: slot_free(type, slot); return 0;
    case IPC_SET: return 0;
    case STATUS: break;
    default: return -EINVAL;
  }
  if (type == QUEUE) {
    struct msqid_ds *out = (struct msqid_ds *)request->out;
    describe_permissions(slot, &out->msg_perm);
    out->msg_cbytes = slot->bytes;
    out->msg_qnum = slot->count;
    out->msg_qbytes = QUEUE_BYTES;
    request->out_length = sizeof(*out);
  } else if (type == SEGMENT) {
    struct shmid_ds *out = (struct shmid_ds *)request->out;
    describe_permissions(slot, &out->shm_perm);
    out->shm_segsz = slot->segment->size;
    out->shm_nattch = slot->segment->attached;
    request->out_length = sizeof(*out);
  } else {
    struct semid_ds *out = (struct semid_ds *)request->out;
    describe_permissions(slot, &out->sem_perm);
    out->sem_nsems = (unsigned short)slot->number;
    request->out_length = sizeof(*out);
  }
  return 0;
}

/* The arguments are the number of the call and at most five of its own (libc/sysv.c). */
long sysv_call(struct process *process, struct request *request) {
  const int *a = request->arguments;
  switch (a[0]) {
    case CALL_MSGGET: return get(QUEUE, a[1], 0, a[2]);
    case CALL_SEMGET: return get(SEMAPHORES, a[1], a[2], a[3]);
    case CALL_SHMGET: return get(SEGMENT, a[1], a[2], a[3]);
    case CALL_MSGSND: return send_message(request, a[1], a[3]);
    case CALL_MSGRCV: return receive_message(request, a[1], (size_t)a[2], a[4], a[3]);
    case CALL_SEMOP: return step_semaphores(process, request, a[1]);
    case CALL_SHMAT: return attach(process, a[1], (uint32_t)a[3], a[2]);
    case CALL_SHMDT: return detach(process, (uint32_t)a[1]);
    case CALL_MSGCTL: return control(request, QUEUE, a[1], a[2]);
    case CALL_SHMCTL: return control(request, SEGMENT, a[1], a[2]);
    case CALL_SEMCTL:
      if ((a[3] & 0xFF) == IPC_RMID || (a[3] & 0xFF) == STATUS || (a[3] & 0xFF) == IPC_SET)
        return control(request, SEMAPHORES, a[1], a[3]);
      return control_semaphores(request, a[1], a[2], a[3] & 0xFF);
    default: return -ENOSYS;
  }
}
