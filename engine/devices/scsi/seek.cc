// SPDX-License-Identifier: MIT
#include "devices/scsi/seek.hh"

#include <cmath>

namespace device::scsi {
namespace {

struct Curve {
  double n, knee, single, full;
  double e = 0, b = 0;  // slope beyond the knee; factor of the square root

  // The times at the two ends of the curve are given. The slope beyond the knee decides the time at
  // the knee.
  void set(double slope) {
    e = slope;
    b = (full - single - e * (n - 1 - knee)) / (std::sqrt(knee) - 1);
  }
  double time(double d) const {
    return d <= knee ? single + b * (std::sqrt(d) - 1) : full - e * (n - 1 - d);
  }
  // A disk of n cylinders has n * (n - 1) / 2 pairs of cylinders. For n - d of these pairs the
  // distance is d cylinders.
  double average() const {
    double sum = 0;
    for (double d = 1; d < n; d++) sum += (n - d) * time(d);
    return sum / (n * (n - 1) / 2);
  }
};

}  // namespace

SeekCurve::SeekCurve(uint32_t cylinders, uint32_t knee, Time single, Time average, Time full,
                     std::string* problem)
    : times_(cylinders) {
  if (knee < 2 || knee + 2 > cylinders) {
    *problem = "the knee of the seek curve must lie between 2 and the number of cylinders minus 2";
    return;
  }
  Curve curve{double(cylinders), double(knee), double(single), double(full)};
  curve.set(0);
  const double flat = curve.average();
  curve.set(1e6);
  const double steep = curve.average();
  curve.set((double(average) - flat) / (steep - flat) * 1e6);
  if (curve.b <= 0 || curve.e < 0) {
    *problem = "no seek curve contains these three seek times; another knee may help";
    return;
  }
  for (uint32_t d = 1; d < cylinders; d++) times_[d] = Time(std::llround(curve.time(d)));
}

}  // namespace device::scsi
