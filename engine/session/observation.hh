// SPDX-License-Identifier: MIT
// What does a run observe beside its counts, and into which files? The observations of a guest that
// is built here begin at its ready marker and are keys of job.conf. A guest that boots from its own
// media is observed from reset, so its observations are keys of boot.conf.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/settings.hh"
#include "measure/blocks.hh"
#include "observe/observer.hh"
#include "session/run_config.hh"

namespace session {

struct Observation {
  bool cpi = false;  // count the components of the CPI stack (cpi_stack.hh)
  // Paths of output files. An empty path means that the run does not write this file.
  std::string accesses, vectors, issues;
  // The observers of engine/observe that the run requests, and the paths of their files.
  struct Observed {
    std::string name;
    observe::Make make;
    std::string file;
  };
  std::vector<Observed> observed;

  uint64_t issue_limit = 0;   // instructions that the trace of issues may hold
  uint64_t access_limit = 0;  // L1 accesses that the trace of accesses may hold
  // Basic blocks (blocks.hh). `vector_interval` is the number of instructions for which the run
  // writes one vector. `warm_up` is the number of instructions for which the model warms up before
  // each interval of detailed simulation. `vector_events`: events.jsonl has the counts of the
  // interval of each vector.
  uint64_t vector_interval = 0, warm_up = 0;
  bool vector_events = false;
  std::vector<measure::Blocks::Interval> sample;

  // Reads the keys of all observations of a run on a booted machine; `settings` keeps the first
  // error.
  static Observation read(base::Settings& settings, const RunConfig& boot);

 private:
  void read_accesses(base::Settings& settings, const RunConfig& boot);
  void read_blocks(base::Settings& settings, const RunConfig& boot);
  void read_observers(base::Settings& settings, const RunConfig& boot);
};

}  // namespace session
