// SPDX-License-Identifier: MIT
#include "session/media.hh"

#include <sstream>

namespace session {

MediaConfig MediaConfig::read(base::Settings& settings) {
  MediaConfig c;
  c.on = settings.has("run.media") && settings.flag("run.media");
  if (!c.on && !settings.has("run.screen")) return c;
  c.screen = settings.text("run.screen");
  c.serial = settings.text("run.serial");
  if (settings.has("run.step_screens")) c.step_screens = settings.text("run.step_screens");
  if (!c.on) return c;
  c.steps = Step::read_all(settings);
  if (c.has_ready_point() && c.steps.back().kind != Step::Kind::Ready) {
    settings.fail("run.step.0.title", "expected steps up to a ready point");
  }
  if (settings.has("run.floppies")) {
    std::istringstream names(settings.text("run.floppies"));
    for (std::string name; names >> name;) c.floppies.push_back(name);
  }
  if (settings.has("run.keep")) {
    c.keep = settings.text("run.keep");
    const uint64_t drive = settings.number("run.keep_drive");
    if (drive > 1) settings.fail("run.keep_drive", "expected 0 or 1");
    c.keep_drive = int(drive);
  }
  return c;
}

}  // namespace session
