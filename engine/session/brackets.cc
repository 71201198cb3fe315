// SPDX-License-Identifier: MIT
#include "brackets.hh"

#include <algorithm>

namespace session {
namespace {

std::string unbalanced(uint32_t phase, const char* what) {
  return "unbalanced markers: phase " + std::to_string(phase) + what;
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
    return "unbalanced markers: end of phase " + std::to_string(phase) + " without its begin";
  }
  if (open_.back() == phase) return "";
  return unbalanced(open_.back(), " was not ended before phase ") + std::to_string(phase);
}

std::string Brackets::exit() const {
  return open_.empty() ? "" : unbalanced(open_.back(), " was not ended");
}

}  // namespace session
