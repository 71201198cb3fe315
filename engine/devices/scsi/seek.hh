// SPDX-License-Identifier: MIT
// How long the arm takes, by the number of cylinders: a + b * sqrt(d) up to the knee, while it
// speeds up and slows down, c + e * d beyond it, where it coasts [Ruemmler and Wilkes 1994].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "time.hh"

namespace disk {

// The number of cylinders of zones as the parameter file has them: 702 of "351x130,351x126".
int64_t cylinders(const std::string& zones);

// The mean time of a seek between two cylinders drawn at random, in the unit of the times given: of
// one cylinder, of all of them, and of `knee` cylinders.
double mean_seek(const std::string& zones, double knee, double single, double full, double at_knee);

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
