// SPDX-License-Identifier: MIT
/* The file system in memory: directories as lists, files as runs of pages; no links. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server.h"

struct inode *root;
static unsigned last_number;

struct inode *inode_new(enum kind kind, mode_t mode) {
  struct inode *inode = calloc(1, sizeof(*inode));
  if (!inode) return NULL;
  inode->kind = kind;
  inode->mode = mode;
  inode->number = ++last_number;
  inode->references = 1;
  inode->changed = now_seconds();
  return inode;
}

void inode_hold(struct inode *inode) { inode->references++; }

void inode_release(struct inode *inode) {
  if (--inode->references) return;
  pages_free(inode->bytes, inode->capacity);
  if (inode->pipe) {
    pages_free(inode->pipe->bytes, 65536);
    free(inode->pipe);
  }
  free(inode->name);
  free(inode);
}

/* Enter `inode`, whose reference the directory takes over, under a name that is not there yet. */
int inode_link(struct inode *directory, const char *name, size_t length, struct inode *inode) {
  if (length > NAME_MAX_BYTES) return -ENAMETOOLONG;
  if (!(inode->name = strndup(name, length))) return -ENOSPC;
  inode->parent = directory;
  inode->next = directory->children;
  directory->children = inode;
  directory->changed = inode->changed;
  return 0;
}

void inode_unlink(struct inode *inode) {
  struct inode **place = &inode->parent->children;
  while (*place != inode) place = &(*place)->next;
  *place = inode->next;
  inode->parent->changed = now_seconds();
  inode->parent = NULL;
  inode_release(inode);
}

/* Make the file `size` bytes long; what it grows by is zero. */
int inode_resize(struct inode *inode, uint64_t size) {
  if (size > 1u << 28) return -EFBIG;
  if (size > inode->capacity) {
    size_t capacity = inode->capacity ? inode->capacity : PAGE;
    while (capacity < size) capacity *= 2;
    char *bytes = pages_new(capacity);
    if (!bytes) return -ENOSPC;
    if (inode->size) memcpy(bytes, inode->bytes, inode->size);
    pages_free(inode->bytes, inode->capacity);
    inode->bytes = bytes;
    inode->capacity = capacity;
  } else if (size < inode->size) {
    memset(inode->bytes + size, 0, (size_t)(inode->size - size));
  }
  inode->size = size;
  return 0;
}

static struct inode *child(const struct inode *directory, const char *name, size_t length) {
  for (struct inode *one = directory->children; one; one = one->next)
    if (strncmp(one->name, name, length) == 0 && one->name[length] == '\0') return one;
  return NULL;
}

int inode_find(struct inode *from, const char *path, struct inode **found, struct inode **directory,
               const char **last, size_t *last_length) {
  struct inode *at = *path == '/' ? root : from;
  if (!*path) return -ENOENT;
  if (directory) *directory = NULL;
  while (*path == '/') path++;
  while (*path) {
    size_t length = strcspn(path, "/");
    const char *rest = path + length;
    while (*rest == '/') rest++;
    if (at->kind != DIRECTORY) return -ENOTDIR;
    if (length > NAME_MAX_BYTES) return -ENAMETOOLONG;
    if (last && !*rest) {
      *directory = at;
      *last = path;
      *last_length = length;
    }
    struct inode *next = at;
    if (length == 2 && memcmp(path, "..", 2) == 0) next = at->parent ? at->parent : at;
    else if (length != 1 || *path != '.') next = child(at, path, length);
    if (!next && (*rest || !last)) return -ENOENT;
    if (next && path[length] == '/' && next->kind != DIRECTORY) return -ENOTDIR;
    at = next;
    path = rest;
  }
  *found = at;
  return 0;
}

/* --- what is there at the start -------------------------------------------------------------- */

/* A number of the archive's header (cpio newc): eight hexadecimal digits. */
static size_t field(const char *header, int number) {
  char digits[9] = "";
  memcpy(digits, header + 6 + 8 * number, 8);
  return strtoul(digits, NULL, 16);
}

/* Unpack a file of the archive; directories on the way to it are in the archive before it. */
static void unpack(const char *name, mode_t mode, const char *bytes, size_t size) {
  struct inode *found, *directory;
  const char *last;
  size_t length;
  if (inode_find(root, name, &found, &directory, &last, &length) || found) return;
  enum kind kind = S_ISDIR(mode) ? DIRECTORY : REGULAR;
  if (kind == REGULAR && !S_ISREG(mode)) return;
  struct inode *inode = inode_new(kind, mode);
  if (!inode || inode_link(directory, last, length, inode) || inode_resize(inode, size))
    panic("no memory for the archive", 0);
  if (size) memcpy(inode->bytes, bytes, size);
}

static void device(const char *name, enum kind kind) {
  struct inode *found, *directory;
  const char *last;
  size_t length;
  if (inode_find(root, name, &found, &directory, &last, &length) || found) return;
  struct inode *inode = inode_new(kind, S_IFCHR | 0666);
  if (!inode || inode_link(directory, last, length, inode)) panic(name, 0);
}

void files_start(const char *archive, size_t size) {
  root = inode_new(DIRECTORY, S_IFDIR | 0755);
  for (const char *at = archive; at + 110 <= archive + size && memcmp(at, "070701", 6) == 0;) {
    size_t bytes = field(at, 6), name_length = field(at, 11);
    const char *name = at + 110, *content = at + ((110 + name_length + 3) & ~3u);
    if (strcmp(name, "TRAILER!!!") == 0) break;
    unpack(name, (mode_t)field(at, 1), content, bytes);
    at = content + ((bytes + 3) & ~3u);
  }
  device("/dev/console", CONSOLE);
  device("/dev/null", NULL_DEVICE);
  device("/dev/zero", ZERO_DEVICE);
  device("/dev/p5ctr", COUNTERS);
}
