// SPDX-License-Identifier: MIT
// Where a sector is: zones of cylinders with the same number of sectors on each track, and the
// angle at which each sector begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "time.hh"

namespace disk {

constexpr uint32_t kSector = 512;  // bytes

struct Zone {
  uint32_t cylinders = 0, sectors = 0;  // sectors on one track
};

struct Place {
  uint32_t cylinder = 0, head = 0;
  uint32_t slot = 0;     // counted from the index mark, skew included
  uint32_t sectors = 0;  // of this track
  uint32_t left = 0;     // sectors from this one to the last of the track, both included
};

class Geometry {
 public:
  // The first sector of a track comes later under the head than that of the track before it, by
  // `track_skew` or, where the cylinder changes, `cylinder_skew`, both rounded up to whole sectors.
  Geometry(std::vector<Zone> zones, uint32_t heads, Time revolution, Time track_skew,
           Time cylinder_skew);

  uint64_t sectors() const { return sectors_; }
  uint32_t cylinders() const { return cylinders_; }
  uint32_t heads() const { return heads_; }
  Time revolution() const { return revolution_; }
  Place place(uint64_t sector) const;

  // Time from the index mark to the beginning of a slot. Slots may be counted on beyond the mark.
  Time angle(uint32_t slot, uint32_t sectors) const { return revolution_ * slot / sectors; }

 private:
  struct Band {
    Zone zone;
    uint32_t cylinder;                   // its first
    uint64_t sector;                     // its first
    uint32_t track_skew, cylinder_skew;  // sectors
  };
  std::vector<Band> bands_;
  uint64_t sectors_ = 0;
  uint32_t cylinders_ = 0, heads_;
  Time revolution_;
};

// "351x130,351x126": zones from the outside in. False: not of that form.
bool parse_zones(const std::string& text, std::vector<Zone>* zones);

}  // namespace disk
