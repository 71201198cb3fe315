// SPDX-License-Identifier: MIT
#include "session/viewer.hh"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <sstream>

#include "base/json.hh"

namespace session {

bool Viewer::look(base::Time now) {
  next_ = now + Script::kLook;
  for (;;) {
    char more[4096];
    const ssize_t count = recv(socket_, more, sizeof more, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;  // no further command
    if (count == 0) return false;
    received_.append(more, size_t(count));
  }
  for (size_t end; (end = received_.find('\n')) != std::string::npos;) {
    const std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    execute(line, now);
  }
  return true;
}

void Viewer::execute(const std::string& line, base::Time now) {
  const size_t space = std::min(line.find(' '), line.size());
  const std::string what = line.substr(0, space), rest = line.substr(space);
  if (what == "step") return do_step(rest);
  if (what == "mouse") return move_mouse(rest);
  if (what == "screen") return show_screen(now);
  if (what == "picture") return show_picture();
  if (what == "prompt") return show_prompt(now);
  answer(base::JsonLine("refused").member("reason", "unknown command: " + line).line());
}

void Viewer::do_step(const std::string& text) {
  if (text.empty()) return answer(base::JsonLine("refused").member("reason", "no step").line());
  base::Settings settings;
  std::string error;
  settings.parse("run.step.0.title =\nrun.step.0." + text.substr(1) + "\n", "command", &error);
  const std::vector<Step> steps = Step::read_all(settings);
  if (error.empty()) error = settings.finish();
  if (!error.empty()) return answer(base::JsonLine("refused").member("reason", error).line());
  script_.append(steps[0]);
}

void Viewer::move_mouse(const std::string& text) {
  int right = 0, down = 0;
  unsigned buttons = 0;
  std::istringstream(text) >> right >> down >> buttons;
  if (!console_.mouse(right, down, buttons & unsigned(Step::kButtons))) {
    answer(base::JsonLine("refused").member("reason", "the mouse is off").line());
  }
}

void Viewer::show_screen(base::Time now) {
  const Screen screen = console_.screen();
  base::JsonLine line("screen");
  line.member("time_us", now / base::kMicrosecond).member("columns", screen.columns);
  line.member("width", screen.width).member("height", screen.height).names("rows", screen.rows);
  if (screen.cursor != Screen::kNoCursor) line.member("cursor", screen.cursor);
  answer(line.member("bytes", screen.attributes.size()).line(), screen.attributes);
}

void Viewer::show_picture() {
  const std::string pixmap = picture_().pixmap();
  answer(base::JsonLine("picture").member("bytes", pixmap.size()).line(), pixmap);
}

void Viewer::show_prompt(base::Time now) {
  base::JsonLine line("prompt");
  line.member("time_us", now / base::kMicrosecond).member("text", script_.prompt());
  answer(line.line());
}

void Viewer::answer(const std::string& line, const std::string& bytes) {
  const std::string all = line + bytes;
  for (size_t done = 0; done < all.size();) {
    const ssize_t count = send(socket_, all.data() + done, all.size() - done, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // the next look finds that the person has left
    done += size_t(count);
  }
}

}  // namespace session
