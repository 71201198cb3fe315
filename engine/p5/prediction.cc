// SPDX-License-Identifier: MIT
#include "p5/prediction.hh"

namespace p5 {

Prediction::Prediction(Core& core, Pipes& pipes)
    : by_pair_(core.machine.btb.by_pair), btb_(core.machine.btb), core_(core), pipes_(pipes) {}

inline void Prediction::mispredicted(bool conditional_in_v) {
  core_.count(PipelineFlushes);
  if (rule(Rule::Mispredict)) {
    core_.spend(CpiBranches, rule(Rule::MispredictV) && conditional_in_v
                                 ? core_.config.mispredict_v_clocks
                                 : core_.config.mispredict_clocks);
  }
  flushed_ = pipes_.pair();
}

void Prediction::look_up(Linear linear, Linear target, bool taken, bool conditional, Linear next) {
  if (__builtin_expect(predicted_after_ != kNoPair, 0)) {
    if (predicted_after_ != pipes_.pair_before()) false_hit();
    predicted_after_ = kNoPair;
  }
  const uint32_t key = key_of(pipes_, linear);
  // There is no look-up directly after a mispredicted branch [AGN-MA 3.2].
  Btb::Entry* entry =
      rule(Rule::BtbBehindFlush) && pipes_.pair_before() == flushed_ ? nullptr : btb_.find(key);
  flushed_ = kNoPair;
  if (!entry && !taken) {
    if (!rule(Rule::BtbEnterTaken)) btb_.insert(key, uint32_t(target));
    return predict(pipes_);
  }
  core_.count(TakenOrBtbHit);
  bool right = false;
  if (entry) {
    core_.count(BtbHits);
    right = entry->predicts(taken, uint32_t(target));
    Btb::update(entry, taken, uint32_t(target), core_.pairs());
  } else if (target != next || !rule(Rule::BtbNextInstruction)) {
    btb_.insert(key, uint32_t(target));
  }
  if (!right) return mispredicted(conditional && linear != pipes_.pair());
  predict(pipes_);
}

void Prediction::predict_behind(Linear pair) { look_behind(pair); }

void Prediction::false_hit() {
  Btb::Entry* entry = btb_.find(uint32_t(predicted_after_));
  predicted_after_ = kNoPair;
  if (!rule(Rule::BtbFalseHit)) return;
  core_.count(PipelineFlushes);
  core_.spend(CpiBranches, core_.config.mispredict_clocks);
  if (entry && rule(Rule::BtbFalseDown)) Btb::update(entry, false, 0, core_.pairs());
}

void Prediction::load_cr3() {
  predicted_after_ = kNoPair;
  if (rule(Rule::BtbCr3)) btb_.flush();  // INTEL-DM 2, INTEL-SU erratum 60
}

}  // namespace p5
