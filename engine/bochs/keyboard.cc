// SPDX-License-Identifier: LGPL-2.1-or-later
// How does a script press a key of the emulated keyboard?
#include "bochs.h"
#include "bochs/glue.hh"
#include "gui/gui.h"
#include "iodev/iodev.h"
// The next header needs the numbers of the keys in gui.h.
#include "iodev/scancodes.h"

bool bochs::key(const std::string& code, bool down) {
  for (Bit32u key = 0; key < BX_KEY_NBKEYS; key++) {
    if (code != scancodes[key][0].make) continue;  // 0: scan code set 1
    DEV_kbd_gen_scancode(key | (down ? BX_KEY_PRESSED : BX_KEY_RELEASED));
    return true;
  }
  return false;
}
