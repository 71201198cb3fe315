// SPDX-License-Identifier: MIT
// What is asked of a run: the machine, what is written down about it, and where. Read once from the
// parameter file; what may differ between runs that share a boot is in job.hh.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "blocks.hh"
#include "config.hh"
#include "functions.hh"
#include "settings.hh"

namespace session {

struct RunConfig {
  p5::Config machine;
  uint32_t signature = 0;    // of CPUID
  bool cmov = false;         // the instruction CMOV exists
  std::string timing_table;  // path; empty on x86-64, where an instruction costs one clock
  bool timing = true;        // off: no caches, TLBs and stalls
  // Off: without the short cuts that must change nothing; for tests.
  bool fast_paths = true;
  uint64_t limit = ~uint64_t(0);  // of virtual time, in clocks
  bool server = false;            // from the ready marker on, serves runs that share the boot

  // Paths; empty: not asked for.
  std::string events, output, crossings, accesses, vectors, attribution;

  uint64_t access_limit = 0;  // accesses to L1 in the trace of accesses
  // Geometries beside the machine's own.
  std::vector<std::string> shadow_names;
  std::vector<p5::Config> shadows;
  // Basic blocks (blocks.hh): the length of an interval with a vector, in instructions; intervals
  // that are simulated in detail, and the instructions of warming before each.
  uint64_t vector_interval = 0, warm_up = 0;
  std::vector<p5::Blocks::Interval> sample;
  // Attribution (attribution.hh): with calls, with classes of misses, to these functions.
  bool stacks = false, classes = false;
  p5::Functions functions;

  // Errors are kept in `settings`.
  static RunConfig read(base::Settings& settings);

 private:
  void read_processor(base::Settings& settings);
  void read_accesses(base::Settings& settings);
  void read_shadows(base::Settings& settings);
  void read_shadow(base::Settings& settings, const std::string& prefix);
  void read_blocks(base::Settings& settings);
  void read_attribution(base::Settings& settings);
};

}  // namespace session
