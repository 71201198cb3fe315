// SPDX-License-Identifier: MIT
/*
 * Shared library number LIBRARY for exec-dynamic: 64 functions that a program could call and a
 * table of their addresses. Every entry of the table is a relocation by name, as in libraries from
 * the time before symbol visibility. The loader searches the program, libc and each library until
 * it finds the name.
 */

#define EIGHT(X, tens) \
  X(tens##0) X(tens##1) X(tens##2) X(tens##3) X(tens##4) X(tens##5) X(tens##6) X(tens##7)
#define ALL(X) \
  EIGHT(X, 0) EIGHT(X, 1) EIGHT(X, 2) EIGHT(X, 3) EIGHT(X, 4) EIGHT(X, 5) EIGHT(X, 6) EIGHT(X, 7)

#define JOINED(library, number) library_##library##_function_##number
#define NAME_IN(library, number) JOINED(library, number)
#define NAME(number) NAME_IN(LIBRARY, number)
#define DECLARATION(number) int NAME(number)(void);
#define FUNCTION(number) \
  int NAME(number)(void) { return 0##number; }
#define ENTRY(number) NAME(number),

ALL(DECLARATION)
ALL(FUNCTION)

int (*NAME(table)[])(void) = {ALL(ENTRY)};
