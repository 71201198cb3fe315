// SPDX-License-Identifier: MIT
// What does a run do if its guest boots from its own media, or if its guest has a graphics screen?
// A script of steps drives the guest (script.hh). Most programs of a guest with its own media do
// not call the engine, so its script begins at reset. The script of another guest begins at the
// ready marker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/settings.hh"
#include "session/step.hh"

namespace session {

struct MediaConfig {
  bool on = false;  // the BIOS boots the guest from floppies, disks or a CD-ROM
  // Paths: the file to write (empty: none), and the file with the text of the guest, in which steps
  // search: the serial line, or the output of the program.
  std::string screen, serial;
  // The steps of the script up to its ready point, which is the last of them; empty: the script has
  // no ready point, so no run can share the boot.
  std::vector<Step> steps;
  std::string step_screens;  // path of the file with the screen of each step; empty: none
  int keep_drive = -1;       // the IDE disk whose content is written to `keep`; -1: none
  std::string keep;

  // The floppies that the run may have changed at the ready point of its script: paths of files.
  std::vector<std::string> floppies;

  bool has_ready_point() const { return !steps.empty(); }

  // Reads run.media, run.screen and the keys that depend on them; `settings` keeps the first error.
  static MediaConfig read(base::Settings& settings);
};

}  // namespace session
