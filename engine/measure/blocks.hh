// SPDX-License-Identifier: LGPL-2.1-or-later
// Which basic blocks run inside the brackets? SimPoint needs this information
// (docs/concepts/simpoint.md). This class has two uses. First, the class can write frequency
// vectors: one vector for each interval of a given number of instructions. Second, the class can
// select intervals for detailed simulation. The model then warms up for a number of instructions
// before each interval, and is paused at all other times. This file does not include Bochs.
//
// A block ends at a near branch (taken or not taken), and at every other change of control or
// state. The address space and the first address identify a block. Ring 0 counts as one address
// space, because the kernel is the same in all address spaces.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "p5/pentium.hh"

namespace measure {

class Blocks {
 public:
  // An interval: a range of instructions inside the brackets. The first instruction of the first
  // bracket has position 0. An interval represents `weight` instructions of the run.
  struct Interval {
    uint32_t number;
    uint64_t begin, end, weight;
  };
  // This function is called at the beginning and at the end of each interval.
  using Snapshot = std::function<void(const char* op, uint32_t number)>;

  explicit Blocks(p5::Pentium& model) : model_(model) {}
  // Reads a list of intervals, "number:begin:end:weight ...". Returns false if the form is wrong,
  // or if the intervals are not sorted by time.
  static bool parse(const std::string& text, std::vector<Interval>* intervals);

  void write_vectors(std::FILE* file, uint64_t interval) {
    file_ = file;
    length_ = switch_ = interval;
  }
  // Takes a snapshot at the bounds of the interval of each vector, too.
  void count_events(Snapshot snapshot) { snapshot_ = std::move(snapshot); }
  void sample(std::vector<Interval> intervals, uint64_t warm_up, Snapshot snapshot);

  void measure(bool on);  // whether a bracket is open from now on
  // Call this after a near branch to `next`, when the model has counted the branch.
  void branch(uint64_t next) {
    count();
    start_ = next;
    if (total_ >= switch_) at_switch();
  }
  // Call leave() before each set_state(), and call enter() after each set_state().
  void leave() { count(); }
  void enter(uint64_t linear) {
    counted_ = model_.retired_here();
    space_ = model_.state().ring ? model_.state().cr3 : 0;
    start_ = linear;
    if (total_ >= switch_) at_switch();
  }
  void idle(uint64_t clocks) { gap_clock_ += clocks; }
  void finish();  // call this at the end of the run

 private:
  struct Key {
    uint64_t space, start;
    bool operator==(const Key& other) const { return space == other.space && start == other.start; }
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return size_t((key.start ^ key.space << 7) * 0x9E3779B97F4A7C15u >> 20);
    }
  };
  struct Recent {
    Key key{~uint64_t(0), 0};
    uint32_t id = 0;
  };
  static constexpr size_t kRecent = 4096;
  static constexpr uint64_t kNever = ~uint64_t(0);
  static constexpr unsigned kFraction = 16;  // fraction bits of clocks_each_

  void count() {
    const uint64_t retired = model_.retired_here(), some = retired - counted_;
    counted_ = retired;
    if (measuring_) {
      total_ += some;
      if (file_) add(some);
    }
    if (mode_ != Mode::Detailed) {
      gap_ += some;
      model_.advance(gap_clock_ + (gap_ * clocks_each_ >> kFraction));
    }
  }
  void add(uint64_t instructions);
  void at_switch();
  void write_interval();
  void begin_interval();
  void end_interval();
  void begin_snapshot(uint32_t number);
  void begin_gap();
  void warm_up();

  p5::Pentium& model_;
  // A sample is Detailed before the first bracket and in its intervals. inside_ is true between the
  // two snapshots of an interval.
  enum class Mode : uint8_t { Detailed, Warming, Resting } mode_ = Mode::Detailed;
  bool measuring_ = false, inside_ = false;
  uint64_t space_ = 0, start_ = 0;  // address space and begin of the current block
  uint64_t counted_ = 0;            // retired_here() at the last count
  uint64_t total_ = 0;              // instructions inside the brackets
  uint64_t switch_ = kNever;        // value of total_ at which the next interval or gap begins
  // For frequency vectors.
  std::FILE* file_ = nullptr;
  uint64_t length_ = 0;
  std::unordered_map<Key, uint32_t, Hash> ids_;
  std::vector<Recent> recent_{kRecent};
  std::vector<uint64_t> counts_;  // [id - 1] counts of the current interval
  // For samples.
  std::vector<Interval> intervals_;
  size_t next_ = 0;
  uint64_t warm_up_ = 0;
  Snapshot snapshot_;
  uint32_t number_ = 0;                     // of the interval that is open, if inside_
  uint64_t cycles_ = 0, instructions_ = 0;  // at the begin of the current interval
  uint64_t weights_ = 0, weighted_ = 0;     // sums over intervals: weight; weight * clocks
  uint64_t clocks_each_ = 0;                // mean clocks of an instruction outside intervals
  uint64_t gap_ = 0, gap_clock_ = 0;  // instructions since the last interval; clock of its end
};

}  // namespace measure
