// SPDX-License-Identifier: MIT
// The project's timing table, loaded once for all tests.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "p5/timing.hh"

inline const p5::TimingTable& timing_table() {
  static const p5::TimingTable table = [] {
    p5::TimingTable loaded;
    std::string error;
    REQUIRE_MESSAGE(loaded.load("engine/p5/timing.csv", &error), error);
    return loaded;
  }();
  return table;
}
