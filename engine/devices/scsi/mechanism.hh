// SPDX-License-Identifier: MIT
// How long do the arm and the platters take until a sequence of sectors has passed the heads?
#pragma once

#include <vector>

#include "devices/scsi/geometry.hh"
#include "devices/scsi/seek.hh"

namespace device::scsi {

struct Pass {
  Time seek = 0, rotation = 0, transfer = 0;  // transfer includes the track switches
  Time start = 0;                             // begin of the first sector
};

class Mechanism {
 public:
  // The heads need more time to settle before a write than before a read. Writes and reads
  // therefore have separate seek curves and head switch times.
  struct Moves {
    SeekCurve seek;
    Time head_switch;
  };
  // `at_once`: the moves and the passes take no time.
  Mechanism(const Geometry& geometry, Moves read, Moves write, bool at_once)
      : geometry_(geometry), read_(std::move(read)), write_(std::move(write)), at_once_(at_once) {}

  // At the time `now` the heads begin to move to the sector `first`. They then pass over `count`
  // sectors. The first sector begins at `not_before` or later. For each sector, the function
  // appends to `ends` the time at which the sector ends.
  Pass pass(uint64_t first, uint32_t count, Time now, bool write, std::vector<Time>* ends,
            Time not_before = 0);

  // Sets the position of the heads to this sector, because a pass has ended early at this sector.
  void stand_at(uint64_t sector);

  uint32_t distance(uint64_t sector) const;  // cylinders between the arm and the sector

 private:
  Time switch_time(const Place& to, bool write) const;
  Time until(const Place& place, Time now) const;

  const Geometry& geometry_;
  Moves read_, write_;
  bool at_once_;
  uint32_t cylinder_ = 0, head_ = 0;
};

}  // namespace device::scsi
