// SPDX-License-Identifier: MIT
// What must a run do? The configuration holds the machine, the kinds of output and their paths. The
// engine reads it once from the parameter file. Runs that share a boot may only differ in job.hh.
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
  // Off: the model skips the short cuts that must change no result; for tests.
  bool fast_paths = true;
  uint64_t limit = ~uint64_t(0);  // of virtual time, in core clocks
  bool server = false;            // after the ready marker, serve runs that share the boot

  // Paths; empty: the run does not ask for this file.
  std::string events, output, crossings, accesses, vectors, attribution;

  uint64_t access_limit = 0;  // L1 accesses that the trace of accesses may hold
  // The shadows: geometries that the run measures beside the machine's own.
  std::vector<std::string> shadow_names;
  std::vector<p5::Config> shadows;
  // Basic blocks (blocks.hh), in instructions: the length of an interval that gets a vector, and
  // the warming before each interval that is simulated in detail.
  uint64_t vector_interval = 0, warm_up = 0;
  std::vector<p5::Blocks::Interval> sample;
  // Attribution (attribution.hh): with calls, with classes of misses, and the table of functions.
  bool stacks = false, classes = false;
  p5::Functions functions;

  // Reads all keys of a run; `settings` keeps the first error.
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
