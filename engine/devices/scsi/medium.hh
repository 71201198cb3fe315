// SPDX-License-Identifier: MIT
// Which data is on the platters? Only written sectors use memory. A disk of gigabytes therefore
// needs little memory, and a fork copies it fast.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "devices/scsi/geometry.hh"

namespace device::scsi {

class Medium {
 public:
  explicit Medium(uint64_t sectors) : chunks_((sectors + kChunk - 1) / kChunk) {}

  void read(uint64_t sector, uint8_t* bytes) const;
  void write(uint64_t sector, const uint8_t* bytes);

  // Loads the extents of an image (guest-images/parts/rootfs/mkscsi.py). If load() returns false,
  // `*error` contains the reason.
  bool load(const std::string& path, std::string* error);

  // Writes sectors to a file. Sectors that were never written become holes. Returns false if the
  // file cannot be written.
  bool save(const std::string& path, uint64_t first, uint64_t count) const;

 private:
  static constexpr uint64_t kChunk = 32;  // sectors
  using Chunk = std::array<uint8_t, kChunk * kSector>;
  std::vector<std::unique_ptr<Chunk>> chunks_;
};

}  // namespace device::scsi
