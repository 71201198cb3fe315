// SPDX-License-Identifier: MIT
#include "observe/observer.hh"

#include <algorithm>
#include <cstring>

namespace observe {
namespace {

// Each observer registers itself by a static object in another file. The list is therefore created
// at its first use.
std::vector<Kind>& list() {
  static std::vector<Kind> kinds;
  return kinds;
}

}  // namespace

void enter(const Kind& kind) {
  const auto before = [](const Kind& a, const Kind& b) { return std::strcmp(a.name, b.name) < 0; };
  list().insert(std::upper_bound(list().begin(), list().end(), kind, before), kind);
}

const std::vector<Kind>& kinds() { return list(); }

}  // namespace observe
