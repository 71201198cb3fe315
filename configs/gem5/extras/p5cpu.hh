// SPDX-License-Identifier: MIT
// A Pentium as gem5's processor. gem5 executes the instructions, one macro-operation after the
// other, with atomic accesses to a memory that only stores. The chip of engine/p5 gets each
// instruction and each access, and gives the clock: it contains caches, TLBs, pipes, branch
// prediction, write buffers, bus and DRAM of a machine of configs/machines.
//
// AtomicSimpleCPU gives the ports, the accesses and the drained state. Its event loop is not used:
// it charges a clock for each micro-operation, and the chip knows the clocks of an instruction only
// after its accesses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "arch/x86/regs/misc.hh"
#include "chip/chip.hh"
#include "chip_statistics.hh"
#include "cpu/simple/atomic.hh"
#include "marker_calls.hh"
#include "page_tables.hh"
#include "params/P5CPU.hh"

namespace gem5::p5lab {

class P5CPU : public AtomicSimpleCPU, private ::p5lab::Surroundings {
 public:
  PARAMS(P5CPU);
  explicit P5CPU(const Params& params);
  ~P5CPU() override;

  void init() override;
  void activateContext(ThreadID thread) override;
  void suspendContext(ThreadID thread) override;
  DrainState drain() override;
  void drainResume() override;
  void takeOverFrom(BaseCPU* other) override;
  void preDumpStats() override;

  Fault readMem(Addr address, uint8_t* data, unsigned size, Request::Flags flags,
                const std::vector<bool>& byte_enable) override;
  Fault writeMem(uint8_t* data, unsigned size, Addr address, Request::Flags flags, uint64_t* result,
                 const std::vector<bool>& byte_enable) override;

 protected:
  Tick sendPacket(RequestPort& port, const PacketPtr& packet) override;

 private:
  using Code = ::p5lab::Code;

  // What the chip asks.
  uint64_t page_table_entry(uint32_t physical) override;
  uint32_t code_physical(uint64_t linear) override;
  uint16_t x87_control() override;

  // --- time (p5cpu.cc)

  // The tick of the chip's present clock.
  Tick now() const { return origin_ + Tick(chip_->clock()) * clockPeriod(); }
  void run();
  void wake();
  void forget_translations();
  void replace_tick();

  // --- instructions (execute.cc)

  void step();
  Fault fetch();
  void begin();
  void retire();
  Fault execute();
  void raise(const Fault& fault);
  void take_interrupt();
  void deliver();
  void finish();
  void apply_effect();
  Addr operand_address() const;
  void call_marker();
  const Code* look_up(unsigned length);
  void refuse_unimplemented() const;
  bool taken(Addr next) const;
  uint64_t here() const;
  bool in_rom() const;
  RegVal misc(RegIndex index) const;
  ::p5lab::ChipState state() const;
  ::p5lab::CodeMode code_mode() const;
  void refresh_state() { chip_->set_state(state()); }
  void shift_time_stamp(uint64_t clocks);

  // --- accesses (accesses.cc)

  void report(Addr address, unsigned size, Request::Flags flags, bool write);
  // Bytes of one access within a page. `first`: the access continues in the next page.
  struct Piece {
    Addr address;
    uint32_t physical;
    unsigned bytes;
    ::p5lab::Access kind;
    bool first;
  };
  void access(const Piece& piece);
  void release();
  bool is_two_byte() const;
  void report_port(Addr address, unsigned size, bool write);
  bool only_checks() const;
  bool moves_state() const;
  uint32_t physical(Addr packet) const;
  void hear_write(const Packet& packet);

  static constexpr unsigned kChunk = 8;             // bytes that gem5's decoder takes at once
  static constexpr unsigned kLongest = 4 * kChunk;  // an instruction of 15 bytes, and its chunks
  static constexpr Addr kNowhere = ~Addr(0);

  EventFunctionWrapper run_event_;
  Process* process_ = nullptr;  // null: a whole system
  std::unique_ptr<PageTables> tables_;
  std::unique_ptr<::p5lab::Chip> chip_;
  std::unique_ptr<ChipStatistics> statistics_;
  std::unique_ptr<MarkerCalls> markers_;
  Tick origin_ = 0;       // the tick of the chip's clock 0
  bool in_time_ = false;  // `origin_` holds: no other processor model has run since

  // The instruction that is being executed.
  const Code* code_ = nullptr;
  Addr linear_ = 0;
  bool skipped_ = false;  // no part of the program
  bool faulted_ = false;
  bool stale_ = true;         // ring, mode or address space may have changed
  Addr retired_ = kNowhere;   // an instruction at this address is executed again, and has retired
  uint64_t ahead_ = 0;        // clocks by which the time-stamp counter is shifted
  unsigned accesses_ = 0;     // in the present iteration of a REP
  Addr moved_ = kNowhere;     // the last 8 bytes of a state that FXSAVE or FXRSTOR moves
  std::vector<Piece> held_;   // accesses of which the chip has not heard yet
  Addr modified_ = kNowhere;  // the address of a read whose write follows
  MarkerRegisters called_ = {};  // before CPUID
  uint8_t bytes_[kLongest] = {};
  unsigned chunks_ = 0;
  struct CodePage {
    Addr linear = kNowhere, physical = 0;
  } pages_[2];
  // Physical addresses of the first and the last packet of an access.
  Addr first_packet_ = 0, last_packet_ = 0;
  bool packets_ = false;
  // The chip's record of an instruction, by gem5's object and the length.
  std::unordered_map<uintptr_t, const Code*> known_;
};

}  // namespace gem5::p5lab
