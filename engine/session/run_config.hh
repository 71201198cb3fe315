// SPDX-License-Identifier: MIT
// What must a run do? The configuration contains the machine, the kinds of output and their paths.
// The engine reads the configuration from the parameter file. Runs that share a boot may differ
// only in their job (job.hh) and in the keys of own_keys().
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/settings.hh"
#include "measure/blocks.hh"
#include "observe/observer.hh"
#include "p5/config.hh"
#include "session/media.hh"

namespace session {

struct RunConfig {
  p5::Config machine;
  uint32_t signature = 0;  // of CPUID
  bool cmov = false;       // the instruction CMOV exists
  // On x86-64: instructions take clocks. Without, each instruction takes one clock.
  bool nominal = false;
  std::string timing_table;  // path; empty if each instruction takes one clock
  bool timing = true;        // off: no caches, no TLBs and no stalls
  // If `fast_paths` is off, the model does not use its fast paths. A fast path must not change a
  // result, and tests check this.
  bool fast_paths = true;
  uint64_t limit = ~uint64_t(0);  // of virtual time, in core clocks
  uint64_t phase = 0;             // core clocks that pass before the ready marker
  bool cpi = false;               // count the components of the CPI stack (cpi_stack.hh)
  bool server = false;            // after the ready marker, serve runs that share the boot

  // Paths of output files. An empty path means that the run does not write this file.
  std::string events, output, accesses, vectors, issues;
  // The observers of engine/observe that the run requests, and the paths of their files.
  struct Observed {
    std::string name;
    observe::Make make;
    std::string file;
  };
  std::vector<Observed> observed;

  uint64_t issue_limit = 0;   // instructions that the trace of issues may hold
  uint64_t access_limit = 0;  // L1 accesses that the trace of accesses may hold
  // The shadows: geometries that the run measures in addition to the machine's own geometry.
  std::vector<std::string> shadow_names;
  std::vector<p5::Config> shadows;
  // Basic blocks (blocks.hh). `vector_interval` is the number of instructions for which the run
  // writes one vector. `warm_up` is the number of instructions for which the model warms up before
  // each interval of detailed simulation. `vector_events`: events.jsonl has the counts of the
  // interval of each vector.
  uint64_t vector_interval = 0, warm_up = 0;
  bool vector_events = false;
  std::vector<measure::Blocks::Interval> sample;
  bool classes = false;  // the run records the classes of misses
  MediaConfig media;     // of a guest that boots from its own media

  // Reads all keys of a run; `settings` keeps the first error.
  static RunConfig read(base::Settings& settings);

  // The keys of observations that begin at the ready marker of a guest. A guest that boots from its
  // own media is observed from reset, so these keys must then be those of the boot.
  static const std::set<std::string>& own_keys();

 private:
  void read_processor(base::Settings& settings);
  void read_accesses(base::Settings& settings);
  void read_shadows(base::Settings& settings);
  void read_shadow(base::Settings& settings, const std::string& prefix);
  void read_blocks(base::Settings& settings);
  void read_classes(base::Settings& settings);
  void read_observers(base::Settings& settings);
};

}  // namespace session
