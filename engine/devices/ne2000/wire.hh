// SPDX-License-Identifier: MIT
// One Ethernet segment, half duplex (IEEE 802.3, 4.2): who has something to send waits until the
// wire has been free for a gap; who then begins together collides, jams and draws a time to wait.
// The segment is so short that a signal takes no time: nobody begins while another sends, so those
// collide who have waited for the same moment.
#pragma once

#include <array>

#include "frame.hh"
#include "random.hh"

namespace net {

struct WireConfig {
  uint64_t bit_rate = 10'000'000;  // a second
  bool collisions = true;          // off: of two who begin together the one that has waited longer
                                   // does, and the other after it
  uint64_t seed = 0;
};

// What is attached to the wire.
class Station {
 public:
  virtual ~Station() = default;
  // The frame that it gave is over: `collisions` before it went, or so many that it did not go.
  virtual void sent(Time now, uint32_t collisions, bool aborted) = 0;
  // Another's frame is coming in, from its first bit to the last of its check sequence.
  virtual void incoming(Time first, Time last, const FramePtr& frame) = 0;
};

// Who wants to know what was on the wire.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual void busy(Time from, Time until) = 0;  // frame or collision
  virtual void collision(Time now) = 0;
  // It has gone, from its first bit at `first` on.
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

  // One frame at a time: the next may follow in sent(), or later.
  void send(uint32_t number, FramePtr frame, Time now);

  // Of a number of bits, and of a frame with preamble and check sequence.
  Time time(uint64_t bits) const {
    return Time((unsigned __int128)bits * kSecond / config_.bit_rate);
  }
  Time frame_time(size_t bytes) const { return time((kPreamble + bytes + kCheck) * 8); }

 private:
  struct Sender {
    Station* station = nullptr;
    FramePtr frame;
    uint32_t collisions = 0;
    Time ready = 0;  // no sooner, after a collision; or since when it waits
    Random backoff{0, 0};
  };

  Time free() const { return used_ ? until_ + time(kGapBits) : 0; }
  void contend(Time now);
  void transmit(uint32_t number, Time now);
  void collide(Time now);

  WireConfig config_;
  Agenda& agenda_;
  Witness& witness_;
  std::array<Sender, kStations> stations_;
  Time until_ = 0;  // the wire is or was in use
  bool used_ = false;
};

}  // namespace net
