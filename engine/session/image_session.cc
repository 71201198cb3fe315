// SPDX-License-Identifier: MIT
#include "session/image_session.hh"

namespace session {

void ImageSession::begin() {
  Session::begin();
  // Each run that shares the boot has observations of its own (take_job).
  if (!conf_.job().serve) measurement_.open();
}

MarkerResult ImageSession::load() {
  const GuestFiles& files = std::get<ImageBoot>(conf_.config().boot).files;
  end_.check(files.load([this](uint32_t address, const uint8_t* bytes, size_t count) {
    return emulator_.write_memory(address, bytes, count);
  }));
  loaded_ = true;
  return files.entry();
}

bool ImageSession::marked_ready() {
  ready();
  if (!conf_.job().steps.empty()) driver_.begin(conf_.job().steps, conf_.config().serial);
  return true;
}

// Begins the observations of a copy at its ready marker. They decide which events the file of the
// events contains, so this file begins anew. Until now, it has only its header and the marker.
void ImageSession::take_job(bool is_copy) {
  if (!is_copy) return;
  measurement_.open_events();
  measurement_.events().marker("marker", "ready", 0);
  measurement_.open();
}

void ImageSession::guest_reset() {
  if (!loaded_) return;  // the boot ROM has not loaded the guest yet
  end_.fail("the guest reset the machine (panic, triple fault or reboot)" + invalid_.about());
}

// The script must have nothing left that needs the program.
void ImageSession::ending(uint32_t status) {
  driver_.run_out("the program has ended" +
                  (status ? " with status " + std::to_string(status) : ""));
}

void ImageSession::time_is_up(const std::string& reached) {
  end_.time_out(reached + program_.about());
}

}  // namespace session
