// SPDX-License-Identifier: MIT
// Does each part of the chip work without the other parts?
#include <doctest/doctest.h>

#include "bench.hh"

using namespace p5;

namespace {

// The environment of every part. Memory reads as zero.
struct Board : Platform {
  uint32_t read_physical(uint32_t) override { return 0; }
  uint32_t code_physical(uint32_t linear) override { return linear; }
  uint16_t x87_control() override { return 0x37F; }

  Core core{p90(), timing_table(), *this};
  Caches caches{core};
  Pipes pipes{p90()};
};

}  // namespace

TEST_CASE("pipes: two simple instructions run in the same clock") {
  Board board;
  const Insn first = Bench::decode_text("40"), second = Bench::decode_text("43");  // INC EAX, EBX
  board.pipes.issue(board.core, first, 0x100, 1);
  CHECK(board.core.clock == 1);
  CHECK(board.pipes.joins(second));
  CHECK_FALSE(board.pipes.joins(first));  // it reads and writes EAX again
  board.pipes.join(board.core, second, 1);
  CHECK(board.core.clock == 1);
  CHECK(board.core.bank->count[InstructionsV] == 1);
  CHECK(board.pipes.pipe() == Pipe::V);
  CHECK_FALSE(board.pipes.joins(second));  // V is taken
}

TEST_CASE("pipes: no pairing after a flush or with a single pipe") {
  Board board;
  const Insn first = Bench::decode_text("40"), second = Bench::decode_text("43");
  board.pipes.issue(board.core, first, 0x100, 1);
  board.pipes.flush();
  CHECK_FALSE(board.pipes.joins(second));
  board.pipes.set_single(true);
  board.pipes.enter_known_code();
  board.pipes.issue(board.core, first, 0x100, 1);
  CHECK_FALSE(board.pipes.joins(second));
  board.pipes.set_single(false);
  board.pipes.enter_known_code();
  CHECK(board.pipes.joins(second));
}

TEST_CASE("core: stalls count, and without feedback memory causes no waits") {
  Board board;
  board.core.explains = true;
  board.core.stall_until(10, StallIo, CpiLocked);
  board.core.stall_until(5, StallIo, CpiLocked);
  CHECK(board.core.clock == 10);
  CHECK(board.core.bank->count[StallIo] == 10);
  CHECK(board.core.bank->count[CpiLocked] == 10);
  CHECK(board.core.bank->count[CpiPorts] == uint64_t(-10));  // moved from the usual component
  board.core.config.feedback = false;
  board.core.wait(20, StallRead);
  CHECK(board.core.clock == 10);
  board.core.config.feedback = true;
  board.core.wait(20, StallRead);
  CHECK(board.core.bank->count[StallRead] == 10);
}

TEST_CASE("core: a bank for each address space and ring") {
  Board board;
  Bank* const first = board.core.bank;
  board.core.use_bank(0, 3);
  CHECK(board.core.bank->ring == 3);
  board.core.use_bank(0, 0);
  CHECK(board.core.bank == first);
  board.core.use_bank(0x1000, 0);
  CHECK(board.core.bank->cr3 == 0x1000);
}

TEST_CASE("caches: cacheable addresses, and the state of a line after a fill") {
  Board board;
  board.caches.set_caching(true);
  CHECK(board.caches.cacheable(0x9FFFF));
  CHECK_FALSE(board.caches.cacheable(0xA0000));    // listed as not cached
  CHECK_FALSE(board.caches.cacheable(32u << 20));  // beyond DRAM
  CHECK(board.caches.fill_state(0) == Fill::Exclusive);
  CHECK(board.caches.fill_state(kWriteThrough) == Fill::Shared);
  CHECK(board.caches.fill_state(kNoCache) == Fill::None);
  board.caches.set_caching(false);
  CHECK(board.caches.fill_state(0) == Fill::None);
}

TEST_CASE("translation: no look-up without paging, and a walk to an absent page") {
  Board board;
  Translation translation(board.core, board.caches);
  CHECK(translation.quick_data(0x5000));
  translation.set_paging(true);
  CHECK_FALSE(translation.quick_data(0x5000));
  bool walked = false;
  CHECK(translation.data(0x5000, &walked) == 0);
  CHECK(walked);
  CHECK(board.core.bank->count[DtlbMisses] == 1);
  CHECK(board.core.bank->count[WalkReads] == 1);  // the directory has no table
  CHECK(translation.quick_data(0x5000));
}

TEST_CASE("breakpoints: code, writes and accesses") {
  Board board;
  Breakpoints breakpoints(board.core, board.pipes);
  CHECK_FALSE(breakpoints.watching());
  breakpoints.set({0x100, 0x200, 0x300, 0}, 0x1u << 20 | 0x7u << 24);  // code, write, 2 bytes r/w
  CHECK(breakpoints.watching());
  const auto matches = [&](unsigned number) {
    return board.core.bank->count[BreakpointMatch0 + number];
  };
  breakpoints.match_code(Bench::decode_text("40"), 0x100);
  breakpoints.match_code(Bench::decode_text("40"), 0x101);
  CHECK(matches(0) == 1);
  breakpoints.match_data(0x200, 4, DataKind::Read);
  CHECK(matches(1) == 0);
  breakpoints.match_data(0x1FE, 4, DataKind::Write);
  CHECK(matches(1) == 1);
  breakpoints.match_data(0x301, 1, DataKind::Read);
  breakpoints.match_data(0x302, 1, DataKind::Read);
  CHECK(matches(2) == 1);
  breakpoints.set({0, 0, 0, 0}, 0);
  CHECK_FALSE(breakpoints.watching());
}

TEST_CASE("repeats: a REP continues until another instruction has retired") {
  Board board;
  Repeats repeats(board.core);
  const Insn movs = Bench::decode_text("f3 a5");
  CHECK(repeats.begin(movs, 0x100, 0x100));
  CHECK(repeats.active());
  CHECK_FALSE(repeats.begin(movs, 0x100, 0x102));  // continues
  CHECK(repeats.begin(movs, 0x100, 0x110));        // another time
  repeats.interrupt(0x100, 0x102);
  CHECK_FALSE(repeats.active());
  board.core.count(Instructions, 5);
  CHECK(repeats.begin(movs, 0x100, 0x500));  // resumed: counts as the same instruction
  CHECK(board.core.bank->count[Instructions] == 4);
  CHECK(repeats.begin(Bench::decode_text("90"), 0x102, 0x102));
  CHECK_FALSE(repeats.active());
}

TEST_CASE("ports: ISA, PCI and 16-bit cards") {
  Board board;
  Ports ports(board.core, board.caches);
  const auto clocks = [&](uint16_t port, uint32_t bytes) {
    const uint64_t before = board.core.clock;
    ports.access(port, true, bytes);
    return board.core.clock - before;
  };
  const Config& config = board.core.config;
  CHECK(clocks(0x60, 1) == config.isa_clocks);
  CHECK(clocks(0xCF8, 4) == config.pci_clocks);
  board.core.config.isa16_clocks = 50;
  ports.wide(0x300, 0x31F);
  CHECK(clocks(0x310, 1) == config.isa_clocks);
  CHECK(clocks(0x310, 2) == 50);
  CHECK(clocks(0x310, 4) == 100);
  CHECK(board.core.bank->count[IoWrites] == 5);
}
