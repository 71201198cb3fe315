// SPDX-License-Identifier: MIT
#include "script.hh"

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
    state_ = State::Ended;
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

}  // namespace session
