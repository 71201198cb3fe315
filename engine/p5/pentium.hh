// SPDX-License-Identifier: MIT
// The Pentium model. Whoever executes the instructions (an emulator's callbacks, a trace file, a
// test) reports what happened, in program order:
//
//   set_state()             after anything that may have changed ring, mode or address space
//   retire(insn, linear)    one instruction begins
//   data(...)               each of its data accesses, page-split ones in two pieces
//   repeat()                each iteration of a REP string instruction
//   interrupts, far transfers, CR3 loads, port accesses, idle time
//
// and the model answers with its clock and its counters. It knows no simulator and has no
// globals. Hot paths are inline; what they leave out is in pentium.cc.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "btb.hh"
#include "cache.hh"
#include "classes.hh"
#include "config.hh"
#include "counters.hh"
#include "fpu.hh"
#include "insn.hh"
#include "isa.hh"
#include "memory.hh"
#include "rules.hh"
#include "shadow.hh"
#include "timing.hh"
#include "tlb.hh"

namespace p5 {

// What the model asks its surroundings.
class Platform {
 public:
  virtual ~Platform() = default;
  virtual PageEntry read_physical(uint32_t address) = 0;  // of memory, for page walks
  virtual uint32_t code_physical(Linear linear) = 0;      // of code that is being executed
  virtual uint16_t x87_control() = 0;                     // the x87's control word
};

// Code size and protection: a change of any of these is a machine-mode change in chen95's sense.
enum class MachineMode : uint8_t { Real, V86, Prot16, Prot32, Long64 };

struct State {
  Space cr3 = 0;
  uint8_t ring = 0;
  MachineMode mode = MachineMode::Real;
  bool paging = false;
  bool large_pages = false;   // CR4.PSE; always in long mode
  bool global_pages = false;  // CR4.PGE, which the Pentium does not have
  bool caching = false;       // CR0.CD = 0
  bool user_io = false;       // CPL > IOPL
};

enum class DataKind : uint8_t { Read, Write, ReadWrite };
enum class Crossing : uint8_t { None, Int, Gate, Far, Iret, Async };
enum class Task : uint8_t { Tss32, Tss16, V86 };  // what a task switch leads to

// Test register 12, MSR 0Eh [INTEL-DM 16]. Its other bits do nothing here.
enum TestRegister12 : uint32_t {
  kNoBranchPrediction = 1 << 0,  // NBP: nothing is entered in the branch target buffer
  kSinglePipe = 1 << 2,          // SE: nothing goes into V
  kCacheInhibit = 1 << 3,        // CI: the L1 caches take no line in
};

// Iterations of a repeated MOVS (`reads`) or STOS, upwards and within a page.
struct Block {
  bool reads;
  Linear from;
  uint32_t from_physical;
  Linear to;
  uint32_t to_physical, bytes;  // of one iteration
};
// The surroundings want to know the time at the first iteration that ends `interval` clocks after
// they were told last, and to go on themselves once it has come to `due`.
struct Pace {
  uint64_t told, due;
  uint32_t interval;
};

class Pentium {
 public:
  Pentium(const Config& config, const TimingTable& timing, Platform& platform);

  // false: no caches, TLBs or stalls, one clock an instruction. To be set before the first use.
  void set_timing(bool on) {
    timing_on_ = on;
    special_ = !on || watching_;
  }

  // On: functional warming. Caches, TLBs and the branch target buffer are kept as they would be and
  // count, but nothing has to wait, and of the pipes only what tells pairs apart is modelled; how
  // the time passes the surroundings say by advance().
  void set_warming(bool on);
  // As with timing off, for a while: caches, TLBs and branch target buffer stay as they are.
  void pause(bool on);
  void advance(uint64_t clock) {
    if (clock > clock_) clock_ = clock;
  }
  // The whole of an instruction that goes straight on, while warming; false: it is another one.
  bool passes(const Insn& insn, Linear linear) {
    if (__builtin_expect(!warming_, 1) || watching_ || insn.flags & kUncommon || linear != next_ ||
        linear + insn.length - 1 - window_ >= window_bytes_) {
      return false;
    }
    pass(insn);
    return true;
  }
  // Instructions of the current ring and address space.
  uint64_t retired_here() const { return bank_->count[Instructions]; }

  // No instruction is at hand: each goes by retire_elsewhere().
  void watch_each(bool on) {
    each_ = on;
    step_aside(watching_ || warming_ || each_);
  }
  // The bank in use; its time is that of the last settle(), which changes nothing else.
  const Bank& bank() const { return *bank_; }
  const Counters& banks() const { return counters_; }
  void settle() { fold(); }

  // Everything that the caches and TLBs are asked goes to the shadows as well. To be set before
  // the first use.
  void set_shadows(std::unique_ptr<Shadows> shadows);
  Shadows* shadows() { return shadows_.get(); }  // null: none

  void set_state(const State& state);

  // The instruction goes straight on in code that is at hand: retire() is complete() alone. Any
  // transfer of control, change of state or uncommon instruction makes this false.
  bool at_hand(const Insn& insn, Linear linear) const {
    return !(insn.flags & kUncommon) && linear == next_ &&
           linear + insn.length - 1 - window_ < window_bytes_ && clock_ >= code_ready_;
  }
  void complete(const Insn& insn) {
    bank_->count[Instructions]++;
    next_ += insn.length;
    if (joins(insn)) return join(insn);
    // Into U.
    uint32_t clocks = clocks_[insn.cls];
    u_ = insn.as_u;
    u_clocks_ = clocks;
    pair_before_ = pair_;
    pair_ = next_ - insn.length;
    // A prefix keeps the decoder busy, not the pipes: it hides nothing of the next one.
    if (rule(Rule::Prefix) && insn.prefixes) {
      const uint32_t decode = prefix_clocks(insn.prefixes);
      clock_ += decode;
      // The clock in which an address would have waited has passed (estimate, from what AGI is).
      if (decode && rule(Rule::AgiPrefix)) agi_writes_ = 0;
    }
    u_interlock_ = rule(Rule::Agi) ? insn.address & agi_writes_ : 0;
    if (u_interlock_) clocks += address_interlock();
    agi_before_ = agi_writes_;
    agi_writes_ = insn.agi_writes;
    last_clocks_ = clocks;
    clock_ += clocks;
    locked_ = insn.flags & kLocked;
    u_bank_ = kNoBank;
    v_bank_ = kNotInV;
  }

  void retire(const Insn& insn, Linear linear) {
    if (at_hand(insn, linear)) return complete(insn);
    retire_elsewhere(insn, linear);
  }
  // The same for an instruction that is not at hand.
  void retire_elsewhere(const Insn& insn, Linear linear) {
    if (__builtin_expect(aside_, 0)) return retire_aside(insn, linear);
    const Linear last = linear + insn.length - 1;
    if (!(insn.flags & kUncommon)) {
      if (clock_ >= code_ready_) {
        if (enter_line(linear, last)) {
          next_ = linear;
          return complete(insn);
        }
      } else if (linear == next_ && last - window_ < window_bytes_) {
        wait_for_code(linear, last);
        look_at_new_code(insn);
        return complete(insn);
      }
    }
    retire_slow(insn, linear);
  }

  // An instruction that is no part of the measured program (a marker): no time, no count, not
  // even its fetch.
  void skip(const Insn& insn, Linear linear) {
    if (linear == next_) next_ += insn.length;
  }

  // `first_piece`: the access goes on in the next page with another call.
  void data(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
            bool first_piece = false) {
    if (__builtin_expect(special_, 0)) {
      return data_special(linear, physical, bytes, kind, first_piece);
    }
    data_timed(linear, physical, bytes, kind, first_piece);
  }

  // A near branch, the last instruction retired: where it would go or goes.
  void branch(Linear linear, Linear target, bool taken, bool conditional) {
    bank_->count[Branches]++;
    if (kX86_64 || __builtin_expect(!timing_on_, 0)) return;
    if (__builtin_expect(foretold_ != kNoPair, 0)) {
      if (foretold_ != pair_before_) false_hit();
      foretold_ = kNoPair;
    }
    const uint32_t key = rule(Rule::BtbPairBefore) && btb_by_pair_ ? pair_before_ : linear;
    // Right behind a mispredicted branch there is no look-up [AGN-MA 3.2].
    Btb::Entry* entry =
        rule(Rule::BtbBehindFlush) && pair_before_ == flushed_ ? nullptr : btb_.find(key);
    flushed_ = kNoPair;
    if (!entry && !taken) {
      if (!rule(Rule::BtbEnterTaken)) btb_.insert(key, target);
      return foretell();
    }
    bank_->count[TakenOrBtbHit]++;
    bool right = false;
    if (entry) {
      bank_->count[BtbHits]++;
      right = entry->predicts(taken, target);
      Btb::update(entry, taken, target, pairs());
    } else if (target != next_ || !rule(Rule::BtbNextInstruction)) {
      btb_.insert(key, target);
    }
    if (!right) return mispredicted(conditional && linear != pair_);
    foretell();
  }

  void repeat() {
    clock_ += iteration_clocks();
    rep_setup_ = 0;
  }

  // The accesses of up to `count` iterations and repeat() for all but the last of them, as if each
  // had been reported alone; how many. The last one is where `pace` is due, or `count`.
  uint32_t block(const Block& block, uint32_t count, Pace* pace);

  // Transfers of control beside near branches. The ring and mode they lead to are told by the
  // next set_state().
  void soft_interrupt(uint8_t vector);
  // `resume` is the linear address at which the interrupted code goes on.
  void hard_interrupt(uint8_t vector, Linear resume);
  // `fault`: the current instruction did not complete and will not count.
  void exception(uint8_t vector, bool fault, Linear resume);
  void far_transfer(Crossing kind);  // Gate: far JMP/CALL, Far: far RET, Iret
  // What a far JMP or CALL, INT, IRET, interrupt or exception turns out to be; between its
  // instruction or delivery and the next set_state(). `parameters` are those of the gate.
  void call_gate(uint32_t parameters);
  void task_switch(Task to);
  // After exception() with vector 14: the access that could not be translated.
  void page_fault(Linear linear, bool code, bool present);

  // A serialising instruction that may change the state (MOV CR0, MOV CR4): what was prefetched
  // is dropped [INTEL-DM].
  void serialize() { window_bytes_ = 0; }
  void load_cr3(Space value);
  void invalidate_page(Linear linear);
  void flush_caches(bool write_back);         // WBINVD, INVD
  void page_table_update(uint32_t physical);  // accessed or dirty bit set: a locked cycle
  void port(uint16_t port, bool write, uint32_t bytes = 1);
  // A card on ISA answers at these with 16 bits (IOCS16).
  void wide_ports(uint16_t first, uint16_t last) { wide_first_ = first, wide_last_ = last; }
  // Something outside of the processor is counted in the ring and address space it finds.
  void count(Event event, uint64_t number) { bank_->count[event] += number; }
  // Another bus master (DMA) reads or writes memory.
  void bus_master(uint32_t physical, uint32_t bytes, bool write);
  // The next data accesses are locked, until told otherwise or another instruction begins:
  // accessed and busy bits of descriptors.
  void lock(bool on) { locked_ = on && timing_on_; }
  void write_tr12(uint32_t value);
  uint32_t tr12() const { return tr12_; }
  void idle(uint64_t clocks);  // time in HLT
  // DR0 to DR3, and DR7, which says what each of them watches [INTEL-DM 17]. A register that holds
  // zero, as after power-up, watches nothing.
  void set_breakpoints(const std::array<Linear, 4>& addresses, uint32_t control);

  uint64_t clock() const { return clock_; }  // core clocks since power-up
  // The counters with the time up to now in them.
  const Counters& counters() {
    if (foretold_ != kNoPair && foretold_ != pair_ && foretold_ != pair_before_) false_hit();
    fold();
    return counters_;
  }
  CounterMsrs& msrs() {
    fold();
    return msrs_;
  }
  const uint64_t* clock_address() const { return &clock_; }  // for readers in a hot path
  const State& state() const { return state_; }

  // Executions of instruction classes that the timing table does not know.
  const std::map<uint16_t, uint64_t>& unknown() const { return unknown_; }

 private:
  // A branch or the next line, in the page that code came from last, of a line that L1I has used
  // most recently: the fetch that changes nothing but the window.
  bool enter_line(Linear linear, Linear last) {
    const Linear first = linear & ~Linear(code_line_ - 1);
    if (linear >> 12 != code_page_ || last - first >= code_line_ ||
        !l1i_.quick_read(code_frame_ | (linear & 0xFFF))) {
      return false;
    }
    bank_->count[CodeReads]++;
    window_ = first;
    window_bytes_ = code_line_;
    cold_ = single_pipe_;
    return true;
  }
  // Whether the rules of pairing let an instruction into V, beside the one in U.
  bool joins(const Insn& insn) const { return (u_ & (insn.as_v | cold_)) == 0; }
  // Into V, beside the instruction in U: the two take the longer one's clocks, and more where both
  // want memory or the arithmetic unit at the same time [AGN-MA 3.4].
  void join(const Insn& insn) {
    bank_->count[InstructionsV]++;
    u_ = kNothingJoins;
    const uint32_t own = rule(Rule::PairSerial) ? clocks_[insn.cls] : 1;
    uint32_t clocks = own ? own - 1 - (rule(Rule::PairOverlap) && own > 1 && u_clocks_ == 2) : 0;
    if (rule(Rule::AgiInV) && insn.address & agi_before_) {
      // Both pipes wait in the same clock [INTEL-DM 16, event 1Fh].
      const uint32_t stall = address_interlock();
      if (!u_interlock_ || !rule(Rule::AgiOnce)) clocks += stall;
    }
    if (rule(Rule::AgiFromV)) agi_writes_ |= insn.agi_writes;
    last_clocks_ += clocks;
    clock_ += clocks;
    locked_ = false;
    v_bank_ = u_bank_;
  }
  uint32_t iteration_clocks() const {
    if (!timing_on_) return 1;
    return (rule(Rule::RepIteration) ? per_iteration_[rep_class_] : 0) + rep_setup_;
  }
  void retire_slow(const Insn& insn, Linear linear);
  void retire_aside(const Insn& insn, Linear linear);
  void step_aside(bool on);
  void match_code(const Insn& insn, Linear linear);
  bool warm(const Insn& insn, Linear linear);
  // Of complete() what warming needs: the branch target buffer knows branches by their pairs.
  void pass(const Insn& insn) {
    bank_->count[Instructions]++;
    next_ += insn.length;
    locked_ = insn.flags & kLocked;
    if (joins(insn)) {
      u_ = kNothingJoins;
      return;
    }
    u_ = insn.as_u;
    pair_before_ = pair_;
    pair_ = next_ - insn.length;
  }
  void watch_data(Linear linear, uint32_t bytes, DataKind kind);
  void retire_fpu(const Insn& insn);
  bool retire_uncommon(const Insn& insn, Linear linear);
  void fetch(Linear linear, Linear last);
  void fetch_line(Linear linear);
  void forget_boundaries();
  void wait_for_code(Linear linear, Linear last);
  uint32_t prefix_clocks(uint32_t prefixes) const {
    // An instruction of N clocks hides N-1 clocks of its successor's prefixes [AGN-MA].
    const uint32_t cost = prefixes * prefix_cost_ + 1;
    if (!rule(Rule::PrefixHidden)) return cost - 1;
    return cost > last_clocks_ ? cost - last_clocks_ : 0;
  }
  uint32_t address_interlock() {
    bank_->count[AgiStalls] += agi_cost_;
    return agi_cost_;
  }
  // Strong ordering: a write to an E or M line waits for empty write buffers [INTEL-DM 3].
  void wait_for_writes() {
    const uint64_t done = memory_.writes_done();
    if (clock_ >= done || !rule(Rule::WriteOrder) || !config_.feedback) return;
    bank_->count[StallWriteME] += done - clock_;
    clock_ = done;
  }
  void mispredicted(bool conditional_in_v) {
    bank_->count[PipelineFlushes]++;
    const bool late = rule(Rule::MispredictV) && conditional_in_v;
    if (rule(Rule::Mispredict)) {
      clock_ += late ? config_.mispredict_v_clocks : config_.mispredict_clocks;
    }
    flushed_ = pair_;
  }
  // An entry of the branch target buffer may be told by a pair that has a branch itself, or that
  // was another pair when its code came in: it fires on whatever pair comes next [AGN-MA 3.2]. Here
  // that is found out when the next branch comes.
  void foretell() {
    if (__builtin_expect(btb_.may_hold(pair_), 0)) foretell_branch();
  }
  void foretell_branch();
  // In code that has just come in pairs are not what they were.
  void look_at_new_code(const Insn& insn) {
    if (!(cold_ & kLong) || joins(insn)) return;
    if (foretold_ != kNoPair && foretold_ != pair_) false_hit();
    foretell();
  }
  void false_hit();
  uint32_t pairs() const {
    return uint32_t(bank_->count[Instructions] - bank_->count[InstructionsV]);
  }
  // Both instructions of a pair access memory; L1D has 8 banks of 4 bytes [INTEL-DM 2].
  void second_access(uint32_t physical) {
    bank_->count[MemoryBothPipes]++;
    if (rule(Rule::BankConflict) && (physical & kBankBits) == v_bank_) {
      bank_->count[BankConflicts]++;
      clock_++;
    }
    v_bank_ = kNoBank;
  }
  void data_timed(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                  bool first_piece) {
    if (__builtin_expect(
            paging_ && !dtlb_.quick(linear >> 12) && !dtlb_large_.quick(linear >> kLargePageShift),
            0)) {
      return data_untranslated(linear, physical, bytes, kind, first_piece);
    }
    data_translated(linear, physical, bytes, kind, first_piece);
  }
  // In a page without PageBits.
  void data_translated(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                       bool first_piece) {
    if (v_bank_ < kNotInV) second_access(physical);
    u_bank_ = physical & kBankBits;
    if (__builtin_expect((linear & (kGrain - 1)) + bytes > kGrain || locked_ || first_piece, 0)) {
      return data_slow(linear, physical, bytes, kind, first_piece);
    }
    if (kind == DataKind::Read) {
      if (clock_ < fill_done_ || !l1d_.quick_read(physical)) return read_piece(physical);
      bank_->count[DataReads]++;
    } else if (clock_ >= fill_done_ && l1d_.quick_write(physical)) {
      bank_->count[DataReads] += kind == DataKind::ReadWrite;
      bank_->count[DataWrites]++;
      bank_->count[WriteHitsME]++;
      wait_for_writes();
    } else if (kind == DataKind::Write) {
      if ((physical & ~(data_line_ - 1)) == missed_) return write_again();
      write_piece(physical);
    } else {
      data_slow(linear, physical, bytes, kind, first_piece);
    }
  }
  void data_special(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                    bool first_piece);
  void data_untranslated(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                         bool first_piece);
  void data_slow(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind, bool first_piece);
  void read_piece(uint32_t physical);
  void write_piece(uint32_t physical);
  void write_again();
  Pipe pipe() const { return v_bank_ == kNotInV ? Pipe::U : Pipe::V; }
  void locked_access(uint32_t physical);
  // What a line comes in as.
  Fill fill_state(uint32_t attributes) const {
    if (!rule(Rule::PageNoCache)) attributes &= ~kNoCache;
    if (!rule(Rule::PageWriteThrough)) attributes &= ~kWriteThrough;
    if (!state_.caching || attributes & kNoCache) return Fill::None;
    const bool once = rule(Rule::WriteOnce) && config_.write_once;
    return once || attributes & kWriteThrough ? Fill::Shared : Fill::Exclusive;
  }
  void noncacheable_read(uint32_t physical, Event stall);
  uint32_t translate_data(Linear linear);
  uint32_t look_up_data(Linear linear);
  // ... and what it becomes when it is written: a shared line exclusive, but not in a page of PWT
  // [INTEL-DM 3].
  Fill write_state() const {
    return page_bits_ || !state_.caching ? fill_state(page_bits_) : Fill::Exclusive;
  }
  PageWalk page_walk(Linear linear);
  PageWalk walk(Linear linear);
  bool cached(uint32_t physical) const {
    const uint32_t page = physical >> 12;
    return page < cached_pages_.size() && cached_pages_[page];
  }
  Memory::Line read_line(uint32_t physical) {
    missed_ = kNoLine;
    return memory_.read_line(physical, clock_, *bank_);
  }
  void walk_read(uint32_t physical) {
    missed_ = kNoLine;
    wait(memory_.read_single(physical, clock_, *bank_), StallWalk);
  }
  // A dirty line leaves L1D for the bus, which takes it from clock `when` on.
  void write_back(uint32_t line, uint64_t when) {
    bank_->count[L1dWritebacks]++;
    memory_.write_line(line, when, *bank_);
  }
  void start_fill(uint32_t line, const Memory::Line& fill, const CacheAccess& access);
  // For memory. Without feedback there is nothing to wait for, though the bus can be a few clocks
  // ahead of the core, which takes back what it has charged too early (REP, x87).
  void wait(uint64_t until, Event stall) {
    if (config_.feedback) stall_until(until, stall);
  }
  void stall_until(uint64_t until, Event stall);
  void delivery(Entry entry, uint8_t vector, Crossing crossing);
  void transfer(Crossing crossing);
  void becomes(ClassId cls);
  void leave_rep(Linear resume);
  // Is the REP at `linear` still under way? Not once something has retired behind it: the fast
  // path leaves in_rep_ alone, and a loop may come back to the same REP.
  bool rep_continues(Linear linear) const {
    return in_rep_ && rep_linear_ == linear && next_ == rep_next_;
  }
  void flush_tlbs(bool global_too);
  void drop_prefetch() {
    window_bytes_ = 0;
    code_page_ = kNoPage;
  }
  void fold() {
    bank_->count[CyclesBusy] += clock_ - folded_;
    folded_ = clock_;
    const uint64_t busy = memory_.busy();
    bank_->count[BusBusy] += busy - folded_busy_;
    folded_busy_ = busy;
  }

  // Hot state first.
  uint64_t clock_ = 0;
  uint64_t fill_done_ = 0;     // before this clock a data line is being filled
  uint64_t code_ready_ = 0;    // before this clock the fetched line is incomplete, or each of
                               // its instructions is to be looked at
  Bank* bank_;                 // of the current address space and ring
  const uint16_t* clocks_;     // [class], of the current mode
  Linear next_ = 0;            // linear address behind the last instruction
  Linear window_ = 0;          // linear address of what was fetched last ...
  uint32_t window_bytes_ = 0;  // ... and how much; 0: nothing (always with timing off)
  static constexpr uint32_t kNoLine = ~0u;
  static constexpr Linear kNoPage = ~Linear(0), kNoPair = 1;
  uint32_t code_line_, data_line_;  // bytes in a line of L1I and L1D
  uint32_t line_shift_;             // log2 of data_line_
  uint32_t missed_ = kNoLine;       // line of the last write that missed without allocating; no
                                    // cache has taken a line in since
  Linear code_page_ = kNoPage;      // linear page that code was fetched from last: its translation
  uint32_t code_frame_ = 0;         // stays that of the ITLB until something else is fetched
  uint32_t last_clocks_ = 1;        // of the last instruction, 0 not allowed
  uint32_t prefix_cost_, agi_cost_;
  uint32_t u_clocks_ = 1;       // of the instruction in U, all hits
  Linear pair_ = 0;             // linear address of the instruction in U ...
  Linear pair_before_ = 0;      // ... and of the one before it
  Linear flushed_ = kNoPair;    // of the pair of the last branch if that was mispredicted
  Linear foretold_ = kNoPair;   // of the pair behind which the branch target buffer has a branch
  uint16_t u_ = kNothingJoins;  // what may join the instruction in U (Insn::as_u)
  uint16_t cold_ = 0;           // kLong: of a code line that has just come in, instruction
                                // boundaries are not known [INTEL-OPT]; kAlways: see below
  uint16_t single_pipe_ = 0;    // kAlways: nothing goes into V
  // What an access may not cross to be a simple one: see data_slow().
  static constexpr uint32_t kGrain = kX86_64 ? 8 : 4;
  static constexpr uint8_t kBankBits = 0x1C, kNotInV = 0xFE, kNoBank = 0xFF;
  uint8_t u_bank_ = kNoBank;  // of L1D, that the instruction in U accessed
  uint8_t v_bank_ = kNotInV;  // the same while its neighbour in V is executed, kNoBank from
                              // an access of its own on
  RegMask agi_writes_ = 0;    // registers written by the current pair ...
  RegMask agi_before_ = 0;    // ... and by the one before it
  RegMask u_interlock_ = 0;   // of those, what the instruction in U had to wait for
  bool btb_by_pair_;
  bool paging_ = false;
  bool locked_ = false;  // the current instruction is
  bool timing_on_ = true;
  bool special_ = false;  // timing is off, or there are breakpoints
  bool warming_ = false;
  bool watching_ = false;  // there are breakpoints
  bool each_ = false;      // somebody wants to see each instruction
  bool aside_ = false;     // no instruction is at hand: one of these three
  Cache l1d_, l1i_;
  Tlb dtlb_, dtlb_large_;
  Memory memory_;
  Btb btb_;

  Tlb itlb_;
  Fpu fpu_;
  uint64_t fxch_in_v_ = 0;  // instructions counted when the last FXCH went into V ...
  uint64_t fp_store_ = 0;   // ... and at the last FST or FSTP to memory
  Counters counters_;
  CounterMsrs msrs_;
  const Config machine_;
  Config config_;  // the machine, without feedback while warming
  const TimingTable& timing_;
  Platform& platform_;
  std::unique_ptr<Shadows> shadows_;
  State state_;
  uint16_t wide_first_ = 1, wide_last_ = 0;  // ports; none
  Bank* ring_banks_[4] = {};
  uint64_t folded_ = 0;                // clocks that the banks have ...
  uint64_t folded_busy_ = 0;           // ... and the bus's
  std::vector<uint8_t> cached_pages_;  // [physical page] 0: not cacheable
  uint32_t page_bits_ = 0;             // PageBits of the data page being accessed ...
  uint32_t code_attributes_ = 0;       // ... and of code_page_
  struct Breakpoint {
    Linear linear = 0;
    uint32_t bytes = 1;
    enum : uint8_t { Code, Writes, Ports, Accesses } what = Code;  // as DR7 has it
    bool enabled = false;
  };
  Breakpoint breakpoints_[4];
  uint64_t true_code_ready_ = 0;  // while aside_
  bool walked_ = false;           // the access missed the DTLB
  uint64_t code_complete_ = 0;    // before this clock the fetched line is incomplete
  Linear code_qword_ = 0;         // linear address / 8 of the qword that came first
  uint32_t tr12_ = 0;
  uint32_t filling_ = ~0u;              // physical address of the data line being filled
  Crossing crossing_ = Crossing::None;  // transfer under way, resolved by set_state()
  ClassId transfer_class_ = 0;          // the timing row of the last one, as charged
  uint32_t parameters_ = 0;             // of its gate
  const uint16_t* per_iteration_;
  ClassId rep_class_ = 0;
  uint32_t rep_setup_ = 0;  // clocks that its first iteration brings
  Linear rep_linear_ = 0;   // of the REP instruction under way ...
  Linear rep_next_ = 0;     // ... and of the one behind it
  bool in_rep_ = false;
  std::vector<std::pair<Space, Linear>> interrupted_reps_;
  std::map<uint16_t, uint64_t> unknown_;
};

}  // namespace p5
