// SPDX-License-Identifier: LGPL-2.1-or-later
// How does a script move the emulated mouse and press its buttons? The mouse is a PS/2 mouse or a
// serial mouse at COM2.
#include "bochs.h"
#include "bochs/glue.hh"
#include "gui/siminterface.h"
#include "iodev/iodev.h"
#include "param_names.h"

namespace {

bool serial() { return SIM->get_param_enum(BXPN_MOUSE_TYPE)->get() == BX_MOUSE_TYPE_SERIAL; }

// The emulator publishes its state for saved states.
bool set(const char* name) {
  auto* flag = SIM->get_param_bool(name, SIM->get_bochs_root());
  return flag && flag->get();
}

// A driver of the guest has switched the mouse on. A serial mouse gets its power from two lines.
bool on() {
  if (serial()) return set("serial.1.modem_cntl.dtr") && set("serial.1.modem_cntl.rts");
  return set("keyboard.mouse.enable");
}

}  // namespace

// A serial mouse sends 1200 bits in a second. A report has three bytes of nine bits: 22.5 ms
// [Microsoft serial mouse].
base::Time bochs::mouse_report() { return (serial() ? 25 : 10) * base::kMillisecond; }

bool bochs::mouse(int right, int down, unsigned buttons) {
  if (!on()) return false;
  // Without a captured pointer of a host's screen, the emulator ignores each motion.
  static bool captured = false;
  if (!captured) bx_devices.mouse_enabled_changed(true);
  captured = true;
  // Both mice take half of a motion, because they expect the dots of a host's screen. They count
  // upwards, as a PS/2 mouse does.
  bx_devices.mouse_motion(2 * right, -2 * down, 0, buttons, false);
  return true;
}
