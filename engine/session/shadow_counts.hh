// SPDX-License-Identifier: MIT
// What do the shadows add to the event stream? Each snapshot contains the growth of the shadows'
// counts since the previous marker.
#pragma once

#include <string>
#include <vector>

#include "measure/shadow.hh"

namespace session {

class ShadowCounts {
 public:
  explicit ShadowCounts(const std::vector<std::string>& names)
      : names_(names), written_(names.size()) {}

  bool any() const { return !names_.empty(); }
  // Appends ,"shadows":[names],"shadow_events":[...],"stream_events":[...] to the header.
  void append_header(std::string* line) const;
  // Appends ,"shadows":[...] to a snapshot. The list contains the banks in which a shadow has
  // counted.
  void append(std::string* line, measure::Shadows& shadows);

 private:
  bool append_bank(std::string* line, measure::Shadows& shadows, uint32_t bank, const char* before);

  std::vector<std::string> names_;
  std::vector<std::vector<measure::MissCounts>>
      written_;  // [shadow][bank] counts at the last marker
};

// Appends `before` and "[cr3,ring,", the start of a bank's entry in a snapshot.
void append_bank(std::string* line, const char* before, const p5::Bank& bank);

}  // namespace session
