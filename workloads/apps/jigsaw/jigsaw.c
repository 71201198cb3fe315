// SPDX-License-Identifier: MIT
/*
 * jigsaw: build, scramble and solve a puzzle of tiles of 1 or 4 KB (wpi92 section 4.3: Jigsaw,
 * which stresses memory allocation and paging).
 *
 * The paper gives no more details. All other details are our choice. A tile is a square of bytes in
 * a separate allocation. Two neighbouring tiles have the same bytes along their common side. The
 * bytes of each common side differ from the bytes of all other sides. Phase 0 brackets the
 * building, phase 1 the scrambling, and phase 2 the solving. The solver fills the places row by
 * row. For each place, it compares the remaining tiles, in their order, with the tile to the left
 * of this place and the tile above it. To reject a tile that does not fit, the solver reads the
 * first bytes of this tile. With tiles of 4 KB, each of these accesses goes to a different page.
 * With tiles of 1 KB four tiles share a page.
 *
 * The building of a tile touches new pages. The first access to each new page causes a page fault.
 * No page is written to a disk, because guest `linux` has no swap space. The puzzle must fit into
 * the guest's memory.
 */
#include "data.h"

#define NONE 0xFFFFFFFFu

enum phase { BUILD, SCRAMBLE, SOLVE };
static const char *const sizes[] = {"1K", "4K", NULL};

static long rows = 16, columns = 16, tile = 0, iterations = 2, warmup = 1;
static long side; /* side of a tile, in bytes */
static unsigned char **heap, **solved;
static uint32_t state;

static uint32_t next_random(void) {
  return state = (uint32_t)((uint64_t)state * 48271u % 2147483647u); /* Park and Miller */
}

/* The byte at `place` of an edge between two tiles, or of the picture's border. */
static unsigned char edge(uint32_t number, long place) {
  return (unsigned char)(data_word(number, place) >> 11);
}

/* The numbers of the edges to the right of a tile and below it. NONE along the border. */
static uint32_t right_of(long row, long column) {
  return column + 1 < columns ? (uint32_t)(2 * (row * columns + column)) : NONE;
}

static uint32_t below(long row, long column) {
  return row + 1 < rows ? (uint32_t)(2 * (row * columns + column) + 1) : NONE;
}

static void draw(unsigned char *bytes, long row, long column) {
  uint32_t sides[4] = {row > 0 ? below(row - 1, column) : NONE, below(row, column),
                       column > 0 ? right_of(row, column - 1) : NONE, right_of(row, column)};
  memset(bytes, (int)(row + column), (size_t)(side * side));
  for (long i = 1; i < side - 1; i++) {
    bytes[i] = edge(sides[0], i);
    bytes[(side - 1) * side + i] = edge(sides[1], i);
    bytes[i * side] = edge(sides[2], i);
    bytes[i * side + side - 1] = edge(sides[3], i);
  }
}

static void build(void) {
  for (long i = 0; i < rows * columns; i++) {
    heap[i] = malloc((size_t)(side * side));
    if (!heap[i]) p5w_fail("tile");
    draw(heap[i], i / columns, i % columns);
  }
}

static void scramble(void) {
  for (long i = rows * columns - 1; i > 0; i--) {
    long other = (long)(next_random() % (uint32_t)(i + 1));
    unsigned char *tile_here = heap[i];
    heap[i] = heap[other];
    heap[other] = tile_here;
  }
}

/* Return whether the sides of a tile fit at a place of the picture. */
static int fits(const unsigned char *bytes, long row, long column) {
  const unsigned char *above = row > 0 ? solved[(row - 1) * columns + column] : NULL;
  const unsigned char *left = column > 0 ? solved[row * columns + column - 1] : NULL;
  for (long i = 1; i < side - 1; i++) {
    if (bytes[i] != (above ? above[(side - 1) * side + i] : edge(NONE, i))) return 0;
    if (bytes[i * side] != (left ? left[i * side + side - 1] : edge(NONE, i))) return 0;
  }
  return 1;
}

static void solve(void) {
  long left = rows * columns;
  for (long place = 0; place < rows * columns; place++) {
    long one = 0;
    while (one < left && !fits(heap[one], place / columns, place % columns)) one++;
    if (one == left) {
      fprintf(stderr, "no tile fits place %ld\n", place);
      exit(P5W_EXIT_FAILED);
    }
    solved[place] = heap[one];
    heap[one] = heap[--left];
  }
}

/* Check that every byte of the picture is at its original place. */
static void check(void) {
  unsigned char *wanted = (unsigned char *)data_buffer(side * side);
  for (long i = 0; i < rows * columns; i++) {
    draw(wanted, i / columns, i % columns);
    if (memcmp(solved[i], wanted, (size_t)(side * side)) != 0) {
      fprintf(stderr, "place %ld has the wrong tile\n", i);
      exit(P5W_EXIT_FAILED);
    }
  }
  free(wanted);
}

static void iteration(void) {
  state = 1;
  p5_begin(BUILD);
  build();
  p5_end(BUILD);
  p5_begin(SCRAMBLE);
  scramble();
  p5_end(SCRAMBLE);
  p5_begin(SOLVE);
  solve();
  p5_end(SOLVE);
  check();
  for (long i = 0; i < rows * columns; i++) free(solved[i]);
}

int main(int argc, char **argv) {
  long tiles = 256;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"tiles", "tiles, the square of a number", &tiles, 4, NULL},
      {"tile", "bytes of a tile: 1K or 4K", &tile, 0, sizes},
      {0}};
  p5w_start(argc, argv, options);
  for (rows = 2; rows * rows < tiles; rows++) continue;
  if (rows * rows != tiles) {
    fprintf(stderr, "%s: tiles must be the square of a number\n", argv[0]);
    return P5W_EXIT_USAGE;
  }
  columns = rows;
  side = tile ? 64 : 32;
  heap = malloc((size_t)tiles * sizeof(*heap));
  solved = malloc((size_t)tiles * sizeof(*solved));
  if (!heap || !solved) p5w_fail("puzzle");

  p5w_repeat(iteration, warmup, iterations);
  return 0;
}
