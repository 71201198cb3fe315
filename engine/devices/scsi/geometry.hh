// SPDX-License-Identifier: MIT
// Where on the disk is a sector? All tracks of a zone have the same number of sectors. A place also
// contains the angle at which its sector begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "devices/scsi/time.hh"

namespace device::scsi {

constexpr uint32_t kSector = 512;  // bytes

struct Zone {
  uint32_t cylinders = 0, sectors = 0;  // sectors on one track
};

struct Place {
  uint32_t cylinder = 0, head = 0;
  uint32_t slot = 0;     // counted from the index mark, with skew
  uint32_t sectors = 0;  // on this track
  uint32_t left = 0;     // sectors left on the track, this one included
};

class Geometry {
 public:
  // Skew is the rotation from the first sector of a track to the first sector of the next track.
  // The skew is `track_skew`, or `cylinder_skew` if the cylinder changes. Both times are rounded up
  // to whole sectors.
  Geometry(std::vector<Zone> zones, uint32_t heads, Time revolution, Time track_skew,
           Time cylinder_skew);

  uint64_t sectors() const { return sectors_; }
  uint32_t cylinders() const { return cylinders_; }
  uint32_t heads() const { return heads_; }
  Time revolution() const { return revolution_; }
  Place place(uint64_t sector) const;

  // Time from the index mark to the start of a slot. Slot numbers may continue beyond the last slot
  // of a track.
  Time angle(uint32_t slot, uint32_t sectors) const { return revolution_ * slot / sectors; }

 private:
  struct Band {
    Zone zone;
    uint32_t cylinder;                   // its first cylinder
    uint64_t sector;                     // its first sector
    uint32_t track_skew, cylinder_skew;  // sectors
  };
  std::vector<Band> bands_;
  uint64_t sectors_ = 0;
  uint32_t cylinders_ = 0, heads_;
  Time revolution_;
};

// Reads a list of zones, such as "351x130,351x126". The first zone is the outermost zone. Returns
// false if the form is wrong.
bool parse_zones(const std::string& text, std::vector<Zone>* zones);

}  // namespace device::scsi
