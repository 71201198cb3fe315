// SPDX-License-Identifier: MIT
// Runner of all model tests. Run it in the repository's root, because tests read
// engine/p5/timing.csv.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
