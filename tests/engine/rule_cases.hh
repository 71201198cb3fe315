// SPDX-License-Identifier: MIT
// Which cases show each rule of the model (engine/p5/rules.hh)? A case in which the rule applies
// changes when the rule is off. A case that shows its limits does not change.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/p5/rules.hh"

struct RuleCase {
  p5::Rule rule;
  bool applies;
  std::string what;
  std::function<uint64_t()> measure;  // clocks, or a count
  uint64_t expected;
};

const std::vector<RuleCase>& rule_cases();
std::string rule_name(p5::Rule rule);
