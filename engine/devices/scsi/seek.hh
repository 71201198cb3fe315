// SPDX-License-Identifier: MIT
// How long does the arm take for a number of cylinders d? Up to the knee it takes a + b * sqrt(d),
// while it speeds up and slows down. Beyond the knee it takes c + e * d, because it coasts
// [Ruemmler and Wilkes 1994].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "time.hh"

namespace disk {

// Returns the number of cylinders in a list of zones: 702 for "351x130,351x126".
int64_t cylinders(const std::string& zones);

// Returns the mean seek time between two random cylinders. The result has the unit of the given
// times, which are for one cylinder, for all cylinders and for `knee` cylinders.
double mean_seek(const std::string& zones, double knee, double single, double full, double at_knee);

class SeekCurve {
 public:
  // Makes the curve from the published times: for one cylinder, for all cylinders, and the average
  // between random cylinders. If there is no such curve, `problem` gets the reason.
  SeekCurve(uint32_t cylinders, uint32_t knee, Time single, Time average, Time full,
            std::string* problem);

  Time time(uint32_t distance) const { return times_[distance]; }

 private:
  std::vector<Time> times_;  // [distance]
};

}  // namespace disk
