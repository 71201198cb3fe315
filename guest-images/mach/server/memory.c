// SPDX-License-Identifier: MIT
/*
 * The file system in memory. Directories are lists. Each file occupies neighbouring pages, so that
 * the kernel can map the file. If a program maps a file for writing, the file moves to memory that
 * several tasks share (pager.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fs.h"

#define SIZE_MAX_BYTES (1u << 28)
#define SHARED_ROOM (16u << 20) /* largest size of a file that a program has mapped */
#define LOOK_EVERY (256u << 10) /* bytes of new pages between two checks of the free memory */
/* Memory that stays free for programs. If less than 4.8 MB are free (vm_page: low, twice 600
 * pages), the kernel tries to page out, but the kernel has no swap area.
 */
#define MEMORY_KEPT (6u << 20)

struct entry {
  struct entry *next;
  struct node *node;
  unsigned place, hash;
  char name[];
};

static unsigned last_number;
static const struct file_system memory_system;

static unsigned hash_of(const char *name, size_t length) {
  unsigned hash = (unsigned)length;
  while (length--) hash = hash * 31 + (unsigned char)*name++;
  return hash;
}

static struct entry **entry_of(struct node *directory, const char *name, size_t length) {
  unsigned hash = hash_of(name, length);
  struct entry **place = &directory->memory.entries;
  for (; *place; place = &(*place)->next)
    if ((*place)->hash == hash && memcmp((*place)->name, name, length) == 0 &&
        (*place)->name[length] == '\0')
      return place;
  return NULL;
}

static int find(struct node *directory, const char *name, size_t length, struct node **found) {
  struct entry **place = entry_of(directory, name, length);
  if (!place) return -ENOENT;
  *found = (*place)->node;
  node_hold(*found);
  return 0;
}

static int make(struct node *directory, enum kind kind, mode_t mode, struct node **made) {
  (void)directory;
  struct node *node = node_new(&memory_system, kind, mode);
  if (!node) return -ENOSPC;
  node->number = ++last_number;
  *made = node;
  return 0;
}

/* The directory holds a reference to each entry's node. */
static int enter(struct node *directory, const char *name, size_t length, struct node *node) {
  struct entry *entry = malloc(sizeof(*entry) + length + 1);
  if (!entry) return -ENOSPC;
  memcpy(entry->name, name, length);
  entry->name[length] = '\0';
  entry->hash = hash_of(name, length);
  entry->place = ++directory->memory.last_place;
  entry->node = node;
  entry->next = NULL;
  if (directory->memory.entries) directory->memory.last_entry->next = entry;
  else directory->memory.entries = entry;
  directory->memory.last_entry = entry;
  node_hold(node);
  node->links++;
  if (node->kind == DIRECTORY && !node->memory.parent) {
    node->memory.parent = directory;
    node->links++;
    directory->links++;
  }
  directory->changed = now_seconds();
  return 0;
}

static int take_out(struct node *directory, const char *name, size_t length, struct node *node) {
  struct entry **place = entry_of(directory, name, length), *entry = place ? *place : NULL;
  if (!entry || entry->node != node) return -ENOENT;
  *place = entry->next;
  if (directory->memory.last_entry == entry) {
    struct entry *last = directory->memory.entries;
    while (last && last->next) last = last->next;
    directory->memory.last_entry = last;
  }
  free(entry);
  directory->changed = now_seconds();
  node->links--;
  if (node->kind == DIRECTORY && node->memory.parent == directory && node->links == 1) {
    node->links--;
    directory->links--;
    node->memory.parent = NULL;
  }
  node_release(node);
  return 0;
}

static void moved(struct node *directory, struct node *from, struct node *to) {
  directory->memory.parent = to;
  from->links--;
  to->links++;
}

static int list(struct node *directory, unsigned from, struct listing *entry) {
  const struct node *node = directory;
  const char *name = ".";
  entry->next = from + 1;
  if (from == 1) {
    name = "..";
    if (directory->memory.parent) node = directory->memory.parent;
  }
  if (from >= 2) {
    const struct entry *one = directory->memory.entries;
    while (one && one->place + 1 < from) one = one->next;
    if (!one) return 0;
    name = one->name;
    node = one->node;
    entry->next = one->place + 2;
  }
  strcpy(entry->name, name);
  entry->number = node->number;
  entry->kind = node->kind;
  return 1;
}

static int parent(struct node *directory, struct node **found) {
  *found = directory->memory.parent ? directory->memory.parent : directory;
  node_hold(*found);
  return 0;
}

static long read_bytes(struct node *node, uint32_t offset, char *bytes, size_t size) {
  if (offset >= node->size) return 0;
  if (size > node->size - offset) size = node->size - offset;
  memcpy(bytes, node->memory.bytes + offset, size);
  return (long)size;
}

static size_t unwritten; /* bytes that files have reserved, but that have no page yet */

static size_t spare(const struct node *node) {
  return node->memory.shared ? 0 : node->memory.capacity - node->size;
}

/* Whether the machine has this amount of free memory for files. The kernel allocates a page at the
 * first write to it. If there is no free memory, the writer waits for ever. For this reason,
 * reserved bytes count as used. To save calls to the kernel, the function checks the free memory
 * only once for each LOOK_EVERY bytes.
 */
static int is_memory(size_t more) {
  static size_t unseen = LOOK_EVERY;
  unseen += more;
  if (unseen < LOOK_EVERY) return 1;
  if (memory_left() < (uint64_t)more + unwritten + MEMORY_KEPT) return 0;
  unseen = 0;
  return 1;
}

/* Make room for `size` bytes. The present contents move to the new memory. */
static int make_room(struct node *node, uint32_t size) {
  size_t capacity = node->memory.capacity ? node->memory.capacity : PAGE;
  if (node->memory.shared) return -ENOSPC; /* other tasks have mapped its pages */
  while (capacity < size) capacity *= 2;
  char *bytes = is_memory(capacity) ? pages_new(capacity) : NULL;
  if (!bytes) return -ENOSPC;
  if (node->size) memcpy(bytes, node->memory.bytes, node->size);
  pages_free(node->memory.bytes, node->memory.capacity);
  node->memory.bytes = bytes;
  node->memory.capacity = capacity;
  return 0;
}

/* Make the file `size` bytes long. New bytes are zero. */
static int resize(struct node *node, uint32_t size) {
  if (size > SIZE_MAX_BYTES) return -EFBIG;
  size_t before = spare(node);
  int error = size > node->memory.capacity ? make_room(node, size) : 0;
  if (error) return error;
  if (size < node->size) memset(node->memory.bytes + size, 0, node->size - size);
  node->size = size;
  unwritten += spare(node) - before;
  return 0;
}

static long write_bytes(struct node *node, uint32_t offset, const char *bytes, size_t size) {
  uint64_t end = (uint64_t)offset + size;
  if (end > SIZE_MAX_BYTES) return -EFBIG;
  int error = end > node->size ? resize(node, (uint32_t)end) : 0;
  if (error) return error;
  memcpy(node->memory.bytes + offset, bytes, size);
  node->changed = now_seconds();
  return (long)size;
}

static void nothing(struct node *node) { (void)node; }

static void drop(struct node *node) {
  unwritten -= spare(node);
  if (node->memory.shared) shared_free(node->memory.shared);
  else pages_free(node->memory.bytes, node->memory.capacity);
}

static const struct file_system memory_system = {
    .find = find, .make = make, .enter = enter, .remove = take_out, .list = list, .parent = parent,
    .moved = moved, .read = read_bytes, .write = write_bytes, .resize = resize, .changed = nothing,
    .flush = nothing, .drop = drop};

/* Move the file to memory that other tasks can map too. */
int memory_share(struct node *node, struct shared_memory **memory) {
  if (node->system != &memory_system) return -ENODEV;
  if (!node->memory.shared) {
    size_t room = node->memory.capacity > SHARED_ROOM ? node->memory.capacity : SHARED_ROOM;
    struct shared_memory *shared = shared_new(room);
    if (!shared) return -ENOMEM;
    if (node->size) memcpy(shared_bytes(shared), node->memory.bytes, node->size);
    unwritten -= spare(node);
    pages_free(node->memory.bytes, node->memory.capacity);
    node->memory.bytes = shared_bytes(shared);
    node->memory.capacity = room;
    node->memory.shared = shared;
  }
  *memory = node->memory.shared;
  return 0;
}

/* --- contents at the start -------------------------------------------------------------- */

struct node *memory_root(void) {
  struct node *node;
  if (make(NULL, DIRECTORY, S_IFDIR | 0755, &node)) panic("root", 0);
  node->links = 2;
  return node;
}

/* A number of the archive's header (cpio newc): eight hexadecimal digits. */
static size_t field(const char *header, int number) {
  char digits[9] = "";
  memcpy(digits, header + 6 + 8 * number, 8);
  return strtoul(digits, NULL, 16);
}

static struct node *make_file(const char *path, enum kind kind, mode_t mode) {
  struct fs_request request = {.operation = FS_OPEN, .in = path, .a = 0100 /* O_CREAT */,
                               .b = (int)mode};
  if (kind == DIRECTORY) {
    request.operation = FS_MKDIR;
    request.a = (int)mode;
  }
  long result = names_call(&request, root);
  if (result == -EEXIST) return NULL;
  if (result < 0) panic(path, (int)-result);
  return kind == DIRECTORY ? NULL : (struct node *)(uintptr_t)request.more;
}

static void device(const char *path, enum kind kind) {
  struct node *node = make_file(path, REGULAR, S_IFREG | 0666);
  node->kind = kind;
  node->mode = kind_mode(kind) | 0666;
  node_release(node);
}

static const char *const disks[] = {"/dev/hd0", "/dev/sd0"};

/* Unpack the archive of programs. A directory comes before its entries. */
void memory_unpack(const char *archive, size_t size) {
  for (const char *at = archive; at + 110 <= archive + size && memcmp(at, "070701", 6) == 0;) {
    size_t bytes = field(at, 6), name_length = field(at, 11);
    mode_t mode = (mode_t)field(at, 1);
    const char *name = at + 110, *content = at + ((110 + name_length + 3) & ~3u);
    if (strcmp(name, "TRAILER!!!") == 0) break;
    if (S_ISDIR(mode)) make_file(name, DIRECTORY, mode & 07777);
    if (S_ISREG(mode)) {
      struct node *node = make_file(name, REGULAR, mode);
      if (write_bytes(node, 0, content, bytes) != (long)bytes) panic("no memory for the archive", 0);
      node_release(node);
    }
    at = content + ((bytes + 3) & ~3u);
  }
  make_file("/dev", DIRECTORY, 0755);
  make_file("/mnt", DIRECTORY, 0755);
  device("/dev/console", CONSOLE);
  device("/dev/tty", CONSOLE);
  device("/dev/null", NULL_DEVICE);
  device("/dev/zero", ZERO_DEVICE);
  device("/dev/p5ctr", COUNTERS);
  for (size_t i = 0; i < sizeof(disks) / sizeof(*disks); i++) {
    struct disk *disk;
    if (disk_open(disks[i] + 5, &disk)) continue;
    disk_close(disk);
    device(disks[i], DISK);
  }
}
