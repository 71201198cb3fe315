// SPDX-License-Identifier: MIT
/* Names: paths through all file systems, and the calls that use them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "fs.h"

#define LINKS_MAX 8 /* symbolic links on one path */
#define WORK_MAX (2 * PATH_MAX_BYTES)

struct node *root;
unsigned node_count;

struct node *node_new(const struct file_system *system, enum kind kind, mode_t mode) {
  struct node *node = calloc(1, sizeof(*node));
  if (!node) return NULL;
  node_count++;
  node->system = system;
  node->kind = kind;
  node->mode = mode;
  node->references = 1;
  node->changed = now_seconds();
  return node;
}

void node_hold(struct node *node) { node->references++; }

void node_release(struct node *node) {
  if (--node->references) return;
  node->system->drop(node);
  node_count--;
  free(node);
}

mode_t kind_mode(enum kind kind) {
  static const mode_t modes[] = {S_IFREG, S_IFDIR, S_IFLNK, S_IFIFO, S_IFSOCK, S_IFCHR};
  return kind < CONSOLE ? modes[kind] : kind == DISK ? S_IFBLK : S_IFCHR;
}

enum kind mode_kind(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR: return DIRECTORY;
    case S_IFLNK: return LINK;
    case S_IFIFO: return PIPE;
    case S_IFSOCK: return SOCKET;
    case S_IFBLK: return DISK;
    case S_IFCHR: return NULL_DEVICE;
    default: return REGULAR;
  }
}

/* --- finding ---------------------------------------------------------------------------------- */

/* The result of a path walk. `directory` and `name` are the place of the last component. `node` is
 * this component, or NULL if the component does not exist. The result holds a reference to each of
 * the two nodes.
 */
struct place {
  struct node *node, *directory;
  char name[NAME_MAX_BYTES + 1];
  size_t length;
  int slash; /* the path ends in a slash */
};

static void leave(struct place *place) {
  if (place->node) node_release(place->node);
  if (place->directory) node_release(place->directory);
}

/* Replace *at by `node`, or by the root that is mounted on `node`. The caller's reference to `node`
 * passes to *at.
 */
static void step(struct node **at, struct node *node) {
  while (node->mounted) {
    struct node *above = node->mounted;
    node_hold(above);
    node_release(node);
    node = above;
  }
  node_release(*at);
  *at = node;
}

static int step_up(struct node **at) {
  while ((*at)->covers) {
    struct node *below = (*at)->covers;
    node_hold(below);
    node_release(*at);
    *at = below;
  }
  struct node *above;
  int error = (*at)->system->parent(*at, &above);
  if (!error) step(at, above);
  return error;
}

static int follow_link(struct node *link, char *path, const char *rest) {
  char text[WORK_MAX];
  long length = link->system->read(link, 0, text, PATH_MAX_BYTES);
  if (length < 0) return (int)length;
  if ((size_t)length + strlen(rest) + 2 > sizeof(text)) return -ENAMETOOLONG;
  text[length] = '\0';
  if (*rest) strcat(strcat(text, "/"), rest);
  strcpy(path, text);
  return length ? 0 : -ENOENT;
}

/* Walk the path. With `follow`, also follow a symbolic link at its end. */
static int find(struct node *from, const char *text, int follow, struct place *place) {
  char work[WORK_MAX], *path = work;
  int links = 0, error = 0;
  *place = (struct place){0};
  if (!*text) return -ENOENT;
  if (strlen(text) >= PATH_MAX_BYTES) return -ENAMETOOLONG;
  strcpy(path, text);
  struct node *at = *path == '/' ? root : from;
  node_hold(at);
  for (;;) {
    while (*path == '/') path++;
    if (!*path) break;
    size_t length = strcspn(path, "/");
    char *rest = path + length;
    while (*rest == '/') rest++;
    if (at->kind != DIRECTORY) error = -ENOTDIR;
    else if (length > NAME_MAX_BYTES) error = -ENAMETOOLONG;
    if (error) break;
    if (place->directory) node_release(place->directory);
    place->directory = NULL;
    int slash = path[length] == '/';
    if (length == 1 && *path == '.') {
      path = rest;
      continue;
    }
    if (length == 2 && path[0] == '.' && path[1] == '.') {
      if ((error = step_up(&at))) break;
      path = rest;
      continue;
    }
    place->directory = at;
    node_hold(at);
    memcpy(place->name, path, length);
    place->name[length] = '\0';
    place->length = length;
    place->slash = slash;
    struct node *found;
    error = at->system->find(at, path, length, &found);
    if (error == -ENOENT && !*rest) { /* the caller may create it */
      node_release(at);
      return 0;
    }
    if (error) break;
    if (found->kind == LINK && (*rest || follow || slash)) {
      char target[WORK_MAX];
      error = ++links > LINKS_MAX ? -ELOOP : follow_link(found, target, rest);
      node_release(found);
      if (error) break;
      strcpy(work, target);
      path = work;
      if (*path == '/') {
        node_hold(root);
        step(&at, root);
      }
      continue;
    }
    step(&at, found);
    if (slash && at->kind != DIRECTORY) error = -ENOTDIR;
    if (error) break;
    path = rest;
  }
  if (error) {
    node_release(at);
    leave(place);
    *place = (struct place){0};
    return error;
  }
  place->node = at;
  return 0;
}

/* Walk a path. Its last component must exist. */
static int find_node(struct node *from, const char *path, int follow, struct node **found) {
  struct place place;
  int error = find(from, path, follow, &place);
  if (error) return error;
  if (place.directory) node_release(place.directory);
  *found = place.node;
  return place.node ? 0 : -ENOENT;
}

/* --- making and removing ---------------------------------------------------------------------- */

/* Create the missing node, and add its name to the directory of this place. */
static int make(struct place *place, enum kind kind, mode_t mode) {
  struct node *directory = place->directory, *node;
  if (!directory) return -EEXIST;
  if (!directory->links) return -ENOENT; /* removed, with a process still in it */
  int error = directory->system->make(directory, kind, mode, &node);
  if (error) return error;
  error = directory->system->enter(directory, place->name, place->length, node);
  if (error) node_release(node);
  else place->node = node;
  return error;
}

static int is_empty(struct node *directory) {
  struct listing entry;
  unsigned from = 0;
  for (; directory->system->list(directory, from, &entry) > 0; from = entry.next)
    if (strcmp(entry.name, ".") != 0 && strcmp(entry.name, "..") != 0) return 0;
  return 1;
}

static int may_remove(const struct place *place, int directory) {
  struct node *node = place->node;
  if (!node) return -ENOENT;
  if (!place->directory || node->covers) return -EBUSY;
  if (directory && node->kind != DIRECTORY) return -ENOTDIR;
  if (!directory && node->kind == DIRECTORY) return -EISDIR;
  return node->kind == DIRECTORY && !is_empty(node) ? -ENOTEMPTY : 0;
}

static int remove_name(struct node *from, const char *path, int directory) {
  struct place place;
  int error = find(from, path, 0, &place);
  if (error) return error;
  error = may_remove(&place, directory);
  if (!error)
    error = place.directory->system->remove(place.directory, place.name, place.length, place.node);
  leave(&place);
  return error;
}

static int is_below(struct node *node, struct node *above) {
  struct node *at = node, *next;
  int found = 0;
  node_hold(at);
  while (!(found = at == above) && !at->covers) {
    if (at->system->parent(at, &next)) break;
    int top = next == at;
    node_release(at);
    at = next;
    if (top) break;
  }
  node_release(at);
  return found;
}

static int rename_to(struct place *old, struct place *new) {
  struct node *node = old->node, *other = new->node;
  int error = 0;
  if (!node) return -ENOENT;
  if (!old->directory || node->covers || !new->directory) return -EBUSY;
  if (node->system != new->directory->system) return -EXDEV;
  if (other == node) return 0;
  if (node->kind == DIRECTORY && is_below(new->directory, node)) return -EINVAL;
  if (new->slash && !other && node->kind != DIRECTORY) return -ENOTDIR;
  if (other && (error = may_remove(new, node->kind == DIRECTORY))) return error;
  const struct file_system *system = node->system;
  if (other && (error = system->remove(new->directory, new->name, new->length, other))) return error;
  if ((error = system->enter(new->directory, new->name, new->length, node))) return error;
  error = system->remove(old->directory, old->name, old->length, node);
  if (!error && node->kind == DIRECTORY && old->directory != new->directory)
    system->moved(node, old->directory, new->directory);
  return error;
}

/* Two paths, each from its directory. */
static int with_two(const struct fs_request *request, struct node *from, struct node *second) {
  struct place old, new;
  const char *path = request->in, *other = path + strlen(path) + 1;
  int link = request->operation == FS_LINK, error = find(from, path, 0, &old);
  if (error) return error;
  error = find(second, other, 0, &new);
  if (!error) {
    if (!link) error = rename_to(&old, &new);
    else if (!old.node) error = -ENOENT;
    else if (old.node->kind == DIRECTORY) error = -EPERM;
    else if (new.node) error = -EEXIST;
    else if (old.node->system != new.directory->system) error = -EXDEV;
    else error = new.directory->system->enter(new.directory, new.name, new.length, old.node);
    leave(&new);
  }
  leave(&old);
  return error;
}

static int symbolic_link(const struct fs_request *request, struct node *from) {
  const char *text = request->in, *path = text + strlen(text) + 1;
  struct place place;
  if (!*text) return -ENOENT;
  int error = find(from, path, 0, &place);
  if (error) return error;
  error = place.node ? -EEXIST : make(&place, LINK, S_IFLNK | 0777);
  if (!error) {
    long written = place.node->system->write(place.node, 0, text, strlen(text));
    if (written != (long)strlen(text)) error = written < 0 ? (int)written : -ENOSPC;
    if (error)
      place.directory->system->remove(place.directory, place.name, place.length, place.node);
  }
  leave(&place);
  return error;
}

/* Returns the kind. `more` receives the node, with a reference for the caller. */
static long open_node(struct fs_request *request, struct node *from) {
  int flags = request->a;
  mode_t mode = (mode_t)request->b;
  struct place place;
  int error = find(from, request->in, !(flags & (O_NOFOLLOW | O_EXCL)), &place);
  if (error) return error;
  struct node *node = place.node;
  if (node && (flags & O_CREAT) && (flags & O_EXCL)) error = -EEXIST;
  else if (!node && !(flags & O_CREAT)) error = -ENOENT;
  else if (!node && place.slash) error = -EISDIR;
  else if (!node) error = make(&place, mode_kind(mode), mode);
  node = place.node;
  if (!error && node->kind == LINK) error = -ELOOP;
  if (!error && node->kind == DIRECTORY && ((flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT))
    error = -EISDIR;
  if (!error && node->kind != DIRECTORY && flags & O_DIRECTORY) error = -ENOTDIR;
  if (!error && flags & FS_EXECUTE && (node->kind != REGULAR || !(node->mode & 0111)))
    error = -EACCES;
  if (!error && flags & O_TRUNC && node->kind == REGULAR && (flags & O_ACCMODE) != O_RDONLY)
    error = node->system->resize(node, 0);
  if (!error) {
    node_hold(node);
    request->more = (int)(uintptr_t)node;
  }
  leave(&place);
  return error ? error : (long)node->kind;
}

/* --- status of a file --------------------------------------------------------------- */

static long describe(const struct node *node, struct fs_request *request) {
  struct statx *out = (struct statx *)request->out;
  memset(out, 0, sizeof(*out));
  out->stx_mask = STATX_BASIC_STATS;
  out->stx_blksize = PAGE;
  out->stx_nlink = node->links;
  out->stx_mode = (uint16_t)node->mode;
  out->stx_ino = node->number;
  out->stx_size = node->size;
  out->stx_blocks = (node->size + 511) / 512;
  out->stx_atime.tv_sec = out->stx_mtime.tv_sec = out->stx_ctime.tv_sec = node->changed;
  out->stx_dev_minor = (uint32_t)(uintptr_t)node->system % 251 + 1;
  if (node->kind == CONSOLE) out->stx_rdev_major = 5, out->stx_rdev_minor = 1;
  request->out_length = sizeof(*out);
  return 0;
}

/* The path from the root to a directory, built from its end. */
static long name_of(struct fs_request *request, struct node *directory) {
  char path[PATH_MAX_BYTES];
  size_t at = sizeof(path) - 1;
  path[at] = '\0';
  struct node *node = directory;
  node_hold(node);
  while (node != root) {
    while (node->covers) {
      struct node *below = node->covers;
      node_hold(below);
      node_release(node);
      node = below;
    }
    struct node *above;
    struct listing entry;
    unsigned number = node->number;
    int error = node->system->parent(node, &above);
    if (error) {
      node_release(node);
      return error;
    }
    for (unsigned from = 0;; from = entry.next) {
      if ((error = above->system->list(above, from, &entry)) <= 0) break;
      if (entry.number == number && strcmp(entry.name, ".") && strcmp(entry.name, "..")) break;
    }
    node_release(node);
    node = above;
    size_t length = error > 0 ? strlen(entry.name) : 0;
    if (error <= 0 || length + 1 > at) {
      node_release(node);
      return error < 0 ? error : error ? -ENAMETOOLONG : -ENOENT;
    }
    at -= length;
    memcpy(path + at, entry.name, length);
    path[--at] = '/';
  }
  node_release(node);
  if (path[at] == '\0') path[--at] = '/';
  size_t length = sizeof(path) - at;
  if (length > request->out_room) return -ERANGE;
  memcpy(request->out, path + at, length);
  request->out_length = length;
  return (long)length;
}

static long mount_disk(struct fs_request *request, struct node *from) {
  const char *path = request->in, *device = path + strlen(path) + 1;
  const char *type = device + strlen(device) + 1;
  struct node *where, *top;
  if (strcmp(type, "ext2") != 0) return -ENODEV;
  if (strncmp(device, "/dev/", 5) == 0) device += 5;
  int error = find_node(from, path, 1, &where);
  if (error) return error;
  if (where->kind != DIRECTORY) error = -ENOTDIR;
  else if (where == root || where->covers) error = -EBUSY;
  else error = (int)ext2_mount(device, request->a & 1, &top);
  if (error) {
    node_release(where);
    return error;
  }
  where->mounted = top; /* the mount holds the two references from now on */
  top->covers = where;
  return 0;
}

static long unmount_disk(struct fs_request *request, struct node *from) {
  struct node *top;
  int error = find_node(from, request->in, 1, &top);
  if (error) return error;
  struct node *where = top->covers;
  node_release(top);
  if (!where) return -EINVAL;
  if ((error = (int)ext2_unmount(top))) return error;
  where->mounted = NULL;
  node_release(where);
  return 0;
}

static long on_node(struct fs_request *request, struct node *node) {
  char *out = request->out;
  switch (request->operation) {
    case FS_STATUS: return describe(node, request);
    case FS_ACCESS:
      return request->a & 1 && node->kind != DIRECTORY && !(node->mode & 0111) ? -EACCES : 0;
    case FS_CHMOD:
      node->mode = (node->mode & S_IFMT) | ((mode_t)request->a & 07777);
      node->system->changed(node);
      return 0;
    case FS_TIMES:
      node->changed = request->a;
      node->system->changed(node);
      return 0;
    case FS_TRUNCATE:
      if (node->kind != REGULAR) return node->kind == DIRECTORY ? -EISDIR : -EINVAL;
      return node->system->resize(node, (uint32_t)request->a);
    case FS_READLINK: {
      if (node->kind != LINK) return -EINVAL;
      size_t room = request->out_room < (size_t)request->a ? request->out_room : (size_t)request->a;
      long length = node->system->read(node, 0, out, room);
      if (length > 0) request->out_length = (size_t)length;
      return length;
    }
    default: return -ENOSYS;
  }
}

long names_call(struct fs_request *request, struct node *from) {
  struct node *node;
  int error;
  switch (request->operation) {
    case FS_OPEN: return open_node(request, from);
    case FS_MKDIR: {
      struct place place;
      if ((error = find(from, request->in, 0, &place))) return error;
      error = place.node ? -EEXIST : make(&place, DIRECTORY, S_IFDIR | (mode_t)request->a);
      leave(&place);
      return error;
    }
    case FS_REMOVE: return remove_name(from, request->in, request->a);
    case FS_RENAME:
    case FS_LINK:
      return with_two(request, from, request->a ? (struct node *)(uintptr_t)request->a : root);
    case FS_SYMLINK: return symbolic_link(request, from);
    case FS_NAME: return name_of(request, from);
    case FS_MOUNT: return mount_disk(request, from);
    case FS_UNMOUNT: return unmount_disk(request, from);
    default:
      if (!*request->in && (request->operation == FS_STATUS || request->operation == FS_CHMOD))
        return on_node(request, from);
  }
  int follow = request->operation != FS_READLINK &&
               !(request->operation == FS_STATUS && request->a & AT_SYMLINK_NOFOLLOW);
  if ((error = find_node(from, request->in, follow, &node))) return error;
  long result = on_node(request, node);
  node_release(node);
  return result;
}
