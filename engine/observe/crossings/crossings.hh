// SPDX-License-Identifier: MIT
// Where does the guest change ring, mode or address space? crossings.jsonl
// (docs/reference/formats.md) contains one line for each change inside the measured brackets, with
// the clock and the counts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observe/observer.hh"

namespace observe {

class Crossings : public Observer {
 public:
  Crossings(p5::Pentium& model, Guest& guest) : model_(model), guest_(guest) {}
  static Make read(base::Settings& settings);

  void open(const std::vector<uint32_t>&, Write write) override { write_ = std::move(write); }
  void start() override { from_ = model_.state(); }
  // Writes a line if the ring, the address space or the mode differs. Also writes a line if CR3 is
  // loaded with the same value.
  void arrive(const Entrance& how, Position, p5::Linear) override;
  void begin(uint32_t phase) override;
  void end() override;
  void stop() override { open_.clear(); }
  std::string differs() const override { return ""; }
  std::string text(const std::vector<uint32_t>&) const override { return ""; }

 private:
  void bracket(const char* what);
  void crossing(const Entrance& how, const p5::State& to);
  std::string counts();

  p5::Pentium& model_;
  Guest& guest_;
  Write write_;
  p5::State from_;              // before the next change
  std::vector<uint32_t> open_;  // the phases of open brackets
};

}  // namespace observe
