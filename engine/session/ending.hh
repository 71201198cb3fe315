// SPDX-License-Identifier: MIT
// How does the process of the engine end, and how does the engine report the reason?
#pragma once

#include <string>

namespace session {

// Exit status of the engine. Status 0 means that the guest has ended its run.
enum ExitStatus : int { kBadInput = 2, kGuestFailed, kTimeLimit, kNoOutput };

// Ends the process with kBadInput, because the parameter file, or a file named in it, is wrong.
// Prints `line` on standard error.
[[noreturn]] void reject(const std::string& line);

// Ends the process with kNoOutput: the file cannot be written. Prints the path and errno's text.
[[noreturn]] void cannot_write(const std::string& path);

}  // namespace session
