// SPDX-License-Identifier: MIT
#include "prediction.hh"

namespace p5 {

Prediction::Prediction(Core& core, Pipes& pipes)
    : by_pair_(core.machine.btb.by_pair), btb_(core.machine.btb), core_(core), pipes_(pipes) {}

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
