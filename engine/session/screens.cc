// SPDX-License-Identifier: MIT
#include "session/screens.hh"

namespace session {

Screens::Paths Screens::Paths::read(base::Settings& settings) {
  Paths paths;
  if (!settings.has("run.screen")) return paths;
  paths.last = settings.text("run.screen");
  if (settings.has("run.step_screens")) paths.steps = settings.text("run.step_screens");
  return paths;
}

void Screens::open() {
  if (!paths_.steps.empty()) steps_.create(paths_.steps);
}

void Screens::keep(const std::string& about, size_t step) {
  if (!steps_) return;
  std::string shown = emulator_.screen().indented();
  const std::string picture = "step-" + std::to_string(step);
  const std::filesystem::path screens = paths_.steps;
  if (write_picture(screens.parent_path() / picture)) {
    pictures_.push_back((screens.parent_path() / (picture + ".ppm")).string());
    shown += "  picture: " + picture + ".png\n";
  }
  steps_.write(about + "\n" + (shown == kept_ ? "  (the same screen)\n" : shown));
  kept_ = shown;
}

bool Screens::write_picture(const std::filesystem::path& path) {
  const Picture picture = emulator_.picture();
  if (picture.empty()) return false;
  Output dots;
  dots.create(std::filesystem::path(path).replace_extension("ppm"));
  dots.write(picture.pixmap());
  dots.finish();
  return true;
}

void Screens::finish() {
  if (paths_.last.empty()) return;
  Output text;
  text.create(paths_.last);
  text.write(emulator_.screen().text());
  text.finish();
  write_picture(paths_.last);
  if (steps_) steps_.finish();
}

}  // namespace session
