// SPDX-License-Identifier: MIT
// How is a near branch predicted, and what does a wrong prediction cost? The branch target buffer
// (btb.hh) makes the prediction.
#pragma once

#include <cstdint>

#include "p5/btb.hh"
#include "p5/core.hh"
#include "p5/pipes.hh"

namespace p5 {

class Prediction {
 public:
  Prediction(Core& core, Pipes& pipes);

  // The last instruction is a near branch to `target`. `next` is the address after the branch.
  void branch(const Pipes& pipes, Linear linear, Linear target, bool taken, bool conditional,
              Linear next) {
    if (!taken && rule(Rule::BtbEnterTaken) && predicted_after_ == kNoPair &&
        !btb_.may_hold(key_of(pipes, linear)) && !btb_.may_hold(uint32_t(pipes.pair()))) {
      flushed_ = kNoPair;
      return;
    }
    look_up(linear, target, taken, conditional, next);
  }

  // An instruction begins, and its code is new in L1I. The pairing of this instruction may differ
  // from the pairing at its last execution.
  void enter_new_code(const Pipes& pipes, const Insn& insn) {
    if (!pipes.in_new_code() || pipes.joins(insn)) return;
    if (predicted_after_ != kNoPair && predicted_after_ != pipes.pair()) false_hit();
    if (btb_.may_hold(uint32_t(pipes.pair()))) look_behind(pipes.pair());
  }
  // Whether an entry may belong to code in these bytes. If the result is false, the buffer
  // certainly has no entry for this code.
  bool may_hold(Linear first, uint32_t bytes) const {
    return btb_.may_hold(uint32_t(first), bytes);
  }

  // Charges the clocks of a misprediction if a branch was predicted after a pair and no branch
  // followed.
  void settle() {
    if (predicted_after_ != kNoPair && predicted_after_ != pipes_.pair() &&
        predicted_after_ != pipes_.pair_before()) {
      false_hit();
    }
  }
  // Drops the prediction for the next pair.
  void forget() { predicted_after_ = kNoPair; }
  // A CR3 load empties the buffer.
  void load_cr3();
  // TR12.NBP: no new entries are added to the buffer.
  void allocate(bool on) { btb_.allocate(on); }

 private:
  static constexpr Linear kNoPair = 1;

  // The key of the buffer's entry for the branch at `linear`.
  uint32_t key_of(const Pipes& pipes, Linear linear) const {
    return uint32_t(rule(Rule::BtbPairBefore) && by_pair_ ? pipes.pair_before() : linear);
  }
  // branch() for a branch that is taken, or about which the buffer may know something.
  void look_up(Linear linear, Linear target, bool taken, bool conditional, Linear next);

  // Some entries of the buffer belong to a pair that contains a branch, or to a pair that was split
  // when its code was new. Such an entry predicts a branch in the next pair, even if the next pair
  // contains no branch [AGN-MA 3.2]. The model detects the wrong prediction at the next branch.
  void predict(const Pipes& pipes) {
    const Linear pair = pipes.pair();
    if (__builtin_expect(btb_.may_hold(uint32_t(pair)), 0)) predict_behind(pair);
  }
  [[gnu::always_inline]] void look_behind(Linear pair) {
    const Btb::Entry* entry = by_pair_ && pair != flushed_ ? btb_.find(uint32_t(pair)) : nullptr;
    if (entry && entry->predicts_taken()) predicted_after_ = pair;
  }
  void predict_behind(Linear pair);  // look_behind(), but not inline, so branch() stays small
  void false_hit();
  void mispredicted(bool conditional_in_v);

  bool by_pair_;
  Linear flushed_ = kNoPair;          // pair of the last branch, if it was mispredicted
  Linear predicted_after_ = kNoPair;  // pair after which the buffer predicts a branch
  Btb btb_;
  Core& core_;
  Pipes& pipes_;
};

}  // namespace p5
