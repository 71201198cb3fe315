// SPDX-License-Identifier: MIT
#include "session/run_end.hh"

#include <unistd.h>

#include <csignal>

namespace session {

void RunEnd::exit(uint32_t status, const std::string& reason) {
  // The guest has ended the program, because the program does not handle the exception.
  if (status == 128 + SIGILL && invalid_.count()) fail(invalid_.last());
  if (measurement_.is_open(kBoot)) check(measurement_.end(kBoot));
  if (status > 128) program_.note(measurement_.events());
  measurement_.events().marker("marker", "exit", status);
  check(measurement_.exit());
  finish("ok", reason, status, 0);
}

void RunEnd::emulator_stopped() {
  if (!ended_)
    fail(
        "the emulator stopped without a marker; engine.log contains the "
        "reason");
}

Output& RunEnd::create(const std::string& path) {
  Output& output = created_.emplace_back();
  output.create(path);
  return output;
}

void RunEnd::finish(const std::string& status, const std::string& reason, uint32_t guest_status,
                    int exit_status) {
  ended_ = true;
  keep_(status == "ok");
  measurement_.finish(status, reason, guest_status);
  if (!reason.empty()) std::fprintf(stderr, "%s\n", reason.c_str());
  measurement_.close();
  for (Output& output : created_) output.finish();
  std::fflush(nullptr);  // the emulator's own files: serial lines, log
  _exit(exit_status);
}

}  // namespace session
