// SPDX-License-Identifier: MIT
// How do the stations share one half-duplex Ethernet segment (IEEE 802.3, 4.2)? A station that has
// a frame waits until the wire has been free for an interframe gap. Stations that begin to send at
// the same time collide. These stations then send a jam signal, and each of them waits for a random
// time. Signals have no delay in this model, so no station begins while another station sends. Two
// stations collide only if they begin at exactly the same time, for example after the same gap.
#pragma once

#include <array>

#include "devices/ne2000/frame.hh"
#include "devices/ne2000/random.hh"

namespace device::ne2000 {

struct WireConfig {
  uint64_t bit_rate = 10'000'000;  // bits a second
  bool collisions = true;          // off: the station that has waited longer sends first
  uint64_t seed = 0;
  // Frames and gaps take no time. A frame waits until the other station has room for it, because
  // frames that take no time would otherwise overrun the station.
  bool at_once = false;
};

// A station on the wire.
class Station {
 public:
  virtual ~Station() = default;
  // The transmission of the station's frame has ended, after this number of collisions. `aborted`:
  // the frame had too many collisions and was not sent.
  virtual void sent(Time now, uint32_t collisions, bool aborted) = 0;
  // A frame of another station arrives, from its first bit to the last bit of its check sequence.
  virtual void incoming(Time first, Time last, const FramePtr& frame) = 0;
  // Whether the station can take this frame without a loss. A wire that takes no time asks this. A
  // station that has no room calls Wire::go_on() when it has room again.
  virtual bool has_room(const Frame& frame) const {
    (void)frame;
    return true;
  }
};

// Observes the wire.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual void busy(Time from, Time until) = 0;  // a frame or a collision
  virtual void collision(Time now) = 0;
  // A frame has been sent; `first` is the time of its first bit.
  virtual void frame(Time first, const Frame& frame, uint32_t station) = 0;
};

class Wire {
 public:
  static constexpr uint32_t kStations = 2;

  Wire(const WireConfig& config, Agenda& agenda, Witness& witness)
      : config_(config), agenda_(agenda), witness_(witness) {
    for (uint32_t i = 0; i < kStations; i++) stations_[i].backoff = Random(config.seed, 16 + i);
  }

  void attach(uint32_t number, Station* station) { stations_[number].station = station; }

  // Sends a frame. A station may send only one frame at a time. The station may send the next frame
  // in sent() or later.
  void send(uint32_t number, FramePtr frame, Time now);

  // A station may have room for a frame again.
  void go_on(Time now) {
    if (config_.at_once) contend(now);
  }

  // Whether another station has a frame that waits until this station has room for it.
  bool waits_for(uint32_t number) const {
    for (uint32_t i = 0; config_.at_once && i < kStations; i++) {
      if (i != number && stations_[i].frame) return true;
    }
    return false;
  }

  // The time of a number of bits, and of a frame with preamble and check sequence.
  Time time(uint64_t bits) const {
    return config_.at_once ? 0 : Time((unsigned __int128)bits * kSecond / config_.bit_rate);
  }
  Time frame_time(size_t bytes) const { return time((kPreamble + bytes + kCheck) * 8); }

 private:
  struct Sender {
    Station* station = nullptr;
    FramePtr frame;
    uint32_t collisions = 0;
    Time ready = 0;  // after a collision: earliest begin; otherwise: begin of the wait
    Random backoff{0, 0};
  };

  Time free() const { return used_ ? until_ + time(kGapBits) : 0; }
  bool ready(uint32_t number, Time now) const;
  void contend(Time now);
  void transmit(uint32_t number, Time now);
  void collide(Time now);

  WireConfig config_;
  Agenda& agenda_;
  Witness& witness_;
  std::array<Sender, kStations> stations_;
  Time until_ = 0;  // end of the last use
  bool used_ = false;
  bool busy_ = false;  // a frame is on the wire
};

}  // namespace device::ne2000
