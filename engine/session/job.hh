// SPDX-License-Identifier: MIT
// What does the guest run? A job is a command line. The job also contains the program file if the
// guest does not have the program. Runs that share a boot have different jobs.
#pragma once

#include <string>

#include "base/settings.hh"
#include "session/marker.hh"
#include "session/region.hh"

namespace session {

struct Job {
  std::string command, program;  // command line; content of the program file
  bool trace_reads = false;      // the event stream shows reads of counter registers
  RegionPlace region;            // the function that the run measures

  // Reads run.job, run.program, run.region and run.trace_reads; `settings` keeps the first error.
  static Job read(base::Settings& settings);

  // The answers to markers that request the twelve bytes at `offset`. For the command, EAX is 1.
  // For the program, EAX is the number of remaining bytes, at most 12.
  MarkerResult command_at(uint32_t offset) const { return twelve_bytes(command, offset, 1); }
  MarkerResult program_at(uint32_t offset) const;
};

}  // namespace session
