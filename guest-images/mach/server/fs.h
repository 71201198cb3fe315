/* SPDX-License-Identifier: MIT */
/*
 * The file side of the UNIX server: its requests, and the declarations that its source files share.
 * On guest mach the file side is part of the single server, and fs_call() calls its functions
 * directly. On mach-split the file side is a separate task, and fs_call() sends a message
 * (split.c).
 */
#ifndef P5LAB_FS_H
#define P5LAB_FS_H

#include <mach/mach_types.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE 4096u
#define PAGES(size) (((size) + PAGE - 1) & ~(PAGE - 1))
#define NAME_MAX_BYTES 255
#define PATH_MAX_BYTES 1024
#define FILE_MAX 0x7FFFFFFFll
#define FS_EXECUTE 0x40000000 /* FS_OPEN: executable files only */

enum kind { REGULAR, DIRECTORY, LINK, PIPE, SOCKET, CONSOLE, NULL_DEVICE, ZERO_DEVICE, COUNTERS, DISK };

/* --- requests --------------------------------------------------------------------------------- */

enum fs_operation {
  /* With a path in `in`, from directory `node` on: */
  FS_OPEN, /* flags, mode (a type in it makes a socket); answer: its kind, a fs_opened in `more` */
  FS_STATUS, /* flags; answer: a struct statx; an empty path is the node itself */
  FS_ACCESS, /* mode */
  FS_CHMOD,  /* mode */
  FS_MKDIR,  /* mode */
  FS_REMOVE, /* whether it is to be a directory */
  FS_READLINK,
  FS_TRUNCATE, /* size */
  FS_TIMES,    /* seconds */
  FS_SYMLINK,  /* the text, a NUL, the path */
  FS_RENAME,   /* two paths; directory of the second */
  FS_LINK,     /* two paths; directory of the second */
  FS_MOUNT,    /* path, a NUL, device, a NUL, type; flags */
  FS_UNMOUNT,
  /* On the node itself: */
  FS_HOLD,
  FS_RELEASE,
  FS_READ,   /* offset, size */
  FS_WRITE,  /* offset, or -1 for its end; `more`: the offset after the last written byte */
  FS_RESIZE, /* size */
  FS_SIZE,
  FS_LIST,  /* first position; `more`: next position */
  FS_NAME,  /* path of a directory, from the root */
  FS_IMAGE, /* offset, size; answer: its pages, which may change later (fs_image) */
  FS_FLUSH, /* write the dirty blocks of this file */
  /* On all files: */
  FS_SYNC,
  FS_FORGET, /* drop all clean blocks of the cache */
  FS_DEBUG,  /* struct fs_debug */
};

/* `node` identifies a file. 0 is the root. Only the file side interprets other values. */
struct fs_request {
  int operation, node, a, b;
  const char *in;
  size_t in_length;
  char *out;
  size_t out_room, out_length;
  int more;
  int may_replace; /* `out` is pages; the pages of the answer may replace them */
};

struct fs_debug {
  uint32_t nodes, bytes, ports; /* of the task: nodes and bytes in memory, names of ports */
};

/* Pages of a file to read. */
struct image {
  char *bytes;
  uint32_t size;
  int copy; /* a copy, not the file's own pages */
};

long fs_call(struct fs_request *request);
/* Get at most `size` bytes of the file from `offset` on. Free them with fs_image_free(). */
long fs_image(int node, uint32_t offset, uint32_t size, struct image *image);
void fs_image_free(struct image *image);
/* Map the file into a task. The task and the file then share their writes. */
long fs_share(int node, mach_port_t task, vm_offset_t address, uint32_t length, uint32_t offset,
              int protection);

/* --- inside the file side --------------------------------------------------------------------- */

struct node;

struct listing {
  char name[NAME_MAX_BYTES + 1];
  unsigned number;
  enum kind kind;
  unsigned next; /* position of the next entry */
};

/* The operations of a file system. Names are never `.` or `..`. Results are 0 or -errno. `held`
 * means that the caller gets a reference to the returned node.
 */
struct file_system {
  int (*find)(struct node *directory, const char *name, size_t length, struct node **found); /* held */
  int (*make)(struct node *directory, enum kind kind, mode_t mode, struct node **made);      /* held */
  int (*enter)(struct node *directory, const char *name, size_t length, struct node *node);
  int (*remove)(struct node *directory, const char *name, size_t length, struct node *node);
  int (*list)(struct node *directory, unsigned from, struct listing *entry); /* 0: no more */
  int (*parent)(struct node *directory, struct node **found); /* held */
  void (*moved)(struct node *directory, struct node *from, struct node *to); /* a directory moves */
  long (*read)(struct node *node, uint32_t offset, char *bytes, size_t size);
  long (*write)(struct node *node, uint32_t offset, const char *bytes, size_t size);
  int (*resize)(struct node *node, uint32_t size);
  void (*changed)(struct node *node); /* mode, links or times */
  void (*flush)(struct node *node);
  void (*drop)(struct node *node); /* the last reference is gone */
};

struct node {
  enum kind kind;
  mode_t mode;
  unsigned number, references, links;
  uint32_t size;
  int64_t changed; /* seconds */
  const struct file_system *system;
  struct node *mounted, *covers; /* the root mounted on this node; the node that this root covers */
  union {
    struct { /* in memory */
      char *bytes;
      size_t capacity;
      struct entry *entries, *last_entry;
      unsigned last_place;
      struct node *parent;
      struct shared_memory *shared;
    } memory;
    struct { /* on a disk */
      struct volume *volume;
      struct node *next;
      uint32_t blocks[15], sectors, flags, ahead;
    } disk;
  };
};

extern struct node *root;
extern unsigned node_count;

struct node *node_new(const struct file_system *system, enum kind kind, mode_t mode);
void node_hold(struct node *node);
void node_release(struct node *node);
long names_call(struct fs_request *request, struct node *from);
mode_t kind_mode(enum kind kind);
enum kind mode_kind(mode_t mode);

struct node *memory_root(void);
void memory_unpack(const char *archive, size_t size);
int memory_share(struct node *node, struct shared_memory **memory);

long ext2_mount(const char *device, int read_only, struct node **root_node);
long ext2_unmount(struct node *root_node);
void ext2_sync(void);
void ext2_forget(void);

/* --- disks and their cache -------------------------------------------------------------------- */

struct disk {
  mach_port_t port;
  uint32_t sectors;
};

struct buffer {
  struct disk *disk;
  uint32_t block;
  char *bytes;
  int used, dirty, valid;
  struct buffer *chain, *newer, *older;
};

long disk_open(const char *name, struct disk **disk);
void disk_close(struct disk *disk);
int disk_read(struct disk *disk, uint32_t sector, char *bytes, uint32_t size);
int disk_write(struct disk *disk, uint32_t sector, const char *bytes, uint32_t size);

int cache_start(struct disk *disk, uint32_t block_size);
struct buffer *cache_get(struct disk *disk, uint32_t block, int read);
int cache_has(struct disk *disk, uint32_t block);
int cache_fill(struct disk *disk, uint32_t block, uint32_t count);
void cache_dirty(struct buffer *buffer);
int cache_write(struct disk *disk);
void cache_drop(struct disk *disk, int all);

/* --- memory of several tasks (pager.c) -------------------------------------------------------- */

struct shared_memory;

struct shared_memory *shared_new(size_t size);
char *shared_bytes(struct shared_memory *memory); /* in this task */
int shared_map(struct shared_memory *memory, mach_port_t task, vm_offset_t *address, size_t size,
               size_t offset, int anywhere, int protection);
void shared_free(struct shared_memory *memory);

/* --- helpers of both sides -------------------------------------------------------------------- */

extern mach_port_t host_port, device_port;

void *pages_new(size_t size);
void pages_free(void *pages, size_t size);
uint64_t memory_left(void); /* free memory of the machine, in bytes */
unsigned ports_held(void); /* number of port names of this task */
unsigned bytes_held(void); /* bytes of its address space */
uint64_t now_ms(void);
int64_t now_seconds(void);
_Noreturn void panic(const char *what, int status);

#endif
