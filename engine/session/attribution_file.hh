// SPDX-License-Identifier: MIT
// How is attribution.jsonl written (docs/reference/formats.md)? The file contains the counts of
// each phase by function, ring, address space and kernel entrance. Calls and classes of misses are
// optional.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/attribution.hh"
#include "measure/miss_classes.hh"

namespace session {

class AttributionFile {
 public:
  // `counted` lists the events in the file (counted.hh). With `stacks`, each node contains the node
  // of its caller. `classes` counts the misses of each class; null: the file contains no classes.
  AttributionFile(const std::vector<uint32_t>& counted, bool stacks,
                  const measure::MissClasses* classes)
      : counted_(counted), stacks_(stacks), classes_(classes) {}

  // Returns all lines. If the guest was never ready, `found` is null, and the result contains no
  // counts.
  std::string text(const measure::Attribution* found);

 private:
  void append_header();
  void append_functions(const measure::Attribution& found);
  void append_entrances(const measure::Attribution& found);
  void append_nodes(const measure::Attribution& found);
  void append_counts(const measure::Attribution& found);
  void append_evictions();
  std::string written(const measure::Attribution::Counts& counts) const;

  const std::vector<uint32_t>& counted_;
  const bool stacks_;
  const measure::MissClasses* classes_;
  std::string text_;
};

}  // namespace session
