// SPDX-License-Identifier: MIT
#include "session/picture.hh"

namespace session {
namespace {

Colour dot(const uint8_t* at, unsigned bits, const Palette& palette) {
  if (bits == 8) return palette[at[0]];
  if (bits >= 24) return {at[2], at[1], at[0]};
  const unsigned value = at[0] | at[1] << 8;
  const unsigned green_bits = bits == 16 ? 6 : 5;
  return {level(value >> (5 + green_bits) & 31, 5),
          level(value >> 5 & ((1u << green_bits) - 1), green_bits), level(value & 31, 5)};
}

}  // namespace

uint8_t level(unsigned value, unsigned bits) {
  const unsigned most = (1u << bits) - 1;
  return uint8_t((value * 255 + most / 2) / most);
}

std::string Picture::pixmap() const {
  std::string text = "P6\n" + std::to_string(width) + " " + std::to_string(height) + "\n255\n";
  text.reserve(text.size() + dots.size() * 3);
  for (const Colour& one : dots) {
    text += char(one.red);
    text += char(one.green);
    text += char(one.blue);
  }
  return text;
}

Picture black(unsigned width, unsigned height) {
  return {width, height, std::vector<Colour>(size_t(width) * height)};
}

Picture coloured(unsigned width, unsigned height, const std::vector<uint8_t>& codes,
                 const Palette& palette) {
  Picture picture = black(width, height);
  for (size_t i = 0; i < picture.dots.size(); i++) picture.dots[i] = palette[codes[i]];
  return picture;
}

Picture shown(unsigned width, unsigned height, const FrameBuffer& buffer, const Palette& palette) {
  Picture picture = black(width, height);
  const unsigned bytes = (buffer.bits + 7) / 8;
  for (unsigned y = 0; y < height; y++) {
    const uint64_t row = buffer.start + y * buffer.pitch;
    if (row + uint64_t(width) * bytes > buffer.size) continue;
    for (unsigned x = 0; x < width; x++) {
      picture.dots[size_t(y) * width + x] =
          dot(buffer.memory + row + uint64_t(x) * bytes, buffer.bits, palette);
    }
  }
  return picture;
}

}  // namespace session
