/* SPDX-License-Identifier: MIT */
/* Sequential transfers of long files and raw disks, in requests of one size. data.h defines the
 * contents.
 */
#ifndef P5LAB_TRANSFER_H
#define P5LAB_TRANSFER_H

#include "data.h"

struct transfer {
  long kb;      /* KB to transfer */
  long request; /* bytes of a request, a multiple of DATA_SECTOR; the last one may be shorter */
  long offset;  /* KB in the file before the transfer */
  uint32_t key; /* key of the contents */
  const char *name;
  char *buffer; /* memory of a request */
};

/* Make a transfer with its buffer. Exits if `request` is not a multiple of DATA_SECTOR. */
static inline struct transfer transfer_new(long kb, long request, const char *name) {
  if (request % DATA_SECTOR != 0) {
    fprintf(stderr, "request must be a multiple of %d\n", DATA_SECTOR);
    exit(P5W_EXIT_USAGE);
  }
  return (struct transfer){.kb = kb, .request = request, .name = name,
                           .buffer = data_buffer(request)};
}

static inline void transfer_seek(const struct transfer *transfer, int descriptor) {
  if (lseek(descriptor, (off_t)transfer->offset << 10, SEEK_SET) < 0) p5w_fail(transfer->name);
}

/* Bytes of the request that begins at byte `at`. */
static inline long transfer_size(const struct transfer *transfer, long at) {
  long left = (transfer->kb << 10) - at;
  return transfer->request < left ? transfer->request : left;
}

static inline void transfer_write(const struct transfer *transfer, int descriptor) {
  for (long at = 0; at < transfer->kb << 10; at += transfer->request) {
    long size = transfer_size(transfer, at);
    data_mark(transfer->buffer, size, at, transfer->key);
    data_write(descriptor, transfer->buffer, size, transfer->name);
  }
}

static inline void transfer_read(const struct transfer *transfer, int descriptor) {
  for (long at = 0; at < transfer->kb << 10; at += transfer->request) {
    long size = transfer_size(transfer, at);
    data_read(descriptor, transfer->buffer, size, transfer->name);
    data_check_marks(transfer->buffer, size, at, transfer->key, transfer->name);
  }
}

/* Check every byte. */
static inline void transfer_check(const struct transfer *transfer, int descriptor) {
  for (long at = 0; at < transfer->kb << 10; at += transfer->request) {
    long size = transfer_size(transfer, at);
    data_read(descriptor, transfer->buffer, size, transfer->name);
    data_check(transfer->buffer, size, at, transfer->key, transfer->name);
  }
}

/* Fill the buffer for transfer_write(), which changes only the marks. */
static inline void transfer_fill(const struct transfer *transfer) {
  data_fill(transfer->buffer, transfer->request, 0, transfer->key);
}

/* Open a file for its transfers. A file that will be written is created. */
static inline int transfer_open(const struct transfer *transfer, int flags) {
  int descriptor = open(transfer->name, flags, 0600);
  if (descriptor < 0) p5w_fail(transfer->name);
  return descriptor;
}

#endif
