// SPDX-License-Identifier: MIT
/* test-panic: makes the guest kernel panic. The run must fail and keep the kernel's message. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  /* Never do this on a real host, even if the user runs the workloads as root. */
  if (argc != 2 || strcmp(argv[1], "really=yes") != 0) {
    fprintf(stderr, "%s: crashes the machine; needs the argument really=yes\n", argv[0]);
    return 2;
  }
  int trigger = open("/proc/sysrq-trigger", O_WRONLY);
  if (trigger < 0 || write(trigger, "c", 1) != 1) perror("/proc/sysrq-trigger");
  return 1;
}
