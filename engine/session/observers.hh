// SPDX-License-Identifier: MIT
// What watches the model in this run: further geometries, the trace of accesses, the classes of
// misses, basic blocks, attribution. Each exists only if it is asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "access_trace.hh"
#include "attribution.hh"
#include "blocks.hh"
#include "brackets.hh"
#include "miss_classes.hh"
#include "output.hh"
#include "pentium.hh"
#include "run_config.hh"
#include "shadow.hh"

namespace session {

class Observers {
 public:
  // Where an interval of a sample begins and ends.
  using Interval = std::function<void(const char* op, uint32_t number)>;

  // `config` outlives it, and loses its table of functions to the attribution.
  Observers(p5::Pentium& model, RunConfig& config, p5::Attribution::Guest& guest);

  // Makes the files.
  void open(const Interval& interval);
  // The guest is ready. What runs before that is not attributed.
  void ready();
  // Behind the begin marker and the end marker of a phase. The bracket is in `brackets` from its
  // begin on, and not any more at its end.
  void begin(uint32_t phase, const Brackets& brackets);
  void end(uint32_t phase, const Brackets& brackets);
  // The run ends: all files are written. The attribution has these events.
  void finish(const std::vector<uint32_t>& counted);

  // The first event whose sum over all functions is not what was counted; empty: none.
  std::string differs() const { return attribution_ ? attribution_->differs() : ""; }
  p5::Blocks* blocks() { return blocks_.get(); }
  p5::Attribution* attribution() { return attribution_.get(); }
  p5::Shadows* shadows() { return shadows_.get(); }

 private:
  void measure_blocks(const Brackets& brackets);
  void trace_accesses(const Brackets& brackets);
  void end_access_trace();
  void use(std::unique_ptr<p5::Shadows> shadows);
  // The machine's own geometry, with a listener to each access.
  void listen(p5::AccessListener* listener);

  p5::Pentium& model_;
  RunConfig& config_;
  p5::Attribution::Guest& guest_;
  Output accesses_, vectors_, attributed_;
  std::unique_ptr<p5::Shadows> shadows_;  // they observe the model
  std::unique_ptr<p5::AccessTrace> access_trace_;
  std::unique_ptr<p5::Blocks> blocks_;
  std::unique_ptr<p5::MissClasses> classes_;
  std::unique_ptr<p5::Attribution> attribution_;
};

}  // namespace session
