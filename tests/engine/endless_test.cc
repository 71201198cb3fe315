// SPDX-License-Identifier: MIT
// When does the engine say that a program cannot end (engine/session/endless.hh)? The tests give it
// a process with two pages, and change what a program or the kernel could change.
#include "session/endless.hh"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

using session::Endless;

namespace {

constexpr uint32_t kPage = 4096, kDirectory = 1, kTable = 2, kRead = 3, kUnread = 4, kOfKernel = 5;
constexpr uint32_t kUserPage = 7, kAccessed = 0x20, kLarge = 0x80;
constexpr uint32_t kRt_sigaction = 174, kAlarm = 27, kClone = 120, kWrite = 4, kIoctl = 54,
                   kFcntl64 = 221;

struct Process : session::GuestMemory {
  Process() {
    set(kDirectory, 1, kTable * kPage | kUserPage | kAccessed);
    set(kTable, 0, kRead * kPage | kUserPage | kAccessed);
    set(kTable, 1, kUnread * kPage | kUserPage);
    set(kTable, 2, kOfKernel * kPage | 3 | kAccessed);
  }
  uint8_t* memory(uint32_t physical, bool write) override {
    CHECK_FALSE(write);
    return physical < bytes.size() ? bytes.data() + physical : nullptr;
  }
  void set(uint32_t page, uint32_t index, uint32_t entry) {
    std::memcpy(bytes.data() + page * kPage + index * 4, &entry, 4);
  }
  std::vector<uint8_t> bytes = std::vector<uint8_t>(6 * kPage);
};

// Interrupts the program `times` times in states that repeat after `period` interrupts. Returns the
// length of the repetition that is found, or 0.
uint64_t interrupt(Endless& endless, Process& process, unsigned times, unsigned period,
                   uint64_t first = 1000) {
  for (uint64_t i = 0; i < times; i++) {
    const uint64_t before =
        endless.found(std::string(1, char(i % period)), kDirectory * kPage, first + i, process);
    if (before) return first + i - before;
  }
  return 0;
}

}  // namespace

TEST_CASE("endless: a state that comes again is found, whatever its period") {
  for (unsigned period = 1; period < 60; period++) {
    Endless endless;
    Process process;
    CHECK(interrupt(endless, process, 4 * period + 4, period) == period);
  }
}

TEST_CASE("endless: other registers or other memory are another state") {
  Endless endless;
  Process process;
  CHECK(interrupt(endless, process, 200, 250) == 0);
  Endless counting;
  for (uint64_t i = 0; i < 200; i++) {
    process.bytes[kRead * kPage + 100]++;
    CHECK(counting.found("same", kDirectory * kPage, 1000 + i, process) == 0);
  }
}

TEST_CASE("endless: pages that the program has not accessed do not matter") {
  Endless endless;
  Process process;
  CHECK(endless.found("same", kDirectory * kPage, 1000, process) == 0);
  process.bytes[kUnread * kPage]++;
  process.bytes[kOfKernel * kPage]++;
  CHECK(endless.found("same", kDirectory * kPage, 1001, process) == 1000);
  process.set(kTable, 1, kUnread * kPage | kUserPage | kAccessed);  // now it has accessed the page
  CHECK(endless.found("same", kDirectory * kPage, 1002, process) == 0);
}

TEST_CASE("endless: memory that is unknown ends the search") {
  Process process;
  for (const uint32_t entry : {99 * kPage | kUserPage | kAccessed}) {
    process.set(kTable, 3, entry);
    Endless endless;
    CHECK(interrupt(endless, process, 50, 1) == 0);
    CHECK_FALSE(endless.searches(1'000'000, 10));
  }
  process.set(kTable, 3, 0);
  process.set(kDirectory, 2, kUserPage | kAccessed | kLarge);
  Endless endless;
  CHECK(interrupt(endless, process, 50, 1) == 0);
  CHECK_FALSE(endless.searches(1'000'000, 10));
}

TEST_CASE("endless: a disturbance begins the search anew") {
  Endless endless;
  Process process;
  CHECK(endless.found("same", kDirectory * kPage, 1000, process) == 0);
  endless.disturbed(1001);
  CHECK_FALSE(endless.searches(1011, 10));
  CHECK(endless.searches(1012, 10));
  CHECK(endless.found("same", kDirectory * kPage, 1012, process) == 0);
  CHECK(endless.found("same", kDirectory * kPage, 1013, process) == 1012);
  endless.calls(kWrite, 0, 1014);
  CHECK(endless.found("same", kDirectory * kPage, 1030, process) == 0);
}

TEST_CASE("endless: a call after which something else can reach the program ends the search") {
  for (const uint32_t call : {kAlarm, kClone, 2u, 104u, 259u, 102u, 37u, 75u, 26u, 425u, 9999u}) {
    Endless endless;
    endless.calls(call, 0, 0);
    CHECK_FALSE(endless.searches(1'000'000, 10));
  }
  for (const uint32_t call : {kWrite, kRt_sigaction, 192u, 439u, 3u}) {
    Endless endless;
    endless.calls(call, 0, 0);
    CHECK(endless.searches(1'000'000, 10));
  }
  const auto after = [](uint32_t call, uint32_t command) {
    Endless endless;
    endless.calls(call, command, 0);
    return endless.searches(1'000'000, 10);
  };
  CHECK(after(kIoctl, 0x5413));        // TIOCGWINSZ
  CHECK_FALSE(after(kIoctl, 0x5452));  // FIOASYNC
  CHECK(after(kFcntl64, 2));           // F_SETFD
  CHECK_FALSE(after(kFcntl64, 8));     // F_SETOWN
}
