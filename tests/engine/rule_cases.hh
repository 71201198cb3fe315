// SPDX-License-Identifier: MIT
// The rules of the model (engine/p5/rules.hh) case by case. A case that shows a rule at work
// changes when the rule is off; a case that shows its limits does not.
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
