// SPDX-License-Identifier: MIT
#include "chip_statistics.hh"

#include <algorithm>

namespace gem5::p5lab {

ChipStatistics::ChipStatistics(statistics::Group* parent, ::p5lab::Chip& chip)
    : Group(parent, "chip"),
      chip_(chip),
      warmed_(this, "warmed", statistics::units::Count::get(),
              "instructions of the chip before the last reset, from cold or from a take-over") {
  for (const ::p5lab::Counted& event : chip.events()) {
    std::string name = event.name;
    std::replace(name.begin(), name.end(), '.', '_');
    const statistics::units::Base* unit = statistics::units::Count::get();
    if (event.unit == "cycles") unit = statistics::units::Cycle::get();
    auto vector =
        std::make_unique<statistics::Vector>(this, name.c_str(), unit, event.description.c_str());
    vector->init(kRings);
    for (unsigned ring = 0; ring < kRings; ring++) {
      vector->subname(ring, "ring" + std::to_string(ring));
    }
    if (event.name == "instructions") instructions_ = events_.size();
    events_.push_back(std::move(vector));
  }
  for (auto& counts : at_reset_) counts.assign(events_.size(), 0);
}

uint64_t ChipStatistics::instructions() const {
  uint64_t total = 0;
  for (unsigned ring = 0; ring < kRings; ring++) total += chip_.counts(ring)[instructions_];
  return total;
}

void ChipStatistics::preDumpStats() {
  Group::preDumpStats();
  warmed_ = double(warmed_at_reset_);
  for (unsigned ring = 0; ring < kRings; ring++) {
    const std::vector<uint64_t> now = chip_.counts(ring);
    for (size_t i = 0; i < now.size(); i++) {
      (*events_[i])[ring] = double(now[i] - at_reset_[ring][i]);
    }
  }
}

void ChipStatistics::resetStats() {
  Group::resetStats();
  for (unsigned ring = 0; ring < kRings; ring++) at_reset_[ring] = chip_.counts(ring);
  clock_at_reset_ = chip_.clock();
  warmed_at_reset_ = instructions() - cold_at_;
}

}  // namespace gem5::p5lab
