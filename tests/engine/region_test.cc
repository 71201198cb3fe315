// SPDX-License-Identifier: MIT
// When does the region of a function begin and end (engine/session/region.hh)? The tests give the
// region single instructions of several processes and threads.
#include "session/region.hh"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "scratch.hh"

namespace {

using measure::Functions;
using p5::Linear;
using session::Region;
using session::RegionPlace;
using Step = Region::Step;

constexpr uint32_t kEntry = 0x08049120, kStack = 0xBF001000, kThread = 0x4000;

// A guest whose physical pages contain one repeated byte each. Page 1 is the page of the program.
struct Pages : Region::Guest {
  bool code(Linear linear, bool, uint32_t* physical) override {
    const auto found = mapped.find(linear >> 12);
    if (found == mapped.end()) return false;
    *physical = uint32_t(found->second << 12 | (linear & 0xFFF));
    return true;
  }
  const uint8_t* page(uint32_t physical) override {
    CHECK(physical % Functions::kPageBytes == 0);
    return (physical >> 12 == 1 ? ours : other).data();
  }

  std::map<Linear, uint32_t> mapped{{kEntry >> 12, 1}};
  const std::vector<uint8_t> ours = std::vector<uint8_t>(Functions::kPageBytes, 1);
  const std::vector<uint8_t> other = std::vector<uint8_t>(Functions::kPageBytes, 2);
};

struct Bed {
  explicit Bed(bool fixed = true)
      : region({kEntry, Functions::digest(pages.ours.data()), fixed, "f"}, pages) {
    state.cr3 = 0x1000;
    state.ring = 3;
  }
  Step at(Linear linear, Linear stack) { return region.at(state, linear, stack, thread); }

  Pages pages;
  Region region;
  p5::State state;
  Linear thread = kThread;
};

}  // namespace

TEST_CASE("region: from the entry to the instruction behind the return") {
  Bed bed;
  CHECK(bed.at(kEntry - 8, kStack + 4) == Step::None);
  CHECK(bed.at(kEntry, kStack) == Step::Enter);
  CHECK(bed.at(kEntry, kStack) == Step::None);  // again after a page fault
  CHECK(bed.at(kEntry + 1, kStack - 4) == Step::None);
  CHECK(bed.at(kEntry + 9, kStack) == Step::None);  // the return instruction
  CHECK(bed.at(kEntry - 3, kStack + 4) == Step::Leave);
  CHECK(bed.at(kEntry - 2, kStack + 4) == Step::None);
  CHECK(bed.at(kEntry, kStack + 8) == Step::Enter);
  CHECK(bed.at(kEntry - 3, kStack + 32) == Step::Leave);  // the function also removes arguments
  CHECK(bed.region.calls() == 2);
}

TEST_CASE("region: recursive calls belong to the outermost call") {
  Bed bed;
  CHECK(bed.at(kEntry, kStack) == Step::Enter);
  CHECK(bed.at(kEntry, kStack - 32) == Step::None);
  CHECK(bed.at(kEntry + 9, kStack - 28) == Step::None);
  CHECK(bed.at(kEntry - 3, kStack + 4) == Step::Leave);
  CHECK(bed.region.calls() == 1);
  CHECK(bed.region.measured() == 1);
}

TEST_CASE("region: after a tail call the other function returns, and longjmp ends the region") {
  Bed bed;
  CHECK(bed.at(kEntry, kStack) == Step::Enter);
  CHECK(bed.at(kEntry + 0x800, kStack) == Step::None);  // jmp to another function
  CHECK(bed.at(kEntry + 0x810, kStack - 16) == Step::None);
  CHECK(bed.at(kEntry - 3, kStack + 4) == Step::Leave);
  CHECK(bed.at(kEntry, kStack) == Step::Enter);
  CHECK(bed.at(kEntry + 0x900, kStack - 64) == Step::None);  // longjmp()
  CHECK(bed.at(kEntry + 0x904, kStack + 400) == Step::Leave);
}

TEST_CASE("region: other processes, threads and rings do not end it") {
  Bed bed;
  REQUIRE(bed.at(kEntry, kStack) == Step::Enter);
  bed.state.cr3 = 0x2000;
  CHECK(bed.at(0x08050000, kStack + 400) == Step::None);
  CHECK(bed.at(kEntry, kStack) == Step::None);
  bed.state.cr3 = 0x1000;
  bed.thread = 0x5000;
  CHECK(bed.at(0x08050000, kStack + 400) == Step::None);
  bed.thread = kThread;
  bed.state.ring = 0;
  CHECK(bed.at(0xC0000000, 0xC1000000) == Step::None);
  bed.state.ring = 3;
  CHECK(bed.at(kEntry - 3, kStack + 4) == Step::Leave);
}

TEST_CASE("region: another program at the same address has other code") {
  Bed bed;
  bed.pages.mapped[kEntry >> 12] = 2;
  CHECK(bed.at(kEntry, kStack) == Step::None);
  bed.pages.mapped.clear();
  CHECK(bed.at(kEntry, kStack) == Step::None);
  bed.pages.mapped[kEntry >> 12] = 1;
  bed.state.ring = 0;
  CHECK(bed.at(kEntry, kStack) == Step::None);
  CHECK(bed.region.calls() == 0);
}

TEST_CASE("region: only the first process that enters the function") {
  Bed bed;
  REQUIRE(bed.at(kEntry, kStack) == Step::Enter);
  REQUIRE(bed.at(kEntry - 3, kStack + 4) == Step::Leave);
  bed.state.cr3 = 0x2000;
  CHECK(bed.at(kEntry, kStack) == Step::None);
  bed.state.cr3 = 0x1000;
  CHECK(bed.at(kEntry, kStack) == Step::Enter);
}

TEST_CASE("region: a program that was moved is found at any page") {
  Bed fixed, moved(false);
  constexpr uint32_t there = 0x40000120;
  for (Bed* bed : {&fixed, &moved}) bed->pages.mapped[there >> 12] = 1;
  CHECK(fixed.at(there, kStack) == Step::None);
  CHECK(moved.at(there + 1, kStack) == Step::None);
  CHECK(moved.at(there, kStack) == Step::Enter);
}

TEST_CASE("region: it ends with the program") {
  Bed bed;
  CHECK(bed.region.program_ended() == Step::None);
  REQUIRE(bed.at(kEntry, kStack) == Step::Enter);
  CHECK(bed.region.program_ended() == Step::Leave);
  CHECK(bed.region.program_ended() == Step::None);
}

TEST_CASE("region: all calls are counted, and the first ones are measured") {
  Bed bed;
  for (uint64_t call = 1; call <= Region::kMeasured + 5; call++) {
    REQUIRE(bed.at(kEntry, kStack) == Step::Enter);
    CHECK(bed.region.measures() == (call <= Region::kMeasured));
    REQUIRE(bed.at(kEntry - 3, kStack + 4) == Step::Leave);
    CHECK(bed.region.measures() == (call <= Region::kMeasured));
  }
  CHECK(bed.region.calls() == Region::kMeasured + 5);
  CHECK(bed.region.measured() == Region::kMeasured);
}

TEST_CASE("region: its place comes from a file") {
  const auto read = [](const std::string& content, RegionPlace* place) {
    const Scratch file(content);
    base::Settings settings;
    std::string error;
    REQUIRE(settings.parse("run.region = " + file.path() + "\n", "job.conf", &error));
    *place = RegionPlace::read(settings);
    return settings.error().empty() ? "" : settings.error().substr(settings.error().rfind(": "));
  };
  RegionPlace place;
  CHECK(read("moved 8049120 ab12 operator new(unsigned int)\n", &place) == "");
  CHECK(place.entry == kEntry);
  CHECK(place.page == 0xAB12);
  CHECK_FALSE(place.fixed);
  CHECK(place.name == "operator new(unsigned int)");
  for (const char* wrong : {"8049120 ab12 f\n", "fixed 8049120 ab12\n", "fixed x 1 f\n"}) {
    CHECK(read(wrong, &place) == ": expected `fixed|moved ADDRESS DIGEST NAME`");
  }
  CHECK(read("", &place).find("cannot be read") != std::string::npos);
  base::Settings none;
  CHECK(RegionPlace::read(none).name.empty());
  CHECK(none.error().empty());
}
