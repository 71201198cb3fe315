// SPDX-License-Identifier: MIT
/*
 * The guest's first process: mounts the usual file systems and the disk, applies the placement seed
 * (kernel parameter p5seed=N), executes the ready marker, runs one job and ends the run. One boot
 * serves many jobs, so no action before the ready marker depends on the job.
 *
 * A job is one of
 *   NAME key=value ...      the program /bin/NAME
 *   @program arguments ...  the program /tmp/program, inside a bracket of its own
 *   @run PATH arguments ... a program of a distribution, inside a bracket of its own
 *   @shell                  a shell on the console
 *
 * Before the job runs, init writes the files that the engine delivers for it (delivered.h): the
 * program NAME or /tmp/program, and the programs that it starts. The guest itself contains neither.
 *
 * The root is a RAM disk, and init is /init. On x86-64, and if DISTRIBUTION is defined, the root may
 * instead be the file system of a distribution on the first IDE disk (kernel parameters
 * root=/dev/sda rw init=/p5/init). Then the program NAME is /p5/bin/NAME, in a file system in
 * memory, and /data is a directory of that disk. With DISTRIBUTION a job may also bring standard
 * input and more arguments along (distribution.h).
 *
 * With an engine, the job and the program's output go through markers, and the exit marker ends the
 * run. Without an engine (on another emulator or on a real PC), the job is the kernel parameter
 * p5job=name,key=value,... with commas instead of spaces. The output then goes to the console. At
 * the end the machine is reset, because a Pentium PC without APM cannot switch itself off.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "delivered.h"
#include "ide.h"
#include "marker.h"
#include "seed.h"
#ifdef DISTRIBUTION
#include "distribution.h"
#define ARGUMENTS_MAX 1024
#else
#define ARGUMENTS_MAX 64
#endif

#define JOB_SIZE 1024
#define STATUS_NO_JOB 2
#define STATUS_NOT_RUN 127 /* as in a shell: the program could not be started */
#define PROGRAM "/tmp/program"
#define DATA "/data"
#define DISK_BIN "/p5/bin" /* the directory of the program NAME if the root is a disk */

/* Whether the root is on a disk: file systems in memory have the device number 0:N. */
static int root_is_disk(void) {
#if defined(__x86_64__) || defined(DISTRIBUTION)
  struct stat root;
  return stat("/", &root) == 0 && major(root.st_dev) != 0;
#else
  return 0;
#endif
}

/* Mount one file system. If that fails, report the error and continue, because not every workload
 * needs every file system.
 */
static void mount_one(const char *type, const char *target) {
  if (mount(type, target, type, 0, NULL) != 0)
    fprintf(stderr, "init: mount %s on %s: %s\n", type, target, strerror(errno));
}

/* The disk of a system that does not report the type of its disks: the first disk of User-Mode
 * Linux.
 */
#ifndef OTHER_DISK
#define OTHER_DISK "/dev/ubda"
#endif

/* Mount the disk, if there is one. It is the first IDE disk of a PC, or OTHER_DISK. For programs,
 * the variable P5LAB_DATA contains the directory of the disk.
 */
static void mount_disk(void) {
  if (root_is_disk()) {
    mount_one("tmpfs", DISK_BIN);
    setenv("P5LAB_DATA", DATA, 1);
    setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
    return;
  }
  const char *disk = ide_disk();
  if (!disk) disk = OTHER_DISK;
  if (access(disk, F_OK) != 0) return;
  if (mount(disk, DATA, "ext2", 0, NULL) == 0)
    setenv("P5LAB_DATA", DATA, 1);
  else
    fprintf(stderr, "init: mount %s on " DATA ": %s\n", disk, strerror(errno));
}

/* Apply the placement seed of the kernel parameter p5seed=N. The kernel puts unknown parameters
 * into init's environment.
 */
static void place_pages(void) {
  const char *seed = getenv("p5seed");
  if (seed && seed_placement((uint32_t)strtoul(seed, NULL, 10)) != 0)
    fprintf(stderr, "init: placement seed %s: %s\n", seed, strerror(errno));
}

/* Split the job text at spaces into arguments, in place. Returns their number. */
static int split(char *job, char **arguments) {
  int count = 0;
  for (char *word = strtok(job, " "); word && count < ARGUMENTS_MAX; word = strtok(NULL, " "))
    arguments[count++] = word;
  arguments[count] = NULL;
  return count;
}

/* A job: the file `path` and its arguments. The first argument is the job's name. */
struct job {
  char path[JOB_SIZE + 5];
  char *arguments[ARGUMENTS_MAX + 1];
  int whole; /* init brackets the whole program */
};

static _Noreturn void run_program(struct job *job) {
#ifdef DISTRIBUTION
  take_input();
#endif
  job->arguments[0] = job->path;
  execv(job->path, job->arguments);
  fprintf(stderr, "init: %s: %s\n", job->path, strerror(errno));
  _exit(STATUS_NOT_RUN);
}

static int exit_status(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* One output stream of the program, forwarded to the engine. */
struct stream {
  uint32_t number; /* 1 stdout, 2 stderr */
  size_t used;
  char buffer[4096];
};

/* Read the available bytes and forward whole lines only. The engine records both streams in one
 * file, so a line must not be divided. Returns 0 at the end of the stream.
 */
static int forward(struct stream *stream, int pipe) {
  ssize_t length = read(pipe, stream->buffer + stream->used, sizeof(stream->buffer) - stream->used);
  stream->used += length > 0 ? (size_t)length : 0;
  size_t whole = stream->used;
  if (length > 0 && stream->used < sizeof(stream->buffer))
    while (whole > 0 && stream->buffer[whole - 1] != '\n') whole--;
  p5_output(stream->number, stream->buffer, whole);
  stream->used -= whole;
  memmove(stream->buffer, stream->buffer + whole, stream->used);
  return length > 0;
}

/* Forward both pipes to the engine until the program and all its children have closed them. */
static void forward_output(int out, int err) {
  static struct stream streams[2] = {{.number = 1}, {.number = 2}};
  struct pollfd pipes[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
  while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
    if (poll(pipes, 2, -1) < 0) continue;
    for (int i = 0; i < 2; i++)
      if (pipes[i].fd >= 0 && pipes[i].revents && !forward(&streams[i], pipes[i].fd))
        pipes[i].fd = -1; /* poll() ignores it from now on */
  }
}

/* Run the job with its output piped to the engine. Returns the job's status. */
static int run_piped(struct job *job) {
  int out[2], err[2];
  if (pipe(out) != 0 || pipe(err) != 0) return STATUS_NOT_RUN;
  if (job->whole) p5_begin(P5_PHASE_WHOLE);
  pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    close(out[0]), close(out[1]), close(err[0]), close(err[1]);
    run_program(job);
  }
  close(out[1]), close(err[1]);
  if (child >= 0) forward_output(out[0], err[0]);
  int status = child < 0 ? STATUS_NOT_RUN : exit_status(child);
  if (job->whole) p5_end(P5_PHASE_WHOLE);
  return status;
}

/* Run the job with its output on the console. Returns the job's status. */
static int run_on_console(struct job *job) {
  pid_t child = fork();
  if (child == 0) run_program(job);
  return child < 0 ? STATUS_NOT_RUN : exit_status(child);
}

/* Open the terminal behind /dev/console, because /dev/console itself cannot be a controlling
 * terminal. The kernel lists the consoles in use. The last console of this list belongs to
 * /dev/console.
 */
static int open_console(void) {
  char list[256] = "", path[sizeof(list) + 5];
  int active = open("/sys/class/tty/console/active", O_RDONLY);
  if (active < 0 || read(active, list, sizeof(list) - 1) <= 0) return -1;
  close(active);
  list[strcspn(list, "\n")] = '\0';
  const char *last = strrchr(list, ' ');
  snprintf(path, sizeof(path), "/dev/%s", last ? last + 1 : list);
  return open(path, O_RDWR);
}

static _Noreturn void run_login_shell(void) {
  setenv("HOME", "/root", 1);
  setenv("PATH", "/bin", 1);
  if (chdir("/root") != 0) perror("init: /root");
  execl("/bin/sh", "-sh", NULL); /* the dash makes it a login shell */
  fprintf(stderr, "init: /bin/sh: %s\n", strerror(errno));
  _exit(STATUS_NOT_RUN);
}

/* Run a shell on the console, with job control. Returns the shell's status. The shell does not lead
 * its session, because the end of a session leader hangs up the terminal and loses unsent output.
 */
static int run_shell(void) {
  pid_t leader = fork();
  if (leader == 0) {
    setsid();
    int console = open_console();
    if (console < 0 || ioctl(console, TIOCSCTTY, 0) != 0)
      fprintf(stderr, "init: console: %s\n", strerror(errno));
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) dup2(console, i);
    pid_t shell = fork();
    if (shell == 0) run_login_shell();
    static const int keys[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTOU};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) signal(keys[i], SIG_IGN);
    int status = shell < 0 ? STATUS_NOT_RUN : exit_status(shell);
    tcdrain(STDOUT_FILENO);
    _exit(status);
  }
  return leader < 0 ? STATUS_NOT_RUN : exit_status(leader);
}

/* Report to the engine and on the console why there is nothing to run. Returns `status`. */
static int refuse(const char *what, const char *why, int status) {
  char text[256];
  int length = snprintf(text, sizeof(text), "init: %s: %s\n", what, why);
  p5_output(2, text, (size_t)length);
  fputs(text, stderr);
  return status;
}

/* Run the program at the path in the job's first argument. Returns the program's status. */
static int run_named(struct job *job, int engine) {
  if (!job->arguments[1]) return refuse("@run", "no program named", STATUS_NO_JOB);
  memmove(job->arguments, job->arguments + 1, sizeof(job->arguments) - sizeof(*job->arguments));
  strcpy(job->path, job->arguments[0]);
  job->whole = 1;
#ifdef DISTRIBUTION
  if (read_arguments(job->arguments, ARGUMENTS_MAX) != 0)
    return refuse(BROUGHT_ARGUMENTS, strerror(errno), STATUS_NOT_RUN);
#endif
  return engine ? run_piped(job) : run_on_console(job);
}

/* Run the job that this text describes. Returns the job's status. */
static int run_job(char *text, int engine) {
  static struct job job;
  char path[JOB_SIZE];
  if (split(text, job.arguments) == 0) return refuse("job", "none given", STATUS_NO_JOB);
  if (unpack_delivered(path, sizeof(path)) != 0)
    return refuse(path, strerror(errno), STATUS_NOT_RUN);
  if (root_is_disk()) sync(); /* later writes would disturb the program */
  if (strcmp(job.arguments[0], "@shell") == 0) return run_shell();
  if (root_is_disk() && strcmp(job.arguments[0], "@run") == 0) return run_named(&job, engine);
  job.whole = strcmp(job.arguments[0], "@program") == 0;
  strcpy(job.path, job.whole ? PROGRAM : root_is_disk() ? DISK_BIN "/" : "/bin/");
  if (!job.whole) strcat(job.path, job.arguments[0]);
  return engine ? run_piped(&job) : run_on_console(&job);
}

int main(void) {
  static char text[JOB_SIZE];

  mount_one("proc", "/proc");
  mount_one("sysfs", "/sys");
  mount_one("devtmpfs", "/dev");
  mount_one("tmpfs", "/tmp");
  mount_disk();
#ifdef DISTRIBUTION
  prepare_distribution();
  start_before_ready();
#endif
  place_pages();
  sync(); /* later writes of the mount would disturb a measurement */

  int engine = p5_marker_init();
  p5_ready();
  if (p5_job(text, sizeof(text)) == 0) {
    const char *parameter = getenv("p5job");
    snprintf(text, sizeof(text), "%s", parameter ? parameter : "");
    for (char *c = text; *c; c++)
      if (*c == ',') *c = ' ';
  }

  int status = run_job(text, engine);
  p5_exit((uint32_t)status);
  printf("init: job ended with status %d\n", status);
  fflush(stdout);
  reboot(RB_AUTOBOOT);
  return status;
}
