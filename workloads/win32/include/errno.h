/* SPDX-License-Identifier: MIT */
/* The errors of the library are the errors of Windows. */
#ifndef P5LAB_WIN32_ERRNO_H
#define P5LAB_WIN32_ERRNO_H

extern int errno;

enum {
  ENOENT = 2,    /* ERROR_FILE_NOT_FOUND */
  ENOMEM = 8,    /* ERROR_NOT_ENOUGH_MEMORY */
  ENODEV = 20,   /* ERROR_BAD_UNIT */
  EIO = 38,      /* ERROR_HANDLE_EOF */
  EINVAL = 87,   /* ERROR_INVALID_PARAMETER */
  ENOSPC = 112,  /* ERROR_DISK_FULL */
  ENOSYS = 120,  /* ERROR_CALL_NOT_IMPLEMENTED */
  EEXIST = 183   /* ERROR_ALREADY_EXISTS */
};

#endif
