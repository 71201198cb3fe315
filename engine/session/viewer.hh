// SPDX-License-Identifier: MIT
// How does a person see and drive the machine? A program that shows the screen sends commands
// through a socket, and the engine answers. The engine looks for commands at fixed virtual times.
//
// Each command is one line:
//   step KEY = VALUE    do this step of a script (step.hh) after the steps before
//   mouse RIGHT DOWN B  move the mouse and set its buttons at once (Console::mouse)
//   screen              answer with the text screen, or with the size of a graphics mode
//   picture             answer with a picture of the screen
//   prompt              answer with the text that the guest has written before the cursor
// An answer is one line of JSON, and then as many bytes as its member `bytes` says.
#pragma once

#include <functional>
#include <string>

#include "base/agenda.hh"
#include "session/console.hh"
#include "session/new_text.hh"
#include "session/picture.hh"
#include "session/script.hh"

namespace session {

class Viewer {
 public:
  // `socket` is connected. `script` does the steps.
  Viewer(int socket, Console& console, Script& script, std::function<Picture()> picture)
      : socket_(socket), console_(console), script_(script), picture_(std::move(picture)) {}

  // Returns the time at which look() must be called next.
  base::Time next() const { return next_; }
  // Does all commands that have come since the last call. Returns false if the person has left.
  bool look(base::Time now);

 private:
  void execute(const std::string& line, base::Time now);
  void do_step(const std::string& text);
  void move_mouse(const std::string& text);
  void show_screen(base::Time now);
  void show_picture();
  void show_prompt(base::Time now);
  void answer(const std::string& line, const std::string& bytes = "");

  const int socket_;
  Console& console_;
  Script& script_;
  const std::function<Picture()> picture_;
  base::Time next_ = 0;
  std::string received_;  // the beginning of a command
};

}  // namespace session
