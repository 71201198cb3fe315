// SPDX-License-Identifier: MIT
/* mmap() of files: the pages of the file go to the caller's memory, copied on write. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "mach_calls.h"
#include "server.h"

/* The caller has made room already (libc/syscall.c). Returns 0, an error, or the address where the
 * memory is instead.
 */
long map_file(struct process *process, struct file *file, const struct request *request) {
  vm_offset_t address = (vm_offset_t)request->arguments[0];
  uint32_t length = (uint32_t)request->arguments[1];
  int protection = request->arguments[2], flags = request->arguments[3];
  uint64_t offset = (uint64_t)(uint32_t)request->arguments[5] * PAGE;
  struct inode *inode = file->inode;
  if (inode->kind == ZERO_DEVICE) return 0;
  if (inode->kind == COUNTERS)
    return counters_memory(process, length, (uint32_t)request->arguments[5]);
  if (inode->kind != REGULAR) return -ENODEV;
  if ((flags & MAP_SHARED) && (protection & PROT_WRITE)) return -ENODEV; /* no shared writing */
  if ((file->flags & O_ACCMODE) == O_WRONLY) return -EACCES;
  if (offset >= inode->size) return 0;
  uint32_t there = (uint32_t)(inode->size - offset);
  if (there > length) there = length;
  return vm_write(process->task, address, (vm_offset_t)inode->bytes + offset, PAGES(there))
             ? -ENOMEM
             : 0;
}
