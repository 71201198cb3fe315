// SPDX-License-Identifier: LGPL-2.1-or-later
// What does the emulated video card show? The functions read the card's registers and memory
// directly. A read through the card's ports or its memory window would change the card's latches.
#include <algorithm>

#include "bochs.h"
#include "bochs/card.hh"
#include "bochs/glue.hh"

namespace bochs {

session::Screen screen() {
  session::Screen screen;
  bx_vgacore_c* card = Card::find();
  if (!card || in_graphics_mode(*card, &screen.width, &screen.height)) return screen;
  const auto& s = Card::state(*card);
  const unsigned lines = s.vertical_display_end + 1u, columns = s.CRTC.reg[1] + 1u;
  // Bit 0 to 4 of CRTC register 9: the height of a character, less 1. In text mode, every character
  // has an even address in plane 0, and the card's memory holds the four planes byte by byte.
  const unsigned height = (s.CRTC.reg[9] & 0x1Fu) + 1;
  const unsigned rows = std::max(1u, lines / height);
  // CRTC registers 14 and 15: the address of the cursor. Bit 5 of register 10 switches it off.
  const Bit32u cursor = s.CRTC.reg[0x0A] & 0x20 ? ~0u : s.CRTC.reg[0x0E] << 8 | s.CRTC.reg[0x0F];
  screen.columns = columns;
  for (unsigned row = 0; row < rows; row++) {
    std::vector<uint8_t> codes(columns);
    std::string attributes(columns, 0);
    for (unsigned column = 0; column < columns; column++) {
      const Bit32u at = s.CRTC.start_addr * 2u + row * s.line_offset + column * 2;
      if (Bit64u(at) * 4 + 1 >= s.memsize) continue;
      codes[column] = s.memory[at * 4];
      attributes[column] = char(s.memory[at * 4 + 1]);
      if (at == cursor * 2) screen.cursor = row * columns + column;
    }
    screen.rows.push_back(session::row_of(codes));
    screen.attributes += attributes;
  }
  return screen;
}

}  // namespace bochs
