// SPDX-License-Identifier: LGPL-2.1-or-later
// How do the files of the glue reach the state of the emulated video card? Include bochs.h first.
#pragma once

#include <string>

#include "gui/siminterface.h"
#include "iodev/iodev.h"
// The next header needs the types of the header above.
#include "iodev/display/vgacore.h"

namespace bochs {

// Bochs protects the state of the card and the functions that draw, and gives the state no name.
class Card : public bx_vgacore_c {
 public:
  // Returns the card; null if the machine has none.
  static bx_vgacore_c* find() { return dynamic_cast<bx_vgacore_c*>(bx_devices.pluginVgaDevice); }

  static auto& state(bx_vgacore_c& card) { return card.*(&Card::s); }
  // While this flag is set, update() draws at every time, and not only outside of the retrace.
  static bool& always(bx_vgacore_c& card) { return card.*(&Card::update_mode_vsync); }
  // Returns true if the monitor is dark.
  static bool dark(bx_vgacore_c& card) { return (card.*(&Card::skip_update))(); }
  static void draw(bx_vgacore_c& card) { (card.*(&Card::update))(); }
  static Bit8u colour(bx_vgacore_c& card, unsigned x, unsigned y, Bit32u row) {
    constexpr Bit16u kNoSplit = 0xFFFF;
    return (card.*(&Card::get_vga_pixel))(Bit16u(x), Bit16u(y), row, kNoSplit, false,
                                          state(card).memory);
  }
  static void size(bx_vgacore_c& card, unsigned* width, unsigned* height) {
    (card.*(&Card::determine_screen_dimensions))(height, width);
  }
};

// The registers of the card's VBE extension. The emulator publishes them for its saved states.
class Vbe {
 public:
  static unsigned get(const std::string& name) {
    auto* found = SIM->get_param_num(("vga.vbe." + name).c_str(), SIM->get_bochs_root());
    return found ? unsigned(found->get()) : 0;
  }
  static bool enabled() { return get("enabled") != 0; }
  static constexpr unsigned kPlanes = 4;  // bits of a dot: the dot lies in the four planes
};

// Returns true if the card is in a graphics mode, and then sets the number of dots and lines.
bool in_graphics_mode(bx_vgacore_c& card, unsigned* width, unsigned* height);

}  // namespace bochs
