/* SPDX-License-Identifier: MIT */
/* Start a program, and wait until it ends. A started program may have pipes to its parent. */
#ifndef P5LAB_WIN32_PROCESS_H
#define P5LAB_WIN32_PROCESS_H

#include <unistd.h>

#include "p5w.h"
#include "win32.h"

#define LONGEST_PATH 260 /* MAX_PATH of Windows */

/* Start a program. `input` and `output` are its standard handles, or NULL: it then has those of this
 * program. */
static inline handle process_start(const char *path, char *command, handle input, handle output) {
  struct startup startup = {.size = sizeof(startup)};
  struct process made;
  int inherit = input || output;
  if (inherit) startup.flags = USE_STANDARD_HANDLES;
  startup.input = input, startup.output = output;
  if (!CreateProcessA(path, command, NULL, NULL, inherit, 0, NULL, NULL, &startup, &made)) {
    errno = (int)GetLastError();
    p5w_fail(path);
  }
  CloseHandle(made.thread);
  return made.process;
}

/* Wait for the end of a program. Give up unless it ended with status 0. */
static inline void process_wait(handle process) {
  uint32_t status = 0;
  if (WaitForSingleObject(process, FOREVER) != 0 || !GetExitCodeProcess(process, &status))
    p5w_fail("wait");
  CloseHandle(process);
  if (status != 0) {
    fprintf(stderr, "child: status %#x\n", (unsigned)status);
    exit(P5W_EXIT_FAILED);
  }
}

/* The two ends of a pipe. A started program inherits neither of them. */
struct pipe {
  handle read, write;
};

static inline struct pipe pipe_new(void) {
  struct pipe made;
  if (!CreatePipe(&made.read, &made.write, NULL, 0)) p5w_fail("pipe");
  return made;
}

/* Make an end one that started programs inherit. */
static inline handle inherited(handle end) {
  handle own = GetCurrentProcess(), copy;
  if (!DuplicateHandle(own, end, own, &copy, 0, 1, CLOSE_SOURCE | SAME_ACCESS)) p5w_fail("pipe");
  return copy;
}

/* Start this program again as its own child, with these ends of pipes as its standard handles. Only
 * the child has the ends afterwards. */
static inline handle process_start_child(handle input, handle output) {
  static char path[LONGEST_PATH], command[] = "p5lab child";
  GetModuleFileNameA(NULL, path, sizeof(path));
  if (input) input = inherited(input);
  if (output) output = inherited(output);
  handle child = process_start(path, command, input, output);
  if (input) CloseHandle(input);
  if (output) CloseHandle(output);
  return child;
}

/* Whether this program is the child. */
static inline int process_is_child(int argc, char **argv) {
  return argc == 2 && strcmp(argv[1], "child") == 0;
}

#endif
