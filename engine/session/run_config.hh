// SPDX-License-Identifier: MIT
// Which machine boots, and how? The configuration is the content of boot.conf. Runs with the same
// configuration can share a boot, and differ in their jobs (job.hh).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/settings.hh"
#include "p5/config.hh"
#include "session/boot.hh"
#include "session/screens.hh"

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

  std::string events, output;  // paths of output files
  // The shadows: geometries that the run measures in addition to the machine's own geometry.
  std::vector<std::string> shadow_names;
  std::vector<p5::Config> shadows;
  bool classes = false;  // the run records the classes of misses
  // The file with the guest's text, in which the steps of a script search: its serial line, or the
  // output of its programs.
  std::string serial;
  Screens::Paths screens;
  Boot boot;

  uint32_t cpuid_features() const;

  // Reads all keys of a boot; `settings` keeps the first error.
  static RunConfig read(base::Settings& settings);

 private:
  void read_processor(base::Settings& settings);
  void read_shadows(base::Settings& settings);
  void read_shadow(base::Settings& settings, const std::string& prefix);
  void read_classes(base::Settings& settings);
};

}  // namespace session
