// SPDX-License-Identifier: LGPL-2.1-or-later
// What does the emulated video card show? The functions read the card's registers and memory
// directly. A read through the card's ports or its memory window would change the card's latches.
#include <algorithm>

#include "bochs.h"
#include "glue.hh"
#include "gui/siminterface.h"
#include "iodev/iodev.h"
// The next header needs the types of the header above.
#include "iodev/display/vgacore.h"

namespace {

// Bochs protects the state of the card, and gives it no name.
class Card : public bx_vgacore_c {
 public:
  static const auto& state(const bx_vgacore_c& card) { return card.*(&Card::s); }
};

}  // namespace

namespace glue {

session::Screen screen() {
  session::Screen screen;
  const auto* card = dynamic_cast<const bx_vgacore_c*>(bx_devices.pluginVgaDevice);
  if (!card) return screen;
  const auto& s = Card::state(*card);
  const unsigned lines = s.vertical_display_end + 1u, columns = s.CRTC.reg[1] + 1u;
  if (s.graphics_ctrl.graphics_alpha) {
    screen.width = columns * (s.x_dotclockdiv2 ? 16 : 8);
    screen.height = lines;
    return screen;
  }
  // Bit 0 to 4 of CRTC register 9: the height of a character, less 1. In text mode, every character
  // has an even address in plane 0, and the card's memory holds the four planes byte by byte.
  const unsigned height = (s.CRTC.reg[9] & 0x1Fu) + 1;
  const unsigned rows = std::max(1u, lines / height);
  for (unsigned row = 0; row < rows; row++) {
    std::vector<uint8_t> codes(columns);
    for (unsigned column = 0; column < columns; column++) {
      const Bit32u at = s.CRTC.start_addr * 2u + row * s.line_offset + column * 2;
      if (Bit64u(at) * 4 < s.memsize) codes[column] = s.memory[at * 4];
    }
    screen.rows.push_back(session::row_of(codes));
  }
  return screen;
}

}  // namespace glue
