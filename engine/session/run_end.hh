// SPDX-License-Identifier: MIT
// Why does a run end, and what does it still write? Each end completes all files of the run and
// ends the process (ending.hh).
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <list>
#include <string>

#include "session/ending.hh"
#include "session/invalid_opcodes.hh"
#include "session/measurement.hh"
#include "session/output.hh"
#include "session/program_watch.hh"

namespace session {

class RunEnd {
 public:
  // `keep` keeps what else the run leaves; its argument says whether the run has ended well. All
  // arguments must exist longer than this object.
  RunEnd(Measurement& measurement, const ProgramWatch& program, const InvalidOpcodes& invalid,
         std::function<void(bool is_ok)> keep)
      : measurement_(measurement), program_(program), invalid_(invalid), keep_(std::move(keep)) {}

  // The guest has ended its run with this exit status, or nothing can happen any more.
  [[noreturn]] void exit(uint32_t status, const std::string& reason = "");
  // Ends the run with status "ok" although the guest's program has not ended.
  [[noreturn]] void stop(const std::string& reason) { finish("ok", reason, 0, 0); }
  [[noreturn]] void fail(const std::string& reason) { finish("failed", reason, 0, kGuestFailed); }
  [[noreturn]] void time_out(const std::string& reason) {
    finish("timeout", reason, 0, kTimeLimit);
  }
  // Fails for a problem that is not empty.
  void check(const std::string& problem) {
    if (!problem.empty()) fail(problem);
  }
  // The emulator has ended. It fails if no function above has ended the run.
  void emulator_stopped();

  // Creates a file that is checked and flushed at the end of the run.
  Output& create(const std::string& path);

 private:
  [[noreturn]] void finish(const std::string& status, const std::string& reason,
                           uint32_t guest_status, int exit_status);

  Measurement& measurement_;
  const ProgramWatch& program_;
  const InvalidOpcodes& invalid_;
  const std::function<void(bool is_ok)> keep_;
  std::list<Output> created_;
  bool ended_ = false;
};

}  // namespace session
