// SPDX-License-Identifier: MIT
// Do the tests cover the rules? Every case runs again while one rule is off. The cases in which the
// rule applies must fail. The cases that show the limits of this rule must still pass. This program
// is built with P5_MUTABLE.
#include <doctest/doctest.h>

#include <sstream>

#include "rule_cases.hh"

using namespace p5;

TEST_CASE("mutation: with every rule on, all cases pass") {
  for (const RuleCase& test : rule_cases()) {
    INFO(rule_name(test.rule), ": ", test.what);
    CHECK(test.measure() == test.expected);
  }
}

TEST_CASE("mutation: with a rule off, its cases fail") {
  std::ostringstream table;
  for (unsigned number = 0; number < unsigned(Rule::Count); number++) {
    rule_off = Rule(number);
    unsigned failing = 0;
    for (const RuleCase& test : rule_cases()) {
      const bool holds = test.measure() == test.expected;
      failing += !holds;
      if (test.rule != rule_off) continue;
      INFO(rule_name(test.rule), ": ", test.what);
      if (test.applies)
        CHECK_MESSAGE(!holds, "does not depend on its rule");
      else
        CHECK_MESSAGE(holds, "shows the rule, not its limits");
    }
    table << "\n  " << failing << (failing < 10 ? "   " : "  ") << rule_name(rule_off);
  }
  rule_off = Rule::Count;
  MESSAGE("cases that fail without the rule:", table.str());
}
