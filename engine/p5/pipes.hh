// SPDX-License-Identifier: MIT
// How do the integer pipes U and V execute instructions? This part models which instructions pair
// and how many clocks a pair takes. This part also models the address-generation interlock (AGI),
// the clocks of prefixes, and the bank of L1D that each pipe uses.
#pragma once

#include <cstdint>

#include "p5/core.hh"
#include "p5/insn.hh"
#include "p5/memory.hh"

namespace p5 {

class Pipes {
 public:
  explicit Pipes(const Config& machine)
      : agi_cost_(machine.agi_clocks), prefix_cost_(machine.prefix_clocks) {}

  // Whether this instruction may go into V, beside the instruction in U.
  bool joins(const Insn& insn) const { return (u_ & (insn.as_v | cold_)) == 0; }

  // The instruction at `linear` goes into U. `clocks`: the clocks of its timing row.
  void issue(Core& core, const Insn& insn, Linear linear, uint32_t clocks) {
    u_ = insn.as_u;
    u_clocks_ = clocks;
    pair_before_ = pair_;
    pair_ = linear;
    agi_before_ = agi_writes_;
    const uint32_t waits = rule(Rule::Agi) ? insn.address & agi_writes_ : 0;
    u_interlock_ = RegMask(waits);
    if (waits | insn.prefixes) clocks += delays(core, insn.prefixes);
    agi_writes_ = insn.agi_writes;
    last_clocks_ = clocks;
    core.clock += clocks;
    u_bank_ = kNoBank;
    v_bank_ = kNotInV;
  }

  // The instruction goes into V, beside the instruction in U. `clocks`: the clocks of its timing
  // row.
  void join(Core& core, const Insn& insn, uint32_t clocks) {
    core.count(InstructionsV);
    u_ = kNothingJoins;
    v_bank_ = u_bank_;
    if (rule(Rule::AgiFromV)) agi_writes_ |= insn.agi_writes;
    const bool waits = rule(Rule::AgiInV) && insn.address & agi_before_;
    if (clocks > 1 || waits) lengthen(core, clocks, waits);
  }

  // During warming, this function only determines which instructions pair. The branch target buffer
  // needs the pairs as keys.
  void pair_only(const Insn& insn, Linear linear) {
    if (joins(insn)) {
      u_ = kNothingJoins;
      return;
    }
    u_ = insn.as_u;
    pair_before_ = pair_;
    pair_ = linear;
  }

  // Linear addresses of the instruction in U and of the previous instruction in U.
  Linear pair() const { return pair_; }
  Linear pair_before() const { return pair_before_; }

  // The current instruction accesses memory. L1D has 8 banks of 4 bytes [INTEL-DM 2].
  void access(Core& core, uint32_t physical) {
    if (v_bank_ < kNotInV) second_access(core, physical);
    u_bank_ = physical & kBankBits;
  }
  // The pipe of the current instruction.
  Pipe pipe() const { return v_bank_ == kNotInV ? Pipe::U : Pipe::V; }

  // The next code is in a line that L1I already holds. The instruction boundaries are known.
  void enter_known_code() { cold_ = single_pipe_; }
  // The next code is new in L1I. The instruction boundaries are not known yet [INTEL-OPT].
  void enter_new_code(const Core& core) {
    cold_ = single_pipe_;
    if (!core.machine.feedback || core.machine.ideal.known_code || !rule(Rule::PairCold)) return;
    cold_ |= kLong;
    u_ = kNothingJoins;
  }
  bool in_new_code() const { return cold_ & kLong; }
  // What prevents an instruction from going into V now: PairBit and registers (insn.hh).
  PairMask blocks() const { return u_; }

  // TR12.SE: no instruction goes into V. The setting applies to the next fetch and to all later
  // fetches.
  void set_single(bool on) { single_pipe_ = on ? PairMask(kAlways) : 0; }

  // Control goes to another place. The next instruction does not pair with the last executed
  // instruction.
  void flush() {
    u_ = kNothingJoins;
    v_bank_ = kNotInV;
  }
  // Forgets all instructions in the pipes.
  void empty() {
    flush();
    agi_writes_ = agi_before_ = u_interlock_ = 0;
    u_bank_ = kNoBank;
  }

 private:
  static constexpr uint8_t kBankBits = 0x1C, kNotInV = 0xFE, kNoBank = 0xFF;

  uint32_t prefix_clocks(uint32_t prefixes) const {
    // An instruction of N clocks hides N-1 clocks of the next instruction's prefixes [AGN-MA].
    const uint32_t cost = prefixes * prefix_cost_ + 1;
    if (!rule(Rule::PrefixHidden)) return cost - 1;
    return cost > last_clocks_ ? cost - last_clocks_ : 0;
  }
  uint32_t address_interlock(Core& core) {
    core.count(AgiStalls, agi_cost_);
    return agi_cost_;
  }
  // An instruction with prefixes, or with an address that must wait (u_interlock_), goes into U.
  // Adds the clocks of the prefixes to the clock. Returns the clocks of the wait.
  uint32_t delays(Core& core, uint32_t prefixes) {
    // A prefix keeps the decoder busy, not the pipes. The clocks of a prefix therefore hide no
    // clocks of the next instruction's prefixes.
    const uint32_t decode = rule(Rule::Prefix) && prefixes ? prefix_clocks(prefixes) : 0;
    core.spend(CpiPrefixes, decode);
    // After these clocks, the registers in the instruction's address cause no wait (estimate, from
    // the definition of AGI).
    if (decode && rule(Rule::AgiPrefix)) agi_before_ = u_interlock_ = 0;
    if (!u_interlock_) return 0;
    core.explain(CpiAgi, agi_cost_);
    return address_interlock(core);
  }
  // The instruction in V makes its pair longer. The pair takes the clocks of the longer
  // instruction. The pair takes more clocks if both instructions need memory or the arithmetic unit
  // at the same time [AGN-MA 3.4]. `own`: the clocks of the instruction in V. `waits`: its address
  // must wait for a register.
  void lengthen(Core& core, uint32_t own, bool waits) {
    uint32_t clocks = 0;
    if (own > 1 && rule(Rule::PairSerial)) {
      clocks = own - 1 - (rule(Rule::PairOverlap) && u_clocks_ == 2);
    }
    if (waits) {
      // Both pipes wait in the same clock [INTEL-DM 16, event 1Fh].
      const uint32_t stall = address_interlock(core);
      if (!u_interlock_ || !rule(Rule::AgiOnce)) {
        clocks += stall;
        core.explain(CpiAgi, stall);
      }
    }
    last_clocks_ += clocks;
    core.clock += clocks;
  }
  // Both instructions of a pair access memory.
  void second_access(Core& core, uint32_t physical) {
    core.count(MemoryBothPipes);
    if (rule(Rule::BankConflict) && (physical & kBankBits) == v_bank_) {
      core.count(BankConflicts);
      core.spend(CpiBanks, 1);
    }
    v_bank_ = kNoBank;
  }

  // The order of the members is deliberate: the members that issue() and join() write are not
  // neighbours. The compiler would combine two neighbours in one register, which takes more
  // instructions than two writes.
  Linear pair_ = 0;
  uint32_t agi_cost_;
  Linear pair_before_ = 0;
  uint32_t prefix_cost_;
  uint32_t u_clocks_ = 1;       // clocks of the instruction in U if all its accesses hit
  RegMask agi_writes_ = 0;      // registers that the current pair writes
  PairMask u_ = kNothingJoins;  // Insn::as_u of the instruction in U
  RegMask agi_before_ = 0;      // registers that the previous pair wrote
  PairMask cold_ = 0;           // kLong: the code is new; kAlways: no instruction goes into V
  RegMask u_interlock_ = 0;     // registers for which the instruction in U had to wait
  PairMask single_pipe_ = 0;    // kAlways: no instruction goes into V
  // While the instruction in V is executed, v_bank_ is the bank of the instruction in U. After the
  // first access in V, v_bank_ is kNoBank. If no instruction is in V, v_bank_ is kNotInV.
  uint8_t v_bank_ = kNotInV;
  uint32_t last_clocks_ = 1;  // clocks of the last instruction; never 0
  uint8_t u_bank_ = kNoBank;  // bank of L1D that the instruction in U accessed
};

}  // namespace p5
