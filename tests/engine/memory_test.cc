// SPDX-License-Identifier: MIT
// When do data arrive from the bus, the board's L2 and DRAM, and which events are counted?
#include "p5/memory.hh"

#include <doctest/doctest.h>

#include "bench.hh"

using namespace p5;

namespace {

MemoryConfig board(uint32_t core, uint32_t bus) {
  MemoryConfig config = p90().memory;
  config.core_clocks = core;
  config.bus_clocks = bus;
  return config;
}

}  // namespace

TEST_CASE("memory: a burst in core clocks") {
  // After 4 clocks, L2 delivers the line in 3-2-2-2 bus clocks. So the first 8 bytes take 3 bus
  // clocks, and the whole line takes 9.
  SUBCASE("core clock twice the bus clock") {
    Memory memory(board(2, 1));
    Bank bank;
    memory.read_line(0x1000, 0, bank);  // into L2
    const Memory::Line fill = memory.read_line(0x1000, 1000, bank);
    CHECK(fill.first == 1000 + 4 + 6);
    CHECK(fill.complete == 1000 + 4 + 18);
    CHECK(bank.count[L2Reads] == 2);
    CHECK(bank.count[L2ReadMisses] == 1);
    CHECK(bank.count[DramReads] == 1);
  }
  SUBCASE("core clock 1.5 times the bus clock") {
    Memory memory(board(3, 2));
    Bank bank;
    memory.read_line(0x1000, 0, bank);
    // Bus clocks begin at 0, 1.5, 3 and so on. A request at 1500 gets the bus at 1504.5.
    Memory::Line fill = memory.read_line(0x1000, 1500, bank);
    CHECK(fill.first == 1500 + 9);      // 1504.5 + 4.5
    CHECK(fill.complete == 1500 + 18);  // 1504.5 + 13.5
    fill = memory.read_line(0x1000, 3001, bank);
    CHECK(fill.first == 3011);     // from 3006 on: 3010.5, seen at the next clock
    CHECK(fill.complete == 3020);  // 3019.5
  }
}

TEST_CASE("memory: DRAM, and a single bus") {
  Memory memory(board(2, 1));
  Bank bank;
  const Memory::Line first = memory.read_line(0x1000, 0, bank);
  CHECK(first.first == 4 + 14);
  CHECK(first.complete == 4 + 38);                                 // 7-4-4-4
  const Memory::Line second = memory.read_line(0x2000, 10, bank);  // waits for the first
  CHECK(second.first == first.complete + 4 + 14);
}

TEST_CASE("memory: writes go through two buffers, one for each pipe") {
  Memory memory(board(2, 1));
  Bank bank;
  memory.read_line(0x1000, 0, bank);
  const uint64_t start = 1000;
  // A write stays in the buffer for one clock. Its transfer to L2 starts at the next bus clock and
  // takes 6 bus clocks.
  CHECK(memory.write_single(0x1000, start, Pipe::U, bank) == start);
  CHECK(memory.write_single(0x1008, start, Pipe::V, bank) == start);
  CHECK(memory.write_single(0x1010, start, Pipe::U, bank) == start + 14);  // the first is gone
  CHECK(memory.writes_done() == start + 2 + 36);
  // A read does not overtake the writes.
  CHECK(memory.read_line(0x1000, start + 15, bank).first == start + 38 + 4 + 6);
  CHECK(bank.count[L2Writes] == 3);
  CHECK(bank.count[L2WriteMisses] == 0);
  CHECK(bank.count[DramWrites] == 0);
}

TEST_CASE("memory: writes to DRAM are posted until the chip set's buffer is full") {
  Memory memory(board(2, 1));
  Bank bank;
  uint64_t now = 0;
  std::vector<uint64_t> waits;
  for (int i = 0; i < 40; i++) {
    const uint64_t go_on = memory.write_single(0x100000 + 32 * uint32_t(i), now, Pipe::U, bank);
    waits.push_back(go_on - now);
    now = go_on;
  }
  CHECK(waits[2] == 14);      // the pace of an L2 write, and the clock in the buffer
  CHECK(waits.back() == 18);  // later the pace of DRAM: 9 bus clocks
  CHECK(bank.count[L2WriteMisses] == 40);
  CHECK(bank.count[DramWrites] == 40);
}

TEST_CASE("memory: a repeated write has the counts and the time of the first") {
  Memory one(board(3, 2)), two(board(3, 2));
  Bank bank_one, bank_two;
  uint64_t now_one = 0, now_two = 0;
  one.read_line(0x1000, 0, bank_one);
  two.read_line(0x1000, 0, bank_two);
  for (const uint32_t line : {0x1000u, 0x9000u}) {
    for (uint32_t i = 0; i < 8; i++) {
      now_one = one.write_single(line + 4 * i, now_one, Pipe::U, bank_one);
      now_two = i == 0 ? two.write_single(line, now_two, Pipe::U, bank_two)
                       : two.write_again(now_two, Pipe::U);
      CHECK(now_one == now_two);
    }
    two.count_again(bank_two, 7);
  }
  CHECK(bank_one.count == bank_two.count);
}

TEST_CASE("memory: without L2 every access goes to DRAM") {
  MemoryConfig config = board(2, 1);
  config.l2_present = false;
  Memory memory(config);
  Bank bank;
  memory.read_line(0x1000, 0, bank);
  CHECK(memory.read_line(0x1000, 1000, bank).complete == 1000 + 4 + 38);
  memory.write_single(0x1000, 2000, Pipe::U, bank);
  CHECK(bank.count[DramReads] == 2);
  CHECK(bank.count[DramWrites] == 1);
  CHECK(bank.count[L2Reads] + bank.count[L2Writes] == 0);
}

TEST_CASE("memory: DRAM keeps one page open") {
  MemoryConfig config = board(2, 1);
  config.dram_page = 4096;
  config.page_miss = 6;
  Memory memory(config);
  Bank bank;
  const auto line = [&](uint32_t address, uint64_t now) {
    return memory.read_line(address, now, bank).complete - now;
  };
  const uint64_t hit = 4 + 2 * 19, miss = hit + 2 * 6;
  CHECK(line(0x101000, 1000) == miss);
  CHECK(line(0x101FE0, 2000) == hit);
  CHECK(line(0x102000, 3000) == miss);
  CHECK(line(0x101020, 4000) == miss);
  // A read that hits in L2 leaves the DRAM page open.
  CHECK(line(0x102000, 5000) == 4 + 2 * 9);
  CHECK(line(0x101040, 6000) == hit);
  // Posted writes open the DRAM page once for a whole line. A read waits until DRAM has finished
  // these writes.
  uint64_t now = memory.write_single(0x200000, 7000, Pipe::U, bank);
  now = memory.write_again(now, Pipe::U);
  // The bus is busy until 7000 + 2 * 14. DRAM becomes busy at 7014. It stays busy for
  // (9 + 6 + 9) * 2 clocks.
  CHECK(memory.writes_done() == 7000 + 28);
  CHECK(line(0x101060, 7000) == 14 + 48 + miss);
}

TEST_CASE("memory: an uncached read may hit L2, but does not fill it") {
  Memory memory(board(2, 1));
  Bank bank;
  CHECK(memory.read_noncacheable(0x1000, 1000, bank) == 1000 + 4 + 14);  // DRAM, 7 bus clocks
  CHECK(memory.read_noncacheable(0x1000, 2000, bank) == 2000 + 4 + 14);
  memory.read_line(0x1000, 3000, bank);
  CHECK(memory.read_noncacheable(0x1000, 4000, bank) == 4000 + 4 + 6);  // L2, 3 bus clocks
  CHECK(bank.count[L2ReadMisses] == 3);
}

TEST_CASE("memory: the bus is busy only during a transaction") {
  Memory memory(board(2, 1));
  Bank bank;
  memory.read_line(0x1000, 0, bank);  // 19 bus clocks, without the 4 clocks before it
  CHECK(memory.busy() == 38);
  memory.write_single(0x1000, 1000, Pipe::U, bank);  // 6
  CHECK(memory.busy() == 38 + 12);
  memory.read_single(0x1000, 2000, bank);  // 3
  CHECK(memory.busy() == 38 + 12 + 6);
  memory.device_access(0x1000, 32, 3000, false, bank);  // 2
  CHECK(memory.busy() == 38 + 12 + 6 + 4);
}

TEST_CASE("memory: division by the clock ratio is exact") {
  for (uint32_t divisor = 1; divisor <= 64; divisor++) {
    const Divider divider(divisor);
    for (const uint64_t base :
         {uint64_t(0), uint64_t(1) << 20, uint64_t(1) << 40, (uint64_t(1) << 58) - 200}) {
      for (uint64_t value = base; value < base + 130; value++) {
        if (divider.quotient(value) != value / divisor) FAIL(value << " / " << divisor);
      }
    }
  }
}

TEST_CASE("memory: burst patterns as text") {
  uint32_t burst[4];
  CHECK(parse_burst("3-2-2-2", &burst));
  CHECK(burst[0] == 3);
  CHECK(burst[3] == 2);
  for (const char* bad : {"", "3-2-2", "3-2-2-2-2", "3-2-2-x", "0-1-1-1", "3-2-2-2 ", "-3-2-2-2"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_burst(bad, &burst));
  }
}
