// SPDX-License-Identifier: MIT
// What does the machine do in each part of a long run? intervals.jsonl
// (docs/reference/formats.md) contains all counts after each interval of a fixed number of clocks,
// from the ready marker to the end of the run.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "observe/late_clock.hh"
#include "observe/observer.hh"

namespace observe {

class Intervals : public Observer {
 public:
  // `length`: the number of core clocks in an interval. An interval ends at the first call of
  // reached() after its last clock, so it can be longer, for example if the processor is idle.
  Intervals(p5::Pentium& model, uint64_t length, uint64_t clock_hz)
      : model_(model),
        length_(length),
        clock_hz_(clock_hz),
        late_(model, [this](p5::Event component) { explain(component); }) {}
  static Make read(base::Settings& settings);

  void open(const std::vector<uint32_t>& counted, Write write) override;
  void start() override;
  uint64_t deadline() const override { return deadline_; }
  void reached(uint64_t now) override;
  void arrive(const Entrance&, Position, p5::Linear) override {}
  // The number of the interval.
  uint64_t value() const override { return number_; }
  void members(uint64_t number, base::JsonLine* line) const override {
    line->member("interval", number);
  }
  void begin(uint32_t) override {}
  void end() override {}
  // Writes the counts of the last interval, which can be shorter.
  void stop() override;
  std::string differs() const override { return ""; }
  std::string text(const std::vector<uint32_t>&) const override;

 private:
  static constexpr uint32_t kRings = 4;

  void take_counts();
  void explain(p5::Event component);
  // Writes the counts since reset that were taken last, by ring. The rings with counts come in the
  // order of their number.
  void write_counts();

  p5::Pentium& model_;
  const uint64_t length_, clock_hz_;
  std::vector<uint32_t> counted_;
  Write write_;
  // The end of the last interval. Its line is written at the end of the next one, because the
  // component of the last clock is known later.
  std::array<std::array<uint64_t, p5::kEventCount>, kRings> counts_{};
  uint64_t clock_ = 0;
  LateClock late_;
  uint64_t start_ = 0, deadline_ = kNever, number_ = 0;
};

}  // namespace observe
