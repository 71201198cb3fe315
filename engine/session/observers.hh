// SPDX-License-Identifier: MIT
// What observes the model in this run? The possible observers are shadows (other geometries), the
// trace of accesses, the trace of issues, the classes of misses, basic blocks and the observers of
// engine/observe. An observer exists only if the run requests this observer.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/access_trace.hh"
#include "measure/blocks.hh"
#include "measure/issues.hh"
#include "measure/miss_classes.hh"
#include "measure/shadow.hh"
#include "observe/group.hh"
#include "p5/pentium.hh"
#include "session/brackets.hh"
#include "session/observation.hh"
#include "session/output.hh"
#include "session/run_config.hh"

namespace session {

class Observers {
 public:
  // A function that Observers calls at the beginning and at the end of each sampled interval.
  using Interval = std::function<void(const char* op, uint32_t number)>;

  // `config` must exist longer than this object.
  Observers(p5::Pentium& model, const RunConfig& config, observe::Guest& guest);

  // Creates the files. `wanted` must exist longer than this object. `counted`: the events in them.
  void open(const Observation& wanted, const Interval& interval,
            const std::vector<uint32_t>& counted);
  // Starts the observers of engine/observe and the CPI stack, unless they have started.
  void start();
  // The guest is ready: starts the trace of issues, too. `counted`: the events of this trace.
  void ready(const std::vector<uint32_t>& counted);
  // Call begin() after the begin marker of a phase, when `brackets` contains the phase. Call end()
  // after the end marker, when `brackets` no longer contains the phase.
  void begin(uint32_t phase, const Brackets& brackets);
  void end(const Brackets& brackets);
  // Writes all files at the end of the run. `counted`: the events in them.
  void finish(const std::vector<uint32_t>& counted);

  // Compares the sums over all functions, calls and other places with the model's counts. Returns
  // the first difference in words, or an empty text.
  std::string differs() const;
  measure::Blocks* blocks() { return blocks_.get(); }
  measure::Issues* issues() { return issues_.get(); }
  // The observers of engine/observe; empty before the guest is ready.
  observe::Group& started() { return started_; }
  measure::Shadows* shadows() { return shadows_.get(); }

 private:
  void measure_blocks(const Brackets& brackets);
  void trace_accesses(const Brackets& brackets);
  void end_access_trace();
  void use(std::unique_ptr<measure::Shadows> shadows);
  // Adds a shadow of the machine's own geometry; `listener` sees each access of this shadow.
  void listen(measure::AccessListener* listener);

  p5::Pentium& model_;
  const RunConfig& config_;
  const Observation* wanted_ = nullptr;  // null before open()
  observe::Guest& guest_;
  Output accesses_, vectors_, issued_;
  std::unique_ptr<measure::Shadows> shadows_;  // observes the model
  std::unique_ptr<measure::AccessTrace> access_trace_;
  std::unique_ptr<measure::Blocks> blocks_;
  std::unique_ptr<measure::MissClasses> classes_;
  std::unique_ptr<measure::Issues> issues_;
  struct Plugged {
    std::string name;
    Output file;
    std::unique_ptr<observe::Observer> observer;
  };
  std::vector<std::unique_ptr<Plugged>> plugged_;
  observe::Group started_;
};

}  // namespace session
