// SPDX-License-Identifier: MIT
// What boots? Either an image that p5lab has built, which the boot ROM loads, or the user's own
// media. The two kinds of run differ in ImageSession and MediaSession.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/settings.hh"
#include "session/guest_files.hh"
#include "session/step.hh"

namespace session {

struct ImageBoot {
  GuestFiles files;

  // Reads boot.*; `settings` keeps the first error.
  static ImageBoot read(base::Settings& settings) { return {GuestFiles::read(settings)}; }
};

// The BIOS boots the guest from floppies, disks or a CD-ROM.
struct MediaBoot {
  // The steps of the script up to its ready point, which is the last of them; empty: the script has
  // no ready point, so no run can share the boot.
  std::vector<Step> steps;
  // The floppies that the run may have changed at the ready point: paths of files.
  std::vector<std::string> floppies;
  int keep_drive = -1;  // the IDE disk whose content is written to `keep`; -1: none
  std::string keep;

  // Reads run.floppies, run.keep, run.keep_drive and run.step.*; `settings` keeps the first error.
  static MediaBoot read(base::Settings& settings);
};

using Boot = std::variant<ImageBoot, MediaBoot>;

// Reads run.media, and the keys of the kind of boot that it names.
Boot read_boot(base::Settings& settings);

}  // namespace session
