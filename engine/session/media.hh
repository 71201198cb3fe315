// SPDX-License-Identifier: MIT
// What does a run do if its guest boots from its own media? Most programs of such a guest do not
// call the engine. A script of steps drives the guest (script.hh).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "settings.hh"
#include "step.hh"

namespace session {

struct MediaConfig {
  bool on = false;             // the BIOS boots the guest from floppies, disks or a CD-ROM
  std::string screen, serial;  // paths: the file to write, and the file of the serial line
  std::vector<Step> steps;     // of the script; empty: the limit ends the run
  std::string step_screens;    // path of the file with the screen of each step; empty: none
  int keep_drive = -1;         // the IDE disk whose content is written to `keep`; -1: none
  std::string keep;

  bool live = false;       // a person sees and drives the machine (viewer.hh)
  std::string save_state;  // directory for the state at the ready point; empty: none
  // The floppies that the run may have changed at the ready point of its script: paths of files.
  std::vector<std::string> floppies;

  bool has_ready_point() const { return Step::ready_point(steps) < steps.size(); }

  // Reads run.media and the keys that depend on it; `settings` keeps the first error.
  static MediaConfig read(base::Settings& settings);
};

}  // namespace session
