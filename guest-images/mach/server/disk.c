// SPDX-License-Identifier: MIT
/* Disks: the kernel's devices, in sectors of 512 bytes. */
#include <device/device_types.h>
#include <device/disk_status.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device_calls.h"
#include "fs.h"

#define SECTOR 512u

long disk_open(const char *name, struct disk **found) {
  dev_name_t device;
  int status[DEV_GET_SIZE_COUNT];
  mach_msg_type_number_t count = DEV_GET_SIZE_COUNT;
  struct disk *disk = calloc(1, sizeof(*disk));
  if (!disk) return -ENOMEM;
  strncpy(device, name, sizeof(device) - 1);
  device[sizeof(device) - 1] = '\0';
  if (device_open(device_port, D_READ | D_WRITE, device, &disk->port)) {
    free(disk);
    return -ENXIO;
  }
  if (device_get_status(disk->port, DEV_GET_SIZE, status, &count) ||
      status[DEV_GET_SIZE_RECORD_SIZE] != (int)SECTOR) {
    disk_close(disk);
    return -ENXIO;
  }
  disk->sectors = (uint32_t)status[DEV_GET_SIZE_DEVICE_SIZE] / SECTOR;
  *found = disk;
  return 0;
}

void disk_close(struct disk *disk) {
  device_close(disk->port);
  free(disk);
}

int disk_read(struct disk *disk, uint32_t sector, char *bytes, uint32_t size) {
  while (size) {
    char *data;
    mach_msg_type_number_t count = 0;
    if (device_read(disk->port, 0, sector, (int)size, &data, &count) || !count) return -EIO;
    if (count > size) count = size;
    memcpy(bytes, data, count);
    pages_free(data, count);
    bytes += count;
    sector += count / SECTOR;
    size -= count;
  }
  return 0;
}

int disk_write(struct disk *disk, uint32_t sector, const char *bytes, uint32_t size) {
  while (size) {
    int count = 0;
    if (device_write(disk->port, 0, sector, (char *)bytes, size, &count) || count <= 0) return -EIO;
    bytes += count;
    sector += (uint32_t)count / SECTOR;
    size -= (uint32_t)count;
  }
  return 0;
}
