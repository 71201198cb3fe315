// SPDX-License-Identifier: MIT
// What does the machine do in each part of a long run? intervals.jsonl
// (docs/reference/formats.md) contains all counts after each interval of a fixed number of clocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "p5/pentium.hh"
#include "session/output.hh"

namespace session {

class Intervals {
 public:
  // `length` is the number of core clocks in an interval. `counted` lists the events in the file
  // (counted.hh).
  Intervals(p5::Pentium& model, uint64_t length, std::vector<uint32_t> counted)
      : model_(model), length_(length), counted_(std::move(counted)) {}

  // Creates the file.
  void open(const std::string& path, uint64_t clock_hz);
  // The first interval begins now. Until then, next() is never reached.
  void begin();
  // Returns the clock after which look() must be called.
  uint64_t next() const { return next_; }
  // Writes the counts if an interval has ended. An interval ends at the first call after its last
  // clock. So an interval can be longer than `length`, for example if the processor is idle.
  void look(uint64_t now);
  // Writes the counts of the last interval, which can be shorter.
  void finish();

 private:
  void write();

  p5::Pentium& model_;
  const uint64_t length_;
  const std::vector<uint32_t> counted_;
  uint64_t start_ = 0, next_ = ~uint64_t(0);
  Output file_;
};

}  // namespace session
