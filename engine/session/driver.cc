// SPDX-License-Identifier: MIT
#include "session/driver.hh"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace session {

Driver::Driver(Emulator& emulator, Screens& screens, Measurement& measurement, RunEnd& end,
               const InvalidOpcodes& invalid, const VirtualTime& time, Follows follows)
    : emulator_(emulator),
      screens_(screens),
      measurement_(measurement),
      end_(end),
      invalid_(invalid),
      time_(time),
      follows_(std::move(follows)) {}

void Driver::begin(std::vector<Step> steps, const std::string& serial) {
  script_ = std::make_unique<Script>(std::move(steps), serial, emulator_,
                                     [this](const Step& step) { done(step); });
}

void Driver::let_person_drive() {
  script_->wait_for_person();
  viewer_ = std::make_unique<Viewer>(STDIN_FILENO, emulator_, *script_,
                                     [this] { return emulator_.view(); });
}

void Driver::replace(std::vector<Step> steps) {
  if (script_) script_->replace(std::move(steps));
}

uint64_t Driver::next_look() const {
  if (!script_) return ~uint64_t(0);
  const base::Time act = std::min(script_->next(), viewer_ ? viewer_->next() : base::kNever);
  const uint64_t due = time_.clock().first_clock(act);
  return due ? due - 1 : 0;
}

void Driver::look(uint64_t now) {
  const base::Time time = time_.clock().time(now);
  if (script_) follow(script_->run(time));
  if (viewer_ && time >= viewer_->next() && !viewer_->look(time)) {
    end_.stop("the person has left at " + time_.text(now));
  }
}

void Driver::follow(Script::State state) {
  const Step& step = script_->step();
  switch (state) {
    case Script::State::Runs:
      return;
    case Script::State::Ended:
      return follows_.ended();
    case Script::State::Late:
      return late("limit of the step of " + time_.text(time_.clock().first_clock(step.within)) +
                  " reached");
    case Script::State::Refused:
      end_.fail(step.title + ": " + script_->problem());
  }
}

void Driver::done(const Step& step) {
  if (step.kind == Step::Kind::Begin) end_.check(measurement_.begin(step.phase));
  if (step.kind == Step::Kind::End) end_.check(measurement_.end(step.phase));
  keep(step, "done");
  if (step.kind == Step::Kind::Ready) follows_.ready();
}

void Driver::keep(const Step& step, const char* how) {
  screens_.keep(step.title + ": " + how + " at " + time_.text(), script_->number());
}

void Driver::late(const std::string& reached) {
  if (script_) end_.time_out(not_done() + reached + invalid_.about());
}

std::string Driver::not_done() {
  const Step& step = script_->step();
  const bool waits = step.kind == Step::Kind::Wait;
  const std::string what = waits ? "`" + step.wanted.text() + "` did not appear: " : "";
  if (step.title.empty()) return what;
  keep(step, "not done");
  return step.title + ": " + (waits ? "did not appear: " : "");
}

void Driver::run_out(const std::string& why) {
  if (script_) follow(script_->run_out(time_.now()));
  if (script_) end_.fail(not_done() + why);
}

std::string Driver::reached() const {
  const Step& last = script_->step();
  const std::string when = " at " + time_.text();
  if (last.kind != Step::Kind::Wait) return "the script ended" + when;
  return "`" + last.wanted.text() + "` " + script_->place() + when;
}

}  // namespace session
