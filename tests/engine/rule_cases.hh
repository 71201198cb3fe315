// SPDX-License-Identifier: MIT
// Which cases test each rule of the model (engine/p5/rules.hh)? In some cases the rule applies, so
// their result changes if the rule is off. The other cases show the limits of the rule, so their
// result does not change.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "p5/rules.hh"

struct RuleCase {
  p5::Rule rule;
  bool applies;
  std::string what;
  std::function<uint64_t()> measure;  // clocks, or a count
  uint64_t expected;
};

const std::vector<RuleCase>& rule_cases();
std::string rule_name(p5::Rule rule);
