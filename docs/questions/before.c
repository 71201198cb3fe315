// SPDX-License-Identifier: MIT
// Sums the lengths of the first part of a text, for each part that is one letter longer.
#include <stdio.h>
#include <string.h>

static char text[201];

int main(void) {
  int sum = 0;
  for (int i = 0; i < 200; i++) {
    text[i] = 'a';
    sum += (int)strlen(text);
  }
  printf("%d\n", sum);
  return 0;
}
