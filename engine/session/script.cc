// SPDX-License-Identifier: MIT
#include "session/script.hh"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace session {

Script::Script(std::vector<Step> steps, const std::string& serial, Console& console, Done done)
    : steps_(std::move(steps)), console_(console), done_(std::move(done)), serial_(serial) {
  agenda_.at(kLook, [this](base::Time) { look(); });
  agenda_.at(0, [this](base::Time) { begin_step(); });
}

Script::State Script::run(base::Time now) {
  now_ = now;
  agenda_.run(now);
  return state_;
}

Script::State Script::run_out(base::Time now) {
  run(now);
  if (pressed_ && state_ == State::Runs)
    end_step();  // the guest has stopped before the keys went up
  for (size_t before = steps_.size(); state_ == State::Runs && before != at_;) {
    before = at_;
    step().kind == Step::Kind::Pause ? end_step() : check();
  }
  return state_;
}

void Script::look() {
  agenda_.at(now_ + kLook, [this](base::Time) { look(); });
  check();
}

// Looks at the screen and the serial line. Ends a step that waits for what is there.
void Script::check() {
  screen_.look(console_.screen().rows);
  if (state_ != State::Runs || at_ == steps_.size() || step().kind != Step::Kind::Wait) return;
  serial_.read();
  const bool shown = screen_.has(step().wanted);
  if (!shown && !serial_.has(step().wanted)) return;
  place_ = shown ? "on the screen" : "on the serial line";
  end_step();
}

// What is on the screen and the serial line before an input is no answer to this input.
void Script::forget() {
  screen_.look(console_.screen().rows);
  screen_.forget();
  serial_.forget();
}

void Script::begin_step() {
  if (state_ != State::Runs) return;
  if (at_ == steps_.size()) {
    if (!live_) state_ = State::Ended;
    return;
  }
  act(step());
}

void Script::act(const Step& step) {
  const size_t number = at_;
  switch (step.kind) {
    case Step::Kind::Wait:
      serial_.rewind();
      if (step.within == base::kNever) return;
      return agenda_.at(now_ + step.within, [this, number](base::Time) {
        if (state_ == State::Runs && at_ == number) state_ = State::Late;
      });
    case Step::Kind::Keys:
      forget();
      return press(0, 0);
    case Step::Kind::Move:
      forget();
      return move(0);
    case Step::Kind::Click:
      forget();
      return click(0, true);
    case Step::Kind::Pause:
      return agenda_.at(now_ + step.pause, [this](base::Time) { end_step(); });
    case Step::Kind::Insert:
      forget();
      if (!console_.insert(step.drive, step.path)) {
        problem_ = "the drive cannot take " + step.path;
        state_ = State::Refused;
        return;
      }
      return end_step();
    default:  // the function `done_` knows the brackets
      return end_step();
  }
}

void Script::end_step() {
  pressed_ = false;
  done_(step());
  at_++;
  begin_step();
}

void Script::append(Step step) {
  steps_.push_back(std::move(step));
  if (at_ + 1 == steps_.size()) agenda_.at(now_, [this](base::Time) { begin_step(); });
}

std::string Script::prompt() {
  const Screen screen = console_.screen();
  screen_.look(screen.rows);
  if (at_ < steps_.size()) return "";  // the guest has not got the last input yet
  if (screen.cursor == Screen::kNoCursor) return "";
  const std::string& row = screen.rows[screen.cursor / screen.columns];
  const std::string before = row.substr(0, screen.cursor % screen.columns);
  const size_t begin = before.find_first_not_of(' '), end = before.find_last_not_of(' ');
  if (begin == std::string::npos) return "";
  const std::string text = before.substr(begin, end + 1 - begin);
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (!std::all_of(row.begin(), row.end(), printable)) return "";
  return screen_.has(Pattern::exactly(text)) ? text : "";
}

bool Script::key(const std::string& code, bool down) {
  if (console_.key(code, down)) return true;
  problem_ = "the keyboard has no such key";
  state_ = State::Refused;
  return false;
}

// Presses a key of a chord. The keys that are already down stay down.
void Script::press(size_t chord, size_t key) {
  const Step::Chord& keys = step().chords[chord];
  pressed_ = chord + 1 == step().chords.size() && key + 1 == keys.size();
  if (!this->key(keys[key], true)) return;
  agenda_.at(now_ + kKeyDown, [this, chord, key, last = key + 1 == keys.size()](base::Time) {
    last ? release(chord, key + 1) : press(chord, key + 1);
  });
}

// Releases the first `keys` keys of a chord, the last one first.
void Script::release(size_t chord, size_t keys) {
  if (!key(step().chords[chord][keys - 1], false)) return;
  agenda_.at(now_ + kKeyUp, [this, chord, keys](base::Time) {
    if (keys > 1) return release(chord, keys - 1);
    if (chord + 1 < step().chords.size()) return press(chord + 1, 0);
    end_step();
  });
}

bool Script::mouse(int right, int down, unsigned buttons) {
  if (console_.mouse(right, down, buttons)) return true;
  problem_ = "the guest has not switched the mouse on";
  state_ = State::Refused;
  return false;
}

// Sends a report of a motion. Report 0 presses the buttons, and the last one releases them.
void Script::move(int report) {
  const Step& step = this->step();
  const int most = std::max(std::abs(step.right), std::abs(step.down));
  const int reports = (most + kMostCounts - 1) / kMostCounts;
  if (report > reports + 1) return end_step();
  const auto part = [&](int way) {
    return report && report <= reports ? way * report / reports - way * (report - 1) / reports : 0;
  };
  const unsigned buttons = report > reports ? 0 : step.holding;
  if (!mouse(part(step.right), part(step.down), buttons)) return;
  agenda_.at(now_ + console_.report(), [this, report](base::Time) { move(report + 1); });
}

// Presses or releases the buttons of a click.
void Script::click(size_t number, bool down) {
  const std::vector<unsigned>& clicks = step().clicks;
  if (number == clicks.size()) return end_step();
  if (!mouse(0, 0, down ? clicks[number] : 0)) return;
  const base::Time held = std::max(down ? kKeyDown : kKeyUp, 2 * console_.report());
  agenda_.at(now_ + held, [this, number, down](base::Time) {
    down ? click(number, false) : click(number + 1, true);
  });
}

}  // namespace session
