// SPDX-License-Identifier: MIT
#include "session/media_session.hh"

namespace session {

void MediaSession::begin() {
  Session::begin();
  emulator_.end_at_panic();
  measurement_.open();
  end_.check(measurement_.start());
  const bool live = conf_.job().live;
  std::vector<Step> steps = this->steps();
  if (steps.empty() && !live) return;
  // Programs that run before the ready point get no job, because runs with other jobs can share it.
  if (!boot().steps.empty()) conf_.hide_job();
  driver_.begin(std::move(steps), conf_.config().serial);
  if (live) driver_.let_person_drive();
}

std::vector<Step> MediaSession::steps() const {
  std::vector<Step> steps = boot().steps;
  const std::vector<Step>& later = conf_.job().steps;
  steps.insert(steps.end(), later.begin(), later.end());
  return steps;
}

void MediaSession::take_job(bool is_copy) {
  if (is_copy)
    driver_.replace(steps());
  else
    conf_.read_job();  // programs get it from now on
}

std::vector<std::string> MediaSession::changed_files() const {
  std::vector<std::string> files = boot().floppies;
  const std::vector<std::string>& pictures = screens_.pictures();
  files.insert(files.end(), pictures.begin(), pictures.end());
  return files;
}

void MediaSession::guest_reset() {
  if (model_.clock() > 0) resets_++;
}

void MediaSession::guest_halted() { stands("the guest halted with interrupts off at "); }

// Nothing can happen in the guest any more.
void MediaSession::stands(const std::string& why) {
  driver_.run_out(why + time_.text());
  end_.exit(0, why + time_.text());
}

void MediaSession::keep(bool is_ok) {
  Session::keep(is_ok);
  if (resets_) measurement_.events().note("reset", "machine", resets_);
  // After a failure the emulator may have closed the image. Nobody needs it then.
  if (boot().keep.empty() || !is_ok) return;
  Output image;
  image.create(boot().keep);
  if (!emulator_.save_disk(unsigned(boot().keep_drive), image.file())) cannot_write(boot().keep);
  image.finish();
}

}  // namespace session
