// SPDX-License-Identifier: MIT
#include "devices/scsi/mechanism.hh"

#include <algorithm>

namespace device::scsi {

Pass Mechanism::pass(uint64_t first, uint32_t count, Time now, bool write, std::vector<Time>* ends,
                     Time not_before) {
  Pass pass;
  if (at_once_) {
    pass.start = std::max(now, not_before);
    ends->insert(ends->end(), count, pass.start);
    stand_at(first + count - 1);
    return pass;
  }
  for (bool begun = false; count; begun = true) {
    const Place place = geometry_.place(first);
    const Time moved = switch_time(place, write);
    const Time there = begun ? now + moved : std::max(now + moved, not_before);
    const Time start = there + until(place, there);
    if (!begun) {
      pass.seek = moved;
      pass.rotation = start - now - moved;
      pass.start = start;
    }
    cylinder_ = place.cylinder;
    head_ = place.head;
    // Slot numbers continue beyond the last slot of the track, so that rounding loses no time.
    const Time index = start - geometry_.angle(place.slot, place.sectors);
    const uint32_t passed = std::min(count, place.left);
    for (uint32_t i = 1; i <= passed; i++) {
      ends->push_back(index + geometry_.angle(place.slot + i, place.sectors));
    }
    now = ends->back();
    first += passed;
    count -= passed;
  }
  pass.transfer = now - pass.start;
  return pass;
}

void Mechanism::stand_at(uint64_t sector) {
  const Place place = geometry_.place(sector);
  cylinder_ = place.cylinder;
  head_ = place.head;
}

uint32_t Mechanism::distance(uint64_t sector) const {
  const uint32_t to = geometry_.place(sector).cylinder;
  return to > cylinder_ ? to - cylinder_ : cylinder_ - to;
}

Time Mechanism::switch_time(const Place& to, bool write) const {
  if (to.cylinder == cylinder_ && to.head == head_) return 0;
  const uint32_t d = to.cylinder > cylinder_ ? to.cylinder - cylinder_ : cylinder_ - to.cylinder;
  const Moves& moves = write ? write_ : read_;
  return d ? moves.seek.time(d) : moves.head_switch;
}

// Time from `now` until the slot of `place` reaches the head.
Time Mechanism::until(const Place& place, Time now) const {
  const Time turn = geometry_.revolution();
  return (geometry_.angle(place.slot, place.sectors) + turn - now % turn) % turn;
}

}  // namespace device::scsi
