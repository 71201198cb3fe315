// SPDX-License-Identifier: MIT
/*
 * The file system ext2. The server accepts blocks of 1 to 4 KB and only these features, which
 * mke2fs selects: typed directory entries, sparse superblocks and large files. Files have at most 2
 * GB. All accesses go through the buffer cache. Each i-node in use has a node.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fs.h"

#define MAGIC 0xEF53
#define ROOT_NUMBER 2u
#define VALID 1u
#define INCOMPATIBLE 0x2u /* typed entries */
#define READ_ONLY 0x3u    /* sparse superblocks, large files */
#define INDEXED 0x1000u   /* a directory with a hash tree; we do not update the tree */
#define DIRECT 12
#define CLUSTER_BLOCKS 16

struct super_block {
  uint32_t inodes, blocks, reserved, free_blocks, free_inodes, first_block, block_shift, fragment_shift;
  uint32_t blocks_per_group, fragments_per_group, inodes_per_group, mounted, written;
  uint16_t mounts, most_mounts, magic, state, errors, minor;
  uint32_t checked, interval, system, revision;
  uint16_t user, group;
  uint32_t first_inode;
  uint16_t inode_size, own_group;
  uint32_t compatible, incompatible, read_only;
};

struct group {
  uint32_t block_map, inode_map, inode_table;
  uint16_t free_blocks, free_inodes, directories, pad;
  uint32_t reserved[3];
};

struct disk_inode {
  uint16_t mode, user;
  uint32_t size, accessed, created, changed, deleted;
  uint16_t group, links;
  uint32_t sectors, flags, own, blocks[15], generation, file_acl, size_high;
};

struct entry {
  uint32_t number;
  uint16_t length;
  uint8_t name_length, type;
  char name[];
};

struct volume {
  struct volume *next;
  struct disk *disk;
  uint32_t size, groups, first_block, blocks, blocks_per_group, inodes, inodes_per_group, inode_size;
  uint32_t first_inode;
  struct node *nodes; /* in use */
  int read_only;
};

static struct volume *volumes;
static const struct file_system ext2_system;

#define VOLUME(node) ((node)->disk.volume)

/* --- parts of the disk ------------------------------------------------------------------------ */

static struct buffer *block_of(struct volume *volume, uint32_t block) {
  return cache_get(volume->disk, block, 1);
}

static struct super_block *super_of(struct volume *volume, struct buffer **buffer) {
  *buffer = block_of(volume, volume->size == 1024 ? 1 : 0);
  return *buffer ? (struct super_block *)((*buffer)->bytes + (volume->size == 1024 ? 0 : 1024)) : NULL;
}

static struct group *group_of(struct volume *volume, uint32_t number, struct buffer **buffer) {
  uint32_t each = volume->size / sizeof(struct group);
  *buffer = block_of(volume, volume->first_block + 1 + number / each);
  return *buffer ? (struct group *)(*buffer)->bytes + number % each : NULL;
}

static struct disk_inode *inode_of(struct volume *volume, uint32_t number, struct buffer **buffer) {
  struct buffer *table;
  uint32_t index = (number - 1) % volume->inodes_per_group * volume->inode_size;
  struct group *group = group_of(volume, (number - 1) / volume->inodes_per_group, &table);
  *buffer = group ? block_of(volume, group->inode_table + index / volume->size) : NULL;
  return *buffer ? (struct disk_inode *)((*buffer)->bytes + index % volume->size) : NULL;
}

/* Update the counts of free blocks, free i-nodes and directories in the group and in the
 * superblock.
 */
static void account(struct volume *volume, uint32_t number, int blocks, int inodes, int directories) {
  struct buffer *buffer;
  struct group *group = group_of(volume, number, &buffer);
  if (group) {
    group->free_blocks = (uint16_t)(group->free_blocks + blocks);
    group->free_inodes = (uint16_t)(group->free_inodes + inodes);
    group->directories = (uint16_t)(group->directories + directories);
    cache_dirty(buffer);
  }
  struct super_block *super = super_of(volume, &buffer);
  if (!super) return;
  super->free_blocks += (uint32_t)blocks;
  super->free_inodes += (uint32_t)inodes;
  cache_dirty(buffer);
}

/* Set the first clear bit of a map. The search starts at `from` and wraps round. Returns the bit's
 * number, or -1.
 */
static long take_bit(struct buffer *map, uint32_t bits, uint32_t from) {
  unsigned char *bytes = (unsigned char *)map->bytes;
  for (uint32_t i = 0, bit = from; i < bits; i++, bit = bit + 1 < bits ? bit + 1 : 0) {
    if (bytes[bit / 8] & 1u << bit % 8) continue;
    bytes[bit / 8] |= (unsigned char)(1u << bit % 8);
    cache_dirty(map);
    return (long)bit;
  }
  return -1;
}

static void clear_bit(struct volume *volume, uint32_t map_block, uint32_t bit) {
  struct buffer *map = block_of(volume, map_block);
  if (!map) return;
  map->bytes[bit / 8] &= (char)~(1u << bit % 8);
  cache_dirty(map);
}

static uint32_t blocks_in(const struct volume *volume, uint32_t group) {
  uint32_t first = volume->first_block + group * volume->blocks_per_group;
  uint32_t rest = volume->blocks - first;
  return rest < volume->blocks_per_group ? rest : volume->blocks_per_group;
}

/* Take a free block near `goal`. Returns 0 if the disk is full. */
static uint32_t take_block(struct volume *volume, uint32_t goal) {
  if (goal < volume->first_block || goal >= volume->blocks) goal = volume->first_block;
  uint32_t begin = (goal - volume->first_block) / volume->blocks_per_group;
  uint32_t bit = (goal - volume->first_block) % volume->blocks_per_group;
  for (uint32_t i = 0; i < volume->groups; i++, bit = 0) {
    uint32_t number = (begin + i) % volume->groups;
    struct buffer *buffer;
    struct group *group = group_of(volume, number, &buffer);
    if (!group || !group->free_blocks) continue;
    struct buffer *map = block_of(volume, group->block_map);
    long found = map ? take_bit(map, blocks_in(volume, number), bit) : -1;
    if (found < 0) continue;
    account(volume, number, -1, 0, 0);
    return volume->first_block + number * volume->blocks_per_group + (uint32_t)found;
  }
  return 0;
}

static void free_block(struct volume *volume, uint32_t block) {
  uint32_t number = (block - volume->first_block) / volume->blocks_per_group;
  struct buffer *buffer;
  struct group *group = group_of(volume, number, &buffer);
  if (!group) return;
  clear_bit(volume, group->block_map, (block - volume->first_block) % volume->blocks_per_group);
  account(volume, number, 1, 0, 0);
}

/* --- i-nodes ---------------------------------------------------------------------------------- */

static void store(struct node *node) {
  struct buffer *buffer;
  struct disk_inode *inode = inode_of(VOLUME(node), node->number, &buffer);
  if (!inode) return;
  inode->mode = (uint16_t)node->mode;
  inode->size = node->size;
  inode->links = (uint16_t)node->links;
  inode->changed = inode->created = (uint32_t)node->changed;
  inode->sectors = node->disk.sectors;
  inode->flags = node->disk.flags;
  memcpy(inode->blocks, node->disk.blocks, sizeof(inode->blocks));
  cache_dirty(buffer);
}

static void touch(struct node *node) {
  node->changed = now_seconds();
  store(node);
}

static struct node *node_for(struct volume *volume, uint32_t number, mode_t mode) {
  struct node *node = node_new(&ext2_system, mode_kind(mode), mode);
  if (!node) return NULL;
  node->number = number;
  node->disk.volume = volume;
  node->disk.next = volume->nodes;
  volume->nodes = node;
  return node;
}

/* Get the node of an i-node, with a reference. */
static int fetch(struct volume *volume, uint32_t number, struct node **found) {
  for (struct node *one = volume->nodes; one; one = one->disk.next)
    if (one->number == number) {
      node_hold(one);
      *found = one;
      return 0;
    }
  struct buffer *buffer;
  if (!number || number > volume->inodes) return -EIO;
  struct disk_inode *inode = inode_of(volume, number, &buffer);
  if (!inode) return -EIO;
  struct node *node = node_for(volume, number, inode->mode);
  if (!node) return -ENOMEM;
  node->size = inode->size;
  node->links = inode->links;
  node->changed = inode->changed;
  node->disk.sectors = inode->sectors;
  node->disk.flags = inode->flags;
  memcpy(node->disk.blocks, inode->blocks, sizeof(inode->blocks));
  *found = node;
  return 0;
}

/* Choose the group for a new i-node: the group of its directory. A new directory goes to the
 * emptiest group.
 */
static uint32_t group_for(struct volume *volume, const struct node *directory, enum kind kind) {
  uint32_t best = (directory->number - 1) / volume->inodes_per_group, most = 0;
  for (uint32_t i = 0; kind == DIRECTORY && i < volume->groups; i++) {
    struct buffer *buffer;
    struct group *group = group_of(volume, i, &buffer);
    if (group && group->free_inodes && group->free_blocks > most) {
      most = group->free_blocks;
      best = i;
    }
  }
  return best;
}

static int make(struct node *directory, enum kind kind, mode_t mode, struct node **made) {
  struct volume *volume = VOLUME(directory);
  if (volume->read_only) return -EROFS;
  uint32_t begin = group_for(volume, directory, kind);
  for (uint32_t i = 0; i < volume->groups; i++) {
    uint32_t number = (begin + i) % volume->groups;
    struct buffer *buffer;
    struct group *group = group_of(volume, number, &buffer);
    if (!group || !group->free_inodes) continue;
    struct buffer *map = block_of(volume, group->inode_map);
    long bit = map ? take_bit(map, volume->inodes_per_group, 0) : -1;
    if (bit < 0) continue;
    uint32_t found = number * volume->inodes_per_group + (uint32_t)bit + 1;
    account(volume, number, 0, -1, kind == DIRECTORY);
    struct disk_inode *inode = inode_of(volume, found, &buffer);
    struct node *node = inode ? node_for(volume, found, kind_mode(kind) | (mode & 07777)) : NULL;
    if (!node) return -EIO;
    memset(inode, 0, sizeof(*inode));
    cache_dirty(buffer);
    *made = node;
    return 0;
  }
  return -ENOSPC;
}

static void free_inode(struct node *node) {
  struct volume *volume = VOLUME(node);
  uint32_t number = (node->number - 1) / volume->inodes_per_group;
  struct buffer *buffer;
  struct disk_inode *inode = inode_of(volume, node->number, &buffer);
  if (inode) {
    inode->links = 0;
    inode->deleted = (uint32_t)now_seconds();
    cache_dirty(buffer);
  }
  struct group *group = group_of(volume, number, &buffer);
  if (!group) return;
  clear_bit(volume, group->inode_map, (node->number - 1) % volume->inodes_per_group);
  account(volume, number, 0, 1, node->kind == DIRECTORY ? -1 : 0);
}

/* --- blocks of a file ------------------------------------------------------------------------- */

/* Put a new block of zeros into *slot. Returns 0 if the disk is full. */
static uint32_t grow(struct node *node, uint32_t *slot, uint32_t goal) {
  struct volume *volume = VOLUME(node);
  uint32_t block = take_block(volume, goal);
  struct buffer *buffer = block ? cache_get(volume->disk, block, 0) : NULL;
  if (!buffer) return 0;
  memset(buffer->bytes, 0, volume->size);
  cache_dirty(buffer);
  node->disk.sectors += volume->size / 512;
  return *slot = block;
}

/* Find the disk block of the file's block `index`. Returns 0 for a hole. With `create`, the
 * function fills the hole, and 0 means that the disk is full.
 */
static uint32_t map_block(struct node *node, uint32_t index, int create) {
  struct volume *volume = VOLUME(node);
  uint32_t each = volume->size / 4, *slot, path[3];
  uint32_t goal = volume->first_block +
                  (node->number - 1) / volume->inodes_per_group * volume->blocks_per_group;
  int depth = 0;
  if (index < DIRECT) {
    slot = &node->disk.blocks[index];
    if (index && node->disk.blocks[index - 1]) goal = node->disk.blocks[index - 1] + 1;
    return *slot || !create ? *slot : grow(node, slot, goal);
  }
  index -= DIRECT;
  uint32_t span = each;
  for (depth = 1; depth <= 3 && index >= span; depth++) {
    index -= span;
    if ((uint64_t)span * each > UINT32_MAX) span = UINT32_MAX;
    else span *= each;
  }
  if (depth > 3) return 0;
  for (int i = depth - 1; i >= 0; i--, index /= each) path[i] = index % each;
  slot = &node->disk.blocks[DIRECT + depth - 1];
  uint32_t block = *slot;
  if (!block && (!create || !(block = grow(node, slot, node->disk.blocks[DIRECT - 1] + 1)))) return 0;
  for (int i = 0; i < depth; i++) {
    struct buffer *buffer = block_of(volume, block);
    if (!buffer) return 0;
    slot = (uint32_t *)buffer->bytes + path[i];
    if (!*slot && create) {
      uint32_t before = path[i] ? slot[-1] : block;
      uint32_t made = 0;
      if (!grow(node, &made, before + 1)) return 0;
      /* The buffer may have been replaced. */
      if (!(buffer = block_of(volume, block))) return 0;
      ((uint32_t *)buffer->bytes)[path[i]] = made;
      cache_dirty(buffer);
      block = made;
    } else {
      block = *slot;
    }
    if (!block) return 0;
  }
  return block;
}

/* Free all but the first `keep` blocks below a block of pointers. Returns whether the block of
 * pointers is then empty.
 */
static int cut(struct node *node, uint32_t block, int depth, uint64_t first, uint64_t keep) {
  struct volume *volume = VOLUME(node);
  uint32_t each = volume->size / 4, *copy = malloc(volume->size);
  struct buffer *buffer = block_of(volume, block);
  uint64_t span = 1;
  int left = 0, changed = 0;
  for (int i = 1; i < depth; i++) span *= each;
  if (!copy || !buffer) {
    free(copy);
    return 0;
  }
  memcpy(copy, buffer->bytes, volume->size);
  for (uint32_t i = 0; i < each; i++) {
    uint64_t begin = first + i * span;
    if (!copy[i]) continue;
    int gone = begin + span > keep;
    if (gone && depth > 1) gone = cut(node, copy[i], depth - 1, begin, keep);
    if (!gone) {
      left = 1;
      continue;
    }
    free_block(volume, copy[i]);
    node->disk.sectors -= volume->size / 512;
    copy[i] = 0;
    changed = 1;
  }
  if (changed && left && (buffer = block_of(volume, block))) {
    memcpy(buffer->bytes, copy, volume->size);
    cache_dirty(buffer);
  }
  free(copy);
  return !left;
}

static void cut_file(struct node *node, uint32_t keep) {
  struct volume *volume = VOLUME(node);
  uint64_t first = DIRECT, span = volume->size / 4;
  for (uint32_t i = 0; i < DIRECT + 3; i++) {
    uint32_t *slot = &node->disk.blocks[i];
    int gone = i < DIRECT ? i >= keep : 1;
    if (*slot && i >= DIRECT) gone = cut(node, *slot, (int)(i - DIRECT) + 1, first, keep);
    if (*slot && gone) {
      free_block(volume, *slot);
      node->disk.sectors -= volume->size / 512;
      *slot = 0;
    }
    if (i >= DIRECT) first += span, span *= volume->size / 4;
  }
}

/* A short symbolic link is in the place of the block numbers. */
static int is_inline(const struct node *node) { return node->kind == LINK && !node->disk.sectors; }

/* Read in one transfer the blocks that are neighbours on the disk and not in the cache. */
static void read_ahead(struct node *node, uint32_t index, uint32_t count) {
  struct volume *volume = VOLUME(node);
  uint32_t first = map_block(node, index, 0), run = 0;
  if (!first || cache_has(volume->disk, first)) return;
  for (; run < count && run < CLUSTER_BLOCKS; run++) {
    uint32_t block = run ? map_block(node, index + run, 0) : first;
    if (block != first + run || cache_has(volume->disk, block)) break;
  }
  if (run > 1) cache_fill(volume->disk, first, run);
}

static long read_bytes(struct node *node, uint32_t offset, char *bytes, size_t size) {
  struct volume *volume = VOLUME(node);
  if (offset >= node->size) return 0;
  if (size > node->size - offset) size = node->size - offset;
  if (is_inline(node)) {
    memcpy(bytes, (const char *)node->disk.blocks + offset, size);
    return (long)size;
  }
  uint32_t end = (node->size + volume->size - 1) / volume->size;
  for (size_t done = 0; done < size;) {
    uint32_t at = offset + (uint32_t)done, index = at / volume->size, within = at % volume->size;
    size_t part = volume->size - within;
    if (part > size - done) part = size - done;
    uint32_t wanted = (uint32_t)((within + size - done + volume->size - 1) / volume->size);
    /* For a sequential reader, read a cluster. */
    if (node->disk.ahead == index) wanted = CLUSTER_BLOCKS;
    read_ahead(node, index, wanted < end - index ? wanted : end - index);
    node->disk.ahead = index + 1;
    uint32_t block = map_block(node, index, 0);
    struct buffer *buffer = block ? block_of(volume, block) : NULL;
    if (block && !buffer) return done ? (long)done : -EIO;
    if (block) memcpy(bytes + done, buffer->bytes + within, part);
    else memset(bytes + done, 0, part);
    done += part;
  }
  return (long)size;
}

static long write_bytes(struct node *node, uint32_t offset, const char *bytes, size_t size) {
  struct volume *volume = VOLUME(node);
  size_t done = 0;
  if (volume->read_only) return -EROFS;
  if (node->kind == LINK && size < sizeof(node->disk.blocks)) {
    memcpy(node->disk.blocks, bytes, size);
    node->size = (uint32_t)size;
    touch(node);
    return (long)size;
  }
  while (done < size) {
    uint32_t at = offset + (uint32_t)done, within = at % volume->size;
    size_t part = volume->size - within;
    if (part > size - done) part = size - done;
    uint32_t block = map_block(node, at / volume->size, 1);
    struct buffer *buffer = block ? cache_get(volume->disk, block, part != volume->size) : NULL;
    if (!buffer) break;
    memcpy(buffer->bytes + within, bytes + done, part);
    cache_dirty(buffer);
    done += part;
    if (at + part > node->size) node->size = (uint32_t)(at + part);
  }
  touch(node);
  return done || !size ? (long)done : -ENOSPC;
}

static int resize(struct node *node, uint32_t size) {
  struct volume *volume = VOLUME(node);
  if (volume->read_only) return -EROFS;
  if (size < node->size && !is_inline(node)) {
    cut_file(node, (size + volume->size - 1) / volume->size);
    uint32_t within = size % volume->size, block = within ? map_block(node, size / volume->size, 0) : 0;
    struct buffer *buffer = block ? block_of(volume, block) : NULL;
    if (buffer) {
      memset(buffer->bytes + within, 0, volume->size - within);
      cache_dirty(buffer);
    }
  }
  node->size = size;
  touch(node);
  return 0;
}

/* --- directories ----------------------------------------------------------------------------- */

static uint8_t type_of(enum kind kind) {
  static const uint8_t types[] = {1, 2, 7, 5, 6, 3};
  return kind < CONSOLE ? types[kind] : kind == DISK ? 4 : 3;
}

static enum kind kind_of(uint8_t type) {
  static const enum kind kinds[] = {REGULAR, REGULAR, DIRECTORY, NULL_DEVICE, DISK, PIPE, SOCKET, LINK};
  return type < 8 ? kinds[type] : REGULAR;
}

static uint32_t room_of(size_t name_length) {
  return (uint32_t)(sizeof(struct entry) + name_length + 3) & ~3u;
}

/* Get the directory's block `index`, and check that its entries stay within it. */
static struct buffer *directory_block(struct node *directory, uint32_t index) {
  struct volume *volume = VOLUME(directory);
  uint32_t block = map_block(directory, index, 0);
  return block ? block_of(volume, block) : NULL;
}

static struct entry *entry_at(struct buffer *buffer, uint32_t at, uint32_t size) {
  struct entry *entry = (struct entry *)(buffer->bytes + at);
  if (at + sizeof(*entry) > size || entry->length < sizeof(*entry) || entry->length % 4 ||
      at + entry->length > size || room_of(entry->name_length) > entry->length)
    return NULL;
  return entry;
}

/* The place of a name: its buffer, its entry and the entry before it in the block. */
static int look_up(struct node *directory, const char *name, size_t length, struct buffer **buffer,
                   struct entry **found, struct entry **before) {
  uint32_t size = VOLUME(directory)->size;
  for (uint32_t index = 0; index < directory->size / size; index++) {
    if (!(*buffer = directory_block(directory, index))) return -EIO;
    *before = NULL;
    for (uint32_t at = 0; at < size;) {
      struct entry *entry = entry_at(*buffer, at, size);
      if (!entry) return -EIO;
      if (entry->number && entry->name_length == length && memcmp(entry->name, name, length) == 0) {
        *found = entry;
        return 0;
      }
      *before = entry;
      at += entry->length;
    }
  }
  return -ENOENT;
}

static int find(struct node *directory, const char *name, size_t length, struct node **found) {
  struct buffer *buffer;
  struct entry *entry, *before;
  int error = look_up(directory, name, length, &buffer, &entry, &before);
  return error ? error : fetch(VOLUME(directory), entry->number, found);
}

static void fill(struct entry *entry, uint32_t number, enum kind kind, const char *name, size_t length) {
  entry->number = number;
  entry->name_length = (uint8_t)length;
  entry->type = type_of(kind);
  memcpy(entry->name, name, length);
}

/* Add a name to the directory: in free space of a block, or at the end. */
static int add_name(struct node *directory, const char *name, size_t length, uint32_t number,
                    enum kind kind) {
  uint32_t size = VOLUME(directory)->size, needed = room_of(length);
  directory->disk.flags &= ~INDEXED;
  for (uint32_t index = 0; index < directory->size / size; index++) {
    struct buffer *buffer = directory_block(directory, index);
    if (!buffer) return -EIO;
    for (uint32_t at = 0; at < size;) {
      struct entry *entry = entry_at(buffer, at, size);
      if (!entry) return -EIO;
      uint32_t used = entry->number ? room_of(entry->name_length) : 0;
      if (entry->length >= used + needed) {
        if (used) {
          struct entry *next = (struct entry *)((char *)entry + used);
          next->length = (uint16_t)(entry->length - used);
          entry->length = (uint16_t)used;
          entry = next;
        }
        fill(entry, number, kind, name, length);
        cache_dirty(buffer);
        touch(directory);
        return 0;
      }
      at += entry->length;
    }
  }
  uint32_t block = map_block(directory, directory->size / size, 1);
  struct buffer *buffer = block ? block_of(VOLUME(directory), block) : NULL;
  if (!buffer) return -ENOSPC;
  struct entry *entry = (struct entry *)buffer->bytes;
  entry->length = (uint16_t)size;
  fill(entry, number, kind, name, length);
  cache_dirty(buffer);
  directory->size += size;
  touch(directory);
  return 0;
}

static int enter(struct node *directory, const char *name, size_t length, struct node *node) {
  int fresh = node->kind == DIRECTORY && !node->size, error = 0;
  if (VOLUME(directory)->read_only) return -EROFS;
  if (VOLUME(directory) != VOLUME(node)) return -EXDEV;
  if (fresh) {
    error = add_name(node, ".", 1, node->number, DIRECTORY);
    if (!error) error = add_name(node, "..", 2, directory->number, DIRECTORY);
  }
  if (!error) error = add_name(directory, name, length, node->number, node->kind);
  if (error) return error;
  if (fresh) {
    node->links = 1;
    directory->links++;
    store(directory);
  }
  node->links++;
  store(node);
  return 0;
}

static int take_out(struct node *directory, const char *name, size_t length, struct node *node) {
  struct buffer *buffer;
  struct entry *entry, *before;
  if (VOLUME(directory)->read_only) return -EROFS;
  int error = look_up(directory, name, length, &buffer, &entry, &before);
  if (error) return error;
  if (before) before->length = (uint16_t)(before->length + entry->length);
  else entry->number = 0;
  cache_dirty(buffer);
  touch(directory);
  node->links--;
  if (node->kind == DIRECTORY && node->links == 1) {
    node->links = 0;
    directory->links--;
    store(directory);
  }
  store(node);
  return 0;
}

static void moved(struct node *directory, struct node *from, struct node *to) {
  struct buffer *buffer;
  struct entry *entry, *before;
  if (look_up(directory, "..", 2, &buffer, &entry, &before)) return;
  entry->number = to->number;
  cache_dirty(buffer);
  from->links--;
  to->links++;
  store(from);
  store(to);
}

static int list(struct node *directory, unsigned from, struct listing *out) {
  uint32_t size = VOLUME(directory)->size;
  while (from < directory->size) {
    struct buffer *buffer = directory_block(directory, from / size);
    struct entry *entry = buffer ? entry_at(buffer, from % size, size) : NULL;
    if (!entry) return -EIO;
    from += entry->length;
    if (!entry->number) continue;
    memcpy(out->name, entry->name, entry->name_length);
    out->name[entry->name_length] = '\0';
    out->number = entry->number;
    out->kind = kind_of(entry->type);
    out->next = from;
    return 1;
  }
  return 0;
}

static int parent(struct node *directory, struct node **found) {
  return find(directory, "..", 2, found);
}

/* --- other operations ------------------------------------------------------------------------- */

static void flush(struct node *node) { cache_write(VOLUME(node)->disk); }

static void drop(struct node *node) {
  struct volume *volume = VOLUME(node);
  struct node **place = &volume->nodes;
  if (!node->links && !volume->read_only) {
    if (!is_inline(node)) resize(node, 0);
    free_inode(node);
  }
  while (*place != node) place = &(*place)->disk.next;
  *place = node->disk.next;
}

static const struct file_system ext2_system = {
    .find = find, .make = make, .enter = enter, .remove = take_out, .list = list, .parent = parent,
    .moved = moved, .read = read_bytes, .write = write_bytes, .resize = resize, .changed = store,
    .flush = flush, .drop = drop};

static int read_super(struct volume *volume) {
  union {
    struct super_block super;
    char bytes[1024];
  } u;
  if (disk_read(volume->disk, 2, u.bytes, sizeof(u.bytes))) return -EIO;
  const struct super_block *super = &u.super;
  if (super->magic != MAGIC || super->block_shift > 2 || !super->blocks_per_group ||
      !super->inodes_per_group)
    return -EINVAL;
  if (super->revision && (super->incompatible & ~INCOMPATIBLE)) return -EINVAL;
  if (super->revision && (super->read_only & ~READ_ONLY)) volume->read_only = 1;
  volume->size = 1024u << super->block_shift;
  volume->first_block = super->first_block;
  volume->blocks = super->blocks;
  volume->blocks_per_group = super->blocks_per_group;
  volume->inodes = super->inodes;
  volume->inodes_per_group = super->inodes_per_group;
  volume->inode_size = super->revision ? super->inode_size : 128;
  volume->groups = (volume->blocks - volume->first_block - 1) / volume->blocks_per_group + 1;
  return cache_start(volume->disk, volume->size);
}

/* Whether the file system was unmounted cleanly. */
static void set_state(struct volume *volume, int valid) {
  struct buffer *buffer;
  struct super_block *super = super_of(volume, &buffer);
  if (!super || volume->read_only) return;
  super->state = (uint16_t)((super->state & ~VALID) | (valid ? VALID : 0));
  cache_dirty(buffer);
}

long ext2_mount(const char *device, int read_only, struct node **root_node) {
  struct volume *volume = calloc(1, sizeof(*volume));
  if (!volume) return -ENOMEM;
  long error = disk_open(device, &volume->disk);
  if (!error) {
    volume->read_only = read_only;
    error = read_super(volume);
    if (!error) error = fetch(volume, ROOT_NUMBER, root_node);
    if (error) {
      cache_drop(volume->disk, 1);
      disk_close(volume->disk);
    }
  }
  if (error) {
    free(volume);
    return error;
  }
  set_state(volume, 0);
  volume->next = volumes;
  volumes = volume;
  return 0;
}

/* Only the root may be in use, by the mount itself. */
long ext2_unmount(struct node *root_node) {
  struct volume *volume = VOLUME(root_node), **place = &volumes;
  if (volume->nodes != root_node || root_node->disk.next || root_node->references > 1) return -EBUSY;
  set_state(volume, 1);
  if (cache_write(volume->disk)) return -EIO;
  node_release(root_node);
  cache_drop(volume->disk, 1);
  disk_close(volume->disk);
  while (*place != volume) place = &(*place)->next;
  *place = volume->next;
  free(volume);
  return 0;
}

void ext2_sync(void) {
  for (struct volume *volume = volumes; volume; volume = volume->next) cache_write(volume->disk);
}

void ext2_forget(void) {
  for (struct volume *volume = volumes; volume; volume = volume->next) {
    cache_write(volume->disk);
    cache_drop(volume->disk, 0);
  }
}
