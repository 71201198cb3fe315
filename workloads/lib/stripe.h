/* SPDX-License-Identifier: MIT */
/*
 * A stripe (RAID 0) over all modelled disks, by the Linux driver md. It uses the whole disks. As
 * with mdadm --build, the disks contain no description of the stripe. Part of disk.h.
 */
#ifndef P5LAB_STRIPE_H
#define P5LAB_STRIPE_H

#include <linux/major.h>
#include <linux/raid/md_p.h>
#include <linux/raid/md_u.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#define STRIPE "/dev/md0"
#define STRIPE_CHUNK (64 << 10) /* our choice: a request of talagala97 goes to one disk */
#define STRIPE_BLOCKS "65536"   /* blocks of 4 KB: a file system of 256 MB */

static int stripe_device = -1;

/* Make the file system with the guest's busybox. Returns the exit status of busybox. */
static inline int stripe_format(void) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    execl("/bin/busybox", "mke2fs", "-b", "4096", STRIPE, STRIPE_BLOCKS, (char *)NULL);
    _exit(127);
  }
  return child > 0 && waitpid(child, &status, 0) == child ? status : -1;
}

/* Assemble the stripe and make a file system on it. Returns 0, or -1 with the reason in `why`. */
static inline int stripe_start(const char **device, char *why, size_t size) {
  const char *step = "the kernel's md driver";
  mdu_array_info_t array = {.level = 0,
                            .raid_disks = disk_count,
                            .md_minor = 0,
                            .not_persistent = 1,
                            .state = 1 << MD_SB_CLEAN,
                            .chunk_size = STRIPE_CHUNK};
  array.nr_disks = array.active_disks = array.working_disks = disk_count;
  if (access(STRIPE, F_OK) != 0 && disk_put("/sys/module/md_mod/parameters/new_array", "md0") != 0)
    goto failed;
  if ((stripe_device = open(STRIPE, O_RDWR)) < 0) goto failed;
  step = STRIPE;
  if (ioctl(stripe_device, SET_ARRAY_INFO, &array) != 0) goto failed;
  for (int i = 0; i < disk_count; i++) {
    struct stat status;
    step = disk_path(i, 0);
    if (!step || stat(step, &status) != 0) goto failed;
    mdu_disk_info_t disk = {.number = i,
                            .raid_disk = i,
                            .major = (int)major(status.st_rdev),
                            .minor = (int)minor(status.st_rdev),
                            .state = 1 << MD_DISK_ACTIVE | 1 << MD_DISK_SYNC};
    if (ioctl(stripe_device, ADD_NEW_DISK, &disk) != 0) goto failed;
  }
  step = STRIPE;
  if (ioctl(stripe_device, RUN_ARRAY, NULL) != 0) goto failed;
  *device = STRIPE;
  int status = stripe_format();
  if (status == 0) return 0;
  snprintf(why, size, "mke2fs " STRIPE ": wait status %#x", (unsigned)status);
  return -1;
failed:
  snprintf(why, size, "stripe: %s: %s", step ? step : "a disk is missing", strerror(errno));
  return -1;
}

/* Take the stripe apart, if there is one. */
static inline void stripe_stop(void) {
  if (stripe_device < 0) return;
  if (ioctl(stripe_device, STOP_ARRAY, NULL) != 0) p5w_fail("stop " STRIPE);
  close(stripe_device);
  stripe_device = -1;
}

#endif
