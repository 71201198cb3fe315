// SPDX-License-Identifier: MIT
#include "media.hh"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace session {

MediaConfig MediaConfig::read(base::Settings& settings) {
  MediaConfig c;
  c.on = settings.has("run.media") && settings.flag("run.media");
  if (!c.on) return c;
  c.screen = settings.text("run.screen");
  c.serial = settings.text("run.serial");
  if (settings.has("run.until")) {
    c.until = settings.text("run.until");
    c.interval = settings.number("run.look_cycles");
    if (c.until.empty()) settings.fail("run.until", "expected a text");
    if (c.interval == 0) settings.fail("run.look_cycles", "expected at least 1");
  }
  if (settings.has("run.keep")) {
    c.keep = settings.text("run.keep");
    const uint64_t drive = settings.number("run.keep_drive");
    if (drive > 1) settings.fail("run.keep_drive", "expected 0 or 1");
    c.keep_drive = int(drive);
  }
  return c;
}

const char* Watch::finds(const Screen& screen) {
  for (const std::string& row : screen.rows) {
    if (row.find(config_.until) != std::string::npos) return "on the screen";
  }
  return on_serial_line() ? "on the serial line" : nullptr;
}

bool Watch::on_serial_line() {
  std::fflush(nullptr);  // the emulator writes the file
  std::ifstream file(config_.serial, std::ios::binary);
  file.seekg(std::streamoff(read_));
  const std::string more{std::istreambuf_iterator<char>(file), {}};
  read_ += more.size();
  const std::string text = tail_ + more;
  if (text.find(config_.until) != std::string::npos) return true;
  tail_ = text.substr(text.size() - std::min(text.size(), config_.until.size() - 1));
  return false;
}

}  // namespace session
