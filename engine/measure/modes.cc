// SPDX-License-Identifier: MIT
#include "measure/modes.hh"

#include <algorithm>

namespace measure {

Modes::Modes(p5::Pentium& model)
    : model_(model), place_(&model.bank(), model.state().mode), seen_(model.bank().count) {}

void Modes::move() {
  flush();
  place_ = {&model_.bank(), model_.state().mode};
  seen_ = model_.bank().count;
}

// Adds the growth of the current bank since the last flush to the current mode.
void Modes::flush() {
  model_.settle();
  const auto& now = place_.first->count;
  for (Phase* phase : open_) {
    Counts& counts = here(phase);
    for (size_t i = 0; i < p5::kEventCount; i++) counts.events[i] += now[i] - seen_[i];
  }
  seen_ = now;
}

Modes::Counts& Modes::here(Phase* phase) {
  auto& counts = phase->counts;
  const auto known = std::find_if(counts.begin(), counts.end(),
                                  [this](const auto& one) { return one.first == place_; });
  if (known != counts.end()) return known->second;
  counts.push_back({place_, {}});
  return counts.back().second;
}

void Modes::delivered(p5::Entry entry, uint8_t vector) {
  for (Phase* phase : open_) here(phase).vectors[{entry, vector}]++;
}

void Modes::begin(uint32_t number) {
  flush();
  Phase& phase = phases_[number];
  phase.began.clear();
  for (const auto& bank : model_.banks().banks()) phase.began[bank.get()] = bank->count;
  open_.push_back(&phase);
}

void Modes::end() {
  flush();
  Phase& phase = *open_.back();
  for (const auto& bank : model_.banks().banks()) {
    auto& grown = phase.grown[bank.get()];
    const auto& began = phase.began[bank.get()];
    for (size_t i = 0; i < p5::kEventCount; i++) grown[i] += bank->count[i] - began[i];
  }
  open_.pop_back();
}

void Modes::stop() {
  while (!open_.empty()) end();
}

std::string Modes::differs() const {
  for (const auto& [number, phase] : phases_) {
    Banks sums;
    for (const auto& [place, counts] : phase.counts) {
      for (size_t i = 0; i < p5::kEventCount; i++) sums[place.first][i] += counts.events[i];
    }
    for (const auto& [bank, grown] : phase.grown) {
      for (uint32_t i = 0; i < p5::kEventCount; i++) {
        if (sums[bank][i] != grown[i]) {
          return std::string(p5::event_name(i)) + " of phase " + std::to_string(number);
        }
      }
    }
  }
  return "";
}

}  // namespace measure
