// SPDX-License-Identifier: MIT
// The Pentium model of engine/p5, as P5CPU uses it. The model exists twice: one is a Pentium, the
// other an x86-64 processor with the memory hierarchy of that Pentium. Both implement this
// interface (model.cc). This header names nothing of the model, so a file can use both, and it
// names nothing of gem5, so the model compiles without gem5.
//
// P5CPU reports what the processor does in the order of the program (engine/p5/pentium.hh).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace p5lab {

// The system around the chip. The chip calls these functions.
class Surroundings {
 public:
  virtual ~Surroundings() = default;
  // The entry of a page table at this physical address, of the size that the chip's paging has.
  virtual uint64_t page_table_entry(uint32_t physical) = 0;
  // The physical address of code that is being fetched.
  virtual uint32_t code_physical(uint64_t linear) = 0;
  virtual uint16_t x87_control() = 0;
};

enum class CodeMode : uint8_t { Real, V86, Prot16, Prot32, Long64 };

struct ChipState {
  uint64_t cr3 = 0;
  uint8_t ring = 0;
  CodeMode mode = CodeMode::Real;
  bool paging = false, large_pages = false, global_pages = false;
  bool caching = true;
  bool user_io = false;  // CPL > IOPL
};

// What an instruction does beyond reads, writes and near branches. The processor reports it after
// the instruction.
enum class Effect : uint8_t {
  None,
  Marker,  // CPUID; a call of the marker protocol if EAX has the leaf of markers
  TimeStamp,
  Pseudo,  // gem5's own instructions (0F 04), which are no part of the program
  SoftInterrupt,
  Gate,
  FarReturn,
  InterruptReturn,
  LoadCr3,
  ChangeMode,  // MOV to CR0 or CR4, LMSW, CLTS, WRMSR: serialising, and the state may change
  InvalidatePage,
  WriteBack,   // WBINVD
  Invalidate,  // INVD
};

enum class Access : uint8_t { Read, Write, ReadWrite };

// An instruction that the chip has decoded.
struct Code {
  uint8_t length = 0;
  bool branch = false;       // near
  bool conditional = false;  // a branch that may fall through
  bool repeated = false;     // a string instruction with REP
  bool system = false;       // the state may be different after it
  Effect effect = Effect::None;
};

struct Counted {
  std::string name, unit, description;
};

class Chip {
 public:
  virtual ~Chip() = default;

  // Decodes the instruction in `bytes`. The result lives as long as the chip.
  virtual const Code* decode(const uint8_t* bytes, unsigned length, CodeMode mode) = 0;
  virtual void retire(const Code& code, uint64_t linear) = 0;
  // The instruction is no part of the measured program, takes no time and is not counted.
  virtual void skip(const Code& code, uint64_t linear) = 0;
  // `first_piece`: the access continues in the next page, and another call follows.
  virtual void data(uint64_t linear, uint32_t physical, unsigned bytes, Access kind,
                    bool first_piece) = 0;
  virtual void branch(uint64_t linear, uint64_t target, bool taken, bool conditional) = 0;
  virtual void repeat() = 0;
  virtual void port(uint16_t port, bool write, unsigned bytes) = 0;

  virtual void soft_interrupt(uint8_t vector) = 0;
  virtual void hard_interrupt(uint8_t vector, uint64_t resume) = 0;
  // `fault`: the current instruction did not complete and is not counted.
  virtual void exception(uint8_t vector, bool fault, uint64_t resume) = 0;
  virtual void page_fault(uint64_t linear, bool code, bool present) = 0;
  virtual void far_transfer(Effect how) = 0;

  virtual void set_state(const ChipState& state) = 0;
  virtual void serialize() = 0;
  virtual void load_cr3(uint64_t value) = 0;
  virtual void invalidate_page(uint64_t linear) = 0;
  virtual void flush_caches(bool write_back) = 0;
  // The page unit sets an accessed bit at this physical address.
  virtual void table_update(uint32_t physical) = 0;
  virtual void bus_master(uint32_t physical, unsigned bytes, bool write) = 0;
  virtual void idle(uint64_t clocks) = 0;

  const uint64_t& clock() const { return *clock_; }  // core clocks since power-up
  virtual uint64_t clock_hz() const = 0;
  virtual const std::vector<Counted>& events() const = 0;
  // The present counts of all events of one ring, in the order of events().
  virtual std::vector<uint64_t> counts(unsigned ring) = 0;

 protected:
  const uint64_t* clock_ = nullptr;
};

struct ChipOptions {
  std::string machine;       // lines `key = value`, as in the engine's parameter file
  std::string timing_table;  // the text of engine/p5/timing.csv
  bool cmov = false;         // the level pentium+cmov
  bool cpi = false;          // count the components of the CPI stack
  bool clocks = true;    // x86-64 only: the nominal model; else each instruction takes one clock
  bool feedback = true;  // false: memory never makes the processor wait
};

// Make a chip, or return null and set `*error` to one line. The surroundings must exist as long as
// the chip.
namespace pentium {
std::unique_ptr<Chip> make(const ChipOptions& options, Surroundings& around, std::string* error);
}
namespace x86_64 {
std::unique_ptr<Chip> make(const ChipOptions& options, Surroundings& around, std::string* error);
}

}  // namespace p5lab
