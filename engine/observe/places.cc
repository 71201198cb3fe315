// SPDX-License-Identifier: MIT
#include "observe/places.hh"

#include <algorithm>

#include "base/json.hh"
#include "observe/names.hh"

namespace observe {
namespace {

using base::JsonLine;

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
  const auto counted = [](uint64_t count) { return count != 0; };
  return !counts.vectors.empty() ||
         std::any_of(counts.events.begin(), counts.events.end(), counted) ||
         std::any_of(counts.own.begin(), counts.own.end(), counted);
}

}  // namespace

void Places::start() {
  place_ = {&model_.bank(), value()};
  seen_ = model_.bank().count;
}

void Places::take_place() {
  if (&model_.bank() != place_.first) seen_ = model_.bank().count;
  place_ = {&model_.bank(), value()};
}

void Places::flush() {
  model_.settle();
  const Events& now = place_.first->count;
  Events growth;
  for (size_t i = 0; i < p5::kEventCount; i++) growth[i] = now[i] - seen_[i];
  seen_ = now;
  for (Phase* phase : open_) {
    Events& events = counts_at(phase, place_).events;
    for (size_t i = 0; i < p5::kEventCount; i++) events[i] += growth[i];
  }
  grew(growth);
  if (late_.read()) late_at_ = place_;
}

void Places::explain(p5::Event component) {
  Events moved{};
  moved[p5::CpiSingleOther]--;
  moved[component]++;
  for (const uint32_t event : {uint32_t(p5::CpiSingleOther), uint32_t(component)}) {
    seen_[event] += moved[event];
    for (Phase* phase : open_) counts_at(phase, late_at_).events[event] += moved[event];
  }
  grew(moved);
}

Places::Counts& Places::counts_at(Phase* phase, const Place& place) {
  const auto [known, is_new] = phase->numbers.insert({place, phase->counts.size()});
  if (is_new) phase->counts.push_back({place, {}});
  return phase->counts[known->second].second;
}

void Places::delivered(p5::Entry entry, uint8_t vector, Position) {
  for (Phase* phase : open_) counts_at(phase, place_).vectors[{entry, vector}]++;
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
  const std::vector<OwnEvent> own = own_events(counted);
  std::vector<std::string> names = event_names(counted);
  for (const OwnEvent& event : own) names.push_back(event.name);
  JsonLine header("header");
  std::string text = header.member("schema_version", 1).names("events", names).line();
  for (const auto& [number, phase] : phases_) {
    for (const auto& [place, counts] : phase.counts) {
      if (!any(counts)) continue;
      JsonLine line(dimension_);
      line.member("phase", number).member("cr3", place.first->cr3);
      line.member("ring", place.first->ring);
      members(place.second, &line);
      std::vector<uint64_t> all;
      for (const uint32_t event : counted) all.push_back(counts.events[event]);
      for (const OwnEvent& event : own)
        all.push_back(event.place < counts.own.size() ? counts.own[event.place] : 0);
      line.numbers("counts", all);
      text += line.raw("vectors", vectors(counts)).line();
    }
  }
  return text + JsonLine("end").line();
}

}  // namespace observe
