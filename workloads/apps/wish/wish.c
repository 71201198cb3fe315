// SPDX-License-Identifier: MIT
/*
 * wish: Tk's widget demonstration (chen95 section 5.1). The program starts wish8.6 of the guest
 * with the Tcl script of script.h. The script loads the demonstration with `source`, and then
 * invokes its parts and their buttons. Tcl has no markers. So the script writes `begin PHASE` or
 * `end PHASE` to a pipe, and this program executes the marker and answers with an empty line. The
 * script also measures the empty brackets, which contain the way through both pipes.
 *
 * A first wish, before all brackets, shows one label and ends. It reads the fonts and leaves their
 * cache in /tmp. On a disk of p5lab no font has a cache. fontconfig would read all of them, also
 * the 400 compressed bitmap fonts of the X server, which takes more than 30 virtual seconds. So the
 * configuration in script.h names only the outline fonts.
 *
 * The bracket 0 begins before the start of wish and ends when the script writes `done`. This
 * program then ends, and wish stays on the screen, so that the picture of the run shows it.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* The script measures the empty brackets. */
#define P5W_EMPTY_BRACKET no_empty_bracket
#include "p5w.h"
#include "script.h"

static void no_empty_bracket(void) {}

#define SHELL "/usr/bin/wish8.6"
#define DEMONSTRATION "/usr/share/doc/tk8.6-doc/demos/widget"
#define SCRIPT "/tmp/wish.tcl"
#define FONTS "/tmp/fonts.conf"
#define PHASE_WISH 0
#define MOST 12 /* demonstrations of script.h */

static void write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  if (!file || fputs(text, file) < 0 || fclose(file) != 0) p5w_fail(path);
}

/* Start a wish that shows one label and ends. */
static void read_fonts(void) {
  FILE *wish = popen(SHELL, "w");
  if (!wish || fputs("pack [label .l -text x]; update; exit\n", wish) < 0 || pclose(wish) != 0)
    p5w_fail(SHELL);
}

static void check(const char *path, const char *package) {
  if (access(path, R_OK) == 0) return;
  fprintf(stderr, "wish: %s: %s; make the image with package %s\n", path, strerror(errno), package);
  exit(P5W_EXIT_UNAVAILABLE);
}

static _Noreturn void run_wish(int from, int to, const char *count) {
  signal(SIGPIPE, SIG_DFL);
  /* The output of errors also goes to the pipe, as lines that are no markers. */
  dup2(from, STDIN_FILENO);
  dup2(to, STDOUT_FILENO);
  dup2(to, STDERR_FILENO);
  close(from), close(to);
  execl(SHELL, SHELL, SCRIPT, DEMONSTRATION, count, (char *)NULL);
  printf("%s: %s\n", SHELL, strerror(errno));
  fflush(stdout);
  _exit(127);
}

/* Execute the markers that the script asks for. Returns 1 if the script has said `done`. */
static int serve(FILE *asked, int answers) {
  char line[256];
  while (fgets(line, sizeof(line), asked)) {
    unsigned long phase;
    if (strcmp(line, "done\n") == 0) return 1;
    if (sscanf(line, "begin %lu", &phase) == 1)
      p5_begin((uint32_t)phase);
    else if (sscanf(line, "end %lu", &phase) == 1)
      p5_end((uint32_t)phase);
    else {
      fputs(line, stderr); /* an error: the script waits for no answer */
      continue;
    }
    if (write(answers, "\n", 1) != 1) return 0;
  }
  return 0;
}

int main(int argc, char **argv) {
  long demonstrations = 12;
  const struct p5w_option options[] = {
      {"demonstrations", "demonstrations to invoke", &demonstrations, 1, NULL}, {0}};
  p5w_start(argc, argv, options);
  if (demonstrations > MOST) {
    fprintf(stderr, "%s: demonstrations: expected at most %d\n", argv[0], MOST);
    return P5W_EXIT_USAGE;
  }
  signal(SIGPIPE, SIG_IGN); /* wish can end before its answer */
  check(SHELL, "tk8.6");
  check(DEMONSTRATION, "tk8.6-doc");
  write_text(SCRIPT, script);
  write_text(FONTS, fonts);
  setenv("FONTCONFIG_FILE", FONTS, 1);
  read_fonts();

  char count[24];
  int asked[2], answers[2];
  snprintf(count, sizeof(count), "%ld", demonstrations);
  if (pipe(asked) != 0 || pipe(answers) != 0) p5w_fail("pipe");
  p5w_await_tick();
  p5_begin(PHASE_WISH);
  pid_t wish = fork();
  if (wish < 0) p5w_fail("fork");
  if (wish == 0) run_wish(answers[0], asked[1], count);
  close(answers[0]), close(asked[1]);
  FILE *lines = fdopen(asked[0], "r");
  if (!lines || !serve(lines, answers[1])) {
    fprintf(stderr, "wish: ended before its last demonstration\n");
    return P5W_EXIT_FAILED;
  }
  p5_end(PHASE_WISH);
  return 0;
}
