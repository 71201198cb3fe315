// SPDX-License-Identifier: MIT
// When does the run of a guest end that boots from its own media? Most programs of such a guest do
// not call the engine. The session therefore looks at the screen and at the serial line at fixed
// virtual times.
#pragma once

#include <cstdint>
#include <string>

#include "screen.hh"
#include "settings.hh"

namespace session {

struct MediaConfig {
  bool on = false;             // the BIOS boots the guest from floppies, disks or a CD-ROM
  std::string screen, serial;  // paths: the file to write, and the file of the serial line
  std::string until;           // the text that ends the run; empty: the limit ends the run
  uint64_t interval = 0;       // clocks between two looks at the screen and the serial line
  int keep_drive = -1;         // the IDE disk whose content is written to `keep`; -1: none
  std::string keep;

  // Reads run.media and the keys that depend on it; `settings` keeps the first error.
  static MediaConfig read(base::Settings& settings);
};

// Searches for the text that ends the run.
class Watch {
 public:
  explicit Watch(const MediaConfig& config) : config_(config) {}

  // Returns the place of the text, or null if the text is not there. A text on the screen is in one
  // row. A text on the serial line may be anywhere in the output since reset.
  const char* finds(const Screen& screen);

 private:
  bool on_serial_line();

  const MediaConfig& config_;
  uint64_t read_ = 0;  // bytes of the serial line that were searched
  std::string tail_;   // the last of these bytes, where the text may begin
};

}  // namespace session
