// SPDX-License-Identifier: MIT
// How the engine's process ends, and the line that says why.
#pragma once

#include <string>

namespace session {

// Exit status of the engine; 0: the guest has ended its run.
enum ExitStatus : int { kBadInput = 2, kGuestFailed, kTimeLimit, kNoOutput };

// Ends the process: the parameter file or one that it names is wrong. `line` goes to standard
// error.
[[noreturn]] void reject(const std::string& line);

// Ends the process: a file cannot be written; errno says why.
[[noreturn]] void cannot_write(const std::string& path);

}  // namespace session
