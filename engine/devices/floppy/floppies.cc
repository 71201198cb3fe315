// SPDX-License-Identifier: MIT
#include "devices/floppy/floppies.hh"

#include <algorithm>

namespace device::floppy {
namespace {

// Bytes of the format [82077AA, System 34 format]: before the first sector (gap 4a, the index mark
// and gap 1), the ID with its synchronisation, and the data with its mark and CRC.
constexpr uint32_t kIndex = 80 + 12 + 4 + 50, kId = 12 + 4 + 4 + 2, kData = 12 + 4 + 512 + 2;
constexpr uint32_t kGap2 = 22, kGap2Perpendicular = 41;

// Speed and gap 3 of the formats of DOS [82077AA, typical values for formatting].
struct Format {
  uint32_t sectors, rate, rpm;
  uint32_t gap2, gap3;
};
constexpr Format kFormats[] = {
    {9, 250'000, 300, kGap2, 0x50},                 // 720 KB
    {15, 500'000, 360, kGap2, 0x54},                // 1.2 MB
    {18, 500'000, 300, kGap2, 0x6C},                // 1.44 MB
    {36, 1'000'000, 300, kGap2Perpendicular, 0x53}  // 2.88 MB
};

// The part of `turn` that is left until the angle `to`, from the time `now` on.
Time until(Time to, Time now, Time turn) { return (to + turn - now % turn) % turn; }

}  // namespace

Track Track::of(uint32_t sectors) {
  for (const Format& format : kFormats) {
    if (format.sectors != sectors) continue;
    return {sectors, 8 * base::kSecond / format.rate, 60 * base::kSecond / format.rpm, format.gap2,
            format.gap3};
  }
  // Other formats are variants of these. Their sectors share the track equally.
  Track track = of(sectors < 12 ? 9 : sectors < 25 ? 18 : 36);
  track.sectors = std::max(sectors, 1u);
  const auto bytes = uint32_t(track.revolution / track.byte);
  const uint32_t used = track.sectors * (kId + track.gap2 + kData) + kIndex;
  track.gap3 = used < bytes ? (bytes - used) / track.sectors : 0;
  return track;
}

Time Track::start(uint32_t sector) const {
  return kIndex * byte + (std::max(sector, 1u) - 1) * pitch();
}
Time Track::id() const { return kId * byte; }
Time Track::data() const { return (kId + gap2 + kData) * byte; }
Time Track::pitch() const { return data() + gap3 * byte; }

void Drives::motors(uint32_t on, Time now) {
  for (uint32_t i = 0; i < kDrives; i++) {
    if (on & ~motors_ & 1u << i) arms_[i].turning = now + config_.motor;
  }
  motors_ = on;
}

Time Drives::seek(uint32_t drive, uint32_t cylinder, Time step, Time now) {
  Arm& arm = arms_[drive % kDrives];
  const uint32_t distance =
      cylinder > arm.cylinder ? cylinder - arm.cylinder : arm.cylinder - cylinder;
  arm.cylinder = cylinder;
  if (!distance) return now;
  const Time end = now + distance * std::max(step, config_.step);
  arm.settled = end + config_.settle;
  return end;
}

// A BIOS of 1995 sent SPECIFY and SEEK before a read, with the step rate of the drive. p5lab's BIOS
// sends neither.
Time Drives::reach(Arm& arm, uint32_t cylinder, Time now) {
  if (cylinder != arm.cylinder) seek(uint32_t(&arm - arms_), cylinder, config_.step, now);
  return std::max({now, arm.settled, arm.turning});
}

Time Drives::pass(uint32_t drive, const device::FloppyPlace& place, uint32_t count, Time now) {
  const Track track = Track::of(place.sectors);
  const Time ready = reach(arms_[drive % kDrives], place.cylinder, now);
  const Time start = ready + until(track.start(place.sector), ready, track.revolution);
  return start + (std::max(count, 1u) - 1) * track.pitch() + track.data();
}

uint32_t Drives::next_id(uint32_t drive, const device::FloppyPlace& place, Time now, Time* read) {
  const Track track = Track::of(place.sectors);
  const Time ready = reach(arms_[drive % kDrives], place.cylinder, now);
  uint32_t found = 1;
  Time first = base::kNever;
  for (uint32_t sector = 1; sector <= track.sectors; sector++) {
    const Time wait = until(track.start(sector), ready, track.revolution);
    if (wait >= first) continue;
    first = wait;
    found = sector;
  }
  *read = ready + first + track.id();
  return found;
}

}  // namespace device::floppy
