// SPDX-License-Identifier: MIT
// Tests of engine/base: agenda, clock and JSON lines. config_test.cc tests the settings.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/agenda.hh"
#include "base/clock.hh"
#include "base/json.hh"

using namespace base;

TEST_CASE("agenda: actions run in order of time, and at the same time in order of entry") {
  Agenda agenda;
  std::vector<std::string> ran;
  const auto action = [&](const char* name) {
    return [&ran, name](Time now) { ran.push_back(name + std::to_string(now)); };
  };
  CHECK(agenda.next() == kNever);
  agenda.at(20, action("late "));
  agenda.at(10, action("first "));
  agenda.at(10, action("second "));
  CHECK(agenda.next() == 10);
  agenda.run(9);
  CHECK(ran.empty());
  agenda.run(15);
  CHECK(ran == std::vector<std::string>{"first 10", "second 10"});
  agenda.run(100);
  CHECK(ran.back() == "late 20");
  CHECK(agenda.next() == kNever);
}

TEST_CASE("agenda: an action that another action enters for the present time runs at once") {
  Agenda agenda;
  int runs = 0;
  agenda.at(5, [&](Time now) { agenda.at(now, [&](Time) { runs++; }); });
  agenda.run(5);
  CHECK(runs == 1);
}

TEST_CASE("clock: the first clock of a time is the first clock after it") {
  const Clock clock(90'000'000);
  CHECK(clock.time(90'000'000) == kSecond);
  CHECK(clock.clocks(kSecond) == 90'000'000);
  CHECK(clock.clocks(kMicrosecond) == 90);
  for (const Time time : {Time(0), Time(1), kMicrosecond, kMicrosecond + 1, 7 * kSecond + 12345}) {
    const uint64_t first = clock.first_clock(time);
    CHECK(clock.time(first) >= time);
    if (first) CHECK(clock.time(first - 1) < time);
  }
  // For a day at 90 MHz, the product of time and clock rate does not fit into 64 bits.
  CHECK(clock.clocks(86400 * kSecond) == uint64_t(86400) * 90'000'000);
}

TEST_CASE("json: a line has its members in the order in which they were added") {
  JsonLine line("note");
  line.member("text", "a \"b\"\n").member("number", ~uint64_t(0)).raw("none", "null");
  line.names("names", std::vector<std::string>{"x", "y"});
  CHECK(line.line() ==
        "{\"type\":\"note\",\"text\":\"a \\\"b\\\"\\u000a\",\"number\":18446744073709551615,"
        "\"none\":null,\"names\":[\"x\",\"y\"]}\n");
  CHECK(JsonLine("kind", "int").names("no", std::vector<std::string>{}).line() ==
        "{\"kind\":\"int\",\"no\":[]}\n");
  CHECK(hex(0xAB) == "0x000000ab");
}
