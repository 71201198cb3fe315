// SPDX-License-Identifier: MIT
// Does the timing table load, and does each error name its line?
#include "p5/timing.hh"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "table.hh"

namespace {

using p5::Class;
using p5::Mode;
using p5::TimingTable;

std::string file_text() {
  std::ifstream file("engine/p5/timing.csv");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

int line_of(const std::string& text, const std::string& what) {
  const size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return 1 + int(std::count(text.begin(), text.begin() + long(at), '\n'));
}

// Parses `text`, which is a faulty table. Returns the error.
std::string error_of(const std::string& text) {
  TimingTable table;
  std::string error;
  CHECK_FALSE(table.parse(text, "timing.csv", &error));
  CHECK(error.find('\n') == std::string::npos);
  return error;
}

}  // namespace

TEST_CASE("timing table: the project's own table loads") {
  const TimingTable& table = timing_table();
  // Checks some numbers from each kind of source [AGN-IT, QTM, CHEN95].
  CHECK(table.clocks(Mode::Prot)[Class::MovLoad] == 1);
  CHECK(table.clocks(Mode::Prot)[Class::AluMR] == 3);
  CHECK(table.clocks(Mode::Prot)[Class::Div32] == 41);
  CHECK(table.clocks(Mode::Prot)[Class::IntN] == 31);
  CHECK(table.inner_level()[Class::IntN] == 48);
  CHECK(table.inner_level()[Class::Iretd] == 27);
  CHECK(table.clocks(Mode::Real)[Class::IntN] == 16);
  CHECK(table.clocks(Mode::V86)[Class::IntN] == 82);
  CHECK(table.clocks(Mode::Real)[Class::In] == 7);
  CHECK(table.user_level()[Class::In] == 21);
  CHECK(table.user_level()[Class::Rdtsc] == 11);
  CHECK(table.clocks(Mode::Prot)[Class::RepMovs] == 13);
  CHECK(table.per_iteration()[Class::RepMovs] == 1);
  CHECK(table.zero_iterations()[Class::RepMovs] == 6);
  CHECK(table.int_overlap()[Class::Fdiv] == 38);
  CHECK(table.pairing(Class::Jcc) == p5::Pairing::PV);
  CHECK(table.pairing(Class::AdcRR) == p5::Pairing::PU);
  CHECK(table.pairing(Class::Fadd) == p5::Pairing::FX);
}

TEST_CASE("timing table: empty special columns mean the protected figure") {
  const TimingTable& table = timing_table();
  CHECK(table.inner_level()[Class::AluRR] == table.clocks(Mode::Prot)[Class::AluRR]);
  CHECK(table.user_level()[Class::Cli] == table.clocks(Mode::Prot)[Class::Cli]);
  CHECK(table.per_iteration()[Class::Movs] == 0);
}

TEST_CASE("timing table: every class has clocks in protected mode, and names are unique") {
  std::set<std::string> names;
  for (p5::ClassId cls = 0; cls < Class::Count; cls++) {
    CAPTURE(p5::kClassNames[cls]);
    CHECK(timing_table().clocks(Mode::Prot)[cls] > 0);
    CHECK(names.insert(p5::kClassNames[cls]).second);
    CHECK(p5::class_by_name(p5::kClassNames[cls]) == cls);
  }
  CHECK(p5::class_by_name("no such class") == Class::Count);
}

TEST_CASE("timing table: error messages name the line and the reason") {
  const std::string good = file_text();
  const auto at = [&](const std::string& row) {
    return "timing.csv:" + std::to_string(line_of(good, row)) + ": ";
  };

  SUBCASE("unknown class") {
    CHECK(error_of(replaced(good, "\nalu.rr,", "\nalu.rx,")) ==
          at("alu.rr,") + "unknown class 'alu.rx' (nearest is 'alu.rr')");
  }
  SUBCASE("class without a row") {
    const std::string text = replaced(good, "\nsalc,3,3,3", "\n#salc");
    CHECK(error_of(text) ==
          "timing.csv:" + std::to_string(std::count(text.begin(), text.end(), '\n')) +
              ": no row for class 'salc'");
  }
  SUBCASE("a class with two rows") {
    const std::string text = good + "nop,1,1,1,,,,,,,UV,A,AGN-IT,\n";
    CHECK(error_of(text) ==
          "timing.csv:" + std::to_string(std::count(text.begin(), text.end(), '\n')) +
              ": second row for class 'nop'");
  }
  SUBCASE("clocks that are not a number") {
    CHECK(error_of(replaced(good, "\ncli,7,7,7,", "\ncli,7,7,6-9,")) ==
          at("cli,7") + "prot of class 'cli' is '6-9', expected clocks (0 to 65535)");
    CHECK(error_of(replaced(good, "\ncli,7,7,7,", "\ncli,70000,7,7,")) ==
          at("cli,7") + "real of class 'cli' is '70000', expected clocks (0 to 65535)");
  }
  SUBCASE("clocks of protected mode missing") {
    CHECK(error_of(replaced(good, "\ncli,7,7,7,", "\ncli,7,7,,")) ==
          at("cli,7") + "class 'cli' has no clocks in column prot");
  }
  SUBCASE("pairing") {
    CHECK(error_of(replaced(good, ",UV,A,AGN-IT;INTEL-OPT,90h only", ",VU,A,AGN-IT,")) ==
          at("nop,1") + "pairing of class 'nop' is 'VU', expected NP, UV, PU, PV or FX");
  }
  SUBCASE("confidence") {
    CHECK(error_of(replaced(good, ",UV,A,AGN-IT;INTEL-OPT,90h only", ",UV,D,AGN-IT,")) ==
          at("nop,1") + "confidence of class 'nop' is 'D', expected A, B, C or E");
  }
  SUBCASE("fields") {
    CHECK(error_of(replaced(good, "90h only", "90h, only")) ==
          at("nop,1") + "expected 14 fields, found 15");
  }
  SUBCASE("header") {
    CHECK(error_of(replaced(good, "class,real,", "class,")).find("expected the header") !=
          std::string::npos);
    CHECK(error_of("").find("timing.csv:0: expected the header") == 0);
  }
  SUBCASE("file") {
    TimingTable table;
    std::string error;
    CHECK_FALSE(table.load("engine/p5/no-such.csv", &error));
    CHECK(error == "no-such.csv:0: cannot read engine/p5/no-such.csv");
  }
}

TEST_CASE("timing table: a bad table does not change the loaded table") {
  TimingTable table = timing_table();
  std::string error;
  CHECK_FALSE(table.parse("nonsense\n", "timing.csv", &error));
  CHECK(table.clocks(Mode::Prot)[Class::Div32] == 41);
}
