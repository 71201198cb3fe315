// SPDX-License-Identifier: MIT
// What does a run do on its booted machine? The job is the content of job.conf: the guest gets a
// command line, and the program file if it does not have the program. A script or a person drives
// the machine. Runs that share a boot have different jobs.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hh"
#include "session/marker.hh"
#include "session/region.hh"
#include "session/step.hh"

namespace session {

struct Job {
  std::string command, program;  // command line; content of the program file
  bool trace_reads = false;      // the event stream shows reads of counter registers
  RegionPlace region;            // the function that the run measures
  std::vector<Step> steps;       // of the script; empty: the limit or the program ends the run
  bool live = false;             // a person sees and drives the machine (viewer.hh)
  bool serve = false;            // at the ready point, serve runs that share the boot
  std::string save_state;        // directory for the state at the ready point; empty: none

  // Reads all keys of a job but those of devices and observations; `settings` keeps the first
  // error. `first`: the number of the job's first step.
  static Job read(base::Settings& settings, size_t first);

  // The answers to markers that request the twelve bytes at `offset`. For the command, EAX is 1.
  // For the program, EAX is the number of remaining bytes, at most 12.
  MarkerResult command_at(uint32_t offset) const { return twelve_bytes(command, offset, 1); }
  MarkerResult program_at(uint32_t offset) const;
};

}  // namespace session
