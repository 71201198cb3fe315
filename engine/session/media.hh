// SPDX-License-Identifier: MIT
// What must a run do whose guest boots from its own media? No program of such a guest calls the
// engine. A script of steps therefore ends the run (script.hh).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "settings.hh"
#include "step.hh"

namespace session {

constexpr uint32_t kBoot = 0;  // phase number of the bracket that begins at reset

struct MediaConfig {
  bool on = false;             // the BIOS boots the guest from floppies, disks or a CD-ROM
  std::string screen, serial;  // paths: the file to write, and the file of the serial line
  std::vector<Step> steps;     // of the script; empty: the limit ends the run
  std::string step_screens;    // path of the file with the screen of each step; empty: none
  int keep_drive = -1;         // the IDE disk whose content is written to `keep`; -1: none
  std::string keep;

  // Reads run.media and the keys that depend on it; `settings` keeps the first error.
  static MediaConfig read(base::Settings& settings);
};

}  // namespace session
