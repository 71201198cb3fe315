// SPDX-License-Identifier: MIT
// Branch prediction: what a near branch finds in the branch target buffer (btb.hh), and what a
// wrong prediction costs.
#pragma once

#include <cstdint>

#include "btb.hh"
#include "core.hh"
#include "pipes.hh"

namespace p5 {

class Prediction {
 public:
  Prediction(Core& core, Pipes& pipes);

  // The last instruction is a near branch to `target`; `next` is the address behind it.
  void branch(Core& core, const Pipes& pipes, Linear linear, Linear target, bool taken,
              bool conditional, Linear next) {
    if (__builtin_expect(foretold_ != kNoPair, 0)) {
      if (foretold_ != pipes.pair_before()) false_hit();
      foretold_ = kNoPair;
    }
    const uint32_t key =
        uint32_t(rule(Rule::BtbPairBefore) && by_pair_ ? pipes.pair_before() : linear);
    // Right behind a mispredicted branch there is no look-up [AGN-MA 3.2].
    Btb::Entry* entry =
        rule(Rule::BtbBehindFlush) && pipes.pair_before() == flushed_ ? nullptr : btb_.find(key);
    flushed_ = kNoPair;
    if (!entry && !taken) {
      if (!rule(Rule::BtbEnterTaken)) btb_.insert(key, uint32_t(target));
      return foretell(pipes);
    }
    core.count(TakenOrBtbHit);
    bool right = false;
    if (entry) {
      core.count(BtbHits);
      right = entry->predicts(taken, uint32_t(target));
      Btb::update(entry, taken, uint32_t(target), core.pairs());
    } else if (target != next || !rule(Rule::BtbNextInstruction)) {
      btb_.insert(key, uint32_t(target));
    }
    if (!right) return mispredicted(core, pipes, conditional && linear != pipes.pair());
    foretell(pipes);
  }

  // An instruction begins. In new code the pairs are not those that the buffer knows.
  void enter_new_code(const Pipes& pipes, const Insn& insn) {
    if (!pipes.in_new_code() || pipes.joins(insn)) return;
    if (foretold_ != kNoPair && foretold_ != pipes.pair()) false_hit();
    if (btb_.may_hold(uint32_t(pipes.pair()))) look_behind(pipes.pair());
  }
  // False: the buffer has no entry of code in these bytes. True: it may have one.
  bool may_hold(Linear first, uint32_t bytes) const {
    return btb_.may_hold(uint32_t(first), bytes);
  }

  // A branch was predicted behind a pair that has passed without one: this costs its clocks now.
  void settle() {
    if (foretold_ != kNoPair && foretold_ != pipes_.pair() && foretold_ != pipes_.pair_before()) {
      false_hit();
    }
  }
  // No branch is predicted for the next pair any more.
  void forget() { foretold_ = kNoPair; }
  // A CR3 load empties the buffer.
  void load_cr3();
  // TR12.NBP: nothing is entered in the buffer.
  void allocate(bool on) { btb_.allocate(on); }

 private:
  static constexpr Linear kNoPair = 1;

  // The buffer may have an entry with the key `pair` though no branch follows: the pair has a
  // branch itself, or it was another pair when its code came in. The entry fires on the pair that
  // comes next [AGN-MA 3.2]. The model finds out when the next branch comes.
  void foretell(const Pipes& pipes) {
    const Linear pair = pipes.pair();
    if (__builtin_expect(btb_.may_hold(uint32_t(pair)), 0)) foretell_behind(pair);
  }
  [[gnu::always_inline]] void look_behind(Linear pair) {
    const Btb::Entry* entry = by_pair_ && pair != flushed_ ? btb_.find(uint32_t(pair)) : nullptr;
    if (entry && entry->predicts_taken()) foretold_ = pair;
  }
  void foretell_behind(Linear pair);  // look_behind() as a call: branch() stays small
  void false_hit();
  void mispredicted(Core& core, const Pipes& pipes, bool conditional_in_v) {
    core.count(PipelineFlushes);
    const bool late = rule(Rule::MispredictV) && conditional_in_v;
    if (rule(Rule::Mispredict)) {
      core.clock += late ? core.config.mispredict_v_clocks : core.config.mispredict_clocks;
    }
    flushed_ = pipes.pair();
  }

  bool by_pair_;
  Linear flushed_ = kNoPair;   // pair of the last branch if that was mispredicted
  Linear foretold_ = kNoPair;  // pair behind which the branch target buffer has a branch
  Btb btb_;
  Core& core_;
  Pipes& pipes_;
};

}  // namespace p5
