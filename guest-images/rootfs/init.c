// SPDX-License-Identifier: MIT
/*
 * The guest's first process: mounts the usual file systems, says ready, runs one job, ends the run.
 *
 * With an engine: the job comes through markers, the program's output leaves through markers, and
 * the exit marker ends the run. Without one (an emulator, a real PC): the job is the kernel
 * parameter p5job=name,key=value,... (commas for spaces), the output goes to the console, and the
 * machine is reset at the end, because a Pentium PC without APM cannot switch itself off.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

#include "marker.h"

#define JOB_SIZE 1024
#define ARGUMENTS_MAX 64
#define STATUS_NO_JOB 2
#define STATUS_NOT_RUN 127 /* as a shell says: the program could not be started */

/* Mount one file system; say so if that fails, and go on: not every workload needs each. */
static void mount_one(const char *type, const char *target) {
  if (mount(type, target, type, 0, NULL) != 0)
    fprintf(stderr, "init: mount %s on %s: %s\n", type, target, strerror(errno));
}

/* Split the job text at spaces into arguments, in place. Returns their number. */
static int split(char *job, char **arguments) {
  int count = 0;
  for (char *word = strtok(job, " "); word && count < ARGUMENTS_MAX; word = strtok(NULL, " "))
    arguments[count++] = word;
  arguments[count] = NULL;
  return count;
}

static _Noreturn void run_program(char **arguments) {
  char path[JOB_SIZE + 5] = "/bin/";
  strcat(path, arguments[0]);
  arguments[0] = path;
  execv(path, arguments);
  fprintf(stderr, "init: %s: %s\n", path, strerror(errno));
  _exit(STATUS_NOT_RUN);
}

static int exit_status(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* One output stream of the program, on its way to the engine. */
struct stream {
  uint32_t number; /* 1 stdout, 2 stderr */
  size_t used;
  char buffer[4096];
};

/* Read what is there and forward the whole lines of it: the engine records both streams in one
 * file, where lines must not be torn. Returns 0 at the end of the stream.
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

/* Run the job with its output piped to the engine; returns its status. */
static int run_piped(char **arguments) {
  int out[2], err[2];
  if (pipe(out) != 0 || pipe(err) != 0) return STATUS_NOT_RUN;
  pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    close(out[0]), close(out[1]), close(err[0]), close(err[1]);
    run_program(arguments);
  }
  close(out[1]), close(err[1]);
  if (child < 0) return STATUS_NOT_RUN;
  forward_output(out[0], err[0]);
  return exit_status(child);
}

/* Run the job with its output on the console; returns its status. */
static int run_on_console(char **arguments) {
  pid_t child = fork();
  if (child == 0) run_program(arguments);
  return child < 0 ? STATUS_NOT_RUN : exit_status(child);
}

int main(void) {
  static char job[JOB_SIZE];
  char *arguments[ARGUMENTS_MAX + 1];

  mount_one("proc", "/proc");
  mount_one("sysfs", "/sys");
  mount_one("devtmpfs", "/dev");
  mount_one("tmpfs", "/tmp");

  int engine = p5_marker_init();
  p5_ready();
  if (p5_job(job, sizeof(job)) == 0) {
    /* The kernel hands parameters that it does not know to init's environment. */
    const char *parameter = getenv("p5job");
    snprintf(job, sizeof(job), "%s", parameter ? parameter : "");
    for (char *c = job; *c; c++)
      if (*c == ',') *c = ' ';
  }

  int status = STATUS_NO_JOB;
  if (split(job, arguments) == 0) {
    static const char no_job[] = "init: no job\n";
    p5_output(2, no_job, sizeof(no_job) - 1);
    fputs(no_job, stderr);
  } else {
    status = engine ? run_piped(arguments) : run_on_console(arguments);
  }
  p5_exit((uint32_t)status);
  printf("init: job ended with status %d\n", status);
  fflush(stdout);
  reboot(RB_AUTOBOOT);
  return status;
}
