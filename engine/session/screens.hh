// SPDX-License-Identifier: MIT
// Which files show what the monitor showed: at each step of a script, and at the end of the run?
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hh"
#include "session/emulator.hh"
#include "session/output.hh"

namespace session {

class Screens {
 public:
  // Paths of files. An empty path means that the run does not write the file.
  struct Paths {
    std::string last;   // the screen at the end of the run
    std::string steps;  // the screens of all steps

    // Reads run.screen and run.step_screens; `settings` keeps the first error.
    static Paths read(base::Settings& settings);
  };

  Screens(Paths paths, Emulator& emulator) : paths_(std::move(paths)), emulator_(emulator) {}

  // Creates the file of the steps.
  void open();
  // Keeps what the monitor shows at a step, with a line about it. The first step is 1.
  void keep(const std::string& about, size_t step);
  // Keeps what the monitor shows at the end of the run.
  void finish();
  // The files with the pictures of steps.
  const std::vector<std::string>& pictures() const { return pictures_; }

 private:
  // Writes the picture of a graphics mode, with the extension `ppm`. Returns false in a text mode.
  bool write_picture(const std::filesystem::path& path);

  const Paths paths_;
  Emulator& emulator_;
  Output steps_;
  std::string kept_;  // the last screen in steps_
  std::vector<std::string> pictures_;
};

}  // namespace session
