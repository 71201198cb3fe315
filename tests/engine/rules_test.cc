// SPDX-License-Identifier: MIT
// Does every rule of the model have its effect in the cases in which the rule applies, and no
// effect in the other cases?
#include <doctest/doctest.h>

#include "rule_cases.hh"

using namespace p5;

TEST_CASE("rules: every case") {
  for (const RuleCase& test : rule_cases()) {
    INFO(rule_name(test.rule), std::string(test.applies ? " / " : " / not here: "), test.what);
    CHECK(test.measure() == test.expected);
  }
}

TEST_CASE("rules: each has a case in which it applies and a case in which it does not") {
  for (unsigned number = 0; number < unsigned(Rule::Count); number++) {
    unsigned cases[2] = {0, 0};
    for (const RuleCase& test : rule_cases()) cases[test.applies] += test.rule == Rule(number);
    CAPTURE(rule_name(Rule(number)));
    CHECK(cases[true] > 0);
    CHECK(cases[false] > 0);
  }
}
