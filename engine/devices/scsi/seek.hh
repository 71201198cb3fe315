// SPDX-License-Identifier: MIT
// How long is a seek over d cylinders? Up to the knee the time is a + b * sqrt(d), because the arm
// only speeds up and slows down. Beyond the knee the time is c + e * d, because the arm also moves
// at constant speed [Ruemmler and Wilkes 1994].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/scsi/time.hh"

namespace device::scsi {

// Returns the number of cylinders in a list of zones: 702 for "351x130,351x126".
int64_t cylinders(const std::string& zones);

// Returns the mean seek time between two random cylinders. The given times are for one cylinder,
// for all cylinders and for `knee` cylinders. The result has the unit of these times.
double mean_seek(const std::string& zones, double knee, double single, double full, double at_knee);

class SeekCurve {
 public:
  // Makes the curve from the published times: for one cylinder, for all cylinders, and the average
  // between random cylinders. If no such curve exists, `problem` receives the reason.
  SeekCurve(uint32_t cylinders, uint32_t knee, Time single, Time average, Time full,
            std::string* problem);

  Time time(uint32_t distance) const { return times_[distance]; }

 private:
  std::vector<Time> times_;  // [distance]
};

}  // namespace device::scsi
