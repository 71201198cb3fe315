/* SPDX-License-Identifier: MIT */
/*
 * The document that ghostscript.c shows: 13 pages of PostScript in the shape of a conference paper.
 * Each page has two columns of text. It also has figures: curves, bars, drawings made by loops of
 * PostScript, a picture with 8 bits a dot, one with 1 bit, and one in colour.
 *
 * The text is made of random words. The generator computes with integers of 32 bits only, so the
 * document is the same on all hosts.
 */
#ifndef P5LAB_DOCUMENT_H
#define P5LAB_DOCUMENT_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define DOCUMENT_PAGES 13

/* All lengths are in points, the unit of PostScript: 72 points are one inch. */
enum { PAPER_HEIGHT = 792, COLUMN = 241, LEFT = 54, RIGHT = 317, TOP = 734, BOTTOM = 60 };
enum { FONT_SIZE = 10, LINE = 12 };

static FILE *document;
static uint32_t document_state;

/* A random number below `limit`. The constants are those of Numerical Recipes, second edition,
 * section 7.1.
 */
static uint32_t below(uint32_t limit) {
  document_state = document_state * 1664525u + 1013904223u;
  return (uint32_t)(((uint64_t)document_state * limit) >> 32);
}

static const char *const words[] = {
    "the",       "of",          "a",         "and",         "to",          "in",
    "is",        "for",         "with",      "on",          "system",      "time",
    "processor", "memory",      "cache",     "cycles",      "each",        "this",
    "from",      "that",        "by",        "are",         "which",       "program",
    "kernel",    "server",      "request",   "window",      "message",     "page",
    "address",   "space",       "counter",   "event",       "miss",        "buffer",
    "disk",      "file",        "measured",  "operating",   "more",        "less",
    "than",      "between",     "under",     "because",     "latency",     "bandwidth",
    "benchmark", "instruction", "reference", "overhead",    "performance", "personal",
    "computer",  "difference",  "behaviour", "application", "interrupt",   "protection",
    "boundary",  "structure"};

/* The width of a letter of Times-Roman in thousandths of the font's size, from the metrics that
 * Adobe published for its core fonts. A capital letter counts as an average one.
 */
static uint32_t width_of(char letter) {
  static const uint16_t small[26] = {500, 500, 444, 500, 444, 333, 500, 500, 278,
                                     278, 500, 278, 778, 500, 500, 500, 500, 333,
                                     389, 278, 500, 500, 722, 500, 500, 444};
  if (letter >= 'a' && letter <= 'z') return small[letter - 'a'];
  return letter >= 'A' && letter <= 'Z' ? 667 : 250;
}

/* Put the next word of a sentence into `word`. `left` counts the words until the next full stop. */
static void next_word(char *word, uint32_t *left) {
  int first = *left == 0;
  if (first) *left = 8 + below(14);
  strcpy(word, words[below(sizeof(words) / sizeof(words[0]))]);
  if (first) word[0] = (char)(word[0] - 'a' + 'A');
  if (--*left == 0)
    strcat(word, ".");
  else if (below(9) == 0)
    strcat(word, ",");
}

/* A random word of the last 14, which are nouns, or of the names of things of a computer. */
static const char *topic(void) { return words[48 + below(14)]; }
static const char *thing(void) { return words[24 + below(24)]; }

/* One paragraph, justified, from `y` down to `bottom` at most. Returns the place below it. */
static int paragraph(int x, int y, int bottom, uint32_t count) {
  char line[128] = "", word[24];
  uint32_t width = 0, spaces = 0, left = 0;
  while (y >= bottom && (count > 0 || left > 0)) {
    uint32_t wide = 0;
    next_word(word, &left);
    for (const char *letter = word; *letter; letter++) wide += width_of(*letter);
    if ((width + 250 + wide) * FONT_SIZE > COLUMN * 1000) {
      fprintf(document, "%d %d m %u(%s)j\n", x, y, spaces, line);
      y -= LINE, line[0] = '\0', width = 0, spaces = 0;
    }
    if (line[0]) strcat(line, " "), width += 250, spaces++;
    strcat(line, word), width += wide;
    if (count > 0) count--;
  }
  if (y < bottom) return y;
  fprintf(document, "%d %d m(%s)s\n", x, y, line);
  return y - LINE;
}

/* Text in a column from `y` down to `bottom`: headings and paragraphs. */
static void text(int x, int y, int bottom) {
  while (y >= bottom) {
    if (y >= bottom + 3 * LINE && below(4) == 0) {
      /* One random number in each statement: C leaves the order of a call's arguments open. */
      uint32_t section = 1 + below(6), number = 1 + below(5);
      fprintf(document, "H %d %d m(%u.%u  %s", x, y - 4, section, number, topic());
      fprintf(document, " %s)s R\n", topic());
      y -= LINE + 8;
    }
    y = paragraph(x, y, bottom, 30 + below(70));
  }
}

static void caption(int x, int y, const char *what) {
  fprintf(document, "I %d %d m(Figure: %s of the %s)s R\n", x, y, what, topic());
}

/* The axes of a figure, with marks and numbers. */
static void axes(int x, int y, int width, int height) {
  fprintf(document, "0 g .6 w %d %d m %d %d l %d %d l k\n", x, y + height, x, y, x + width, y);
  fprintf(document, "N\n");
  for (int mark = 0; mark <= 10; mark++) {
    fprintf(document, "%d %d m 0 -3 r k %d %d m(%d)s\n", x + mark * width / 10, y,
            x + mark * width / 10 - 3, y - 10, mark * 10);
    fprintf(document, "%d %d m -3 0 r k %d %d m(%d)s\n", x, y + mark * height / 10, x - 17,
            y + mark * height / 10 - 2, mark * 16);
  }
  fprintf(document, "R\n");
}

/* Curves with many points, as a plotting program writes them. Tenths of a point. */
static int plot(int x, int y, uint32_t points) {
  static const char *const colours[] = {"0 0 .8", ".8 0 0", "0 .5 0", ".5 0 .5"};
  int width = COLUMN - 24, height = 130;
  y -= height;
  axes(x + 22, y, width, height);
  fprintf(document, "gsave %d %d translate .1 .1 scale 7 w\n", x + 22, y);
  for (int curve = 0; curve < 4; curve++) {
    int value = (int)(200 + below(800)), slope = 0;
    fprintf(document, "%s c\n", colours[curve]);
    for (uint32_t i = 0; i < points; i++) {
      slope += (int)below(21) - 10;
      if (slope > 40 || slope < -40) slope /= 2;
      value += slope;
      if (value < 20) value = 20, slope = 5;
      if (value > height * 10 - 20) value = height * 10 - 20, slope = -5;
      fprintf(document, "%u %d %s", i * (uint32_t)width * 10 / points, value, i ? "l" : "m");
      fputc(i % 8 == 7 ? '\n' : ' ', document);
    }
    fprintf(document, "k\n");
  }
  fprintf(document, "grestore\n");
  caption(x, y - 26, "curves");
  return y - 26 - 2 * LINE;
}

/* Groups of bars in grey and colour. */
static int bars(int x, int y) {
  int height = 120;
  y -= height;
  axes(x + 22, y, COLUMN - 24, height);
  for (int group = 0; group < 10; group++)
    for (int bar = 0; bar < 3; bar++) {
      int left = x + 25 + group * 21 + bar * 6, tall = (int)(10 + below((uint32_t)height - 12));
      fprintf(document, "%s %d %d 5 %d rectfill 0 g .3 w %d %d 5 %d rectstroke\n",
              bar == 0   ? ".7 g"
              : bar == 1 ? ".2 .4 .8 c"
                         : ".9 .6 .1 c",
              left, y, tall, left, y, tall);
    }
  caption(x, y - 26, "bars");
  return y - 26 - 2 * LINE;
}

/* A drawing that PostScript computes: petals, rings and a clipped grid. */
static int drawing(int x, int y) {
  int height = 150;
  uint32_t first = 10 + below(20), second = 10 + below(20), step = 3 + below(3);
  y -= height;
  fprintf(document,
          "gsave %d %d translate .4 w\n"
          "0 10 350 {gsave dup rotate 360 div dup 1 exch sub .5 exch c\n"
          " 0 0 m 20 %u 50 %u 68 0 curveto 50 -8 20 -8 0 0 curveto fill grestore} for\n"
          "0 g 10 6 70 {0 0 3 2 roll 0 360 arc k} for\n"
          "0 15 345 {gsave rotate 30 0 m 70 0 l k grestore} for grestore\n",
          x + 72, y + height / 2, first, second);
  fprintf(document,
          "gsave %d %d translate newpath 45 45 44 0 360 arc clip .5 w\n"
          "-90 %u 180 {dup 0 m 90 add 90 l k} for 0 5 90 {dup 90 div g 0 exch 90 2 rectfill} for\n"
          "0 g B 4 40 m(clipped)s R grestore\n",
          x + 148, y + 30, step);
  caption(x, y - LINE, "a drawing");
  return y - 3 * LINE;
}

/* A number from 0 to 255 that changes smoothly with the place: sums of triangles. */
static uint32_t shade(uint32_t x, uint32_t y, uint32_t wave) {
  uint32_t sum = 0;
  for (uint32_t part = 1; part <= 3; part++) {
    uint32_t phase = (x * (part + 1) + y * (4 - part) + x * y * part / wave) & 511;
    sum += phase < 256 ? phase : 511 - phase;
  }
  return sum / 3;
}

enum picture { GREY, BITS, COLOURS };

/* A picture in hexadecimal digits. */
static int picture(int x, int y, enum picture kind, uint32_t width, uint32_t height) {
  int tall = (int)(height * COLUMN / width);
  uint32_t row = kind == BITS ? (width + 7) / 8 : kind == COLOURS ? width * 3 : width, count = 0;
  y -= tall;
  fprintf(document,
          "gsave /row %u string def %d %d translate %d %d scale %u %u %s [%u 0 0 -%u 0 %u]", row, x,
          y, COLUMN, tall, width, height, kind == BITS ? "true" : "8", width, height, height);
  fprintf(document, "\n{currentfile row readhexstring pop} %s\n",
          kind == BITS   ? "imagemask"
          : kind == GREY ? "image"
                         : "false 3 colorimage");
  for (uint32_t line = 0; line < height; line++)
    for (uint32_t byte = 0; byte < row; byte++) {
      uint32_t value = 0;
      if (kind == GREY) value = shade(byte, line, 40);
      if (kind == COLOURS) value = shade(byte / 3 * (1 + byte % 3), line * (3 - byte % 3), 25);
      for (uint32_t bit = 0; kind == BITS && bit < 8; bit++)
        value = value << 1 | (shade(byte * 8 + bit, line, 60) > below(256));
      fprintf(document, "%02x%s", value, ++count % 38 == 0 ? "\n" : "");
    }
  fprintf(document, "\ngrestore\n");
  caption(x, y - LINE, "a picture");
  return y - 3 * LINE;
}

/* A program in Courier and a formula in Symbol. */
static int listing(int x, int y) {
  fprintf(document, "C\n");
  for (int line = 0; line < 12; line++, y -= 10) {
    fprintf(document, "%d %d m(%s%s = ", x, y, line % 4 ? "    " : "", thing());
    fprintf(document, "%s\\(%s, ", topic(), "memory");
    fprintf(document, "%u\\);)s\n", below(1000));
  }
  y -= 6;
  fprintf(document, "S %d %d m(\\123 a)s I(i)s S( \\243 \\362 f\\(x\\) dx + \\326p)s R\n", x + 60,
          y);
  return y - 2 * LINE;
}

/* A table of numbers with lines. */
static int table(int x, int y) {
  for (int line = 0; line < 9; line++, y -= LINE) {
    fprintf(document, "%s %d %d m(%s)s N\n", line ? "R" : "B", x + 4, y, thing());
    for (int column = 1; column < 5; column++) {
      uint32_t number = below(200000);
      fprintf(document, "%d %d m(%u.%02u)s\n", x + 20 + column * 45, y, number / 100, number % 100);
    }
    fprintf(document, ".3 w %d %d m %d 0 r k\n", x, y - 3, COLUMN);
  }
  fprintf(document, "R\n");
  return y - LINE;
}

/* The figure of a page at the top of one of its columns. Returns the place below it. */
static int figure(int page, int x, int y) {
  switch (page) {
    case 3:
      return picture(x, y, COLOURS, 90, 70);
    case 5:
      return picture(x, y, GREY, 240, 170);
    case 7:
      return picture(x, y, BITS, 480, 360);
    case 4:
    case 9:
    case 12:
      return drawing(x, y);
    case 2:
    case 8:
    case 11:
      return bars(x, y);
    default:
      return plot(x, y, 360);
  }
}

static void one_page(int page) {
  int left = TOP, right = TOP;
  document_state = (uint32_t)page; /* a page is the same whatever is on the others */
  fprintf(document, "%%%%Page: %d %d\nsave R\n", page, page);
  if (page == 1) {
    fprintf(document, "T 90 %d m(The Measured Performance of a Modelled Computer)s\n", TOP - 10);
    fprintf(document, "I 200 %d m(a document that p5lab has generated)s R\n", TOP - 34);
    left = right = TOP - 70;
  } else if (page % 2) {
    left = figure(page, LEFT, left);
  } else {
    right = figure(page, RIGHT, right);
  }
  if (page % 3 == 1) right = plot(RIGHT, right, 300);
  if (page % 3 == 2) left = table(LEFT, left);
  if (page % 4 == 2) left = listing(LEFT, left);
  text(LEFT, left, BOTTOM);
  text(RIGHT, right, BOTTOM);
  fprintf(document, "N 300 36 m(%d)s\nshowpage restore\n", page);
}

/* Write the document to a file that is open. */
static inline void write_document(FILE *file, int pages) {
  static const char *const fonts[] = {"R/Times-Roman 10",    "B/Times-Bold 10", "I/Times-Italic 10",
                                      "H/Helvetica-Bold 11", "N/Helvetica 7",   "C/Courier 8",
                                      "S/Symbol 12",         "T/Times-Bold 17"};
  document = file;
  fprintf(file, "%%!PS-Adobe-3.0\n%%%%Pages: %d\n%%%%BoundingBox: 0 0 612 %d\n", pages,
          PAPER_HEIGHT);
  /* j: a justified line; its operands are the number of spaces and the text. */
  fprintf(file,
          "/m{moveto}bind def/l{lineto}bind def/r{rlineto}bind def/s{show}bind def\n"
          "/k{stroke}bind def/g{setgray}bind def/c{setrgbcolor}bind def/w{setlinewidth}bind def\n"
          "/j{dup stringwidth pop %d exch sub 3 -1 roll dup 0 eq{pop 1}if div 0 32 4 -1 roll "
          "widthshow}bind def\n",
          COLUMN);
  for (size_t i = 0; i < sizeof(fonts) / sizeof(fonts[0]); i++)
    fprintf(file, "/%c{/%.*s findfont %s scalefont setfont}def\n", fonts[i][0],
            (int)(strchr(fonts[i], ' ') - fonts[i] - 2), fonts[i] + 2, strchr(fonts[i], ' ') + 1);
  fprintf(file, "%%%%EndProlog\n");
  for (int page = 1; page <= pages; page++) one_page(page);
  fprintf(file, "%%%%EOF\n");
}

#endif
