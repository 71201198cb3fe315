// SPDX-License-Identifier: MIT
// What are the steps of a run, from its two files to its exit status? The glue of the emulator uses
// all parts of a run through one Session object. The other files of this folder contain the parts.
// No file of this folder includes the emulator or names a device.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "p5/pentium.hh"
#include "session/conf.hh"
#include "session/counter_registers.hh"
#include "session/driver.hh"
#include "session/emulator.hh"
#include "session/invalid_opcodes.hh"
#include "session/markers.hh"
#include "session/measurement.hh"
#include "session/program_watch.hh"
#include "session/run_end.hh"
#include "session/screens.hh"
#include "session/virtual_time.hh"

namespace session {

// A run. ImageSession and MediaSession say what depends on the kind of its boot.
class Session : public Markers::Course {
 public:
  Session(Conf conf, p5::Pentium* storage, Emulator& emulator);

  // Reads the files of the run (conf.hh) and builds the model in `storage`. An error ends the
  // process with one line and status kBadInput.
  static std::unique_ptr<Session> of_files(p5::Pentium* storage, Emulator& emulator);
  // Opens the output files. The machine is about to execute its first instruction.
  virtual void begin();

  // --- parts, for the emulator

  Conf& conf() { return conf_; }
  CounterRegisters& counter_registers() { return registers_; }
  Measurement& measurement() { return measurement_; }
  ProgramWatch& program() { return program_; }
  InvalidOpcodes& invalid_opcodes() { return invalid_; }
  RunEnd& end() { return end_; }

  // --- what happens in the machine

  MarkerResult marker(const MarkerCall& call);
  // Call this before the instruction at which the region begins or ends.
  void cross_region(Region::Step step);
  // Whether ProgramWatch::entered() and program_seen() matter.
  virtual bool watches_programs() const = 0;
  // A hardware interrupt has found a program of ring 3 at this address. `registers` returns the
  // bytes of all its registers. Ends the run if the program cannot end.
  void program_seen(p5::Linear at, p5::Space cr3, std::string (*registers)());
  // The guest has reset the machine.
  virtual void guest_reset() = 0;
  // The guest has executed HLT with interrupts off. Nothing can wake the processor, because no
  // device of the emulator raises an NMI or SMI by itself.
  virtual void guest_halted() = 0;
  // The processor has locked the bus for ever at CMPXCHG8B with LOCK and a register.
  void guest_locked(p5::Linear linear);

  // Returns the virtual time, in core clocks, after which the emulator must call look().
  uint64_t next_look();
  // Does what the script must do now. Ends the run if the script has ended or the limit is
  // exceeded. Otherwise returns next_look().
  uint64_t look(uint64_t now);

 protected:
  // The guest is ready.
  void ready();
  // The job of the run is known. `is_copy`: this process has begun as a copy of another one.
  virtual void take_job(bool is_copy) = 0;
  // Files that change although the engine does not keep them open.
  virtual std::vector<std::string> changed_files() const { return screens_.pictures(); }
  // The script of the run has ended.
  virtual void script_ended() = 0;
  // The time of the run is up; `reached` is the limit.
  [[noreturn]] virtual void time_is_up(const std::string& reached) = 0;
  // The processor stands for ever; `why` is the reason, up to the time.
  [[noreturn]] virtual void stands(const std::string& why) = 0;
  // Keeps what the run leaves beside the files of its measurement.
  virtual void keep(bool is_ok);

  Conf conf_;
  p5::Pentium& model_;
  Emulator& emulator_;
  const VirtualTime time_;
  CounterRegisters registers_;
  Measurement measurement_;
  ProgramWatch program_;
  InvalidOpcodes invalid_;
  Screens screens_;
  RunEnd end_;
  Driver driver_;

 private:
  void script_ready();

  std::unique_ptr<Markers> markers_;
  uint64_t phase_;  // clocks that pass before the first ready point
};

// Warns that the emulator and the model disagree about the length of an instruction.
void decoder_differs(const uint8_t* bytes, unsigned length, unsigned ours);

}  // namespace session
