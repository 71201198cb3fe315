// SPDX-License-Identifier: MIT
// Arm and platters: what it takes until a run of sectors has passed under the heads.
#pragma once

#include <vector>

#include "geometry.hh"
#include "seek.hh"

namespace disk {

struct Pass {
  Time seek = 0, rotation = 0, transfer = 0;  // the last with the track switches on the way
  Time start = 0;                             // the first sector begins
};

class Mechanism {
 public:
  // Heads settle longer for a write than for a read: that has a curve and a head switch of its own.
  struct Moves {
    SeekCurve seek;
    Time head_switch;
  };
  Mechanism(const Geometry& geometry, Moves read, Moves write)
      : geometry_(geometry), read_(std::move(read)), write_(std::move(write)) {}

  // Moves from `now` on, and passes `count` sectors; the first does not begin before `not_before`.
  // When each of them ends is appended to `ends`.
  Pass pass(uint64_t first, uint32_t count, Time now, bool write, std::vector<Time>* ends,
            Time not_before = 0);

  // The heads are at this sector: a pass was left there.
  void stand_at(uint64_t sector);

  uint32_t distance(uint64_t sector) const;  // in cylinders, from where the arm is

 private:
  Time switch_time(const Place& to, bool write) const;
  Time until(const Place& place, Time now) const;

  const Geometry& geometry_;
  Moves read_, write_;
  uint32_t cylinder_ = 0, head_ = 0;
};

}  // namespace disk
