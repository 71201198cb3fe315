// SPDX-License-Identifier: MIT
/*
 * The buffer cache holds the most recently used disk blocks. The cache writes changed blocks on
 * sync, fsync and unmount, and when it must replace a changed block. The cache then writes all
 * changed blocks in disk order. Neighbouring blocks are written together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs.h"

#define CACHE_BYTES (4u << 20)
#define CHAINS 1024
#define CLUSTER 65536u /* bytes of the largest transfer */
#define SECTOR 512u

static struct buffer *chains[CHAINS], *buffers;
static struct buffer order = {.newer = &order, .older = &order}; /* .newer: oldest; .older: newest */
static uint32_t size, number;
static char *cluster, *ahead; /* blocks to write, blocks read ahead */

static struct buffer **chain_of(const struct disk *disk, uint32_t block) {
  return &chains[(block ^ (uint32_t)(uintptr_t)disk >> 4) % CHAINS];
}

static struct buffer *look_up(const struct disk *disk, uint32_t block) {
  for (struct buffer *one = *chain_of(disk, block); one; one = one->chain)
    if (one->disk == disk && one->block == block) return one;
  return NULL;
}

static void take_out(struct buffer *buffer) {
  buffer->newer->older = buffer->older;
  buffer->older->newer = buffer->newer;
}

/* Make this buffer the newest. */
static void use(struct buffer *buffer) {
  if (buffer->newer) take_out(buffer);
  buffer->older = order.older;
  buffer->newer = &order;
  order.older->newer = buffer;
  order.older = buffer;
}

/* Make this buffer the oldest, and empty. */
static void empty(struct buffer *buffer) {
  struct buffer **place = buffer->disk ? chain_of(buffer->disk, buffer->block) : NULL;
  while (place && *place != buffer) place = &(*place)->chain;
  if (place) *place = buffer->chain;
  buffer->disk = NULL;
  buffer->dirty = buffer->valid = 0;
  if (buffer->newer) take_out(buffer);
  buffer->newer = order.newer;
  buffer->older = &order;
  order.newer->older = buffer;
  order.newer = buffer;
}

/* Set the block size. All blocks in the cache have the same size. */
int cache_start(struct disk *disk, uint32_t block_size) {
  (void)disk;
  if (size == block_size) return 0;
  for (uint32_t i = 0; i < number; i++)
    if (buffers[i].disk) return -EBUSY;
  if (size) pages_free(buffers[0].bytes, CACHE_BYTES);
  free(buffers);
  memset(chains, 0, sizeof(chains));
  order.newer = order.older = &order;
  number = CACHE_BYTES / block_size;
  size = 0;
  buffers = calloc(number, sizeof(*buffers));
  char *bytes = buffers ? pages_new(CACHE_BYTES) : NULL;
  if (!cluster) cluster = pages_new(CLUSTER);
  if (!ahead) ahead = pages_new(CLUSTER);
  if (!bytes || !cluster || !ahead) {
    number = 0;
    return -ENOMEM;
  }
  size = block_size;
  for (uint32_t i = 0; i < number; i++) {
    buffers[i].bytes = bytes + (size_t)i * size;
    empty(&buffers[i]);
  }
  return 0;
}

static int by_block(const void *one, const void *other) {
  uint32_t a = (*(struct buffer *const *)one)->block, b = (*(struct buffer *const *)other)->block;
  return a < b ? -1 : a > b;
}

int cache_write(struct disk *disk) {
  struct buffer **dirty = malloc(number * sizeof(*dirty));
  uint32_t count = 0;
  int error = 0;
  if (!dirty) return -ENOMEM;
  for (uint32_t i = 0; i < number; i++)
    if (buffers[i].disk == disk && buffers[i].dirty) dirty[count++] = &buffers[i];
  qsort(dirty, count, sizeof(*dirty), by_block);
  for (uint32_t i = 0, run; i < count && !error; i += run) {
    for (run = 0; i + run < count && run * size < CLUSTER; run++) {
      if (dirty[i + run]->block != dirty[i]->block + run) break;
      memcpy(cluster + run * size, dirty[i + run]->bytes, size);
    }
    error = disk_write(disk, dirty[i]->block * (size / SECTOR), cluster, run * size);
    for (uint32_t j = 0; j < run && !error; j++) dirty[i + j]->dirty = 0;
  }
  free(dirty);
  return error;
}

/* Get a buffer for a block. The buffer's contents are undefined. */
static struct buffer *place_for(struct disk *disk, uint32_t block) {
  struct buffer *buffer = order.newer;
  if (buffer->dirty && cache_write(buffer->disk)) return NULL;
  empty(buffer);
  buffer->disk = disk;
  buffer->block = block;
  struct buffer **chain = chain_of(disk, block);
  buffer->chain = *chain;
  *chain = buffer;
  use(buffer);
  return buffer;
}

/* Get the buffer of a block. If `read` is 0, the function does not read the block, because the
 * caller will write the whole block. The buffer stays valid while the caller gets a few other
 * buffers.
 */
struct buffer *cache_get(struct disk *disk, uint32_t block, int read) {
  struct buffer *buffer = look_up(disk, block);
  if (buffer) use(buffer);
  else if (!(buffer = place_for(disk, block))) return NULL;
  if (read && !buffer->valid && disk_read(disk, block * (size / SECTOR), buffer->bytes, size)) {
    empty(buffer);
    return NULL;
  }
  buffer->valid = 1;
  return buffer;
}

int cache_has(struct disk *disk, uint32_t block) { return look_up(disk, block) != NULL; }

/* Read neighbouring blocks in one transfer. None of these blocks is in the cache. This function may
 * write other blocks to get free buffers.
 */
int cache_fill(struct disk *disk, uint32_t block, uint32_t count) {
  if (count > CLUSTER / size) count = CLUSTER / size;
  int error = disk_read(disk, block * (size / SECTOR), ahead, count * size);
  for (uint32_t i = 0; i < count && !error; i++) {
    struct buffer *buffer = place_for(disk, block + i);
    if (!buffer) return -EIO;
    memcpy(buffer->bytes, ahead + i * size, size);
    buffer->valid = 1;
  }
  return error;
}

void cache_dirty(struct buffer *buffer) { buffer->dirty = 1; }

/* Drop the disk's clean buffers. If `all` is set, drop all buffers of the disk. */
void cache_drop(struct disk *disk, int all) {
  for (uint32_t i = 0; i < number; i++)
    if (buffers[i].disk == disk && (all || !buffers[i].dirty)) empty(&buffers[i]);
}
