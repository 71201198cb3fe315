// SPDX-License-Identifier: MIT
#include "devices/ne2000/wire.hh"

#include <algorithm>
#include <utility>

namespace device::ne2000 {

void Wire::send(uint32_t number, FramePtr frame, Time now) {
  Sender& sender = stations_[number];
  sender.frame = std::move(frame);
  sender.collisions = 0;
  sender.ready = now;
  agenda_.at(std::max(now, free()), [this](Time then) { contend(then); });
}

// Whether a station has a frame that it may send now.
bool Wire::ready(uint32_t number, Time now) const {
  const Sender& sender = stations_[number];
  if (!sender.frame || sender.ready > now) return false;
  for (uint32_t i = 0; config_.at_once && i < kStations; i++) {
    const Station* other = stations_[i].station;
    if (i != number && other && !other->has_room(*sender.frame)) return false;
  }
  return true;
}

// Starts the stations that are ready, if the wire has been free for an interframe gap.
void Wire::contend(Time now) {
  if (busy_ || now < free()) return;  // this function runs again when the wire is free
  uint32_t count = 0, first = kStations;
  for (uint32_t i = 0; i < kStations; i++) {
    if (!ready(i, now)) continue;
    count++;
    if (first == kStations || stations_[i].ready < stations_[first].ready) first = i;
  }
  if (count == 0) return;
  if (count == 1 || !config_.collisions)
    transmit(first, now);
  else
    collide(now);
}

void Wire::transmit(uint32_t number, Time now) {
  const FramePtr frame = stations_[number].frame;
  used_ = busy_ = true;
  until_ = now + frame_time(frame->size());
  for (uint32_t i = 0; i < kStations; i++) {
    if (i != number && stations_[i].station) stations_[i].station->incoming(now, until_, frame);
  }
  agenda_.at(until_, [this, number, now](Time then) {
    witness_.busy(now, then);
    witness_.frame(now, *stations_[number].frame, number);
    Sender& sender = stations_[number];
    busy_ = false;
    sender.frame = nullptr;
    sender.station->sent(then, sender.collisions, false);
  });
  agenda_.at(free(), [this](Time then) { contend(then); });
}

// Both stations detect the collision after their preambles, and send a jam signal [IEEE 802.3,
// 4.2.4.1]. Each station then waits for a random time. The upper limit of the random time doubles
// with each collision [4.2.3.2.5].
void Wire::collide(Time now) {
  used_ = true;
  until_ = now + time(kPreamble * 8 + kJamBits);
  witness_.collision(now);
  for (uint32_t i = 0; i < kStations; i++) {
    Sender& sender = stations_[i];
    if (!sender.frame || sender.ready > now) continue;
    if (++sender.collisions == kAttempts) {
      sender.frame = nullptr;
      agenda_.at(until_, [this, i](Time then) {
        stations_[i].station->sent(then, stations_[i].collisions, true);
      });
      continue;
    }
    const uint32_t slots = sender.backoff.below(1u << std::min(sender.collisions, kBackoff));
    sender.ready = until_ + time(uint64_t(slots) * kSlotBits);
    agenda_.at(std::max(sender.ready, free()), [this](Time then) { contend(then); });
  }
  agenda_.at(until_, [this, now](Time then) { witness_.busy(now, then); });
}

}  // namespace device::ne2000
