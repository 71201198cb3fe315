// SPDX-License-Identifier: MIT
/* Calls with a path go to the file side, together with the directory at which the path begins. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "server.h"

/* The node at which the path of an *at() call begins. Returns -EBADF if there is none. */
static int from_of(struct process *process, int number, int *node) {
  if (number == AT_FDCWD) return *node = process->directory, 0;
  struct file *file = file_of(process, number);
  if (!file) return -EBADF;
  *node = file->node;
  return 0;
}

/* Whether the request has exactly this number of strings. */
static int has_strings(const struct request *request, int count) {
  if (!request->in_length || request->in[request->in_length - 1]) return 0;
  for (size_t i = 0; i < request->in_length; i++) count -= !request->in[i];
  return count == 0;
}

static long ask(struct process *process, struct request *request, enum fs_operation operation,
                int from, int a, int b) {
  struct fs_request r = {.operation = operation, .a = a, .b = b, .in = request->in,
                         .in_length = request->in_length, .out = request->out,
                         .out_room = request->out_room};
  int error = from_of(process, from, &r.node);
  if (error) return error;
  long result = fs_call(&r);
  request->out_length = r.out_length;
  return result;
}

static long open_file(struct process *process, struct request *request, int from, int flags,
                      mode_t mode) {
  struct fs_request r = {.operation = FS_OPEN, .a = flags,
                         .b = (int)(S_IFREG | (mode & 07777 & ~process->mask)), .in = request->in,
                         .in_length = request->in_length};
  int error = from_of(process, from, &r.node);
  if (error) return error;
  long kind = fs_call(&r);
  if (kind < 0) return kind;
  struct file *file = kind == PIPE || kind == SOCKET ? NULL : file_new((enum kind)kind, flags);
  if (!file) {
    fs_call(&(struct fs_request){.operation = FS_RELEASE, .node = r.more});
    return kind == PIPE || kind == SOCKET ? -ENXIO : -ENOMEM;
  }
  file->node = r.more;
  return descriptor_new(process, file, 0, (flags & O_CLOEXEC) != 0);
}

/* The result of fstat() for a file that has no node. */
static long describe(const struct file *file, struct request *request) {
  struct statx *out = (struct statx *)request->out;
  memset(out, 0, sizeof(*out));
  out->stx_mask = STATX_BASIC_STATS;
  out->stx_blksize = PAGE;
  out->stx_nlink = 1;
  out->stx_mode = (uint16_t)(kind_mode(file->kind) | 0600);
  out->stx_ino = (uint32_t)(uintptr_t)file;
  request->out_length = sizeof(*out);
  return 0;
}

static long status_of(struct process *process, struct request *request) {
  const int *a = request->arguments;
  if (!*request->in) {
    if (!(a[2] & AT_EMPTY_PATH)) return -ENOENT;
    struct file *file = a[0] == AT_FDCWD ? NULL : file_of(process, a[0]);
    if (file && !file->node) return describe(file, request);
  }
  return ask(process, request, FS_STATUS, a[0], a[2], 0);
}

/* Change the process's directory to the node that FS_OPEN opens. */
long directory_enter(struct process *process, struct fs_request *opening) {
  long kind = fs_call(opening);
  if (kind < 0) return kind;
  if (process->directory)
    fs_call(&(struct fs_request){.operation = FS_RELEASE, .node = process->directory});
  process->directory = opening->more;
  return 0;
}

static long change_to(struct process *process, const struct request *request) {
  struct fs_request r = {.operation = FS_OPEN, .node = process->directory,
                         .a = O_RDONLY | O_DIRECTORY, .in = request->in,
                         .in_length = request->in_length};
  return directory_enter(process, &r);
}

/* Calls with two paths. The second path also has a directory node. */
static long two(struct process *process, struct request *request, enum fs_operation operation,
                int from, int to) {
  int second, error = from_of(process, to, &second);
  if (error) return error;
  if (!has_strings(request, 2)) return -EINVAL;
  return ask(process, request, operation, from, second, 0);
}

/* mount(device, path, type, flags). init.c mounts several file systems. All of them except the disk
 * are present from the start.
 */
static long mount_call(struct process *process, struct request *request) {
  static const char *const known[] = {"proc", "sysfs", "devtmpfs", "tmpfs"};
  if (!has_strings(request, 3)) return -EINVAL;
  const char *type = request->in + strlen(request->in) + 1;
  type += strlen(type) + 1;
  for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
    if (strcmp(type, known[i]) == 0) return 0;
  return ask(process, request, FS_MOUNT, AT_FDCWD, request->arguments[3] & MS_RDONLY ? 1 : 0, 0);
}

/* The file side handles rmdir() and unlink() of a path that ends in a slash or a dot. */
static long one(struct process *process, struct request *request) {
  const int *a = request->arguments;
  int mask = (int)~process->mask;
  switch (request->number) {
    case SYS_open: return open_file(process, request, AT_FDCWD, a[1], (mode_t)a[2]);
    case SYS_openat: return open_file(process, request, a[0], a[2], (mode_t)a[3]);
    case SYS_statx: return status_of(process, request);
    case SYS_access: return ask(process, request, FS_ACCESS, AT_FDCWD, a[1], 0);
    case SYS_faccessat:
    case SYS_faccessat2: return ask(process, request, FS_ACCESS, a[0], a[2], 0);
    case SYS_mkdir: return ask(process, request, FS_MKDIR, AT_FDCWD, a[1] & 01777 & mask, 0);
    case SYS_mkdirat: return ask(process, request, FS_MKDIR, a[0], a[2] & 01777 & mask, 0);
    case SYS_rmdir: return ask(process, request, FS_REMOVE, AT_FDCWD, 1, 0);
    case SYS_unlink: return ask(process, request, FS_REMOVE, AT_FDCWD, 0, 0);
    case SYS_unlinkat: return ask(process, request, FS_REMOVE, a[0], (a[2] & AT_REMOVEDIR) != 0, 0);
    case SYS_readlink: return ask(process, request, FS_READLINK, AT_FDCWD, a[2], 0);
    case SYS_readlinkat: return ask(process, request, FS_READLINK, a[0], a[3], 0);
    case SYS_chmod: return ask(process, request, FS_CHMOD, AT_FDCWD, a[1], 0);
    case SYS_fchmodat: return ask(process, request, FS_CHMOD, a[0], a[2], 0);
    case SYS_truncate64:
      if (a[2] || a[1] < 0) return a[2] < 0 ? -EINVAL : -EFBIG;
      return ask(process, request, FS_TRUNCATE, AT_FDCWD, a[1], 0);
    case SYS_chdir: return change_to(process, request);
    case SYS_umount2: return ask(process, request, FS_UNMOUNT, AT_FDCWD, 0, 0);
    default: return -ENOSYS;
  }
}

int is_name_call(int number) {
  switch (number) {
    case SYS_open:
    case SYS_openat:
    case SYS_statx:
    case SYS_access:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_rmdir:
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_readlink:
    case SYS_readlinkat:
    case SYS_chmod:
    case SYS_fchmodat:
    case SYS_truncate64:
    case SYS_chdir:
    case SYS_umount2:
    case SYS_rename:
    case SYS_renameat:
    case SYS_link:
    case SYS_linkat:
    case SYS_symlink:
    case SYS_symlinkat:
    case SYS_mount:
    case SYS_getcwd:
    case SYS_sync: return 1;
    default: return 0;
  }
}

long name_call(struct process *process, struct request *request) {
  const int *a = request->arguments;
  switch (request->number) {
    case SYS_sync: return fs_call(&(struct fs_request){.operation = FS_SYNC});
    case SYS_getcwd: request->out_room = MIN(request->out_room, (size_t)a[1]);
      return ask(process, request, FS_NAME, AT_FDCWD, 0, 0);
    case SYS_rename: return two(process, request, FS_RENAME, AT_FDCWD, AT_FDCWD);
    case SYS_renameat: return two(process, request, FS_RENAME, a[0], a[2]);
    case SYS_link: return two(process, request, FS_LINK, AT_FDCWD, AT_FDCWD);
    case SYS_linkat: return two(process, request, FS_LINK, a[0], a[2]);
    case SYS_symlink:
      return has_strings(request, 2) ? ask(process, request, FS_SYMLINK, AT_FDCWD, 0, 0) : -EINVAL;
    case SYS_symlinkat:
      return has_strings(request, 2) ? ask(process, request, FS_SYMLINK, a[1], 0, 0) : -EINVAL;
    case SYS_mount: return mount_call(process, request);
    default: return has_strings(request, 1) ? one(process, request) : -EINVAL;
  }
}
