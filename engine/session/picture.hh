// SPDX-License-Identifier: MIT
// Which picture does the monitor of the machine show in a graphics mode?
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace session {

struct Colour {
  uint8_t red = 0, green = 0, blue = 0;
};

// The colour registers of a video card, in 8 bits.
using Palette = std::array<Colour, 256>;

// Returns a level of `bits` bits (1 to 8) as a level of 8 bits: the largest becomes 255.
uint8_t level(unsigned value, unsigned bits);

struct Picture {
  unsigned width = 0, height = 0;
  std::vector<Colour> dots;  // row by row; empty: the machine shows no picture

  bool empty() const { return dots.empty(); }
  // Returns the picture as a portable pixmap (the format P6 of ppm(5)).
  std::string pixmap() const;
};

// Returns a black picture.
Picture black(unsigned width, unsigned height);

// Returns a picture in which each byte of `codes` is the number of a colour. `codes` has width *
// height bytes.
Picture coloured(unsigned width, unsigned height, const std::vector<uint8_t>& codes,
                 const Palette& palette);

// Video memory in which each dot has its own bytes.
struct FrameBuffer {
  const uint8_t* memory = nullptr;
  uint64_t size = 0;   // bytes of memory
  uint64_t start = 0;  // offset of the first dot
  uint64_t pitch = 0;  // bytes from one row to the next
  unsigned bits = 0;   // of a dot: 8, 15, 16, 24 or 32
};

// Returns the picture in a frame buffer. `palette` is for dots of 8 bits. Rows that do not lie in
// the memory completely are black.
Picture shown(unsigned width, unsigned height, const FrameBuffer& buffer, const Palette& palette);

}  // namespace session
