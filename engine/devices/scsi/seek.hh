// SPDX-License-Identifier: MIT
// How long the arm takes, by the number of cylinders: a + b * sqrt(d) up to the knee, while it
// speeds up and slows down, c + e * d beyond it, where it coasts [Ruemmler and Wilkes 1994].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "time.hh"

namespace disk {

class SeekCurve {
 public:
  // The curve through the published times: of one cylinder, of all of them, and the average of
  // seeks between cylinders drawn at random. `problem` says why there is none.
  SeekCurve(uint32_t cylinders, uint32_t knee, Time single, Time average, Time full,
            std::string* problem);

  Time time(uint32_t distance) const { return times_[distance]; }

 private:
  std::vector<Time> times_;  // [distance]
};

}  // namespace disk
