// SPDX-License-Identifier: MIT
/*
 * First process of the host kernel in guest linux-uml. It mounts the file systems that User-Mode
 * Linux needs, applies the placement seed (kernel parameter p5seed=N), starts User-Mode Linux and
 * waits for its end.
 *
 * The init inside User-Mode Linux is the same program as in guest linux. It carries out the rest of
 * a run and ends the run. If User-Mode Linux ends earlier, the run has failed. Without an engine,
 * the machine is then reset, as in guest linux.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "ide.h"
#include "marker.h"
#include "seed.h"

#define UML "/bin/linux"
#define GUEST "/guest.cpio" /* the RAM disk of User-Mode Linux */
#define ABORT_NO_UML 1

/* The memory of User-Mode Linux is a file in /tmp, which takes memory only for touched pages. 14 MB
 * of the file are free at the ready marker. A machine with 32 MB has enough memory for these 14 MB
 * and for the pages of a seed, because the RAM disk is removed when it has been read.
 */
#define UML_MEMORY "mem=20M"
#define TMP_OPTIONS "size=24m"

/* The file that User-Mode Linux shows as an I/O memory region, for the counter device's buffer (see
 * p5ctr_kern.c). The file has no contents. The size of the file is the maximum size of the buffer.
 */
#define WINDOW "/tmp/p5ctr-window"
#define WINDOW_SIZE (4 << 20)

static void mount_one(const char *type, const char *target, const char *options) {
  if (mount(type, target, type, 0, options) != 0)
    fprintf(stderr, "init: mount %s on %s: %s\n", type, target, strerror(errno));
}

/* Pass a parameter of this kernel, `name=value`, to the kernel of User-Mode Linux. */
static int pass_on(char **arguments, int count, const char *name) {
  const char *value = getenv(name);
  if (value && asprintf(&arguments[count], "%s=%s", name, value) > 0) count++;
  return count;
}

/* User-Mode Linux requests random numbers from this kernel when it starts. Nothing in this machine
 * is random, so the kernel would search for jitter in a busy loop of 256 clock ticks. Instead, this
 * function passes a constant to the kernel as a random number.
 */
static void give_entropy(void) {
  struct {
    int bits, size; /* the fields of struct rand_pool_info */
    uint32_t words[8];
  } seed = {.bits = 256, .size = sizeof(seed.words)};
  int device = open("/dev/urandom", O_WRONLY);
  if (device < 0 || ioctl(device, RNDADDENTROPY, &seed) != 0)
    fprintf(stderr, "init: /dev/urandom: %s\n", strerror(errno));
  close(device);
}

static void make_window(void) {
  int file = open(WINDOW, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, WINDOW_SIZE) != 0)
    fprintf(stderr, "init: " WINDOW ": %s\n", strerror(errno));
  close(file);
}

/* User-Mode Linux opens its RAM disk once and reads it into its own memory. Without this function,
 * the file would take 4 MB of a machine with 32 MB until the end, and programs with many processes
 * would have too little. A lease reports that the file is being opened: the open waits until the
 * lease is given back. Returns the file with the lease, or -1 without one.
 */
static int lease_guest(sigset_t *awaited) {
  sigemptyset(awaited);
  sigaddset(awaited, SIGIO);
  sigaddset(awaited, SIGCHLD); /* User-Mode Linux has ended and never opened the file */
  sigprocmask(SIG_BLOCK, awaited, NULL);
  int file = open(GUEST, O_RDONLY | O_CLOEXEC);
  if (file >= 0 && fcntl(file, F_SETLEASE, F_WRLCK) == 0) return file;
  fprintf(stderr, "init: " GUEST ": %s\n", strerror(errno));
  return -1;
}

/* Wait until User-Mode Linux opens its RAM disk, and remove the file's name. Its memory is free
 * when User-Mode Linux closes the file.
 */
static void drop_guest(int file, const sigset_t *awaited) {
  int signal = sigwaitinfo(awaited, NULL);
  if (signal == SIGIO) unlink(GUEST);
  close(file); /* gives the lease back */
}

static _Noreturn void run_uml(const sigset_t *blocked) {
  sigprocmask(SIG_UNBLOCK, blocked, NULL);
  char *arguments[16] = {
      UML,
      UML_MEMORY,
      "initrd=" GUEST,
      ("iomem=p5ctr," WINDOW),
      /* Use this console only. */
      "con0=fd:0,fd:1",
      "con=null",
      "quiet",
      /* A busy loop of two instructions. No code that runs here depends on its speed. */
      "lpj=400000",
      "norandmaps",
      "noreboot",
  };
  int count = 0;
  while (arguments[count]) count++;
  const char *disk = ide_disk();
  char device[32];
  snprintf(device, sizeof(device), "ubd0=%s", disk ? disk : "");
  if (disk) arguments[count++] = device;
  count = pass_on(arguments, count, "p5job");
  /* Here the seed scatters the pages of User-Mode Linux itself. The memory that User-Mode Linux
   * first touches after its start is again on neighbouring pages. Programs use this memory, and the
   * init inside User-Mode Linux scatters it.
   */
  count = pass_on(arguments, count, "p5seed");
  arguments[count] = NULL;
  char *environment[] = {"TMPDIR=/tmp", "HOME=/tmp", NULL};
  execve(UML, arguments, environment);
  fprintf(stderr, "init: " UML ": %s\n", strerror(errno));
  _exit(127);
}

int main(void) {
  mount_one("proc", "/proc", NULL);
  mount_one("sysfs", "/sys", NULL);
  mount_one("devtmpfs", "/dev", NULL);
  mount_one("tmpfs", "/tmp", TMP_OPTIONS);
  const char *seed = getenv("p5seed");
  if (seed && seed_placement((uint32_t)strtoul(seed, NULL, 10)) != 0)
    fprintf(stderr, "init: placement seed %s: %s\n", seed, strerror(errno));

  give_entropy();
  make_window();

  sigset_t awaited;
  int guest = lease_guest(&awaited);
  int engine = p5_marker_init(), status = 0;
  pid_t uml = fork();
  if (uml == 0) run_uml(&awaited);
  if (uml < 0) {
    fprintf(stderr, "init: fork: %s\n", strerror(errno));
    status = 127 << 8;
  }
  if (uml > 0 && guest >= 0) drop_guest(guest, &awaited);
  /* Threads and traced processes of User-Mode Linux may end after it. Ignore their ends. */
  while (uml > 0 && waitpid(uml, &status, 0) < 0 && errno == EINTR) continue;
  if (engine || status != 0) {
    if (WIFSIGNALED(status))
      fprintf(stderr, "init: User-Mode Linux was killed by signal %d\n", WTERMSIG(status));
    else
      fprintf(stderr, "init: User-Mode Linux ended with status %d\n", WEXITSTATUS(status));
  }
  tcdrain(STDERR_FILENO); /* wait for the slow serial port before the end below */
  p5_abort(ABORT_NO_UML);
  reboot(RB_AUTOBOOT);
  return 1;
}
