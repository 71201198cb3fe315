/* SPDX-License-Identifier: MIT */
/*
 * The files of the tree that andrew-make.c compiles: the sources of one program.
 *
 *   file 0       Makefile
 *   file 1       main.c: calls the function of each other C file, and prints the sum of the results
 *   then         part.h of each directory, which includes part.h of the directory above it
 *   the others   C files: functions of functions.h with random numbers; each third is a text
 *
 * The papers do not say how many of the files are compiled. With the 70 files of the tree it is 33
 * here, which is an estimate.
 *
 * The sources include only their own headers and link no library. So each guest compiles the same
 * lines, whatever C library it has. They are for one target, a Pentium with the system calls of
 * Linux, on guests with another processor too.
 *
 * Each file has the size that tree.h gives it. A comment at its end fills it. The generator
 * computes with integers of 32 bits only, so the tree is the same on all systems.
 */
#ifndef P5LAB_SOURCES_H
#define P5LAB_SOURCES_H

#include <stdarg.h>

#include "functions.h"

enum { MAKEFILE, MAIN, FIRST_HEADER };
/* The options that a distribution's gcc could have by itself are given, so that the code is the
 * same on all guests.
 */
#define TARGET "-m32 -march=pentium"
#define COMPILE                                                                                \
  "-O " TARGET " -ffreestanding -fno-pic -fno-stack-protector -fno-asynchronous-unwind-tables" \
  " -fcf-protection=none"
#define LINK TARGET " -static -no-pie -nostdlib -Wl,--build-id=none"

static struct text {
  long length; /* of tree_buffer */
  uint32_t state;
} text;

/* A random number below `limit`. The constants are those of Numerical Recipes, second edition,
 * section 7.1.
 */
static uint32_t below(uint32_t limit) {
  text.state = text.state * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)text.state * limit) >> 32);
}

__attribute__((format(printf, 1, 2))) static void put(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  text.length += vsnprintf(tree_buffer + text.length, (size_t)(TREE_FILE_MAX - text.length), format,
                           arguments);
  va_end(arguments);
}

/* The size of a file. The Makefile has one of the largest. */
static long size_of(long n) { return tree_file_size((n + 4) % tree_files); }

/* Fill the file with a comment up to its size. */
static void pad(long n, const char *line, const char *first, const char *last) {
  static const char *const words[] = {"the",  "file",   "of",   "this",  "part",  "is",
                                      "read", "before", "each", "other", "value", "it"};
  long size = size_of(n), end = size - (long)strlen(last);
  if (text.length > size) {
    fprintf(stderr, "andrew-make: file %ld needs %ld bytes and has %ld; expected more kilobytes\n",
            n, text.length, size);
    exit(P5W_EXIT_USAGE);
  }
  if (text.length + (long)strlen(first) <= end) {
    put("%s", first);
    for (long column = 0; text.length < end;) {
      const char *word = words[below(sizeof(words) / sizeof(words[0]))];
      if (column > 66) put("\n%s", line), column = 0;
      put(" %s", word);
      column += (long)strlen(word) + 1;
    }
    text.length = end;
    put("%s", last);
  }
  while (text.length < size) put("\n");
}

static long parent(long directory) { return (directory - 1) / TREE_FAN_OUT; }
static long first_source(void) { return FIRST_HEADER + tree_directories; }
static int is_text(long n) { return n >= first_source() && (n - first_source()) % 3 == 2; }
static int is_source(long n) { return n >= first_source() && !is_text(n); }
static long directory_of(long n) {
  return n < FIRST_HEADER ? 0 : (n - FIRST_HEADER) % tree_directories;
}

/* The path of a file without its ending. */
static void stem(char *path, const char *root, long n) {
  char place[TREE_PATH_SIZE], name[8];
  tree_directory(place, root, directory_of(n));
  snprintf(name, sizeof(name), n == MAKEFILE ? "Make" : n == MAIN ? "main" : "f%02d", (int)n % 100);
  snprintf(path, TREE_PATH_SIZE, "%.50s/%.7s", place,
           n >= FIRST_HEADER && n < first_source() ? "part" : name);
}

static void tree_path(char *path, const char *root, long n) {
  char start[TREE_PATH_SIZE];
  const char *ending = n == MAKEFILE                               ? "file"
                       : n >= FIRST_HEADER && n < first_source() ? ".h"
                       : is_text(n)                              ? ".txt"
                                                                 : ".c";
  stem(start, root, n);
  snprintf(path, TREE_PATH_SIZE, "%.58s%s", start, ending);
}

/* The dependence of an object on its source and on part.h of all directories above it. */
static void put_rule(long n) {
  char path[TREE_PATH_SIZE];
  stem(path, ".", n);
  put("%s.o: %s.c", path + 2, path + 2);
  for (long directory = directory_of(n);; directory = parent(directory)) {
    tree_directory(path, ".", directory);
    put(" %s/part.h", path);
    if (directory == 0) break;
  }
  put("\n");
}

static void write_makefile(void) {
  put("CC = gcc\nCFLAGS = " COMPILE "\nLDFLAGS = " LINK "\n");
  put("OBJECTS = main.o");
  for (long n = first_source(), column = 0; n < tree_files; n++) {
    char path[TREE_PATH_SIZE];
    if (!is_source(n)) continue;
    stem(path, ".", n);
    put("%s%s.o", column++ % 5 == 4 ? " \\\n\t" : " ", path + 2);
  }
  put("\n\n.SUFFIXES:\n.SUFFIXES: .c .o\n.c.o:\n\t$(CC) $(CFLAGS) -c -o $@ $<\n\n");
  put("program: $(OBJECTS)\n\t$(CC) $(LDFLAGS) -o program $(OBJECTS)\n\n");
  put_rule(MAIN);
  for (long n = first_source(); n < tree_files; n++)
    if (is_source(n)) put_rule(n);
  pad(MAKEFILE, "#", "\n#", "\n");
}

static void write_main(void) {
  put("/* The program: the functions of all parts, one after the other. */\n");
  for (long i = 0; i < tree_directories; i++) {
    char path[TREE_PATH_SIZE];
    tree_directory(path, ".", i);
    put("#include \"%s/part.h\"\n", path);
  }
  put("\nstatic word call(word number, word first, const char *second, word third)\n{\n"
      "    word result;\n\n"
      "    __asm__ volatile(\"int $0x80\"\n"
      "        : \"=a\"(result)\n"
      "        : \"0\"(number), \"b\"(first), \"c\"(second), \"d\"(third)\n"
      "        : \"memory\");\n"
      "    return result;\n}\n\n");
  put("void _start(void)\n{\n    char line[9];\n    word x = 1;\n    int i;\n\n");
  for (long n = first_source(); n < tree_files; n++)
    if (is_source(n)) put("    x = f%02d(x);\n", (int)n);
  put("    for (i = 0; i < 8; i++, x <<= 4)\n"
      "        line[i] = \"0123456789abcdef\"[x >> 28];\n"
      "    line[8] = '\\n';\n"
      "    call(4, 1, line, sizeof(line)); /* write */\n"
      "    call(1, 0, 0, 0); /* exit */\n}\n");
  pad(MAIN, " *", "\n/*\n *", "\n */\n");
}

static void write_header(long n) {
  enum { KINDS = 4 };
  static const char *const kinds[KINDS] = {"words", "numbers", "signs", "the list"};
  long directory = directory_of(n);
  put("/* Part %02d of the program. */\n#ifndef PART_%02d\n#define PART_%02d\n", (int)directory,
      (int)directory, (int)directory);
  if (directory == 0)
    put("typedef unsigned word;\n"
        "#define ROTATE(x, n) ((x) << (n) | (x) >> (32 - (n)))\n"
        "#define MIX(x, n) (ROTATE((word)(x), 13) * 5 + (n) * 2654435761u)\n"
        "#define IS_LETTER(c) ((c | 32) >= 'a' && (c | 32) <= 'z')\n"
        "#define IS_DIGIT(c) (c >= '0' && c <= '9')\n"
        "struct node { struct node *next; word key; };\n"
        "struct counts { word words, numbers, signs; };\n");
  else
    put("#include \"../part.h\"\n");
  put("#undef PART_SIZE\n#define PART_SIZE %u\n", 16 + below(48));
  for (long i = first_source(); i < tree_files; i++)
    if (is_source(i) && directory_of(i) == directory) put("word f%02d(word x);\n", (int)i);
  for (int i = 0; text.length < size_of(n) * 3 / 4; i++)
    put("#define LIMIT_%02d_%d %u /* of %s */\n", (int)directory, i, below(1000),
        kinds[below(KINDS)]);
  put("#endif\n");
  pad(n, " *", "\n/*\n *", "\n */\n");
}

/* Put a function with this name and random numbers. */
static void put_function(const char *template, const char *name) {
  for (const char *at = template; *at; at++)
    if (*at != '$')
      put("%c", *at);
    else if (*++at == 'n')
      put("%s", name);
    else
      put("%u", 1 + below(250));
}

static void write_source(long n) {
  char calls[1024] = "";
  long size = size_of(n), count = 0;
  put("/* File %02d of the program. */\n#include \"part.h\"\n\n", (int)n);
  for (long tries = 0; tries < 3 * FUNCTIONS && count < 20; tries++) {
    const char *function = functions[(n + tries) % FUNCTIONS];
    char name[16], line[32];
    snprintf(name, sizeof(name), "f%02d_%ld", (int)n, count);
    snprintf(line, sizeof(line), "    x = %s(x);\n", name);
    long rest = size - text.length - (long)(strlen(calls) + strlen(line)) - 64;
    /* Names and numbers are at most 5 bytes longer than their marks. */
    if ((long)strlen(function) + 40 > rest) continue;
    put_function(function, name);
    strcat(calls, line);
    count++;
  }
  put("word f%02d(word x)\n{\n%s    return MIX(x, %u);\n}\n", (int)n, calls, (unsigned)n);
  pad(n, " *", "\n/*\n *", "\n */\n");
}

static void generate(const char *root) {
  tree_make_directories(root);
  tree_expected.directories = tree_directories;
  for (long n = 0; n < tree_files; n++) {
    char path[TREE_PATH_SIZE];
    text = (struct text){.state = (uint32_t)n};
    if (n == MAKEFILE)
      write_makefile();
    else if (n == MAIN)
      write_main();
    else if (n < first_source())
      write_header(n);
    else if (is_text(n))
      pad(n, "", "About the parts of the program\n\n", "\n");
    else
      write_source(n);
    tree_write(tree_create(path, root, n), path, text.length);
  }
}

#endif
