// SPDX-License-Identifier: MIT
#include "session/phase_names.hh"

#include <algorithm>
#include <set>

namespace session {
namespace {

constexpr size_t kLongestName = 40;
const std::set<std::string> kTaken = {"boot", "empty", "whole"};  // names of phases of our own

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= kLongestName && is_letter(name[0]) && name.back() != ' ' &&
         !kTaken.count(name) &&
         std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

bool PhaseNames::add(uint32_t phase, const std::string& name, bool* is_new) {
  *is_new = false;
  if (phase > kLastPhase || !is_name(name)) return false;
  for (const auto& [number, known] : names_) {
    if ((number == phase) != (known == name)) return false;
  }
  *is_new = names_.emplace(phase, name).second;
  return true;
}

}  // namespace session
