// SPDX-License-Identifier: MIT
// Do the times of the bus and DRAM agree with a slow reference model, for random accesses on random
// boards?
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <random>

#include "bench.hh"
#include "reference/bus.hh"
#include "reference/cache.hh"

using namespace p5;

namespace {

// The same board for the model and for the reference.
struct Board {
  MemoryConfig model = p90().memory;
  reference::BusTimes times;
};

Board random_board(std::mt19937& random) {
  const auto pick = [&](uint32_t low, uint32_t high) {
    return std::uniform_int_distribution<uint32_t>(low, high)(random);
  };
  Board board;
  const std::pair<uint32_t, uint32_t> ratios[] = {{1, 1}, {3, 2}, {2, 1}, {5, 2}};
  const auto [core, bus] = ratios[pick(0, 3)];
  MemoryConfig& model = board.model;
  reference::BusTimes& times = board.times;
  times.bus = model.core_clocks = core;
  times.core = model.bus_clocks = bus;
  for (size_t i = 0; i < 4; i++) {
    times.l2[i] = model.l2_read.burst[i] = pick(1, 4);
    times.dram[i] = model.dram_read.burst[i] = pick(i ? 1 : 4, i ? 4 : 9);
  }
  times.l2_write = model.l2_write.single_write = pick(2, 6);
  times.dram_write = model.dram_write.single_write = pick(2, 9);
  times.page = model.dram_page = 1024u << pick(0, 3);
  times.page_miss = model.page_miss = pick(0, 9);
  times.posted = model.post_buffer = pick(0, 4);
  times.refresh_every = model.refresh_interval = pick(0, 1) * pick(200, 2000);
  times.refresh = model.refresh_clocks = pick(0, 9);
  times.early_address = model.pipelined = pick(0, 1);
  times.overhead = model.miss_overhead = pick(0, 5);
  times.entry = model.buffer_clocks = pick(0, 2);
  model.l2.size = 8192;
  return board;
}

}  // namespace

TEST_CASE("memory: times agree with the reference, random accesses on random boards") {
  std::mt19937 random(21);
  uint64_t early = 0, refreshes = 0;
  for (int number = 0; number < 400; number++) {
    const Board board = random_board(random);
    Memory memory(board.model);
    reference::Bus bus(board.times);
    reference::Cache l2({8192, 1, 32, "lru", true, false});
    Bank bank;
    uint64_t now = 1;
    for (int i = 0; i < 500; i++) {
      const uint32_t address = 0x100000 + random() % 3 * 0x2000 + random() % 512 * 32;
      now += random() % 4 ? random() % 12 : random() % 300;
      CAPTURE(number);
      CAPTURE(i);
      if (random() % 3) {
        const auto found = l2.access(address, false, true);
        const auto line = memory.read_line(address, now, bank);
        const auto expected = bus.read(address, found.hit, now);
        if (found.write_back) bus.write_back(*found.displaced);
        REQUIRE(line.first == expected.first);
        REQUIRE(line.complete == expected.complete);
        if (random() % 2) now = line.first;
      } else {
        const int pipe = int(random() % 2);
        const bool hit = l2.access(address, true, true).hit;
        const uint64_t go_on = memory.write_single(address, now, Pipe(pipe), bank);
        REQUIRE(go_on == bus.write(address, hit, now, pipe));
        now = go_on;
      }
    }
    early += bus.early_addresses;
    refreshes += bus.refreshes;
  }
  CHECK(early > 1000);
  CHECK(refreshes > 1000);
}
