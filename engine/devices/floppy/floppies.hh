// SPDX-License-Identifier: MIT
// How long does a floppy drive take until a sector has passed its head? The controller is an
// 82077AA of the emulated PC, and the emulator holds the content of the floppies.
#pragma once

#include <cstdint>

#include "devices/device.hh"

namespace device::floppy {

using base::Time;

struct Config {
  Time step = 0;    // from track to track
  Time settle = 0;  // after the last step
  Time motor = 0;   // until the motor has its speed
};

// A track as IBM's double density format has it [82077AA, figure of the System 34 format].
struct Track {
  uint32_t sectors = 0;
  Time byte = 0, revolution = 0;
  uint32_t gap2 = 0, gap3 = 0;  // bytes after an ID, and after a sector

  // The track of a floppy with this number of sectors on a track.
  static Track of(uint32_t sectors);

  // Times from the index mark to the begin of a sector (1 is the first), from there to the end of
  // its ID, and to the end of its data.
  Time start(uint32_t sector) const;
  Time id() const;
  Time data() const;
  Time pitch() const;  // from sector to sector
};

class Drives : public device::FloppyTimes {
 public:
  static constexpr uint32_t kDrives = 2;

  explicit Drives(const Config& config) : config_(config) {}

  void motors(uint32_t on, Time now) override;
  Time seek(uint32_t drive, uint32_t cylinder, Time step, Time now) override;
  Time pass(uint32_t drive, const device::FloppyPlace& place, uint32_t count, Time now) override;
  uint32_t next_id(uint32_t drive, const device::FloppyPlace& place, Time now, Time* read) override;

 private:
  struct Arm {
    uint32_t cylinder = 0;
    Time settled = 0;  // from now on, the head can read
    Time turning = 0;  // from now on, the motor has its speed
  };
  // Moves the arm to the cylinder of a read or write, if it is elsewhere. Returns the time from
  // which the head can read.
  Time reach(Arm& arm, uint32_t cylinder, Time now);

  Config config_;
  Arm arms_[kDrives];
  uint32_t motors_ = 0;  // bit N: the motor of drive N is on
};

}  // namespace device::floppy
