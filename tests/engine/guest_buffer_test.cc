// SPDX-License-Identifier: MIT
// Is a buffer of a program found in every mode, and is a wrong one refused as a whole
// (engine/session/guest_buffer.hh)? Which names may a phase have (engine/session/phase_names.hh)?
#include "session/guest_buffer.hh"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "session/phase_names.hh"

using namespace session;

namespace {

constexpr uint32_t kRam = 0x40000, kDirectory = 0x1000, kTable = 0x2000;
constexpr uint32_t kUsual = 0x67;  // present, writable, user, accessed, dirty

// A machine with 256 KB of RAM, but no RAM from 20000h to 2FFFFh.
class Machine : public p5::Platform, public GuestMemory {
 public:
  std::vector<uint8_t> ram = std::vector<uint8_t>(kRam);

  p5::PageEntry read_physical(uint32_t address) override {
    uint32_t entry;
    std::memcpy(&entry, &ram[address], sizeof entry);
    return entry;
  }
  uint32_t code_physical(p5::Linear) override { return 0; }
  uint16_t x87_control() override { return 0; }
  uint8_t* memory(uint32_t physical, bool) override {
    return physical < kRam && physical >> 16 != 2 ? &ram[physical] : nullptr;
  }

  void entry(uint32_t table, uint32_t index, uint32_t value) {
    std::memcpy(&ram[table + index * 4], &value, sizeof value);
  }
  void text(uint32_t physical, const std::string& bytes) {
    std::memcpy(&ram[physical], bytes.data(), bytes.size());
  }
};

Segment real(uint32_t base) {
  Segment segment;
  segment.readable = segment.writable = true;
  segment.base = base;
  segment.limit = 0xFFFF;
  return segment;
}

// Linear 0 to 7 pages, of which each page but 2 is present; 3 is clean, 4 is read-only and 5 is for
// the system only. The physical pages are in reverse order.
p5::State paged(Machine* machine, uint8_t ring) {
  machine->entry(kDirectory, 0, kTable | kUsual);
  for (uint32_t page = 0; page < 8; page++) {
    const uint32_t bits = page == 2   ? kUsual & ~1u
                          : page == 3 ? kUsual & ~0x40u
                          : page == 4 ? kUsual & ~2u
                          : page == 5 ? kUsual & ~4u
                                      : kUsual;
    machine->entry(kTable, page, (0x17000 - page * 0x1000) | bits);
  }
  p5::State state;
  state.cr3 = kDirectory;
  state.paging = true;
  state.ring = ring;
  return state;
}

Refusal refusal(Machine* machine, const Place& place, uint32_t length, bool write,
                const p5::State& state, p5::Linear* at = nullptr) {
  const GuestBuffer found = find_buffer(place, length, write, state, *machine, *machine);
  if (found.refusal) CHECK(text_of(found).size() < length);
  if (at) *at = found.at;
  return found.refusal;
}

}  // namespace

TEST_CASE("buffer: real mode adds the base of the segment to the offset") {
  Machine machine;
  machine.text(0x12345, "from real mode");
  const Place place{real(0x12000), 0x345};
  CHECK(text_of(find_buffer(place, 14, false, {}, machine, machine)) == "from real mode");
  const GuestBuffer target = find_buffer(place, 4, true, {}, machine, machine);
  copy_to(target, "FROM");
  CHECK(std::memcmp(&machine.ram[0x12345], "FROM real", 9) == 0);
}

TEST_CASE("buffer: no byte may be beyond the limit") {
  Machine machine;
  const p5::State state;
  CHECK(refusal(&machine, {real(0x10000), 0xFFF0}, 16, false, state) == kNotRefused);
  CHECK(refusal(&machine, {real(0x10000), 0xFFF0}, 17, false, state) == kOutsideSegment);
  CHECK(refusal(&machine, {real(0x10000), 0xFFFFFFFF}, 2, false, state) == kOutsideSegment);
  CHECK(refusal(&machine, {real(0x10000), 0x10000}, 0, false, state) == kNotRefused);
  Segment small = real(0x10000);
  small.limit = 99;
  CHECK(refusal(&machine, {small, 90}, 10, true, state) == kNotRefused);
  CHECK(refusal(&machine, {small, 90}, 11, true, state) == kOutsideSegment);
  CHECK(refusal(&machine, {small, 100}, 1, true, state) == kOutsideSegment);
  small.writable = false;
  CHECK(refusal(&machine, {small, 0}, 1, true, state) == kOutsideSegment);
  CHECK(refusal(&machine, {small, 0}, 1, false, state) == kNotRefused);
  CHECK(refusal(&machine, {Segment(), 0}, 1, false, state) == kOutsideSegment);
}

TEST_CASE("buffer: in a segment that expands down, the offsets are above the limit") {
  Machine machine;
  Segment stack = real(0x10000);
  stack.expand_down = true;
  stack.limit = 0xFFF;
  CHECK(refusal(&machine, {stack, 0x1000}, 0xF000, false, {}) == kNotRefused);
  CHECK(refusal(&machine, {stack, 0xFFF}, 2, false, {}) == kOutsideSegment);
  CHECK(refusal(&machine, {stack, 0xFFFF}, 2, false, {}) == kOutsideSegment);
  stack.base = 0;
  stack.wide = true;
  CHECK(refusal(&machine, {stack, 0xFFFF}, 2, false, {}) == kNotRefused);
}

TEST_CASE("buffer: RAM only, and at most 64 KB") {
  Machine machine;
  p5::Linear at = 0;
  Segment flat = real(0);
  flat.limit = 0xFFFFFFFF;
  CHECK(refusal(&machine, {flat, 0x1FFFE}, 2, false, {}) == kNotRefused);
  CHECK(refusal(&machine, {flat, 0x1FFFE}, 3, false, {}, &at) == kNoMemory);
  CHECK(at == 0x20000);
  CHECK(refusal(&machine, {flat, 0x1000}, 0x10000, false, {}) == kNotRefused);
  CHECK(refusal(&machine, {flat, 0x1000}, 0x10001, false, {}) == kTooLong);
}

TEST_CASE("buffer: pages may lie anywhere, and an absent page refuses the whole buffer") {
  Machine machine;
  const p5::State user = paged(&machine, 3);
  machine.text(0x17FFC, "page");  // the end of page 0
  machine.text(0x16000, " one");
  const Place place{real(0), 0xFFC};
  CHECK(text_of(find_buffer(place, 8, false, user, machine, machine)) == "page one");
  p5::Linear at = 0;
  CHECK(refusal(&machine, place, 0x1004, false, user) == kNotRefused);
  CHECK(refusal(&machine, place, 0x1005, false, user, &at) == kPageNotReady);
  CHECK(at == 0x2000);
  CHECK(refusal(&machine, place, 0x1005, true, user) == kPageNotReady);
}

TEST_CASE("buffer: a page must allow the access, and the engine never makes a page dirty") {
  Machine machine;
  const p5::State user = paged(&machine, 3), system = paged(&machine, 0);
  const auto at = [](uint32_t page) { return Place{real(0), page * 0x1000}; };
  CHECK(refusal(&machine, at(3), 1, false, user) == kNotRefused);
  CHECK(refusal(&machine, at(3), 1, true, user) == kPageNotReady);
  CHECK(refusal(&machine, at(4), 1, false, user) == kNotRefused);
  CHECK(refusal(&machine, at(4), 1, true, system) == kPageNotReady);
  CHECK(refusal(&machine, at(5), 1, false, user) == kPageNotReady);
  CHECK(refusal(&machine, at(5), 1, true, system) == kNotRefused);
}

TEST_CASE("buffer: a page of 4 MB, only with CR4.PSE") {
  Machine machine;
  p5::State state = paged(&machine, 3);
  machine.entry(kDirectory, 1, kUsual | 0x80);  // linear 4 MB is physical 0
  machine.text(0x15678, "large");
  Segment segment = real(0x400000);
  segment.limit = 0xFFFFF;
  state.large_pages = true;
  const Place place{segment, 0x15678};
  CHECK(text_of(find_buffer(place, 5, false, state, machine, machine)) == "large");
  state.large_pages = false;  // the entry then names the table at 0
  CHECK(refusal(&machine, place, 5, false, state) == kPageNotReady);
}

TEST_CASE("phase names: one name for one phase") {
  PhaseNames names;
  bool is_new = false;
  CHECK(names.add(3, "INT 21h, function 59h", &is_new));
  CHECK(is_new);
  CHECK(names.add(3, "INT 21h, function 59h", &is_new));
  CHECK_FALSE(is_new);
  CHECK_FALSE(names.add(3, "another", &is_new));
  CHECK_FALSE(names.add(4, "INT 21h, function 59h", &is_new));
  CHECK(names.add(kLastPhase, "x", &is_new));
  CHECK_FALSE(names.add(kLastPhase + 1, "y", &is_new));
  for (const char* wrong : {"", "4", " x", "x ", "a\nb", "\x82", "boot", "empty", "whole"}) {
    CAPTURE(wrong);
    CHECK_FALSE(names.add(5, wrong, &is_new));
  }
  CHECK(names.add(5, std::string(40, 'a'), &is_new));
  CHECK_FALSE(names.add(6, std::string(41, 'a'), &is_new));
}
