// SPDX-License-Identifier: MIT
// What are the steps of a run, from its parameter file to its exit status? The glue of the emulator
// uses all parts of a run through one Session object. The other files of this folder contain the
// parts of a run. No file of this folder includes the emulator or names a device.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <string>

#include "base/clock.hh"
#include "base/settings.hh"
#include "devices/device.hh"
#include "p5/pentium.hh"
#include "p5/timing.hh"
#include "session/brackets.hh"
#include "session/console.hh"
#include "session/counter_registers.hh"
#include "session/ending.hh"
#include "session/endless.hh"
#include "session/event_stream.hh"
#include "session/guest_buffer.hh"
#include "session/guest_files.hh"
#include "session/job.hh"
#include "session/marker.hh"
#include "session/media.hh"
#include "session/observation.hh"
#include "session/observers.hh"
#include "session/output.hh"
#include "session/phase_names.hh"
#include "session/picture.hh"
#include "session/region.hh"
#include "session/run_config.hh"
#include "session/script.hh"
#include "session/viewer.hh"

namespace session {

// The session's view of the emulator, which executes the instructions.
class Emulator : public p5::Platform, public observe::Guest, public Console, public GuestMemory {
 public:
  // Copies bytes into the guest's memory. Returns false if there is no memory at this address.
  virtual bool write_memory(uint32_t address, const uint8_t* bytes, size_t count) = 0;
  // Returns the picture of a graphics mode; an empty picture in a text mode. The call changes
  // nothing in the machine.
  virtual Picture picture() = 0;
  // Returns a picture of the screen, also in a text mode. The call changes nothing in the machine.
  virtual Picture view() = 0;
  // Writes the content of an IDE disk. Returns false if the disk does not exist or the write fails.
  virtual bool save_disk(unsigned drive, std::FILE* file) = 0;
  // Lets time pass in which the processor executes nothing. Devices go on.
  virtual void let_pass(uint64_t clocks) = 0;
};

// The last way of a program of ring 3 into the kernel: an exception or INT 80h. It tells where a
// program was that a signal ended, or that waits.
struct KernelEntry {
  int vector = -1;     // -1: none
  unsigned error = 0;  // error code of the exception
  p5::Linear at = 0;   // address of the instruction
  p5::Linear cr2 = 0;
  p5::Space cr3 = 0;
  std::array<uint64_t, 8> registers{};  // in the order of their numbers in instructions
  uint64_t clock = 0;
  std::vector<p5::Linear> stack;  // words from the stack pointer on
};

class Session {
 public:
  // Reads boot.conf and job.conf of the working directory, builds the model in `storage` and opens
  // the output files. An error ends the process with one line and status kBadInput.
  void start(p5::Pentium* storage, Emulator& emulator);

  // --- data for the emulator

  const p5::TimingTable& timing() const { return timing_; }
  const RunConfig& config() const { return config_; }
  uint32_t cpuid_features() const;
  device::Devices& devices() { return devices_; }

  // --- actions of the guest

  MarkerResult marker(const MarkerCall& call);
  CounterRegisters& counter_registers() { return *registers_; }
  measure::Blocks* blocks() { return observers_->blocks(); }  // null: not requested
  // Returns null if the run does not request the issues, or if the guest is not ready yet.
  measure::Issues* issues() { return observers_->issues(); }
  // The observers of engine/observe; empty if the guest is not ready yet.
  const observe::Group& observers() { return observers_->started(); }
  // Returns null if the run has no region, or if the guest is not ready yet.
  Region* region() { return region_.get(); }
  // Call this before the instruction at which the region begins or ends.
  void cross_region(Region::Step step);

  // --- the end of the run

  // Returns the virtual time, in core clocks, after which the emulator must call look().
  uint64_t next_look() const;
  // Does what the script must do now. Ends the run if the script has ended or the limit is
  // exceeded. Otherwise returns next_look().
  uint64_t look(uint64_t now);
  // A guest that boots from its own media has reset the machine.
  void guest_reset();
  // Another guest has reset the machine, which ends the run.
  [[noreturn]] void guest_reset_early();
  // The guest gets the exception of an invalid opcode, and may handle it.
  void guest_invalid_opcode(p5::Linear linear);
  // A program of ring 3 has entered the kernel. `with_stack`: its stack may matter later.
  void program_entered(KernelEntry entry, bool with_stack);
  // A hardware interrupt has found a program of ring 3 at this address.
  void program_seen(p5::Linear at, p5::Space cr3);
  // Whether program_state() must follow program_seen(), because the program may never end.
  bool may_be_endless(p5::Space cr3) const;
  // `registers`: the bytes of all registers of the program that has been seen. Ends the run if the
  // program cannot end.
  void program_state(const std::string& registers, p5::Space cr3);
  // A program of ring 3 has read the time-stamp counter.
  void program_read_clock() { endless_.disturbed(model_->clock()); }
  // A guest that boots from its own media has executed HLT with interrupts off. Nothing can wake
  // the processor, because no device of the emulator raises an NMI or SMI by itself.
  [[noreturn]] void guest_halted();
  // The processor has locked the bus for ever at CMPXCHG8B with LOCK and a register.
  [[noreturn]] void guest_locked(p5::Linear linear);
  // Ends the run with status "ok" although the guest's program has not ended.
  [[noreturn]] void end_run(const std::string& reason);
  [[noreturn]] void fail(const std::string& reason);
  void stopped_early();  // the emulator ended without a marker

  // Warns that the emulator and the model disagree about the length of an instruction.
  void decoder_differs(const uint8_t* bytes, unsigned length, unsigned ours);
  // Creates a file for a device. The session checks and flushes the file at the end of the run.
  std::FILE* create(const std::string& path);

 private:
  void begin_script();
  void read_settings();
  void read_job();
  std::vector<Step> steps() const;
  void open_files();
  void open_events();
  void open_observations();
  void ready();
  // The ready point of a script.
  void ready_point();
  std::vector<std::string> closed_files() const;
  void check_boot();
  void take_job();
  void observe_anew();
  void begin(uint32_t phase);
  void end(uint32_t phase);
  [[noreturn]] void abort(uint32_t code);
  // Ends the run with status "ok" and the exit status of the guest.
  [[noreturn]] void exit(uint32_t status, const std::string& reason = "");
  MarkerResult read_counter(uint32_t number);
  MarkerResult load_guest();
  void program_output(uint32_t bytes, uint32_t count);
  MarkerResult with_buffer(const MarkerCall& call);
  bool name_phase(uint32_t phase, const std::string& name);
  void note_entries();
  [[noreturn]] void time_is_up();
  [[noreturn]] void late(const std::string& reached);  // the step of the script is not done
  [[noreturn]] void guest_stands(const std::string& why);
  // For a message about the end of the run.
  std::string about_invalid_opcodes() const;
  // Where the program is: what it waits for, or where it runs.
  std::string about_program() const;
  // Keeps the screen of the step that is not done. Returns the beginning of a message about it.
  std::string not_done();
  void follow(Script::State state);
  void step_done(const Step& step);
  // Keeps what the monitor shows now, with a line about it.
  void keep_screen(const std::string& about);
  // Writes what the monitor shows now: the text to `path`, and in a graphics mode the picture to a
  // file of the same name with the extension .ppm.
  void write_screen(const std::string& path);
  // Writes the picture of a graphics mode, with the extension `ppm`. Returns false in a text mode.
  bool write_picture(const std::filesystem::path& path);
  [[noreturn]] void script_ended();
  void end_script(uint32_t status);
  void save_screens();
  void save_media(bool is_ok);
  base::Clock clock() const { return base::Clock(config_.machine.clock_hz()); }
  std::string seconds(uint64_t clocks) const;
  [[noreturn]] void finish(const std::string& status, const std::string& reason,
                           uint32_t guest_status, int exit_status);

  base::Settings settings_;  // of the boot
  RunConfig config_;
  Observation observation_;
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
  std::unique_ptr<Region> region_;  // null: not requested, or the guest is not ready yet
  PhaseNames names_;                // of phases of the guest's programs
  Output output_;                   // output of the guest's program
  std::list<Output> created_;       // files that devices have created
  std::unique_ptr<Script> script_;  // null: the limit or the program ends the run
  std::unique_ptr<Viewer> viewer_;  // null: nobody drives the machine
  Output step_screens_;
  std::string kept_screen_;            // the last one in step_screens_
  std::vector<std::string> pictures_;  // of steps
  uint64_t resets_ = 0;                // by a guest that boots from its own media
  uint64_t invalid_opcodes_ = 0;
  std::string first_invalid_;  // bytes and address of the first of them
  struct {
    p5::Linear linear = 0;
    unsigned ring = 0;
    p5::Linear cr3 = 0;
  } last_invalid_;
  p5::Space first_space_ = 0;  // of the process that has executed the ready marker
  KernelEntry entry_;          // of another process
  Endless endless_;            // about the same process
  KernelEntry sent_;           // its last call that sends a signal
  p5::Linear seen_at_ = 0;     // of another process, in ring 3
  uint64_t seen_ = 0;          // clock; 0: not seen
  uint64_t phase_ = 0;         // clocks that pass before the first ready marker
  bool finished_ = false;
};

}  // namespace session
