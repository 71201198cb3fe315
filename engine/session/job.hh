// SPDX-License-Identifier: MIT
// What the guest runs: a command line, and the program itself where the guest does not have it.
// Runs that share a boot have different jobs.
#pragma once

#include <string>

#include "marker.hh"
#include "settings.hh"

namespace session {

struct Job {
  std::string command, program;  // text; content of a file
  bool trace_reads = false;      // reads of counters are written to the event stream

  // Reads run.job, run.program and run.trace_reads; errors are kept in `settings`.
  static Job read(base::Settings& settings);

  // The answers to the markers that ask for twelve bytes from `offset` on. EAX is 1 for the command
  // and the number of bytes that are left, at most 12, for the program.
  MarkerResult command_at(uint32_t offset) const { return twelve_bytes(command, offset, 1); }
  MarkerResult program_at(uint32_t offset) const;
};

}  // namespace session
