// SPDX-License-Identifier: MIT
#include "devices/scsi/geometry.hh"

#include <cinttypes>
#include <cstdio>

namespace device::scsi {

Geometry::Geometry(std::vector<Zone> zones, uint32_t heads, Time revolution, Time track_skew,
                   Time cylinder_skew)
    : heads_(heads), revolution_(revolution) {
  for (const Zone& zone : zones) {
    const auto slots = [&](Time skew) {
      return uint32_t((skew * zone.sectors + revolution - 1) / revolution);
    };
    bands_.push_back({zone, cylinders_, sectors_, slots(track_skew), slots(cylinder_skew)});
    cylinders_ += zone.cylinders;
    sectors_ += uint64_t(zone.cylinders) * heads * zone.sectors;
  }
}

Place Geometry::place(uint64_t sector) const {
  const Band* band = &bands_.front();
  for (const Band& candidate : bands_) {
    if (candidate.sector > sector) break;
    band = &candidate;
  }
  const uint32_t per_track = band->zone.sectors;
  const uint64_t in_band = sector - band->sector;
  const uint64_t track = in_band / per_track;
  const uint32_t on_track = uint32_t(in_band % per_track);
  const uint32_t cylinder = uint32_t(track / heads_), head = uint32_t(track % heads_);
  const uint64_t skew =
      uint64_t(cylinder) * ((heads_ - 1) * band->track_skew + band->cylinder_skew) +
      uint64_t(head) * band->track_skew;
  return {band->cylinder + cylinder, head, uint32_t((on_track + skew) % per_track), per_track,
          per_track - on_track};
}

bool parse_zones(const std::string& text, std::vector<Zone>* zones) {
  const char* at = text.c_str();
  for (;;) {
    Zone zone;
    int used = 0;
    if (std::sscanf(at, "%" SCNu32 "x%" SCNu32 "%n", &zone.cylinders, &zone.sectors, &used) != 2 ||
        !zone.cylinders || !zone.sectors) {
      return false;
    }
    zones->push_back(zone);
    at += used;
    if (!*at) return true;
    if (*at++ != ',') return false;
  }
}

}  // namespace device::scsi
