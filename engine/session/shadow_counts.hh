// SPDX-License-Identifier: MIT
// What the geometries beside the machine's own count, in the event stream: the growth since the
// marker before.
#pragma once

#include <string>
#include <vector>

#include "shadow.hh"

namespace session {

class ShadowCounts {
 public:
  explicit ShadowCounts(const std::vector<std::string>& names)
      : names_(names), written_(names.size()) {}

  bool any() const { return !names_.empty(); }
  // ,"shadows":[names],"shadow_events":[...],"stream_events":[...] of the header.
  void append_header(std::string* line) const;
  // ,"shadows":[...] of a snapshot: the banks in which any geometry has counted.
  void append(std::string* line, p5::Shadows& shadows);

 private:
  bool append_bank(std::string* line, p5::Shadows& shadows, uint32_t bank, const char* before);

  std::vector<std::string> names_;
  std::vector<std::vector<p5::MissCounts>> written_;  // [shadow][bank] up to the last marker
};

// Appends "[cr3,ring," of a bank's entry in a snapshot, after `before`.
void append_bank(std::string* line, const char* before, const p5::Bank& bank);

}  // namespace session
