/* SPDX-License-Identifier: MIT */
/* The interface between the file side and the transport of its requests (split.c). */
#ifndef P5LAB_FS_SIDE_H
#define P5LAB_FS_SIDE_H

#include "fs.h"

long fs_carry_out(struct fs_request *request);
long fs_image_here(int node, uint32_t offset, uint32_t size, struct image *image);
long fs_share_here(int node, mach_port_t task, vm_offset_t address, uint32_t length,
                   uint32_t offset, int protection);
void files_start(const char *archive, size_t size);

#endif
