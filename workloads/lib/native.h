/* SPDX-License-Identifier: MIT */
/*
 * The markers on a real host. They replace the engine's markers. marker.h includes this file only
 * for programs compiled with P5LAB_NATIVE. Linux only.
 *
 * Every begin and end records the monotonic clock, the processor time of getrusage() and the
 * counters that perf_event_open() grants, for this process and its children. The program writes
 * events.jsonl when it exits. The file contains only the counters that the host grants and that
 * counted during the whole measurement. For the other counters, a note names the reason. If the
 * host does not allow counting in kernel mode, the count of user mode has the name NAME.user.
 *
 *   P5LAB_EVENTS   the file; without it the markers do nothing
 *   P5LAB_CPU      run only on this processor, because the machines of the papers had one processor
 */
#ifndef P5LAB_NATIVE_H
#define P5LAB_NATIVE_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NATIVE_CACHE(cache, operation, result)                              \
  (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 | \
   PERF_COUNT_HW_CACHE_RESULT_##result << 16)

enum { NATIVE_USER = 0, NATIVE_KERNEL = 1 };

/* If the system grants no counter for one of these two events, the count comes from getrusage().
 * This count includes only the children that have ended.
 */
enum { NATIVE_FAULTS = 0, NATIVE_SWITCHES = 1, NATIVE_ALSO_RUSAGE = 2 };

/* The events requested from perf_event_open(). The most important are first, because processors
 * have few counters. Each event is counted in user mode and in kernel mode. An event has the name
 * of the engine's event if both mean the same.
 */
static const struct native_event {
  const char *name;
  const char *unit;
  uint32_t type;
  uint64_t config;
} native_events[] = {
    [NATIVE_FAULTS] = {"page_faults", "events", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    [NATIVE_SWITCHES] = {"context_switches", "events", PERF_TYPE_SOFTWARE,
                         PERF_COUNT_SW_CONTEXT_SWITCHES},
    {"cycles.busy", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", "events", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"dtlb_misses", "events", PERF_TYPE_HW_CACHE, NATIVE_CACHE(DTLB, READ, MISS)},
    {"itlb_misses", "events", PERF_TYPE_HW_CACHE, NATIVE_CACHE(ITLB, READ, MISS)},
    {"data_read_misses", "events", PERF_TYPE_HW_CACHE, NATIVE_CACHE(L1D, READ, MISS)},
    {"code_misses", "events", PERF_TYPE_HW_CACHE, NATIVE_CACHE(L1I, READ, MISS)},
    {"data_reads", "events", PERF_TYPE_HW_CACHE, NATIVE_CACHE(L1D, READ, ACCESS)},
    {"llc_misses", "events", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}};

enum {
  NATIVE_EVENTS = sizeof(native_events) / sizeof(*native_events),
  NATIVE_CHUNK = 256 /* records added at a time */
};

struct native_record {
  uint32_t operation, phase;
  uint64_t clock;   /* ns */
  uint64_t time[2]; /* ns of processor time, user and kernel */
  uint64_t count[NATIVE_EVENTS][2];
};

struct native_chunk {
  struct native_chunk *next;
  int used;
  struct native_record records[NATIVE_CHUNK];
};

static struct {
  pid_t owner; /* a forked child inherits this structure, but must not write the file */
  const char *path;
  int counter[NATIVE_EVENTS][2]; /* file descriptors, -1: none */
  const char *reason[NATIVE_EVENTS]; /* why an event is missing */
  struct native_chunk *first, *last;
} native;

/* Allocate memory for more records. The memory is shared, so that a fork does not copy its page
 * tables and the next write causes no page fault. All its pages are allocated at once, so that the
 * first write causes no page fault.
 */
static inline void native_grow(void) {
  struct native_chunk *chunk =
      mmap(NULL, sizeof(*chunk), PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (chunk == MAP_FAILED) {
    perror("native: memory for markers");
    exit(1);
  }
  if (native.last)
    native.last->next = chunk;
  else
    native.first = chunk;
  native.last = chunk;
}

static inline uint64_t native_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t native_time(const struct timeval *time) {
  return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_usec * 1000u;
}

/* One counter: its value, and the times for which it was enabled and running. */
struct native_value {
  uint64_t value, enabled, running;
};

static inline int native_read(int counter, struct native_value *value) {
  return read(counter, value, sizeof(*value)) == (ssize_t)sizeof(*value);
}

static inline void native_counters(struct native_record *record) {
  struct rusage self, children;
  struct native_value value;
  for (int i = 0; i < NATIVE_EVENTS; i++)
    for (int mode = 0; mode < 2; mode++)
      if (native.counter[i][mode] >= 0 && native_read(native.counter[i][mode], &value))
        record->count[i][mode] = value.value;
  getrusage(RUSAGE_SELF, &self);
  getrusage(RUSAGE_CHILDREN, &children);
  if (native.counter[NATIVE_FAULTS][NATIVE_USER] < 0)
    record->count[NATIVE_FAULTS][NATIVE_USER] =
        (uint64_t)(self.ru_minflt + self.ru_majflt + children.ru_minflt + children.ru_majflt);
  if (native.counter[NATIVE_SWITCHES][NATIVE_USER] < 0)
    record->count[NATIVE_SWITCHES][NATIVE_USER] =
        (uint64_t)(self.ru_nvcsw + self.ru_nivcsw + children.ru_nvcsw + children.ru_nivcsw);
  record->time[NATIVE_USER] = native_time(&self.ru_utime) + native_time(&children.ru_utime);
  record->time[NATIVE_KERNEL] = native_time(&self.ru_stime) + native_time(&children.ru_stime);
}

/* Record a marker. The clock is read next to the measured code: last at begin, first at end. */
static inline void native_marker(uint32_t operation, uint32_t phase) {
  uint64_t clock = native_clock();
  if (native.last->used == NATIVE_CHUNK) native_grow();
  struct native_record *record = &native.last->records[native.last->used++];
  record->operation = operation;
  record->phase = phase;
  native_counters(record);
  record->clock = operation == P5_OP_BEGIN ? native_clock() : clock;
}

/* The reason why a counter was not granted, as text. */
static inline const char *native_why(int error) {
  switch (error) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
      return "this host's processor does not offer it";
    case EACCES:
    case EPERM:
      return "not permitted (/proc/sys/kernel/perf_event_paranoid)";
    case ENOSYS:
      return "this host's kernel has no perf_event_open";
    default:
      return strerror(error);
  }
}

/* The two functions return whether an event is in the file, and whether it is counted in user mode
 * only.
 */
static inline int native_has(int event) {
  return event < NATIVE_ALSO_RUSAGE || native.counter[event][NATIVE_USER] >= 0;
}

static inline int native_is_partial(int event) {
  return native.counter[event][NATIVE_USER] >= 0 && native.counter[event][NATIVE_KERNEL] < 0;
}

static inline void native_close(int event, const char *reason) {
  for (int mode = 0; mode < 2; mode++) {
    if (native.counter[event][mode] >= 0) close(native.counter[event][mode]);
    native.counter[event][mode] = -1;
  }
  native.reason[event] = reason;
}

/* Return whether all open counters have counted all the time. */
static inline int native_complete(void) {
  struct native_value value;
  for (int i = 0; i < NATIVE_EVENTS; i++)
    for (int mode = 0; mode < 2; mode++)
      if (native.counter[i][mode] >= 0 &&
          (!native_read(native.counter[i][mode], &value) || value.running < value.enabled))
        return 0;
  return 1;
}

static inline int native_open(const struct native_event *event, int mode) {
  struct perf_event_attr attribute = {
      .type = event->type,
      .size = sizeof(attribute),
      .config = event->config,
      .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
      .inherit = 1,
      .exclude_user = mode == NATIVE_KERNEL,
      .exclude_kernel = mode == NATIVE_USER,
      .exclude_hv = 1};
  return (int)syscall(SYS_perf_event_open, &attribute, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Open all available counters. A counter that must share a hardware register would count only part
 * of the time and give an estimate. Such a counter is closed again.
 */
static inline void native_open_all(void) {
  for (int i = 0; i < NATIVE_EVENTS; i++) native.counter[i][0] = native.counter[i][1] = -1;
  for (int i = 0; i < NATIVE_EVENTS; i++) {
    for (int mode = 0; mode < 2; mode++) {
      native.counter[i][mode] = native_open(&native_events[i], mode);
      if (native.counter[i][mode] >= 0) continue;
      native.reason[i] = native_why(errno);
      break;
    }
    if (native.counter[i][NATIVE_USER] < 0 || (i < NATIVE_ALSO_RUSAGE && native_is_partial(i)))
      native_close(i, native.reason[i]);
    uint64_t start = native_clock();
    while (native.counter[i][0] >= 0 && native_clock() - start < 1000000) continue;
    if (native.counter[i][0] >= 0 && !native_complete())
      native_close(i, "all counters of the processor are taken");
  }
}

static inline void native_print_bank(FILE *file, int ring, int mode,
                                     const struct native_record *record) {
  /* Counts that belong to no mode are written together with the counts of user mode. */
  fprintf(file, "[0,%d,[%" PRIu64 ",%" PRIu64, ring, mode == NATIVE_USER ? record->clock : 0,
          record->time[mode]);
  for (int i = 0; i < NATIVE_EVENTS; i++)
    if (native_has(i)) fprintf(file, ",%" PRIu64, record->count[i][mode]);
  fputs("]]", file);
}

/* Write a note for each reason. The note lists the events that are not counted for this reason.
 * With `partial`, it lists the events that are not counted in kernel mode.
 */
static inline void native_print_notes(FILE *file, int partial) {
  int said[NATIVE_EVENTS];
  for (int i = 0; i < NATIVE_EVENTS; i++)
    said[i] = partial ? !native_is_partial(i) : native_has(i);
  for (int i = 0; i < NATIVE_EVENTS; i++) {
    if (said[i]) continue;
    fprintf(file, "{\"type\":\"note\",\"what\":\"%s:",
            partial ? "counted in user mode only" : "not counted");
    for (int k = i; k < NATIVE_EVENTS; k++) {
      if (said[k] || strcmp(native.reason[k], native.reason[i]) != 0) continue;
      fprintf(file, "%s %s", k == i ? "" : ",", native_events[k].name);
      said[k] = 1;
    }
    fprintf(file, "\",\"reason\":\"%s\"}\n", native.reason[i]);
  }
}

/* Write the file. This function runs at exit. */
static inline void native_write(void) {
  if (getpid() != native.owner) return;
  for (int i = 0; i < NATIVE_EVENTS && !native_complete(); i++) {
    int last = NATIVE_EVENTS - 1 - i; /* the least important first */
    if (native.counter[last][0] >= 0) native_close(last, "counted for a part of the time only");
  }
  FILE *file = fopen(native.path, "w");
  if (!file) {
    perror(native.path);
    _exit(1);
  }
  fputs(
      "{\"type\":\"header\",\"schema_version\":1,\"engine\":\"native\",\"clock_hz\":1000000000,"
      "\"events\":[\"time.wall\",\"time.cpu\"",
      file);
  for (int i = 0; i < NATIVE_EVENTS; i++)
    if (native_has(i))
      fprintf(file, ",\"%s%s\"", native_events[i].name, native_is_partial(i) ? ".user" : "");
  fputs("],\"units\":[\"ns\",\"ns\"", file);
  for (int i = 0; i < NATIVE_EVENTS; i++)
    if (native_has(i)) fprintf(file, ",\"%s\"", native_events[i].unit);
  fputs("]}\n", file);
  native_print_notes(file, 0);
  native_print_notes(file, 1);
  for (const struct native_chunk *chunk = native.first; chunk; chunk = chunk->next)
    for (int i = 0; i < chunk->used; i++) {
      const struct native_record *record = &chunk->records[i];
      fprintf(file,
              "{\"type\":\"marker\",\"op\":\"%s\",\"arg\":%" PRIu32 ",\"tsc\":%" PRIu64
              ",\"banks\":[",
              record->operation == P5_OP_BEGIN ? "begin" : "end", record->phase, record->clock);
      native_print_bank(file, 3, NATIVE_USER, record);
      fputc(',', file);
      native_print_bank(file, 0, NATIVE_KERNEL, record);
      fputs("],\"vectors\":[]}\n", file);
    }
  fprintf(file, "{\"type\":\"end\",\"status\":\"ok\",\"reason\":\"\",\"tsc\":%" PRIu64 "}\n",
          native_clock());
  if (fclose(file) != 0) {
    perror(native.path);
    _exit(1);
  }
}

/* Prepare the markers. Returns 1 if this run is recorded. */
static inline int native_start(void) {
  native.path = getenv("P5LAB_EVENTS");
  if (!native.path) return 0;
  const char *cpu = getenv("P5LAB_CPU");
  if (cpu) {
    unsigned long mask[32] = {0}; /* sched_setaffinity() without _GNU_SOURCE */
    unsigned long number = strtoul(cpu, NULL, 10), width = 8 * sizeof(*mask);
    if (number / width < 32) {
      mask[number / width] = 1UL << number % width;
      syscall(SYS_sched_setaffinity, 0, sizeof(mask), mask);
    }
  }
  native.owner = getpid();
  native_grow();
  native_open_all();
  atexit(native_write);
  return 1;
}

/* Replaces the CPUID. */
static inline struct p5_registers p5_marker(uint32_t operation, uint32_t arg0, uint32_t arg1) {
  struct p5_registers out = {0, 0, 0, 0};
  (void)arg1;
  if (operation == P5_OP_DETECT && native_start())
    out = (struct p5_registers){P5_MARKER_ABI, P5_MARKER_MAGIC, 0, 0};
  if (operation == P5_OP_BEGIN || operation == P5_OP_END) native_marker(operation, arg0);
  if (operation == P5_OP_ABORT) exit((int)arg0 | 1);
  if (operation == P5_OP_EXIT) exit((int)arg0);
  return out;
}

#endif
