// SPDX-License-Identifier: MIT
// Which random program exercises the whole chip? The program is the same on every host.
#pragma once

#include <iterator>
#include <random>
#include <string>

#include "bench.hh"

// All kinds of instructions, accesses, branches, and changes of ring and address space.
inline void exercise(Bench& bench) {
  static const char* const code[] = {
      "89 d8", "89 d1", "89 c1", "f7 df", "66 89 d8", "8b 08",    "01 0b",    "0f af c3",
      "d3 e0", "d8 c1", "d9 c9", "dc c2", "d8 f1",    "f7 e1",    "f0 01 08", "0f a2",
      "8e d8", "ec",    "50",    "58",    "f3 a5",    "64 8b 03", "40",       "d9 1b"};
  std::mt19937 random(7);
  const auto below = [&](uint32_t limit) { return uint32_t(random()) % limit; };
  for (int i = 0; i < 30'000; i++) {
    const std::string hex = code[below(std::size(code))];
    bench.insn(hex);
    if (hex == "f3 a5") {
      for (uint32_t n = below(5); n; n--) {
        bench.write(below(0x8000));
        bench.model.repeat();
      }
    }
    if (hex == "ec") bench.model.port(uint16_t(below(0x2000)), false);
    if (below(3) == 0) bench.read(below(0x20000), 1u << below(4));
    if (below(4) == 0) bench.write(below(0x20000), 1u << below(3));
    if (below(50) == 0) bench.read(0xA0000 + below(0x1000));
    if (below(100) == 0) bench.model.page_table_update(0x100000 + 4 * below(64));
    if (below(50) == 0) bench.model.bus_master(below(0x20000), 64, below(2));
    if (below(6) == 0) {
      const uint32_t target = 0x10000 + below(32) * 0x100, from = bench.ip;
      bench.insn("70 10");
      bench.model.branch(from, target, true, true);
      bench.ip = target;
    }
    if (below(40)) continue;
    const uint8_t ring = uint8_t(3 * below(2));
    const uint32_t cr3 = below(3) << 12;
    switch (below(4)) {
      case 0:
        bench.model.hard_interrupt(0x30, bench.ip);
        break;
      case 1:
        bench.model.exception(14, true, bench.ip);
        break;
      case 2:
        bench.insn("cd 80");
        bench.model.soft_interrupt(0x80);
        break;
      default:
        bench.model.idle(below(500));
    }
    bench.change([&](p5::State& state) { state.ring = ring, state.cr3 = cr3; });
  }
}
