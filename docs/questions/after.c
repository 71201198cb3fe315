// SPDX-License-Identifier: MIT
// The same as before.c, but the length is known and is not counted again.
#include <stdio.h>

static char text[201];

int main(void) {
  int sum = 0;
  for (int i = 0; i < 200; i++) {
    text[i] = 'a';
    sum += i + 1;
  }
  printf("%d\n", sum);
  return 0;
}
