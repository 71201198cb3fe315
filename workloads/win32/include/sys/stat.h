/* SPDX-License-Identifier: MIT */
#ifndef P5LAB_WIN32_STAT_H
#define P5LAB_WIN32_STAT_H

int mkdir(const char *path, int mode);

#endif
