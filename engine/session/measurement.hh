// SPDX-License-Identifier: MIT
// What does a run measure, and into which files? Markers and steps divide the run into brackets. At
// each of their ends, all counts go into the event stream, and the observers begin or end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/settings.hh"
#include "session/brackets.hh"
#include "session/event_stream.hh"
#include "session/observation.hh"
#include "session/observers.hh"
#include "session/phase_names.hh"
#include "session/region.hh"
#include "session/run_config.hh"

namespace session {

class Measurement {
 public:
  // `boot`: the settings from which `config` was read. All arguments must exist longer than this
  // object.
  Measurement(p5::Pentium& model, const RunConfig& config, const Observation& wanted,
              base::Settings& boot, observe::Guest& guest);

  // Creates the file of the events. A second call begins it anew.
  void open_events();
  // Creates the files of the observations.
  void open();
  // The guest is ready: starts all that has not started. `region`: the function to measure.
  void ready(const RegionPlace& region);

  // These functions return an error, or an empty text. start() starts the observers already at
  // reset, and begins the bracket of the boot.
  std::string start();
  std::string begin(uint32_t phase);
  std::string end(uint32_t phase);
  // Call this before the instruction at which the region begins or ends.
  std::string cross(Region::Step step);
  // The run is about to end well.
  std::string exit() const;
  bool is_open(uint32_t phase) const { return brackets_.is_open(phase); }

  // Names a phase. Returns false if the phase cannot have this name.
  bool name_phase(uint32_t phase, const std::string& name);
  // The total of an event, by its number in the file of the events. Returns false if there is none.
  bool total(uint32_t number, uint64_t* count) const;
  EventStream& events() { return *events_; }

  // Returns the clock after which look() must be called.
  uint64_t next_look() { return observers_.started().deadline(); }
  void look(uint64_t now) { observers_.started().look(now); }

  // Writes the last lines of the events, and then all files to their ends.
  void finish(const std::string& status, const std::string& reason, uint32_t guest_status);
  void close() { events_->finish(); }

  // --- for the emulator

  // The observers; empty or null if they are not requested, or if the guest is not ready yet.
  Observers& observers() { return observers_; }
  Region* region() { return region_.get(); }

 private:
  p5::Pentium& model_;
  const RunConfig& config_;
  const Observation& wanted_;
  base::Settings& boot_;
  observe::Guest& guest_;
  Brackets brackets_;
  Observers observers_;
  std::unique_ptr<EventStream> events_;
  std::unique_ptr<Region> region_;  // null: not requested, or the guest is not ready yet
  PhaseNames names_;                // of phases of the guest's programs
};

}  // namespace session
