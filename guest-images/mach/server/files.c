// SPDX-License-Identifier: MIT
/* This file carries out the requests to the file side, in the task that contains the file side. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fs.h"
#include "fs_side.h"

static struct node *node_of(int number) {
  return number ? (struct node *)(uintptr_t)number : root;
}

/* Directory entries in the format of getdents64(), from position `a` on. */
static long list_directory(struct fs_request *request, struct node *directory) {
  size_t used = 0;
  unsigned at = (unsigned)request->a;
  int more = 0;
  if (directory->kind != DIRECTORY) return -ENOTDIR;
  for (;;) {
    struct listing entry;
    if ((more = directory->system->list(directory, at, &entry)) <= 0) break;
    struct dirent *out = (struct dirent *)(request->out + used);
    size_t size = (offsetof(struct dirent, d_name) + strlen(entry.name) + 1 + 7) & ~7u;
    if (used + size > request->out_room) break;
    out->d_ino = entry.number;
    out->d_off = entry.next;
    out->d_reclen = (unsigned short)size;
    out->d_type = (unsigned char)(kind_mode(entry.kind) >> 12);
    strcpy(out->d_name, entry.name);
    used += size;
    at = entry.next;
  }
  request->more = (int)at;
  request->out_length = used;
  if (more < 0 && !used) return more;
  return used || !more ? (long)used : -EINVAL;
}

static long write_file(struct fs_request *request, struct node *node) {
  uint32_t offset = request->a < 0 ? node->size : (uint32_t)request->a;
  if (offset + (uint64_t)request->in_length > FILE_MAX) return -EFBIG;
  long count = node->system->write(node, offset, request->in, request->in_length);
  request->more = (int)(offset + (count > 0 ? (uint32_t)count : 0));
  return count;
}

static long read_file(struct fs_request *request, struct node *node) {
  size_t wanted = (size_t)request->b < request->out_room ? (size_t)request->b : request->out_room;
  if (node->kind == DIRECTORY) return -EISDIR;
  long count = node->system->read(node, (uint32_t)request->a, request->out, wanted);
  request->out_length = count > 0 ? (size_t)count : 0;
  return count;
}

static long debug(struct fs_request *request) {
  struct fs_debug *out = (struct fs_debug *)request->out;
  *out = (struct fs_debug){node_count, bytes_held(), ports_held()};
  request->out_length = sizeof(*out);
  return 0;
}

long fs_carry_out(struct fs_request *request) {
  struct node *node = node_of(request->node);
  switch (request->operation) {
    case FS_READ: return read_file(request, node);
    case FS_WRITE: return write_file(request, node);
    case FS_RESIZE: return node->system->resize(node, (uint32_t)request->a);
    case FS_SIZE: return (long)node->size;
    case FS_LIST: return list_directory(request, node);
    case FS_HOLD: node_hold(node); return 0;
    case FS_RELEASE: node_release(node); return 0;
    case FS_FLUSH: node->system->flush(node); return 0;
    case FS_SYNC: ext2_sync(); return 0;
    case FS_FORGET: ext2_forget(); return 0;
    case FS_DEBUG: return debug(request);
    default: return names_call(request, node);
  }
}

/* Pages of a file: a file in memory gives its own pages, and any other file gives a copy. */
long fs_image_here(int number, uint32_t offset, uint32_t size, struct image *image) {
  struct node *node = node_of(number);
  *image = (struct image){0};
  if (node->kind != REGULAR) return -EACCES;
  if (offset >= node->size) return 0;
  image->size = size < node->size - offset ? size : node->size - offset;
  if (node->system == root->system) {
    image->bytes = node->memory.bytes + offset;
    return 0;
  }
  image->copy = 1;
  if (!(image->bytes = pages_new(image->size))) return -ENOMEM;
  long count = node->system->read(node, offset, image->bytes, image->size);
  if (count == (long)image->size) return 0;
  pages_free(image->bytes, image->size);
  return count < 0 ? count : -EIO;
}

long fs_share_here(int number, mach_port_t task, vm_offset_t address, uint32_t length,
                   uint32_t offset, int protection) {
  struct shared_memory *memory;
  int error = memory_share(node_of(number), &memory);
  if (error) return error;
  return shared_map(memory, task, &address, length, offset, 0, protection) ? -ENOMEM : 0;
}

void files_start(const char *archive, size_t size) {
  root = memory_root();
  memory_unpack(archive, size);
}
