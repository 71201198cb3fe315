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
