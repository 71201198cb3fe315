// SPDX-License-Identifier: LGPL-2.1-or-later
// One run of the engine: its parameter file, the model, the markers and the event stream. It
// includes nothing of Bochs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "access_trace.hh"
#include "attribution.hh"
#include "blocks.hh"
#include "config.hh"
#include "disks.hh"
#include "network.hh"
#include "pentium.hh"
#include "settings.hh"
#include "timing.hh"

namespace p5 {

constexpr uint32_t kMarkerLeaf = 0x50354C42;  // CPUID leaf "P5LB"
constexpr uint32_t kMarkerEbx = 0x616C3570;   // "p5la", the answer to detect
constexpr uint32_t kMarkerVersion = 1;
constexpr uint32_t kEmpty = 0xFFFFFFFF;  // phase of the brackets around nothing (p5w.h)

// ECX of a marker (workloads/lib/marker.h is the other side).
enum MarkerOp : uint32_t {
  kDetect,
  kReady,
  kBegin,
  kEnd,
  kAbort,
  kExit,
  kReadCounter,
  kJob,
  kOutput,
  kBootLoad,
  kProgram
};

struct MarkerCall {
  uint32_t op, arg0, arg1;
  bool real_mode;
};
struct MarkerResult {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// Exit status of the engine; 0: the guest has ended its run.
enum ExitStatus : int { kBadInput = 2, kGuestFailed, kTimeLimit, kNoOutput };

// What moved the processor between rings, modes or address spaces: int, gate, far, iret, interrupt,
// exception, cr3; the vector of the three that have one, else -1.
struct Crossed {
  const char* kind = nullptr;
  int vector = -1;
};
struct Registers {
  uint64_t eip, eax, ebx, ecx, edx, cr2;
};

// Provided by the glue.
bool write_guest_memory(uint32_t address, const uint8_t* bytes, size_t count);
void count_event(Event event, uint64_t number);
void wide_ports(uint16_t first, uint16_t last);  // Pentium::wide_ports()

class Run {
 public:
  static Run& instance();

  // Reads the file that P5LAB_ENGINE_CONF names, builds the model, opens the event stream. Any
  // error ends the process with one line and status 2. The model is built in `storage`.
  void start(Pentium* storage, Platform& platform, Attribution::Guest& guest);

  const TimingTable& timing() const { return timing_; }
  bool cmov_allowed() const { return cmov_; }
  uint64_t clock_hz() const { return config_.clock_hz(); }
  const disk::Config& disks() const { return disks_; }
  const net::Config& network() const { return network_; }
  // Off (`run.fast_paths = off`): without the short cuts that must change nothing; for tests.
  bool fast_paths() const { return fast_paths_; }
  uint32_t cpuid_signature() const { return signature_; }
  uint32_t cpuid_features() const;

  MarkerResult marker(const MarkerCall& call);
  bool read_msr(uint32_t index, uint64_t* value);  // 0Eh, 11h-13h; false for any other
  bool write_msr(uint32_t index, uint64_t value);
  uint64_t read_tsc(int64_t adjust);

  // Whether the next crossing goes to the trace: it is asked for, and a bracket is open.
  bool traces_crossings() const { return crossings_ && !open_.empty() && open_.back() != kEmpty; }
  // To be told of every change that may be one; `to` is the state behind it. CR3 loads count as
  // crossings even if the value stays.
  void trace_crossing(const Crossed& how, const State& to, const Registers& registers);

  Blocks* blocks() { return blocks_.get(); }  // null: nobody wants to know them
  Attribution* attribution() {
    return attribution_.get();
  }  // null: before the ready marker as well

  uint64_t limit() const { return limit_; }  // of virtual time, in clocks
  [[noreturn]] void time_is_up();
  [[noreturn]] void power_cut();
  [[noreturn]] void no_output(const std::string& path) { output_failed(path); }
  [[noreturn]] void fail(const std::string& reason);
  [[noreturn]] void undefined_instruction(Linear linear);
  void decoder_differs(const uint8_t* bytes, unsigned length, unsigned ours);
  void stopped_early();  // the emulator ends without a marker

 private:
  struct Blob {
    uint32_t address = 0;
    uint64_t offset = 0, length = 0;  // length 0: to the end of the file
    std::string file;
  };

  void read_shadows();
  void read_blocks();
  void read_attribution();
  void attribute();
  void write_attribution();
  void append_attribution();
  void append_counts(uint32_t phase, uint32_t node, const Attribution::Counts& counts);
  void append_fields(const char* type,
                     std::initializer_list<std::pair<const char*, uint64_t>> fields);
  void read_job();
  void read_boot();
  void capture();
  bool counted(uint32_t event);
  void serve();
  MarkerResult load_guest();
  MarkerResult job_text(uint32_t offset) const;
  MarkerResult program_bytes(uint32_t offset) const;
  void program_output(uint32_t bytes, uint32_t count);
  void begin(uint32_t phase);
  void trace_accesses();
  void end_access_trace();
  void end(uint32_t phase);
  void write_header();
  void write_snapshot(const char* fields, bool shadows);
  void write_line();
  void append_shadows();
  void append(uint64_t number);
  template <class Names>
  void write_names(const char* key, const Names& names);
  void append_bank(const char* comma, const Bank& bank);
  void write_marker(const char* type, const char* op, uint32_t arg);
  void measure_blocks();
  void trace_bracket(const char* what, uint32_t phase);
  std::string traced_counts() const;
  void write_read(const char* insn, uint32_t index, uint64_t value);
  [[noreturn]] void finish(const char* status, const std::string& reason, uint32_t guest_status,
                           int exit_status);
  std::FILE* create(const std::string& path);
  void finish_output(std::FILE* file, const std::string& path);
  [[noreturn]] void output_failed(const std::string& path);

  Settings settings_;
  Config config_;
  disk::Config disks_;
  net::Config network_;
  std::vector<std::string> shadow_names_;
  std::vector<Config> shadow_configs_;
  std::vector<std::vector<MissCounts>> written_;  // [shadow][bank] up to the last marker
  TimingTable timing_;
  Pentium* model_ = nullptr;
  std::FILE* events_ = nullptr;
  std::FILE* output_ = nullptr;
  std::FILE* crossings_ = nullptr;  // null: not asked for
  std::FILE* accesses_ = nullptr;
  std::unique_ptr<AccessTrace> access_trace_;
  uint64_t access_limit_ = 0;
  std::FILE* capture_ = nullptr;  // of the network; null: not asked for
  std::string capture_path_;
  std::FILE* vectors_ = nullptr;
  std::unique_ptr<Blocks> blocks_;
  Attribution::Guest* guest_ = nullptr;
  std::FILE* attributed_ = nullptr;  // null: not asked for
  std::string attribution_path_;
  Functions functions_;
  bool stacks_ = false, classes_ = false;
  std::unique_ptr<MissClasses> miss_classes_;
  std::unique_ptr<Attribution> attribution_;
  std::vector<Blocks::Interval> sample_;
  uint64_t vector_interval_ = 0, warm_up_ = 0;
  std::string conf_path_, events_path_, output_path_;
  std::string job_, program_;  // command line and content of what is to be run
  uint64_t power_cut_us_ = 0;  // from the ready marker on; 0: never
  std::string power_cut_image_;
  std::string crossings_path_, accesses_path_, vectors_path_;
  std::vector<Blob> blobs_;
  uint32_t entry_ = 0, segment_ = 0, stack_ = 0;
  uint32_t signature_ = 0;
  uint64_t limit_ = ~uint64_t(0);
  std::vector<uint32_t> counted_;                   // the events that are written
  bool reads_asked_ = false, trace_reads_ = false;  // the second from the ready marker on
  bool cmov_ = false, server_ = false, fast_paths_ = true, finished_ = false;
  std::vector<uint32_t> open_;  // phases begun and not ended
  std::string line_;            // of the event stream, being written
};

}  // namespace p5
