// SPDX-License-Identifier: MIT
/*
 * scomp: the UNIX calls of a compilation (wpi92 section 4.3: Scomp has gcc's structure, and issues
 * the calls that gcc issues when gcc compiles itself). Phase 0 brackets the compilation of all
 * sources and the linking.
 *
 * The authors counted the calls with gprof but print no counts. This program has the structure of
 * gcc that gcc's manual describes. The sizes are estimates. For each source a driver starts the
 * preprocessor, the compiler proper and the assembler, one after the other. Each pass is a new
 * process that executes this program again. A pass writes a file for the next pass, and the driver
 * removes the file later. At the end the linker reads all objects. The preprocessor looks for each
 * header in two directories and finds it in the second directory. The compiler proper allocates
 * memory in pieces of 4 KB for words that it has not read before. It frees no memory. The
 * preprocessor and the linker read whole files. The other passes read pieces of 4 KB. All passes
 * write pieces of 4 KB.
 *
 * The sources contain words of data.h. Every pass changes each word, so that the linked program
 * shows whether all passes have read and written the right data.
 */
#include "child.h"
#include "data.h"

#define PIECE 4096
#define HEADER 4096 /* bytes of a header */
#define SLOTS 4096  /* size of the compiler's table of words; a power of two */

static const char directory[] = "p5lab-scomp";
static long files = 4, headers = 8, size = 16384, filesystem = DATA_DISK;

/* The word that a pass writes instead of a word that it has read. */
static uint32_t compiled(uint32_t word) { return word * 2654435761u; }
static uint32_t assembled(uint32_t word) { return word ^ word >> 15; }

/* Output that is written in pieces. */
static struct {
  int descriptor;
  size_t used;
  uint32_t words[PIECE / 4];
} output;

static void output_flush(void) {
  if (write(output.descriptor, output.words, output.used * 4) != (ssize_t)(output.used * 4))
    p5w_fail("output");
  output.used = 0;
}

static void output_open(const char *name) {
  output.descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (output.descriptor < 0) p5w_fail(name);
}

static void output_word(uint32_t word) {
  output.words[output.used++] = word;
  if (output.used == PIECE / 4) output_flush();
}

static void output_close(void) {
  if (output.used > 0) output_flush();
  if (close(output.descriptor) != 0) p5w_fail("output");
}

/* Copy a whole file into memory and from there to the output. */
static void pass_on(const char *name) {
  struct stat status;
  int descriptor = open(name, O_RDONLY);
  if (descriptor < 0 || fstat(descriptor, &status) != 0) p5w_fail(name);
  uint32_t *words = malloc((size_t)status.st_size);
  if (!words) p5w_fail("memory");
  data_read(descriptor, (char *)words, (long)status.st_size, name);
  close(descriptor);
  for (long i = 0; i < status.st_size / 4; i++) output_word(words[i]);
  free(words);
}

/* Read a file piece by piece and call `each` for every word. */
static void words_of(const char *name, void (*each)(uint32_t)) {
  static uint32_t words[PIECE / 4];
  int descriptor = open(name, O_RDONLY);
  if (descriptor < 0) p5w_fail(name);
  ssize_t length;
  while ((length = read(descriptor, words, PIECE)) > 0)
    for (ssize_t i = 0; i < length / 4; i++) each(words[i]);
  if (length < 0) p5w_fail(name);
  close(descriptor);
}

static void preprocess(const char *source, const char *to) {
  char name[32];
  output_open(to);
  for (long i = 0; i < headers; i++) {
    snprintf(name, sizeof(name), "include/%d.h", (int)i);
    if (access(name, R_OK) == 0) p5w_fail(name);
    snprintf(name, sizeof(name), "system/%d.h", (int)i);
    pass_on(name);
  }
  pass_on(source);
  output_close();
}

/* A word that the compiler has read. Its memory is part of a piece of 4 KB. */
struct symbol {
  struct symbol *next;
  uint32_t word, count;
};

static struct symbol *table[SLOTS], *piece;
static int piece_left;

static void compile_word(uint32_t word) {
  struct symbol **slot = &table[word * 2654435761u >> 20], *found = *slot;
  while (found && found->word != word) found = found->next;
  if (!found) {
    if (piece_left == 0) {
      piece = malloc(PIECE);
      if (!piece) p5w_fail("memory");
      piece_left = (int)(PIECE / sizeof(*piece));
    }
    found = &piece[--piece_left];
    *found = (struct symbol){*slot, word, 0};
    *slot = found;
  }
  found->count++;
  output_word(compiled(word));
}

static void assemble_word(uint32_t word) { output_word(assembled(word)); }

static void compile(const char *from, const char *to) {
  output_open(to);
  words_of(from, compile_word);
  output_close();
}

static void assemble(const char *from, const char *to) {
  output_open(to);
  words_of(from, assemble_word);
  output_close();
}

static void linked(char **objects, int count, const char *to) {
  output_open(to);
  for (int i = 0; i < count; i++) pass_on(objects[i]);
  output_close();
}

/* Run as one of the passes. Arguments: --PASS TO FROM..., and the number of headers. */
static int pass(int argc, char **argv) {
  const char *name = argv[1] + 2, *to = argv[2];
  if (strcmp(name, "ld") == 0) return linked(argv + 3, argc - 3, to), 0;
  if (argc != 5 || !p5w_number(argv[4], &headers)) return P5W_EXIT_USAGE;
  if (strcmp(name, "cpp") == 0) return preprocess(argv[3], to), 0;
  if (strcmp(name, "cc1") == 0) return compile(argv[3], to), 0;
  if (strcmp(name, "as") == 0) return assemble(argv[3], to), 0;
  return P5W_EXIT_USAGE;
}

static const char *program;

/* The driver: start a pass and wait for it. */
static void start(char *const *arguments) {
  pid_t child = vfork();
  if (child == 0) {
    execv(program, arguments);
    _exit(127);
  }
  child_wait(child);
}

static void start_pass(const char *name, const char *to, const char *from) {
  char number[12];
  snprintf(number, sizeof(number), "%d", (int)headers);
  const char *arguments[] = {program, name, to, from, number, NULL};
  start((char *const *)arguments);
}

static void name_of(char *name, const char *kind, long number) {
  snprintf(name, 24, "%d.%s", (int)number, kind);
}

static void compilation(void) {
  char source[24], object[24];
  char **arguments = calloc((size_t)files + 4, sizeof(*arguments));
  char(*objects)[24] = calloc((size_t)files, sizeof(*objects));
  if (!arguments || !objects) p5w_fail("memory");
  arguments[0] = (char *)program, arguments[1] = "--ld", arguments[2] = "a.out";
  for (long i = 0; i < files; i++) {
    struct stat status;
    name_of(source, "c", i), name_of(object, "o", i);
    if (stat(source, &status) != 0) p5w_fail(source);
    start_pass("--cpp", "temporary.i", source);
    start_pass("--cc1", "temporary.s", "temporary.i");
    if (unlink("temporary.i") != 0) p5w_fail("temporary.i");
    start_pass("--as", object, "temporary.s");
    if (unlink("temporary.s") != 0) p5w_fail("temporary.s");
    memcpy(objects[i], object, sizeof(object));
    arguments[3 + i] = objects[i];
  }
  start(arguments);
  free(arguments), free(objects);
}

static void remove_results(void) {
  char object[24];
  for (long i = 0; i < files; i++)
    if (name_of(object, "o", i), unlink(object) != 0) p5w_fail(object);
  if (unlink("a.out") != 0) p5w_fail("a.out");
}

static void iteration(void) {
  static int compiled_before;
  if (compiled_before++) remove_results();
  data_drop_caches();
  p5_begin(0);
  compilation();
  p5_end(0);
}

static void input_new(const char *name, long bytes, uint32_t key) {
  char *text = data_buffer(bytes);
  int descriptor = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (descriptor < 0) p5w_fail(name);
  data_fill(text, bytes, 0, key);
  data_write(descriptor, text, bytes, name);
  if (close(descriptor) != 0) p5w_fail(name);
  free(text);
}

/* Make the headers and the sources. The key of header i is i + 1, the key of source i is headers +
 * 1 + i.
 */
static void inputs_new(void) {
  char name[32];
  if (mkdir("include", 0700) != 0 || mkdir("system", 0700) != 0) p5w_fail("headers");
  for (long i = 0; i < headers; i++) {
    snprintf(name, sizeof(name), "system/%d.h", (int)i);
    input_new(name, HEADER, (uint32_t)(i + 1));
  }
  for (long i = 0; i < files; i++) {
    name_of(name, "c", i);
    input_new(name, size, (uint32_t)(headers + 1 + i));
  }
}

/* Check that the linked program is the result of all passes. */
static void check(void) {
  char *text = data_buffer(size > HEADER ? size : HEADER);
  long at = 0;
  int descriptor = open("a.out", O_RDONLY);
  if (descriptor < 0) p5w_fail("a.out");
  for (long i = 0; i < files; i++) {
    for (long part = 0; part <= headers; part++) {
      long bytes = part < headers ? HEADER : size;
      data_fill(text, bytes, 0, (uint32_t)(part < headers ? part + 1 : headers + 1 + i));
      for (long word = 0; word < bytes; word += 4, at += 4) {
        uint32_t in, out;
        memcpy(&in, text + word, 4);
        data_read(descriptor, (char *)&out, 4, "a.out");
        if (out != assembled(compiled(in))) data_wrong("a.out", at);
      }
    }
  }
  if (read(descriptor, text, 1) != 0) data_wrong("a.out", at);
  close(descriptor);
  free(text);
}

static void inputs_remove(void) {
  char name[32];
  for (long i = 0; i < headers; i++) {
    snprintf(name, sizeof(name), "system/%d.h", (int)i);
    if (unlink(name) != 0) p5w_fail(name);
  }
  for (long i = 0; i < files; i++)
    if (name_of(name, "c", i), unlink(name) != 0) p5w_fail(name);
  if (rmdir("include") != 0 || rmdir("system") != 0) p5w_fail("headers");
}

int main(int argc, char **argv) {
  if (argc > 2 && strncmp(argv[1], "--", 2) == 0) return pass(argc, argv);
  long iterations = 1, warmup = 1;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"files", "sources", &files, 1, NULL},
      {"headers", "headers of 4 KB that each source includes", &headers, 0, NULL},
      {"size", "bytes of a source, a multiple of 4", &size, 4, NULL},
      DATA_FILESYSTEM(filesystem),
      {0}};
  p5w_start(argc, argv, options);
  if (size % 4 != 0 || files > 64) {
    fprintf(stderr, "%s: size must be a multiple of 4, files at most 64\n", argv[0]);
    return P5W_EXIT_USAGE;
  }
  const char *slash = strrchr(argv[0], '/');
  program = realpath(child_path(argv[0], slash ? slash + 1 : argv[0]), NULL);
  if (!program) p5w_fail(argv[0]);
  data_mount(filesystem);
  data_enter(directory);
  inputs_new();

  p5w_repeat(iteration, warmup, iterations);
  check();
  remove_results();
  inputs_remove();
  data_leave(directory);
  return 0;
}
