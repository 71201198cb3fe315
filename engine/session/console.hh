// SPDX-License-Identifier: MIT
// What can a person do who sits in front of the machine? A script does the same (script.hh).
#pragma once

#include <string>

#include "base/agenda.hh"
#include "session/screen.hh"

namespace session {

class Console {
 public:
  virtual ~Console() = default;

  // Returns what the monitor shows. The call changes nothing in the machine.
  virtual Screen screen() = 0;
  // Presses or releases a key. `code` contains the bytes that this key sends when it is pressed, in
  // scan code set 1. Returns false if the keyboard has no such key.
  virtual bool key(const std::string& code, bool down) = 0;
  // Moves the mouse, in counts to the right and down, and sets its buttons: 1 is the left button, 2
  // the right button. Returns false if the guest has not switched the mouse on.
  virtual bool mouse(int right, int down, unsigned buttons) = 0;
  // The time from one report of the mouse to the next. A PS/2 mouse sends 100 reports in a second
  // by default.
  virtual base::Time report() const { return 10 * base::kMillisecond; }
  // Replaces the floppy in a drive. Returns false if the drive cannot take this floppy.
  virtual bool insert(unsigned drive, const std::string& path) = 0;
};

}  // namespace session
