// SPDX-License-Identifier: MIT
// Which devices and observers does the engine contain? Each kind registers itself by a static
// object in its own file, so no file contains a list of them.
#pragma once

#include <algorithm>
#include <vector>

namespace base {

// The kinds that have registered themselves, in their order (operator<). The static objects are in
// other files, so the list is created at its first use.
template <class Kind>
std::vector<Kind>& registry() {
  static std::vector<Kind> kinds;
  return kinds;
}

template <class Kind>
void enter(const Kind& kind) {
  std::vector<Kind>& all = registry<Kind>();
  all.insert(std::upper_bound(all.begin(), all.end(), kind), kind);
}

}  // namespace base
