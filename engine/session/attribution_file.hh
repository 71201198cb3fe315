// SPDX-License-Identifier: MIT
// attribution.jsonl (docs/reference/formats.md): the counts of each phase by function, ring,
// address space and what the kernel was entered for; with calls, and with the classes of misses
// where asked for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attribution.hh"
#include "miss_classes.hh"

namespace session {

class AttributionFile {
 public:
  // The events that are written (counted.hh); `stacks`: nodes know who called; `classes`: null, or
  // the classes of misses.
  AttributionFile(const std::vector<uint32_t>& counted, bool stacks, const p5::MissClasses* classes)
      : counted_(counted), stacks_(stacks), classes_(classes) {}

  // All lines. `found` null: the guest was never ready, and nothing is attributed.
  std::string text(const p5::Attribution* found);

 private:
  void append_header();
  void append_functions(const p5::Attribution& found);
  void append_entrances(const p5::Attribution& found);
  void append_nodes(const p5::Attribution& found);
  void append_counts(const p5::Attribution& found);
  void append_evictions();
  std::string written(const p5::Attribution::Counts& counts) const;

  const std::vector<uint32_t>& counted_;
  const bool stacks_;
  const p5::MissClasses* classes_;
  std::string text_;
};

}  // namespace session
