// SPDX-License-Identifier: LGPL-2.1-or-later
// How does a script move the emulated PS/2 mouse and press its buttons?
#include "bochs.h"
#include "glue.hh"
#include "gui/siminterface.h"
#include "iodev/iodev.h"

bool glue::mouse(int right, int down, unsigned buttons) {
  // The controller publishes this flag for saved states. A driver of the guest sets it.
  auto* enabled = SIM->get_param_bool("keyboard.mouse.enable", SIM->get_bochs_root());
  if (!enabled || !enabled->get()) return false;
  // Without a captured pointer of a host's screen, the emulator ignores each motion.
  static bool captured = false;
  if (!captured) bx_devices.mouse_enabled_changed(true);
  captured = true;
  // The controller takes half of a motion, because it expects the dots of a host's screen. It
  // counts upwards, as a PS/2 mouse does.
  bx_devices.mouse_motion(2 * right, -2 * down, 0, buttons, false);
  return true;
}
