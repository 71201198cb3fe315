// SPDX-License-Identifier: MIT
// Runner of all model tests. Run it from the repository's root: tests read engine/p5/timing.csv.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
