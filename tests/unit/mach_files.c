// SPDX-License-Identifier: MIT
/*
 * Runs the file system code of guest mach's server on the host, with a file as disk. The same
 * random calls below /temp (in memory) and /data (ext2) must have the same results, and must leave
 * the same files. Usage: mach_files IMAGE SEED COUNT [fill]. `fill` also fills the disk.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fs_side.h"

#define NAMES 12
#define SIZE_MAX_BYTES 400000

mach_port_t host_port, device_port;
static int image;
static const char *image_path;

/* --- replacements of the kernel's functions
 * -------------------------------------------------------
 */

void *pages_new(size_t size) {
  void *pages = aligned_alloc(PAGE, PAGES(size));
  return pages ? memset(pages, 0, PAGES(size)) : NULL;
}
void pages_free(void *pages, size_t size) { (void)size, free(pages); }
int64_t now_seconds(void) { return 788918400; }

uint64_t memory_left(void) { return UINT64_MAX / 2; }
unsigned ports_held(void) { return 0; }
unsigned bytes_held(void) { return 0; }
_Noreturn void panic(const char *what, int status) {
  fprintf(stderr, "panic: %s: %d\n", what, status);
  exit(3);
}
struct shared_memory *shared_new(size_t size) { return (void)size, NULL; }
char *shared_bytes(struct shared_memory *memory) { return (void)memory, NULL; }
int shared_map(struct shared_memory *memory, mach_port_t task, vm_offset_t *address, size_t size,
               size_t offset, int anywhere, int protection) {
  (void)memory, (void)task, (void)address, (void)size, (void)offset, (void)anywhere, (void)protection;
  return -1;
}
void shared_free(struct shared_memory *memory) { (void)memory; }

long disk_open(const char *name, struct disk **disk) {
  if (strcmp(name, "hd0") != 0) return -ENXIO;
  image = open(image_path, O_RDWR);
  *disk = calloc(1, sizeof(**disk));
  return image < 0 ? -ENXIO : 0;
}
void disk_close(struct disk *disk) { close(image), free(disk); }
int disk_read(struct disk *disk, uint32_t sector, char *bytes, uint32_t size) {
  (void)disk;
  return pread(image, bytes, size, (off_t)sector * 512) == (ssize_t)size ? 0 : -EIO;
}
int disk_write(struct disk *disk, uint32_t sector, const char *bytes, uint32_t size) {
  (void)disk;
  return pwrite(image, bytes, size, (off_t)sector * 512) == (ssize_t)size ? 0 : -EIO;
}

/* --- calls ------------------------------------------------------------------------------------- */

static long ask(struct fs_request r, long length) {
  r.in_length = (size_t)length;
  return fs_carry_out(&r);
}

static int node;
static long path_call(int operation, int a, int b, const char *path) {
  struct fs_request r = {.operation = operation, .a = a, .b = b, .in = path,
                         .in_length = strlen(path) + 1};
  long result = fs_carry_out(&r);
  node = r.more;
  return result;
}

static long two(int operation, const char *one, const char *other) {
  char both[512];
  size_t length = strlen(one) + 1;
  strcpy(both, one);
  strcpy(both + length, other);
  return ask((struct fs_request){.operation = operation, .in = both},
             (long)(length + strlen(other) + 1));
}

static unsigned random_state;
static unsigned any(unsigned below) {
  random_state = random_state * 1664525 + 1013904223;
  return (random_state >> 8) % below;
}

static char bytes[SIZE_MAX_BYTES];

/* One call below `top`. The random numbers are the same for both file systems. */
static long step(const char *top) {
  char path[64], other[64];
  unsigned what = any(12), size = any(8) ? any(9000) : any(SIZE_MAX_BYTES), offset = any(100000);
  snprintf(path, sizeof(path), "%s%s/%u", top, any(2) ? "/d" : "", any(NAMES));
  snprintf(other, sizeof(other), "%s%s/%u", top, any(2) ? "/d" : "", any(NAMES));
  unsigned fill = any(256);
  if (what < 5) {
    long kind = path_call(FS_OPEN, O_RDWR | O_CREAT | (what == 4 ? O_TRUNC : 0), S_IFREG | 0644, path);
    if (kind < 0) return kind;
    int file = node;
    memset(bytes, (int)fill, size);
    struct fs_request r = {.operation = FS_WRITE, .node = file, .a = what == 3 ? -1 : (int)offset,
                           .in = bytes, .in_length = size};
    long result = fs_carry_out(&r);
    ask((struct fs_request){.operation = FS_RELEASE, .node = file}, 0);
    return result;
  }
  switch (what) {
    case 5:
    case 6: return path_call(FS_REMOVE, 0, 0, path);
    case 7: return path_call(FS_MKDIR, 0755, 0, path);
    case 8: return path_call(FS_REMOVE, 1, 0, path);
    case 9: return two(FS_RENAME, path, other);
    case 10: return two(any(2) ? FS_LINK : FS_SYMLINK, path, other);
    default: return path_call(FS_TRUNCATE, (int)(any(2) ? size : offset), 0, path);
  }
}

/* Print the files in a fixed order. Both file systems must give the same text. */
static unsigned long sum(const char *path) {
  struct statx status = {0};
  struct fs_request r = {.operation = FS_STATUS, .a = AT_SYMLINK_NOFOLLOW, .in = path,
                         .in_length = strlen(path) + 1, .out = (char *)&status,
                         .out_room = sizeof(status)};
  if (fs_carry_out(&r)) return 0;
  unsigned long total = status.stx_mode * 31 + status.stx_nlink * 7;
  if (S_ISDIR(status.stx_mode)) {
    for (unsigned i = 0; i < NAMES; i++) {
      char name[128];
      snprintf(name, sizeof(name), "%s/%u", path, i);
      total = total * 33 + sum(name);
    }
    return total;
  }
  total += (unsigned long)status.stx_size;
  if (!S_ISREG(status.stx_mode)) return total;
  if (path_call(FS_OPEN, O_RDONLY, 0, path) < 0) return 1;
  int file = node;
  for (int at = 0;;) {
    struct fs_request r2 = {.operation = FS_READ, .node = file, .a = at, .b = 7777, .out = bytes,
                            .out_room = sizeof(bytes)};
    long count = fs_carry_out(&r2);
    for (long i = 0; i < count; i++) total = total * 131 + (unsigned char)bytes[i];
    if (count <= 0) break;
    at += count;
  }
  ask((struct fs_request){.operation = FS_RELEASE, .node = file}, 0);
  return total;
}

/* Returns the byte at an offset of a big file. */
static char at_offset(uint32_t offset) { return (char)(offset / 512 * 37 + offset / 131072); }

/* Check that a big file has the written data. The read-ahead is larger than the cache, which still
 * holds other unwritten blocks.
 */
static void look_at(const char *path) {
  if (path_call(FS_OPEN, O_RDONLY, 0, path) < 0) panic(path, 0);
  int file = node;
  struct fs_request r = {.operation = FS_READ, .node = file, .b = 10000, .out = bytes,
                         .out_room = sizeof(bytes)};
  for (long count; (count = fs_carry_out(&r)) > 0; r.a += (int)count)
    for (long i = 0; i < count; i++)
      if (bytes[i] != at_offset((uint32_t)(r.a + i))) panic("what was written", r.a);
  ask((struct fs_request){.operation = FS_RELEASE, .node = file}, 0);
}

/* Write until the disk is full, and read the data back. Then free the space. */
static void fill_disk(void) {
  char path[64];
  long result = 0, files = 0;
  while (result >= 0 && files < 1000) {
    snprintf(path, sizeof(path), "/data/full%ld", files++);
    result = path_call(FS_OPEN, O_WRONLY | O_CREAT, S_IFREG | 0644, path);
    if (result < 0) break;
    int file = node;
    struct fs_request r = {.operation = FS_WRITE, .node = file, .in = bytes,
                           .in_length = sizeof(bytes)};
    do {
      for (size_t i = 0; i < sizeof(bytes); i++) bytes[i] = at_offset((uint32_t)r.a + (uint32_t)i);
    } while ((result = fs_carry_out(&r)) == (long)sizeof(bytes) && (r.a = r.more) < 3000000);
    if (result >= 0 && result < (long)sizeof(bytes)) { /* a part; the next write fails */
      r.a = r.more;
      result = fs_carry_out(&r);
    }
    ask((struct fs_request){.operation = FS_RELEASE, .node = file}, 0);
  }
  if (result != -ENOSPC) panic("a full disk", (int)result);
  if (path_call(FS_MKDIR, 0755, 0, "/data/new") != -ENOSPC) panic("a directory on a full disk", 0);
  for (long i = 0; i < files - 1; i++) {
    snprintf(path, sizeof(path), "/data/full%ld", i);
    look_at(path);
  }
  while (files-- > 1) {
    snprintf(path, sizeof(path), "/data/full%ld", files);
    path_call(FS_REMOVE, 0, 0, path);
  }
  if (path_call(FS_MKDIR, 0755, 0, "/data/new") != 0) panic("room again", 0);
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  image_path = argv[1];
  unsigned seed = (unsigned)atoi(argv[2]);
  long count = atol(argv[3]);
  files_start("", 0);
  path_call(FS_MKDIR, 0755, 0, "/temp");
  path_call(FS_MKDIR, 0755, 0, "/temp/m");
  path_call(FS_MKDIR, 0755, 0, "/data");
  static const char what[] = "/data\0/dev/hd0\0ext2";
  long result = ask((struct fs_request){.operation = FS_MOUNT, .in = what}, sizeof(what));
  if (result) panic("mount", (int)result);
  path_call(FS_MKDIR, 0755, 0, "/data/m");
  path_call(FS_MKDIR, 0755, 0, "/temp/m/d");
  path_call(FS_MKDIR, 0755, 0, "/data/m/d");
  for (long i = 0; i < count; i++) {
    unsigned before = seed + (unsigned)i * 7919;
    random_state = before;
    long one = step("/temp/m");
    random_state = before;
    long other = step("/data/m");
    if (one != other) {
      fprintf(stderr, "step %ld: %ld in memory, %ld on the disk\n", i, one, other);
      return 1;
    }
    if (i % 16 == 0) ask((struct fs_request){.operation = FS_FORGET}, 0);
  }
  if (sum("/temp/m") != sum("/data/m")) {
    fprintf(stderr, "the files differ\n");
    return 1;
  }
  if (argc > 4) fill_disk();
  result = path_call(FS_UNMOUNT, 0, 0, "/data");
  if (result) panic("unmount", (int)result);
  return 0;
}
