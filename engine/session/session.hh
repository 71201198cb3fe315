// SPDX-License-Identifier: MIT
// One run of the engine, from its parameter file to its exit status. The emulator's glue has one
// object of this class and reaches everything through it; the parts of a run are the other files of
// this folder. Nothing here includes the emulator or names a device.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "attribution.hh"
#include "brackets.hh"
#include "counter_registers.hh"
#include "crossings.hh"
#include "device.hh"
#include "ending.hh"
#include "event_stream.hh"
#include "guest_files.hh"
#include "job.hh"
#include "marker.hh"
#include "observers.hh"
#include "output.hh"
#include "pentium.hh"
#include "run_config.hh"
#include "settings.hh"
#include "timing.hh"

namespace session {

// What executes the instructions.
class Emulator : public p5::Platform, public p5::Attribution::Guest {
 public:
  // Puts a part of the guest into its memory; false: there is no memory.
  virtual bool write_memory(uint32_t address, const uint8_t* bytes, size_t count) = 0;
};

class Session {
 public:
  // Reads the file that P5LAB_ENGINE_CONF names, builds the model in `storage`, opens the files.
  // Any error ends the process with one line and status kBadInput.
  void start(p5::Pentium* storage, Emulator& emulator);

  // --- what the emulator has to know

  const p5::TimingTable& timing() const { return timing_; }
  const RunConfig& config() const { return config_; }
  uint32_t cpuid_features() const;
  device::Devices& devices() { return devices_; }

  // --- what the guest does

  MarkerResult marker(const MarkerCall& call);
  CounterRegisters& counter_registers() { return *registers_; }
  // Whether the next crossing goes to the trace: it is asked for, and a bracket is open. Then every
  // change that may be a crossing is to be reported.
  bool traces_crossings() const { return crossings_ && brackets_.measures(); }
  Crossings& crossings() { return *crossings_; }
  p5::Blocks* blocks() { return observers_->blocks(); }  // null: nobody wants to know them
  // Null: not asked for, or the guest is not ready yet.
  p5::Attribution* attribution() { return observers_->attribution(); }

  // --- how the run ends

  [[noreturn]] void time_is_up();
  // It ends well, without the guest's program having ended it.
  [[noreturn]] void end_run(const std::string& reason);
  [[noreturn]] void fail(const std::string& reason);
  [[noreturn]] void undefined_instruction(p5::Linear linear);
  void stopped_early();  // the emulator ends without a marker

  // A warning: the emulator and the model decode different lengths.
  void decoder_differs(const uint8_t* bytes, unsigned length, unsigned ours);
  // A file of a device. It is checked and flushed at the end of the run.
  std::FILE* create(const std::string& path);

 private:
  void read_settings();
  void read_job(base::Settings& settings);
  void open_files();
  void ready();
  void serve();
  void begin(uint32_t phase);
  void end(uint32_t phase);
  [[noreturn]] void abort(uint32_t code);
  [[noreturn]] void exit(uint32_t status);
  MarkerResult read_counter(uint32_t number);
  MarkerResult load_guest();
  void program_output(uint32_t bytes, uint32_t count);
  [[noreturn]] void finish(const std::string& status, const std::string& reason,
                           uint32_t guest_status, int exit_status);

  std::string path_;  // of the parameter file
  base::Settings settings_;
  RunConfig config_;
  Job job_;
  GuestFiles files_;
  device::Devices devices_;
  p5::TimingTable timing_;

  p5::Pentium* model_ = nullptr;
  Emulator* emulator_ = nullptr;
  Brackets brackets_;
  std::unique_ptr<CounterRegisters> registers_;
  std::unique_ptr<Observers> observers_;
  std::unique_ptr<EventStream> events_;
  std::unique_ptr<Crossings> crossings_;  // null: not asked for
  Output output_;                         // of the guest's program
  std::list<Output> created_;             // by devices
  bool server_ = false;                   // runs are to be served, and none has begun
  bool finished_ = false;
};

}  // namespace session
