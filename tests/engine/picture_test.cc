// SPDX-License-Identifier: MIT
// What is the picture of a graphics mode (engine/session/picture.hh)?
#include "session/picture.hh"

#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <vector>

using namespace session;

namespace {

std::string hex(const Colour& colour) {
  char text[8];
  std::snprintf(text, sizeof text, "%02X%02X%02X", colour.red, colour.green, colour.blue);
  return text;
}

// The picture of one row of dots.
std::vector<std::string> row(const std::vector<uint8_t>& memory, unsigned bits, unsigned dots) {
  Palette palette;
  palette[7] = {1, 2, 3};
  const FrameBuffer buffer{memory.data(), memory.size(), 0, memory.size(), bits};
  std::vector<std::string> found;
  for (const Colour& one : shown(dots, 1, buffer, palette).dots) found.push_back(hex(one));
  return found;
}

using Row = std::vector<std::string>;

}  // namespace

TEST_CASE("picture: the largest level is 255 and the smallest is 0") {
  for (unsigned bits = 1; bits <= 8; bits++) {
    CHECK(level(0, bits) == 0);
    CHECK(level((1u << bits) - 1, bits) == 255);
  }
  for (unsigned value = 0; value < 256; value++) CHECK(level(value, 8) == value);
  CHECK(level(21, 6) == 85);  // a third, as in the colours of the CGA
  CHECK(level(42, 6) == 170);
}

TEST_CASE("picture: the order of the colours' bits in each depth") {
  CHECK(row({0, 7}, 8, 2) == Row{"000000", "010203"});
  // 15 bits: 5 each, blue in the lowest. Bit 15 has no meaning.
  CHECK(row({0x1F, 0x00, 0xE0, 0x03, 0x00, 0x7C, 0x00, 0x80}, 15, 4) ==
        Row{"0000FF", "00FF00", "FF0000", "000000"});
  CHECK(row({0x1F, 0x00, 0xE0, 0x07, 0x00, 0xF8, 0x20, 0x00}, 16, 4) ==
        Row{"0000FF", "00FF00", "FF0000", "000400"});
  CHECK(row({1, 2, 3, 4, 5, 6}, 24, 2) == Row{"030201", "060504"});
  CHECK(row({1, 2, 3, 0xEE, 4, 5, 6, 0xEE}, 32, 2) == Row{"030201", "060504"});
}

TEST_CASE("picture: a row that does not lie in the memory is black") {
  const std::vector<uint8_t> memory(64, 1);
  Palette palette;
  palette[1] = {9, 9, 9};
  const auto picture = [&](uint64_t start, uint64_t pitch) {
    std::string text;
    for (const Colour& one :
         shown(8, 4, {memory.data(), memory.size(), start, pitch, 8}, palette).dots) {
      text += one.red ? '#' : '.';
    }
    return text;
  };
  const std::string full(8, '#'), none(8, '.');
  CHECK(picture(0, 16) == full + full + full + full);
  CHECK(picture(32, 16) == full + full + none + none);
  CHECK(picture(33, 16) == full + full + none + none);
  CHECK(picture(41, 16) == full + none + none + none);
  CHECK(picture(57, 16) == none + none + none + none);
  CHECK(picture(~uint64_t(0) >> 8, 0) == none + none + none + none);
  CHECK(picture(0, 0) == full + full + full + full);
}

TEST_CASE("picture: numbers of colours and the file") {
  Palette palette;
  palette[0] = {255, 0, 0};
  palette[255] = {0, 0, 'B'};
  const Picture picture = coloured(2, 1, {255, 0}, palette);
  CHECK(picture.pixmap() == std::string("P6\n2 1\n255\n\0\0B\xFF\0\0", 17));
  CHECK(black(3, 2).pixmap() == "P6\n3 2\n255\n" + std::string(18, '\0'));
  CHECK(Picture().empty());
  CHECK_FALSE(black(1, 1).empty());
}
