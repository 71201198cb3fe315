// SPDX-License-Identifier: MIT
// How does a script drive a guest that boots from its own media? The script waits for texts, types,
// changes floppies and marks the brackets of the run. It uses only virtual time, so the same script
// always acts at the same clocks.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/agenda.hh"
#include "session/console.hh"
#include "session/new_text.hh"
#include "session/serial_line.hh"
#include "session/step.hh"

namespace session {

class Script {
 public:
  // The times of a fast typist: a key is down for this time, and up for this time. Two hundred
  // words of five characters and a space in a minute take 50 ms for each character.
  static constexpr base::Time kKeyDown = 30 * base::kMillisecond;
  static constexpr base::Time kKeyUp = 20 * base::kMillisecond;
  // The time between two looks at the screen and the serial line.
  static constexpr base::Time kLook = 10 * base::kMillisecond;

  // A report of the mouse has at most 5 counts, because Windows accelerates longer ones (WIN.INI:
  // MouseThreshold1=5), and then a guest does not move as many dots as the step says.
  static constexpr int kMostCounts = 5;

  enum class State : uint8_t {
    Runs,
    Ended,   // all steps are done
    Late,    // step() has exceeded its own limit
    Refused  // the machine cannot do step(), and problem() contains the reason
  };
  // A function that the script calls at the end of each step, before the next step begins.
  using Done = std::function<void(const Step&)>;

  // `serial` is the path of the file of the serial line. The script begins at time 0.
  Script(std::vector<Step> steps, const std::string& serial, Console& console, Done done);

  // Returns the time at which run() must be called next.
  base::Time next() const { return agenda_.next(); }
  // Does everything that is due.
  State run(base::Time now);
  // The guest has stopped for good: completes the steps that need nothing more from the guest.
  State run_out(base::Time now);

  // Adds a step that a person does. A script with such steps never ends by itself.
  void append(Step step);
  void wait_for_person() { live_ = true; }
  // Returns the text before the cursor if all steps are done and the guest has written some of the
  // text since the last input. Otherwise returns an empty text.
  std::string prompt();

  // Replaces all steps that follow the current step. The steps before are the same in both scripts.
  void replace(std::vector<Step> steps) { steps_ = std::move(steps); }

  // The step that is not done yet, or the last step. A pause if there is none.
  const Step& step() const {
    static const Step none;
    if (steps_.empty()) return none;
    return steps_[at_ < steps_.size() ? at_ : steps_.size() - 1];
  }
  // The number of this step; the first step is 1.
  size_t number() const { return at_ + 1; }
  // Where the last step that waited has found its text.
  const char* place() const { return place_; }
  const std::string& problem() const { return problem_; }

 private:
  void begin_step();
  void end_step();
  void act(const Step& step);
  void look();
  void check();
  void forget();
  void press(size_t chord, size_t key);
  void release(size_t chord, size_t keys);
  bool key(const std::string& code, bool down);
  void move(int report);
  void click(size_t number, bool down);
  bool mouse(int right, int down, unsigned buttons);

  std::vector<Step> steps_;
  Console& console_;
  const Done done_;
  SerialLine serial_;
  NewText screen_;
  base::Agenda agenda_;
  base::Time now_ = 0;
  size_t at_ = 0;         // number of the step
  bool live_ = false;     // a person adds steps
  bool pressed_ = false;  // the step has pressed all of its keys
  State state_ = State::Runs;
  const char* place_ = "";
  std::string problem_;
};

}  // namespace session
