// SPDX-License-Identifier: MIT
#include "devices/scsi/medium.hh"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace device::scsi {
namespace {

constexpr char kMagic[] = "P5DISK1\n";
constexpr size_t kMagicBytes = sizeof kMagic - 1, kHeaderBytes = 16;

uint64_t little(const uint8_t* bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
  return value;
}

}  // namespace

void Medium::read(uint64_t sector, uint8_t* bytes) const {
  const Chunk* chunk = chunks_[sector / kChunk].get();
  if (!chunk)
    std::memset(bytes, 0, kSector);
  else
    std::memcpy(bytes, chunk->data() + sector % kChunk * kSector, kSector);
}

void Medium::write(uint64_t sector, const uint8_t* bytes) {
  auto& chunk = chunks_[sector / kChunk];
  if (!chunk) chunk = std::make_unique<Chunk>(Chunk());
  std::memcpy(chunk->data() + sector % kChunk * kSector, bytes, kSector);
}

bool Medium::load(const std::string& path, std::string* error) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) return *error = path + " cannot be read", false;
  if (bytes.size() < kMagicBytes || std::memcmp(bytes.data(), kMagic, kMagicBytes) != 0) {
    return *error = path + " is not a disk image", false;
  }
  size_t at = kMagicBytes;
  while (at < bytes.size()) {
    const size_t left = bytes.size() - at;
    if (left < kHeaderBytes) return *error = path + " is incomplete", false;
    const uint64_t first = little(&bytes[at]), count = little(&bytes[at + 8]);
    if (count > (left - kHeaderBytes) / kSector) return *error = path + " is incomplete", false;
    const uint64_t sectors = chunks_.size() * kChunk;
    if (count > sectors || first > sectors - count) {
      return *error = path + " is larger than the disk", false;
    }
    at += kHeaderBytes;
    for (uint64_t i = 0; i < count; i++, at += kSector) write(first + i, &bytes[at]);
  }
  return true;
}

bool Medium::save(const std::string& path, uint64_t first, uint64_t count) const {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return false;
  uint8_t bytes[kSector];
  bool good = true;
  for (uint64_t i = 0; i < count && good; i++) {
    if (!chunks_[(first + i) / kChunk]) continue;
    read(first + i, bytes);
    good = fseeko(file, off_t(i * kSector), SEEK_SET) == 0 &&
           std::fwrite(bytes, kSector, 1, file) == 1;
  }
  good = good && std::fflush(file) == 0 && ftruncate(fileno(file), off_t(count * kSector)) == 0;
  const int reason = errno;
  if (std::fclose(file) == 0 && good) return true;
  if (!good) errno = reason;  // fclose may have changed it
  return false;
}

}  // namespace device::scsi
