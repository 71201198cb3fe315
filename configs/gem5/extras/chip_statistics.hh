// SPDX-License-Identifier: MIT
// The events of the chip as gem5's statistics: <cpu>.chip.<event>::ring0 to ring3. The names are
// those of engine/p5/events.toml, with an underscore for each dot. <cpu>.chip.warmed says how warm
// the chip was at the last reset of the statistics: how many instructions it had executed since it
// was cold, or since it took over from another processor model.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/statistics.hh"
#include "chip/chip.hh"

namespace gem5::p5lab {

class ChipStatistics : public statistics::Group {
 public:
  ChipStatistics(statistics::Group* parent, ::p5lab::Chip& chip);

  void preDumpStats() override;
  void resetStats() override;
  // The chip has just taken over from another processor model.
  void begin_warming() {
    cold_at_ = instructions();
    warmed_at_reset_ = 0;
  }
  // Clocks since the last reset.
  uint64_t clocks() const { return chip_.clock() - clock_at_reset_; }

 private:
  static constexpr unsigned kRings = 4;

  uint64_t instructions() const;

  ::p5lab::Chip& chip_;
  std::vector<std::unique_ptr<statistics::Vector>> events_;
  statistics::Scalar warmed_;
  size_t instructions_ = 0;  // index of this event
  std::array<std::vector<uint64_t>, kRings> at_reset_;
  uint64_t clock_at_reset_ = 0;
  uint64_t cold_at_ = 0, warmed_at_reset_ = 0;  // instructions
};

}  // namespace gem5::p5lab
