// SPDX-License-Identifier: MIT
#include "observe/places.hh"

#include <algorithm>

#include "base/json.hh"
#include "observe/names.hh"

namespace observe {
namespace {

using base::JsonLine;

// A count can be negative: the model can add clocks at one place and subtract them at the next one.
std::string events(const Places::Counts& counts, const std::vector<uint32_t>& counted) {
  std::string text = "[";
  for (const uint32_t event : counted) {
    if (text.size() > 1) text += ',';
    text += std::to_string(int64_t(counts.events[event]));
  }
  return text + "]";
}

std::string vectors(const Places::Counts& counts) {
  std::string text = "[";
  for (const auto& [key, count] : counts.vectors) {
    if (text.size() > 1) text += ',';
    text += std::string("[\"") + entry_name(key.first) + "\"," + std::to_string(key.second) + "," +
            std::to_string(count) + "]";
  }
  return text + "]";
}

bool any(const Places::Counts& counts) {
  return !counts.vectors.empty() || std::any_of(counts.events.begin(), counts.events.end(),
                                                [](uint64_t count) { return count != 0; });
}

}  // namespace

void Places::start() {
  place_ = {&model_.bank(), value()};
  seen_ = model_.bank().count;
}

void Places::enter_place() {
  flush();
  place_ = {&model_.bank(), value()};
  seen_ = model_.bank().count;
}

void Places::flush() {
  model_.settle();
  const auto& now = place_.first->count;
  for (Phase* phase : open_) {
    Counts& counts = here(phase);
    for (size_t i = 0; i < p5::kEventCount; i++) counts.events[i] += now[i] - seen_[i];
  }
  seen_ = now;
}

Places::Counts& Places::here(Phase* phase) {
  const auto [known, is_new] = phase->numbers.insert({place_, phase->counts.size()});
  if (is_new) phase->counts.push_back({place_, {}});
  return phase->counts[known->second].second;
}

void Places::delivered(p5::Entry entry, uint8_t vector, Position) {
  for (Phase* phase : open_) here(phase).vectors[{entry, vector}]++;
}

void Places::begin(uint32_t number) {
  flush();
  Phase& phase = phases_[number];
  phase.began.clear();
  for (const auto& bank : model_.banks().banks()) phase.began[bank.get()] = bank->count;
  open_.push_back(&phase);
}

void Places::end() {
  flush();
  Phase& phase = *open_.back();
  for (const auto& bank : model_.banks().banks()) {
    auto& grown = phase.grown[bank.get()];
    const auto& began = phase.began[bank.get()];
    for (size_t i = 0; i < p5::kEventCount; i++) grown[i] += bank->count[i] - began[i];
  }
  open_.pop_back();
}

void Places::stop() {
  while (!open_.empty()) end();
}

std::string Places::differs() const {
  for (const auto& [number, phase] : phases_) {
    Banks sums;
    for (const auto& [place, counts] : phase.counts) {
      for (size_t i = 0; i < p5::kEventCount; i++) sums[place.first][i] += counts.events[i];
    }
    for (const auto& [bank, grown] : phase.grown) {
      for (uint32_t i = 0; i < p5::kEventCount; i++) {
        if (sums[bank][i] != grown[i]) {
          return std::string("the sum over all values of ") + dimension_ +
                 " differs from the count of " + p5::event_name(i) + " of phase " +
                 std::to_string(number);
        }
      }
    }
  }
  return "";
}

std::string Places::text(const std::vector<uint32_t>& counted) const {
  JsonLine header("header");
  std::string text =
      header.member("schema_version", 1).names("events", event_names(counted)).line();
  for (const auto& [number, phase] : phases_) {
    for (const auto& [place, counts] : phase.counts) {
      if (!any(counts)) continue;
      JsonLine line(dimension_);
      line.member("phase", number).member("cr3", place.first->cr3);
      line.member("ring", place.first->ring);
      members(place.second, &line);
      line.raw("counts", events(counts, counted));
      text += line.raw("vectors", vectors(counts)).line();
    }
  }
  return text + JsonLine("end").line();
}

}  // namespace observe
