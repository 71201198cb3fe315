// SPDX-License-Identifier: MIT
#include "session/shadow_counts.hh"

#include "base/json.hh"

namespace session {
namespace {

template <class Events>
void append_events(std::string* line, const char* key, const Events& events) {
  std::vector<std::string> names;
  for (const p5::Event event : events) names.push_back(p5::event_name(event));
  line->append(",\"").append(key).append("\":");
  base::append_names(line, names);
}

}  // namespace

void append_bank(std::string* line, const char* before, const p5::Bank& bank) {
  line->append(before).append("[");
  base::append(line, bank.cr3);
  *line += ',';
  base::append(line, bank.ring);
  *line += ',';
}

void ShadowCounts::append_header(std::string* line) const {
  *line += ",\"shadows\":";
  base::append_names(line, names_);
  append_events(line, "shadow_events", p5::kMissEvents);
  append_events(line, "stream_events", p5::kStreamEvents);
}

void ShadowCounts::append(std::string* line, measure::Shadows& shadows) {
  *line += ",\"shadows\":[";
  const char* before = "";
  for (const uint32_t bank : shadows.used()) {
    if (append_bank(line, shadows, bank, before)) before = ",";
  }
  *line += ']';
}

// Appends the counts that the shadows have added to one bank since the last marker. If no shadow
// has counted in this bank, appends nothing and returns false.
bool ShadowCounts::append_bank(std::string* line, measure::Shadows& shadows, uint32_t bank,
                               const char* before) {
  std::vector<measure::MissCounts> counts;
  bool changed = false;
  for (size_t i = 0; i < shadows.size(); i++) {
    written_[i].resize(shadows.banks().size());
    counts.push_back(shadows.counts(i, bank));
    changed |= counts[i] != written_[i][bank];
  }
  if (!changed) return false;
  session::append_bank(line, before, *shadows.banks()[bank]);
  for (size_t i = 0; i < shadows.size(); i++) {
    *line += i ? ",[" : "[[";
    for (const p5::Event event : p5::kMissEvents) {
      if (event != p5::kMissEvents[0]) *line += ',';
      base::append(line, counts[i][event] - written_[i][bank][event]);
    }
    *line += ']';
    written_[i][bank] = counts[i];
  }
  *line += "]]";
  return true;
}

}  // namespace session
