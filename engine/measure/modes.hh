// SPDX-License-Identifier: MIT
// How often did each event happen in each machine mode? This observer divides the counts of each
// ring and address space by mode. The banks of the chip do not change: at each change of the mode
// or of the bank, the observer adds the growth of the old bank to the old mode.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "p5/pentium.hh"

namespace measure {

class Modes {
 public:
  // The counts of one mode in one bank, and how control reached each vector.
  struct Counts {
    std::array<uint64_t, p5::kEventCount> events{};
    std::map<std::pair<p5::Entry, uint8_t>, uint64_t> vectors;
  };
  using Place = std::pair<const p5::Bank*, p5::MachineMode>;
  using Banks = std::map<const p5::Bank*, std::array<uint64_t, p5::kEventCount>>;
  struct Phase {
    std::vector<std::pair<Place, Counts>> counts;  // in the order of the first use
    Banks began, grown;                            // of all banks: at the begin; in all brackets
  };

  explicit Modes(p5::Pentium& model);

  // Call this after the model's state may have changed.
  void arrive() {
    if (model_.state().mode != place_.second || &model_.bank() != place_.first) move();
  }
  // An interrupt or exception is delivered in the current mode.
  void delivered(p5::Entry entry, uint8_t vector);

  // Call begin() when a bracket begins, and end() when it ends, while the marker is written. stop()
  // ends the brackets that are still open.
  void begin(uint32_t phase);
  void end();
  void stop();

  const std::map<uint32_t, Phase>& phases() const { return phases_; }
  // Compares the sum over the modes with the growth of the banks. Returns the name of the first
  // event with a difference, or an empty text.
  std::string differs() const;

 private:
  void move();
  void flush();
  Counts& here(Phase* phase);

  p5::Pentium& model_;
  Place place_;
  std::array<uint64_t, p5::kEventCount> seen_;  // counts of the current bank at the last flush
  std::map<uint32_t, Phase> phases_;
  std::vector<Phase*> open_;  // the open brackets, nested; each of them gets the counts
};

}  // namespace measure
