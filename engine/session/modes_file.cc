// SPDX-License-Identifier: MIT
#include "session/modes_file.hh"

#include <algorithm>

#include "base/events.hh"
#include "base/json.hh"
#include "session/counted.hh"
#include "session/crossings.hh"
#include "session/event_stream.hh"

namespace session {
namespace {

using base::JsonLine;
using measure::Modes;

// A count can be negative: the model can add clocks in one mode and subtract them in the next mode.
std::string events(const Modes::Counts& counts, const std::vector<uint32_t>& counted) {
  std::string text = "[";
  for (const uint32_t event : counted) {
    if (text.size() > 1) text += ',';
    text += std::to_string(int64_t(counts.events[event]));
  }
  return text + "]";
}

std::string vectors(const Modes::Counts& counts) {
  std::string text = "[";
  for (const auto& [key, count] : counts.vectors) {
    if (text.size() > 1) text += ',';
    text += std::string("[\"") + entry_name(key.first) + "\"," + std::to_string(key.second) + "," +
            std::to_string(count) + "]";
  }
  return text + "]";
}

bool any(const Modes::Counts& counts) {
  return !counts.vectors.empty() || std::any_of(counts.events.begin(), counts.events.end(),
                                                [](uint64_t count) { return count != 0; });
}

}  // namespace

std::string modes_text(const Modes* found, const std::vector<uint32_t>& counted) {
  JsonLine header("header");
  std::string text =
      header.member("schema_version", 1).names("events", event_names(counted)).line();
  if (found) {
    for (const auto& [number, phase] : found->phases()) {
      for (const auto& [place, counts] : phase.counts) {
        if (!any(counts)) continue;
        JsonLine line("mode");
        line.member("phase", number).member("cr3", place.first->cr3);
        line.member("ring", place.first->ring).member("mode", mode_name(place.second));
        line.raw("counts", events(counts, counted));
        text += line.raw("vectors", vectors(counts)).line();
      }
    }
  }
  return text + JsonLine("end").line();
}

}  // namespace session
