// SPDX-License-Identifier: MIT
/*
 * ghostscript: shows a document of 13 pages on an X server (chen95 section 5.2), with the gs of the
 * guest. The document is made by document.h before all brackets.
 *
 * gs is as its package delivers it. After each page it asks for the Return key on its standard
 * input, because no -dNOPAUSE is given. This program waits for the question and executes the
 * markers. gs asks after the X server has answered that the page is drawn.
 *
 * `method` says where gs draws:
 *
 * - drawing: in the X server, by requests of the X protocol. bits=1 is black and white.
 * - memory, bits=8: in a bitmap in its own memory, with 8 bits a dot as the screen has. gs copies the
 *   changed areas to the server, in large parts and at the latest at the end of the page.
 * - memory, bits=1: in a bitmap in its own memory with 1 bit a dot. gs writes it to this program,
 *   which hands it over to the server in one request.
 *
 * A first gs, before all brackets, shows the first page and ends. So the files of gs are in the
 * file cache of the guest if there is room for them.
 */
#define _GNU_SOURCE /* pipe2 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "document.h"
#include "p5w.h"
#include "xclient.h"

#define GS "/usr/bin/gs"
#define DOCUMENT "/tmp/document.ps"
#define PIPE "/tmp/page.pbm"
#define QUESTION "press <return> to continue<<\n"
enum { DRAWING, MEMORY };
enum { BITS_8, BITS_1 };
enum { PHASE_ALL, PHASE_FIRST, PHASE_PAGE };

static const char *const methods[] = {"drawing", "memory", NULL};
static const char *const depths[] = {"8", "1", NULL};
static long method = DRAWING, depth = BITS_8, pages = DOCUMENT_PAGES, pause_ms = 0;

static pid_t gs;
static int answers;       /* the standard input of gs */
static int asked;         /* its standard output */
static int pictures = -1; /* the pipe of the pictures of gs, with method=memory bits=1 */

static void write_file(void) {
  FILE *file = fopen(DOCUMENT, "w");
  if (!file) p5w_fail(DOCUMENT);
  write_document(file, (int)pages);
  if (fclose(file) != 0) p5w_fail(DOCUMENT);
}

static int by_this_program(void) { return method == MEMORY && depth == BITS_1; }

static _Noreturn void run_gs(int from, int to) {
  const char *device = depth == BITS_8 ? "-sDEVICE=x11" : "-sDEVICE=x11mono";
  /* The space for the bitmap in the memory of gs, in bytes. */
  const char *place = method == MEMORY ? "-dMaxBitmap=10000000" : "-dMaxBitmap=0";
  if (by_this_program()) device = "-sDEVICE=pbmraw", place = "-sOutputFile=" PIPE;
  signal(SIGPIPE, SIG_DFL);
  dup2(from, STDIN_FILENO);
  dup2(to, STDOUT_FILENO);
  close(from), close(to);
  /* US letter at 69 dots an inch has 587 x 759 dots, so a screen of 1024 x 768 dots shows the whole
   * page. -dNONATIVEFONTMAP: gs has its own fonts, so fontconfig need not read all fonts of the disk.
   */
  execl(GS, GS, "-q", "-dNONATIVEFONTMAP", "-sPAPERSIZE=letter", "-r69", device, place, DOCUMENT,
        (char *)NULL);
  perror(GS);
  _exit(127);
}

static void start_gs(void) {
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) p5w_fail("pipe");
  gs = fork();
  if (gs < 0) p5w_fail("fork");
  if (gs == 0) run_gs(input[0], output[1]);
  close(input[0]), close(output[1]);
  answers = input[1], asked = output[0];
}

static _Noreturn void give_up(const char *why) {
  fprintf(stderr, "ghostscript: %s\n", why);
  exit(P5W_EXIT_FAILED);
}

/* Read what gs prints until it asks for the Return key. Other text is an error message. */
static int question_has_come(void) {
  static char text[4096];
  static size_t length;
  ssize_t part = read(asked, text + length, sizeof(text) - 1 - length);
  if (part > 0) length += (size_t)part;
  text[length] = '\0';
  if (part <= 0) {
    fprintf(stderr, "ghostscript: gs ended before its last page: %s\n", text);
    exit(P5W_EXIT_FAILED);
  }
  if (!strstr(text, QUESTION)) {
    if (length < sizeof(text) - 1) return 0;
    give_up(text);
  }
  length = 0;
  return 1;
}

/* Wait until gs has shown a page, or has written its picture to `bitmap`. Returns the bytes of the
 * picture.
 */
static size_t await_page(uint8_t *bitmap, size_t most) {
  struct pollfd inputs[] = {{.fd = asked, .events = POLLIN}, {.fd = pictures, .events = POLLIN}};
  size_t length = 0;
  for (int shown = 0; !shown || inputs[1].revents;) {
    if (poll(inputs, 2, shown ? 0 : -1) < 0) p5w_fail("poll");
    if (inputs[1].revents & POLLIN) {
      ssize_t part = read(pictures, bitmap + length, most - length);
      if (part <= 0) give_up("the picture of gs is too large");
      length += (size_t)part;
    } else if (inputs[0].revents) {
      shown = question_has_come();
    }
    if (shown) inputs[0].fd = -1;
  }
  return length;
}

/* Show a picture in the format PBM as gs writes it: P4, a comment, the size, one white space, and
 * the dots.
 */
static void show_picture(const uint8_t *bitmap, size_t length, int is_first) {
  unsigned width, height;
  int head = 0;
  if (sscanf((const char *)bitmap, "P4 #%*[^\n] %u %u%n", &width, &height, &head) < 2)
    give_up("expected a picture in the format PBM from gs");
  head++; /* the white space */
  if (length != (size_t)head + (width + 7) / 8 * height) give_up("a picture has a wrong length");
  if (is_first && !x_open(width, height)) give_up("no X server");
  if (!x_show(bitmap + head, width, height)) give_up("the X server does not take a picture");
}

/* Let gs show one page. */
static void show_page(int is_first) {
  static uint8_t bitmap[1 << 18];
  if (is_first)
    start_gs();
  else if (write(answers, "\n", 1) != 1)
    p5w_fail("pipe");
  size_t length = await_page(bitmap, sizeof(bitmap) - 1);
  bitmap[length] = '\0';
  if (by_this_program()) show_picture(bitmap, length, is_first);
}

static void end_gs(void) {
  kill(gs, SIGKILL);
  waitpid(gs, NULL, 0);
  close(answers), close(asked);
  if (by_this_program()) close(x_client.socket);
}

/* Say which page is on the screen, and leave it there. A test can end the pause by SIGUSR1. */
static void leave_on_screen(long page) {
  sigset_t next;
  const struct timespec time = {.tv_sec = pause_ms / 1000, .tv_nsec = pause_ms % 1000 * 1000000};
  if (pause_ms == 0) return;
  printf("page %ld\n", page);
  fflush(stdout);
  sigemptyset(&next);
  sigaddset(&next, SIGUSR1);
  sigtimedwait(&next, NULL, &time);
}

int main(int argc, char **argv) {
  const struct p5w_option options[] = {
      {"method", "how a page comes to the X server", &method, 0, methods},
      {"bits", "bits of a dot", &depth, 0, depths},
      {"pages", "pages of the document", &pages, 1, NULL},
      {"pause", "milliseconds that a page stays on the screen", &pause_ms, 0, NULL},
      {0}};
  p5w_start(argc, argv, options);
  if (pages > DOCUMENT_PAGES) {
    fprintf(stderr, "%s: pages: expected at most %d\n", argv[0], DOCUMENT_PAGES);
    return P5W_EXIT_USAGE;
  }
  if (access(GS, X_OK) != 0) {
    fprintf(stderr,
            "ghostscript: " GS
            ": %s; make the image with packages ghostscript and "
            "ghostscript-x\n",
            strerror(errno));
    return P5W_EXIT_UNAVAILABLE;
  }
  signal(SIGPIPE, SIG_IGN);
  sigset_t next;
  sigemptyset(&next);
  sigaddset(&next, SIGUSR1);
  sigprocmask(SIG_BLOCK, &next, NULL);
  write_file();
  if (by_this_program()) {
    unlink(PIPE);
    /* Opened for both directions, it has no end while gs opens and closes it. */
    if (mkfifo(PIPE, 0600) != 0 || (pictures = open(PIPE, O_RDWR | O_CLOEXEC)) < 0) p5w_fail(PIPE);
  }
  show_page(1);
  end_gs();

  p5w_await_tick();
  p5_begin(PHASE_ALL);
  for (long page = 1; page <= pages; page++) {
    uint32_t phase = page == 1 ? PHASE_FIRST : PHASE_PAGE;
    p5_begin(phase);
    show_page(page == 1);
    p5_end(phase);
    leave_on_screen(page);
  }
  p5_end(PHASE_ALL);
  return 0;
}
