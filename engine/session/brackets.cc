// SPDX-License-Identifier: MIT
#include "session/brackets.hh"

#include <algorithm>

namespace session {
namespace {

std::string name_of(uint32_t phase) { return phase == kBoot ? "boot" : std::to_string(phase); }

std::string unbalanced(uint32_t phase, const char* what) {
  return "unbalanced markers: phase " + name_of(phase) + what;
}

}  // namespace

bool Brackets::is_open(uint32_t phase) const {
  return std::find(open_.begin(), open_.end(), phase) != open_.end();
}

std::string Brackets::begin(uint32_t phase) {
  if (is_open(phase)) return unbalanced(phase, " began twice");
  open_.push_back(phase);
  return "";
}

std::string Brackets::end(uint32_t phase) const {
  if (!is_open(phase)) {
    return "unbalanced markers: end of phase " + name_of(phase) + " without its begin";
  }
  if (open_.back() == phase) return "";
  return unbalanced(open_.back(), " was not ended before phase ") + name_of(phase);
}

std::string Brackets::exit() const {
  return open_.empty() ? "" : unbalanced(open_.back(), " was not ended");
}

}  // namespace session
