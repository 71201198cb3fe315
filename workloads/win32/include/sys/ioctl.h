/* SPDX-License-Identifier: MIT */
#ifndef P5LAB_WIN32_IOCTL_H
#define P5LAB_WIN32_IOCTL_H

int ioctl(int descriptor, unsigned long request, ...); /* always fails */

#endif
