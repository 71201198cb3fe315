// SPDX-License-Identifier: MIT
// How late is it in the simulated machine, as a time and in words?
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/clock.hh"
#include "p5/pentium.hh"

namespace session {

class VirtualTime {
 public:
  VirtualTime(p5::Pentium& model, const p5::Config& machine)
      : model_(model), clock_(machine.clock_hz()), mhz_(machine.clock_mhz) {}

  const base::Clock& clock() const { return clock_; }
  uint64_t clocks() const { return model_.clock(); }
  base::Time now() const { return clock_.time(clocks()); }
  uint64_t second() const { return uint64_t(mhz_ * 1e6); }  // in clocks

  // A number of clocks as a text: `1.500 s`.
  std::string text(uint64_t clocks) const {
    char text[40];
    std::snprintf(text, sizeof text, "%.3f s", double(clocks) / (mhz_ * 1e6));
    return text;
  }
  std::string text() const { return text(clocks()); }

 private:
  p5::Pentium& model_;
  base::Clock clock_;
  double mhz_;
};

}  // namespace session
