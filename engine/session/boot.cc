// SPDX-License-Identifier: MIT
#include "session/boot.hh"

#include <sstream>

namespace session {

MediaBoot MediaBoot::read(base::Settings& settings) {
  MediaBoot boot;
  boot.steps = Step::read_all(settings);
  if (!boot.steps.empty() && boot.steps.back().kind != Step::Kind::Ready) {
    settings.fail("run.step.0.title", "expected steps up to a ready point");
  }
  if (settings.has("run.floppies")) {
    std::istringstream names(settings.text("run.floppies"));
    for (std::string name; names >> name;) boot.floppies.push_back(name);
  }
  if (settings.has("run.keep")) {
    boot.keep = settings.text("run.keep");
    const uint64_t drive = settings.number("run.keep_drive");
    if (drive > 1) settings.fail("run.keep_drive", "expected 0 or 1");
    boot.keep_drive = int(drive);
  }
  return boot;
}

Boot read_boot(base::Settings& settings) {
  if (settings.has("run.media") && settings.flag("run.media")) return MediaBoot::read(settings);
  return ImageBoot::read(settings);
}

}  // namespace session
