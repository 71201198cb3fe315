// SPDX-License-Identifier: LGPL-2.1-or-later
// Which picture does the emulated video card show in a graphics mode? The emulator's own functions
// draw the picture. What they change is put back, so a look changes nothing in the machine.
#include "session/picture.hh"

#include <vector>

#include "bochs.h"
#include "bochs/card.hh"
#include "bochs/glue.hh"
#include "gui/gui.h"

namespace bochs {
namespace {

// The emulator's display library. In its snapshot mode it collects what the card draws.
class Display : public bx_gui_c {
 public:
  // Draws all of a picture with `codes` as the buffer of the snapshot.
  static void collect(bx_vgacore_c& card, unsigned width, unsigned height,
                      std::vector<uint8_t>* codes) {
    auto& snapshot = bx_gui->*(&Display::snapshot_mode);
    auto& buffer = bx_gui->*(&Display::snapshot_buffer);
    auto& columns = bx_gui->*(&Display::guest_xres);
    auto& rows = bx_gui->*(&Display::guest_yres);
    auto& bits = bx_gui->*(&Display::guest_bpp);
    const auto columns_before = columns, rows_before = rows;
    const auto bits_before = bits;
    snapshot = true;
    buffer = codes->data();
    columns = Bit16u(width);
    rows = Bit16u(height);
    bits = 8;
    card.redraw_area(0, 0, width, height);
    Card::draw(card);
    snapshot = false;
    buffer = nullptr;
    columns = columns_before;
    rows = rows_before;
    bits = bits_before;
  }
};

session::Palette palette_of(bx_vgacore_c& card) {
  const auto& s = Card::state(card);
  session::Palette palette;
  const unsigned bits = 8u - s.dac_shift, mask = (1u << bits) - 1;
  for (unsigned i = 0; i < palette.size(); i++) {
    const auto& one = s.pel.data[i];
    palette[i] = {session::level(one.red & mask, bits), session::level(one.green & mask, bits),
                  session::level(one.blue & mask, bits)};
  }
  return palette;
}

// A mode of a VGA.
session::Picture of_vga(bx_vgacore_c& card, unsigned width, unsigned height) {
  auto& s = Card::state(card);
  const auto before = s;
  const bool always = Card::always(card);
  std::vector<uint8_t> codes(size_t(width) * height);
  Card::always(card) = true;
  s.misc_output.select_high_bank = true;  // without it, the emulator panics in some modes
  // With this size the card does not announce a new one.
  s.last_xres = Bit16u(width);
  s.last_yres = Bit16u(height);
  s.last_bpp = 8;
  const bool dark = Card::dark(card);
  if (!dark) Display::collect(card, width, height, &codes);
  Card::always(card) = always;
  s = before;
  if (dark) return session::black(width, height);
  return session::coloured(width, height, codes, palette_of(card));
}

// A mode of the VBE extension with four planes.
session::Picture of_planes(bx_vgacore_c& card, unsigned width, unsigned height) {
  const Bit32u start = Vbe::get("virtual_start"), pitch = Vbe::get("line_offset");
  std::vector<uint8_t> codes(size_t(width) * height);
  for (unsigned y = 0; y < height; y++) {
    for (unsigned x = 0; x < width; x++) {
      codes[size_t(y) * width + x] = Card::colour(card, x, y, start + y * pitch);
    }
  }
  return session::coloured(width, height, codes, palette_of(card));
}

// A mode of the VBE extension in which each dot has its own bytes.
session::Picture of_frame_buffer(bx_vgacore_c& card, unsigned width, unsigned height) {
  const auto& s = Card::state(card);
  const session::FrameBuffer buffer{s.memory, s.memsize, Vbe::get("virtual_start"),
                                    Vbe::get("line_offset"), Vbe::get("bpp")};
  return session::shown(width, height, buffer, palette_of(card));
}

// Returns true if the card sends no picture. The emulator asks the same for VBE modes.
bool blank(bx_vgacore_c& card) {
  const auto& s = Card::state(card);
  constexpr unsigned kScreenOff = 0x20;
  return !s.vga_enabled || !s.attribute_ctrl.video_enabled || !s.sequencer.reset1 ||
         !s.sequencer.reset2 || (s.sequencer.reg1 & kScreenOff);
}

// A text mode, with the characters of the card's own font: plane 2 has 32 bytes for each character,
// one for each line of 8 dots.
session::Picture of_text(bx_vgacore_c& card) {
  const auto& s = Card::state(card);
  const session::Screen screen = bochs::screen();
  constexpr unsigned kDots = 8, kLines = 32, kPlanes = 4, kUnderline = 2;
  const unsigned height = (s.CRTC.reg[9] & 0x1Fu) + 1, columns = screen.columns;
  const unsigned width = columns * kDots, rows = unsigned(screen.rows.size());
  std::vector<uint8_t> dots(size_t(width) * rows * height);
  for (size_t at = 0; at < screen.attributes.size(); at++) {
    const unsigned row = unsigned(at / columns), column = unsigned(at % columns);
    const Bit32u place = s.CRTC.start_addr * 2u + row * s.line_offset + column * 2;
    const unsigned code = Bit64u(place) * kPlanes < s.memsize ? s.memory[place * kPlanes] : 0u;
    const unsigned colours = uint8_t(screen.attributes[at]);
    const uint8_t front = s.attribute_ctrl.palette_reg[colours & 15];
    const uint8_t back = s.attribute_ctrl.palette_reg[colours >> 4 & 7];
    for (unsigned line = 0; line < height; line++) {
      const Bit32u byte = (s.charmap_address1 + code * kLines + line) * kPlanes + 2;
      const bool cursor = at == screen.cursor && line + kUnderline >= height;
      const unsigned shape = cursor ? 0xFF : byte < s.memsize ? s.memory[byte] : 0u;
      uint8_t* to = &dots[(size_t(row) * height + line) * width + column * kDots];
      for (unsigned dot = 0; dot < kDots; dot++) to[dot] = shape >> (7 - dot) & 1 ? front : back;
    }
  }
  return session::coloured(width, rows * height, dots, palette_of(card));
}

}  // namespace

bool in_graphics_mode(bx_vgacore_c& card, unsigned* width, unsigned* height) {
  if (Vbe::enabled()) {
    *width = Vbe::get("xres");
    *height = Vbe::get("yres");
    return true;
  }
  if (!Card::state(card).graphics_ctrl.graphics_alpha) return false;
  Card::size(card, width, height);
  return true;
}

session::Picture picture() {
  bx_vgacore_c* card = Card::find();
  unsigned width = 0, height = 0;
  if (!card || !in_graphics_mode(*card, &width, &height) || !width || !height) return {};
  if (!Vbe::enabled()) return of_vga(*card, width, height);
  if (blank(*card)) return session::black(width, height);
  if (Vbe::get("bpp") == Vbe::kPlanes) return of_planes(*card, width, height);
  return of_frame_buffer(*card, width, height);
}

session::Picture view() {
  bx_vgacore_c* card = Card::find();
  unsigned width = 0, height = 0;
  if (!card) return {};
  return in_graphics_mode(*card, &width, &height) ? picture() : of_text(*card);
}

}  // namespace bochs
