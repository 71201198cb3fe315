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

#include "observe/observer.hh"

namespace observe {

class Modes : public Observer {
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

  void start() override;
  void arrive() override {
    if (model_.state().mode != place_.second || &model_.bank() != place_.first) move();
  }
  void delivered(p5::Entry entry, uint8_t vector) override;
  void begin(uint32_t phase) override;
  void end() override;
  void stop() override;
  std::string differs() const override;
  // modes.jsonl (docs/reference/formats.md): the counts of each phase by address space, ring and
  // machine mode.
  std::string text(const std::vector<uint32_t>& counted) const override;

  const std::map<uint32_t, Phase>& phases() const { return phases_; }

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

}  // namespace observe
