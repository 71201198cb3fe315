// SPDX-License-Identifier: MIT
#include "devices/ne2000/pcap.hh"

#include <initializer_list>

namespace device::ne2000 {
namespace {

constexpr uint32_t kMagic = 0xA1B23C4D, kVersion = 2 | 4 << 16, kEthernet = 1;
constexpr uint32_t kLongest = 65535, kEpoch = 788918400;
constexpr Time kNanosecond = 1000;

void put(std::FILE* file, std::initializer_list<uint32_t> words) {
  for (const uint32_t word : words) {
    const uint8_t bytes[4] = {uint8_t(word), uint8_t(word >> 8), uint8_t(word >> 16),
                              uint8_t(word >> 24)};
    std::fwrite(bytes, 1, sizeof bytes, file);
  }
}

}  // namespace

void write_capture_header(std::FILE* file) {
  put(file, {kMagic, kVersion, 0, 0, kLongest, kEthernet});
}

void write_capture(std::FILE* file, Time first, const Frame& frame) {
  const uint32_t length = uint32_t(frame.size());
  put(file, {kEpoch + uint32_t(first / kSecond), uint32_t(first % kSecond / kNanosecond), length,
             length});
  std::fwrite(frame.data(), 1, frame.size(), file);
}

}  // namespace device::ne2000
