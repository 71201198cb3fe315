// SPDX-License-Identifier: MIT
// Does the assembled model count events and clocks correctly? The tests execute hand-made
// instructions, and check clocks, interlocks, miss costs and events, and the ring and address space
// of each event.
#include "p5/pentium.hh"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "bench.hh"

using namespace p5;

namespace {

// Page tables: the directory at 100000h has two entries. The first entry is the table at 101000h (4
// KB pages, linear = physical). The second entry is a 4 MB page.
constexpr uint32_t kDirectory = 0x100000, kTable = 0x101000;

void map_pages(Bench& bench) {
  bench.memory[kDirectory] = kTable | 1;
  bench.memory[kDirectory + 4] = 0x400000 | 0x81;
  for (uint32_t page = 0; page < 1024; page++) bench.memory[kTable + 4 * page] = page << 12 | 1;
  bench.change([](State& state) {
    state.cr3 = kDirectory;
    state.paging = state.large_pages = true;
  });
}

}  // namespace

TEST_CASE("pentium: clocks come from the timing table") {
  Bench bench;
  CHECK(bench.warm({"89 d8"}) == 1);         // mov eax,ebx
  CHECK(bench.warm({"f7 f1"}) == 41);        // div ecx
  CHECK(bench.warm({"f7 e1", "99"}) == 11);  // mul ecx, cdq
  CHECK(bench.warm([&] { bench.load(0x2000); }) == 1);
}

TEST_CASE("pentium: modes have their own clocks") {
  Bench bench;
  CHECK(bench.warm({"9c"}) == 3);  // pushf
  bench.change([](State& state) { state.mode = MachineMode::Real; });
  CHECK(bench.warm({"9c"}) == 4);
  CHECK(bench.warm({"8e d8"}) == 2);  // mov ds,ax
  bench.change([](State& state) { state.mode = MachineMode::Prot32; });
  CHECK(bench.warm({"8e d8"}) == 3);
}

TEST_CASE("pentium: AGI") {  // [INTEL-OPT, AGN-MA]
  const std::vector<std::pair<std::vector<std::string>, unsigned>> cases = {
      {{"89 d8", "8b 08"}, 1},           // mov eax,ebx; mov ecx,[eax]
      {{"89 d8", "8b 0c 43"}, 1},        // as index
      {{"89 d8", "8d 08"}, 1},           // LEA also computes an address
      {{"89 d8", "89 c1"}, 0},           // used as data: no AGI
      {{"89 d8", "f7 df", "8b 08"}, 0},  // a clock between: no AGI
      {{"b0 01", "8b 08"}, 1},           // a part of the register
      {{"58", "8b 08"}, 1},              // pop eax; mov ecx,[eax]
      {{"50", "8b 0c 24"}, 0},           // push; mov ecx,[esp]: ESP was updated implicitly
      {{"83 ec 08", "50"}, 1},           // sub esp,8; push
      {{"83 ec 08", "8b 0c 24"}, 1},
      {{"89 ec", "5d"}, 1},     // mov esp,ebp; pop ebp
      {{"c9", "c3"}, 1},        // leave; ret
      {{"89 e5", "c9"}, 1},     // mov ebp,esp; leave
      {{"c2 04 00", "50"}, 1},  // ret 4; push
      {{"c3", "50"}, 0},
      {{"a3 00 20 00 00", "8b 08"}, 0},  // mov [2000h],eax writes no register
      {{"a1 00 20 00 00", "8b 08"}, 1},
  };
  for (const auto& [code, stalls] : cases) {
    CAPTURE(code.front());
    CAPTURE(code.back());
    Bench bench;
    const uint64_t clocks = bench.warm(code);
    uint64_t alone = 0;
    for (const auto& hex : code) {
      alone += timing_table().clocks(Mode::Prot)[Bench::decode_text(hex).cls];
    }
    CHECK(clocks == alone + stalls);
    CHECK(bench.count(AgiStalls) == 3 * stalls);
  }
}

TEST_CASE("pentium: prefix clocks, hidden behind longer instructions") {  // [AGN-MA]
  Bench bench;
  CHECK(bench.warm({"66 89 d8"}) == 2);
  CHECK(bench.warm({"66 64 8b 08"}) == 3);
  CHECK(bench.warm({"0f b6 c0"}) == 4);                      // movzx: 3 and the 0F byte
  CHECK(bench.warm({"f7 f1", "66 89 d8"}) == 42);            // 41 clocks hide one
  CHECK(bench.warm({"98", "66 64 26 8b 0b"}) == 3 + 1 + 1);  // 3 clocks hide two of three
  CHECK(bench.warm({"66 89 d8", "66 89 d1"}) == 4);          // a prefix clock does not hide another
}

TEST_CASE("pentium: a chain of loads takes the time that was measured on such a board") {
  // Loads in a ring with stride 128. Each load needs the result of the previous load [lai96,
  // lmbench].
  const auto clocks_per_load = [](uint32_t bytes) {
    Bench bench;
    const uint32_t loads = bytes / 128;
    const auto round = [&] {
      for (uint32_t i = 0; i < loads; i++) {
        bench.ip = Bench::kCode;
        bench.insn("8b 00");  // mov eax,[eax]
        bench.read(0x200000 + 128 * i);
      }
    };
    round();
    round();
    const uint64_t start = bench.model.clock();
    for (int i = 0; i < 4; i++) round();
    return double(bench.model.clock() - start) / (4 * loads);
  };
  CHECK(clocks_per_load(512) == doctest::Approx(2).epsilon(0.01));
  CHECK(clocks_per_load(8192) == doctest::Approx(2).epsilon(0.01));
  // A read from L2 takes 4 clocks, the wait for a bus clock, and 3-2-2-2 bus clocks of 1.5 clocks
  // each. A read from DRAM takes 7-4-4-4 bus clocks instead.
  CHECK(clocks_per_load(64 << 10) > 17);
  CHECK(clocks_per_load(64 << 10) < 20);
  CHECK(clocks_per_load(256 << 10) == doctest::Approx(clocks_per_load(64 << 10)).epsilon(0.02));
  CHECK(clocks_per_load(1 << 20) > 32);
  CHECK(clocks_per_load(1 << 20) < 36);
}

TEST_CASE("pentium: misaligned accesses") {  // [INTEL-OPT: 3 clocks; INTEL-DM: two references]
  Bench bench;
  bench.warm([&] { bench.load(0x2000); });
  CHECK(bench.warm([&] { bench.load(0x2002); }) == 1 + 3);
  CHECK(bench.grows(Misaligned, [&] { bench.load(0x2001); }) == 1);
  CHECK(bench.grows(DataReads, [&] { bench.load(0x2001); }) == 2);
  CHECK(bench.grows(Misaligned, [&] { bench.read(0x2002, 2); }) == 0);
  CHECK(bench.grows(Misaligned, [&] { bench.read(0x2003, 2); }) == 1);
  CHECK(bench.grows(Misaligned, [&] { bench.read(0x2003, 1); }) == 0);
  CHECK(bench.grows(Misaligned, [&] { bench.read(0x2008, 8); }) == 0);
  CHECK(bench.grows(Misaligned, [&] { bench.read(0x2004, 8); }) == 1);
  CHECK(bench.grows(DataReads, [&] { bench.read(0x2008, 8); }) == 1);
}

TEST_CASE("pentium: transfers of control end the fast path") {
  Bench bench;
  const Insn nop = Bench::decode_text("90");
  const auto straight = [&] {
    bench.ip = Bench::kCode;
    for (int i = 0; i < 4; i++) bench.insn("90");
    return bench.model.next() == bench.ip && bench.model.on_fast_path(nop);
  };
  straight();
  bench.model.idle(100);  // the line of code arrives
  REQUIRE(straight());
  bench.model.branch(bench.ip - 1, bench.ip + 64, false, true);
  CHECK(bench.model.on_fast_path(nop));
  bench.model.branch(bench.ip - 1, bench.ip, true, true);  // to the next instruction
  CHECK_FALSE(bench.model.on_fast_path(nop));
  REQUIRE(straight());
  bench.model.branch(true);
  CHECK_FALSE(bench.model.on_fast_path(nop));
  REQUIRE(straight());
  bench.model.exception(14, false, bench.ip);
  CHECK_FALSE(bench.model.on_fast_path(nop));
  REQUIRE(straight());
  bench.model.hard_interrupt(32, bench.ip);
  CHECK_FALSE(bench.model.on_fast_path(nop));
  REQUIRE(straight());
  bench.model.serialize();
  CHECK_FALSE(bench.model.on_fast_path(nop));
}

TEST_CASE("pentium: write misses do not allocate") {
  Bench bench;
  CHECK(bench.grows(DataWriteMisses, [&] {
    bench.store(0x3000);
    bench.store(0x3000);
  }) == 2);
  CHECK(bench.grows(DataReadMisses, [&] { bench.load(0x3000); }) == 1);
  CHECK(bench.grows(DataWriteMisses, [&] { bench.store(0x3000); }) == 0);
  CHECK(bench.count(WriteHitsME) == 1);
}

TEST_CASE("pentium: a line fill delivers the first 8 bytes early, the rest when it is complete") {
  Bench bench;
  bench.warm([&] { bench.load(0x2000); });
  bench.load(0x100000);  // brings the line into L2
  bench.load(0x100000 + 4096);
  bench.load(0x100000 + 2 * 4096);  // and out of L1D
  bench.model.idle(1000);
  bench.ip = Bench::kCode;
  const auto cost = [&](uint32_t address) {
    const uint64_t start = bench.model.clock();
    bench.load(address);
    return bench.model.clock() - start;
  };
  // The first 8 bytes take 4 clocks, 3 bus clocks of 1.5 clocks, and the wait for a bus clock.
  const uint64_t first = cost(0x100000);
  CHECK(first >= 1 + 4 + 4);
  CHECK(first <= 1 + 4 + 6);
  // The other bytes of the line take 6 bus clocks, which are 9 clocks [INTEL-OPT].
  const uint64_t second = cost(0x100008);
  CHECK(second >= 8);
  CHECK(second <= 10);
  CHECK(cost(0x100010) == 1);
}

TEST_CASE("pentium: two write buffers, strictly ordered") {  // [INTEL-DM 3]
  Bench bench;
  bench.warm([&] { bench.load(0x2000); });
  bench.store(0x2000);  // modified from now on
  const auto cost = [&](auto access) {
    const uint64_t start = bench.model.clock();
    access();
    return bench.model.clock() - start;
  };
  const auto quiet = [&] {
    bench.model.idle(1000);
    bench.ip = Bench::kCode;
  };
  quiet();
  CHECK(cost([&] { bench.store(0x2000); }) == 1);
  CHECK(cost([&] { bench.store(0x300000); }) == 1);  // a miss goes into the buffer of U
  CHECK(cost([&] { bench.store(0x301000); }) == 1);  // it joins V
  CHECK(cost([&] { bench.store(0x302000); }) > 3);   // the buffer of U is not empty
  CHECK(bench.count(StallWrite) > 0);
  quiet();
  for (int i = 0; i < 2; i++) {
    bench.insn("f7 df");                                  // NEG EDI does not pair:
    CHECK(cost([&] { bench.store(0x300000); }) > 3 * i);  // both stores are in U
  }
  quiet();
  // A write that hits waits for earlier writes. A read that hits overtakes them.
  bench.store(0x300000);
  CHECK(cost([&] { bench.load(0x2000); }) == 1);
  CHECK(cost([&] { bench.store(0x2000); }) > 3);
  // A read that misses also waits, so it is slower after a write.
  quiet();
  const uint64_t alone = cost([&] { bench.load(0x310000); });
  quiet();
  bench.store(0x300000);
  CHECK(cost([&] { bench.load(0x320000); }) > alone + 3);
}

TEST_CASE("pentium: write once") {  // [INTEL-DM 3: a write to a shared line goes to the bus]
  Config config = p90();
  config.write_once = true;
  Bench bench(config);
  bench.load(0x2000);  // shared
  CHECK(bench.grows(L2Writes, [&] { bench.store(0x2000); }) == 1);
  CHECK(bench.count(WriteHitsME) == 0);
  CHECK(bench.count(DataWriteMisses) == 0);
  CHECK(bench.grows(L2Writes, [&] { bench.store(0x2000); }) == 0);  // exclusive since
  CHECK(bench.count(WriteHitsME) == 1);
  Bench exclusive;
  exclusive.load(0x2000);
  CHECK(exclusive.grows(L2Writes, [&] { exclusive.store(0x2000); }) == 0);
}

TEST_CASE("pentium: pages with PCD and PWT") {  // [INTEL-DM 3]
  // Linear pages 4, 5 and 6 map to physical pages 4, 5 and 6. Page 4 is ordinary, page 5 has PWT,
  // and page 6 has PCD.
  Bench bench;
  bench.memory[0x1000] = 0x2000 | 1;
  bench.memory[0x2000 + 4 * 4] = 0x4000 | 1;
  bench.memory[0x2000 + 4 * 5] = 0x5000 | 1 | 1 << 3;
  bench.memory[0x2000 + 4 * 6] = 0x6000 | 1 | 1 << 4;
  bench.memory[0x2000 + 4 * 16] = 0x10000 | 1;  // code
  bench.change([](State& state) {
    state.paging = true;
    state.cr3 = 0x1000;
  });
  const auto misses = [&](auto code) { return bench.grows(DataReadMisses, code); };
  for (int pass = 0; pass < 3; pass++) {
    const uint64_t expected = pass == 0;
    CHECK(misses([&] { bench.load(0x4000); }) == expected);
    CHECK(misses([&] { bench.load(0x5000); }) == expected);
    CHECK(misses([&] { bench.load(0x6000); }) == 1);  // never filled
    CHECK(bench.grows(UncachedReads, [&] { bench.load(0x6000); }) == 1);
  }
  // A line of a PWT page stays shared after writes.
  for (int i = 0; i < 3; i++) {
    CHECK(bench.grows(L2Writes, [&] { bench.store(0x5000); }) == 1);
    CHECK(bench.grows(L2Writes, [&] { bench.store(0x4000); }) == 0);
  }
  // A TLB entry keeps its attributes until it is flushed.
  bench.memory[0x2000 + 4 * 6] = 0x6000 | 1;
  CHECK(misses([&] { bench.load(0x6000); }) == 1);
  bench.model.invalidate_page(0x6000);
  CHECK(misses([&] { bench.load(0x6000); }) == 1);
  CHECK(misses([&] { bench.load(0x6000); }) == 0);
  // The processor reads code of a PCD page in units of 8 bytes. This code does not fill a cache.
  bench.memory[0x2000 + 4 * 17] = 0x11000 | 1 | 1 << 4;
  for (int pass = 0; pass < 2; pass++) {
    bench.ip = 0x11000;
    CHECK(bench.grows(CodeMisses, [&] {
      for (int i = 0; i < 16; i++) bench.insn("90");
    }) == 2);
  }
}

TEST_CASE("pentium: accesses of another bus master snoop the caches") {
  Bench bench;
  bench.load(0x2000);
  bench.load(0x2020);
  bench.store(0x2020);  // modified
  // The master reads both lines. The modified line is written back first. Then both lines are
  // shared.
  CHECK(bench.grows(L1dWritebacks, [&] { bench.model.bus_master(0x2000, 64, false); }) == 1);
  CHECK(bench.count(Snoops) == 2);
  CHECK(bench.count(SnoopHits) == 2);
  CHECK(bench.grows(DataReadMisses, [&] {
    bench.load(0x2000);
    bench.load(0x2020);
  }) == 0);
  CHECK(bench.grows(L2Writes, [&] { bench.store(0x2000); }) == 1);  // and exclusive again
  CHECK(bench.grows(L2Writes, [&] { bench.store(0x2000); }) == 0);
  // The master writes to both lines. The L1 caches and the board's L2 then no longer contain the
  // lines.
  bench.model.bus_master(0x2010, 32, true);  // a part of each
  CHECK(bench.count(Snoops) == 4);
  CHECK(bench.grows(L2ReadMisses, [&] {
    bench.load(0x2000);
    bench.load(0x2020);
  }) == 2);
  bench.model.bus_master(0x500000, 4, true);
  CHECK(bench.count(Snoops) == 5);
  CHECK(bench.count(SnoopHits) == 4);
  // The same holds for code.
  bench.ip = Bench::kCode;
  bench.insn("90");
  bench.model.bus_master(Bench::kCode, 32, true);
  bench.model.serialize();
  CHECK(bench.grows(CodeMisses, [&] { bench.insn("90"); }) == 1);
  // The bus is busy. If a miss follows a transfer of 16 lines, the miss waits for 16 inquire cycles
  // of 2 bus clocks each.
  bench.model.idle(1000);
  const auto cost = [&](uint32_t address) {
    const uint64_t start = bench.model.clock();
    bench.load(address);
    return bench.model.clock() - start;
  };
  const uint64_t alone = cost(0x600000);
  bench.model.idle(1000);
  bench.model.bus_master(0x700000, 512, true);
  CHECK(cost(0x610000) >= alone + 16 * 3 - 3);
}

TEST_CASE("pentium: a modified line is written back when it is displaced") {
  Bench bench;
  bench.load(0x4000);
  bench.store(0x4000);
  bench.load(0x4000 + 4096);
  CHECK(bench.count(L1dWritebacks) == 0);
  bench.load(0x4000 + 2 * 4096);  // third line in a set of two
  CHECK(bench.count(L1dWritebacks) == 1);
  bench.load(0x4000 + 3 * 4096);  // displaces a clean line
  CHECK(bench.count(L1dWritebacks) == 1);
}

TEST_CASE("pentium: uncached memory") {
  Bench bench;
  CHECK(bench.grows(UncachedReads, [&] {
    bench.load(0xB8000);
    bench.load(0xB8000);
  }) == 2);
  CHECK(bench.grows(UncachedWrites, [&] { bench.store(0xB8000); }) == 1);
  CHECK(bench.grows(UncachedReads, [&] { bench.load(0xF0000000); }) == 1);  // beyond DRAM: PCI
  CHECK(bench.grows(UncachedReads, [&] { bench.load(0x9F000); }) == 0);
}

TEST_CASE("pentium: video memory takes the cycles of its bus") {
  constexpr uint32_t kWindow = 0xA0000, kLinear = 0xE0000000;
  // Returns the clocks for which the bus was busy with an access.
  const auto busy = [](const VideoBus& video, uint32_t at, uint32_t bytes, DataKind kind) {
    Config config = p90();
    config.video = video;
    Bench bench(config);
    bench.insn("8b 08");
    return bench.grows(BusBusy, [&] { bench.model.data(at, at, bytes, kind); });
  };
  const VideoBus port, pci{4, 15, 12, true}, isa{2, 56, 56, false};
  for (const uint32_t bytes : {1u, 4u, 8u}) {
    CHECK(busy(port, kWindow, bytes, DataKind::Read) == 14);
    CHECK(busy(port, kLinear, bytes, DataKind::Write) == 14);
  }
  CHECK(busy(pci, kWindow, 1, DataKind::Read) == 15);
  CHECK(busy(pci, kWindow + 0x1FFFC, 4, DataKind::Write) == 12);
  CHECK(busy(pci, kLinear, 4, DataKind::Read) == 15);
  CHECK(busy(pci, kLinear, 8, DataKind::Write) == 2 * 12);
  CHECK(busy(pci, kLinear + 2, 4, DataKind::Write) == 2 * 12);   // two parts of 2 bytes
  CHECK(busy(pci, kWindow + 0x20000, 4, DataKind::Read) == 14);  // a ROM
  CHECK(busy(isa, kWindow, 1, DataKind::Write) == 56);
  CHECK(busy(isa, kWindow, 2, DataKind::Read) == 56);
  CHECK(busy(isa, kWindow, 4, DataKind::Read) == 2 * 56);
  CHECK(busy(isa, kWindow + 1, 2, DataKind::Read) == 2 * 56);  // an odd address
  CHECK(busy(isa, kLinear, 4, DataKind::Write) == 14);
}

TEST_CASE("pentium: with caching off the caches do not change") {  // INTEL-DM ch. 2, CD = 1
  Bench bench;
  bench.change([](State& state) { state.caching = false; });
  CHECK(bench.grows(DataReadMisses, [&] {
    bench.load(0x5000);
    bench.load(0x5000);
  }) == 2);
  bench.change([](State& state) { state.caching = true; });
  CHECK(bench.grows(DataReadMisses, [&] {
    bench.load(0x5000);
    bench.load(0x5000);
  }) == 1);
}

TEST_CASE("pentium: page walks") {
  Bench bench;
  map_pages(bench);
  bench.insn("90");
  CHECK(bench.count(ItlbMisses) == 1);
  CHECK(bench.count(WalkReads) == 2);  // directory and table
  CHECK(bench.grows(WalkReads, [&] { bench.load(0x7000); }) == 2);
  CHECK(bench.grows(WalkReads, [&] { bench.load(0x7800); }) == 0);
  CHECK(bench.grows(WalkReads, [&] { bench.load(0x400000); }) == 1);  // 4 MB page: directory only
  CHECK(bench.grows(WalkReads, [&] { bench.load(0x7FF000); }) == 0);  // the same large page
  CHECK(bench.count(DtlbMisses) == 2);
  // The reads of page walks are not data reads [INTEL-DM 16: events 00h and 03h do not count them].
  CHECK(bench.count(DataReads) == 4);

  bench.model.invalidate_page(0x7000);
  CHECK(bench.grows(DtlbMisses, [&] { bench.load(0x400000); }) == 0);
  CHECK(bench.grows(DtlbMisses, [&] { bench.load(0x7000); }) == 1);
  CHECK(bench.grows(StallWalk, [&] {
    bench.model.invalidate_page(0x7000);
    bench.load(0x7000);
  }) > 0);
}

TEST_CASE("pentium: a CR3 load empties the TLBs, also with the same value") {
  Bench bench;
  map_pages(bench);
  bench.load(0x7000);
  bench.load(0x400000);
  bench.model.load_cr3(kDirectory);
  CHECK(bench.count(Cr3Unchanged) == 1);
  CHECK(bench.count(Cr3Changed) == 0);
  CHECK(bench.count(TlbFlushes) == 1);
  CHECK(bench.grows(DtlbMisses, [&] {
    bench.load(0x7000);
    bench.load(0x400000);
  }) == 2);
  CHECK(bench.count(ItlbMisses) == 2);
  bench.model.load_cr3(kDirectory + 0x1000);
  CHECK(bench.count(Cr3Changed) == 1);
}

TEST_CASE("pentium: code fetch counts lines and misses, also after data writes") {
  Bench bench;
  bench.ip = 0x8000;
  CHECK(bench.grows(CodeMisses, [&] {
    for (int i = 0; i < 64; i++) bench.insn("90");  // two lines
  }) == 2);
  CHECK(bench.count(CodeReads) == 2);
  bench.ip = 0x8000;
  CHECK(bench.grows(CodeMisses, [&] { bench.insn("90"); }) == 0);
  // A line cannot be in both L1 caches at the same time [INTEL-DM 3].
  bench.load(0x8000);
  bench.ip = 0x8000;
  CHECK(bench.grows(CodeMisses, [&] { bench.insn("90"); }) == 1);
  bench.ip = 0x9000;
  CHECK(bench.grows(DataReadMisses, [&] { bench.load(0x8000); }) == 1);
}

TEST_CASE("pentium: an instruction across two lines fetches both") {
  Bench bench;
  bench.ip = 0x801E;
  bench.insn("b8 00 00 00 00");
  CHECK(bench.count(CodeMisses) == 2);
}

TEST_CASE("pentium: REP is one instruction, and its iterations cost clocks") {
  Bench bench;
  const auto rep_stos = [&](int times) {
    return [&bench, times] {
      bench.insn("90");
      bench.insn("f3 ab");
      for (int i = 0; i < times; i++) {
        bench.model.repeat();
        bench.write(0x6000);
      }
    };
  };
  bench.load(0x6000);
  // 10 + n [AGN-IT], and the prefix.
  CHECK(bench.warm(rep_stos(7)) == 1 + 1 + 10 + 7);
  CHECK(bench.warm(rep_stos(100)) == 1 + 1 + 10 + 100);
  CHECK(bench.grows(Instructions, rep_stos(100)) == 2);
  CHECK(bench.grows(DataWrites, rep_stos(100)) == 100);
}

TEST_CASE("pentium: an interrupted REP counts once, the delivery adds one") {  // INTEL-DM 16, 16h
  Bench bench;
  bench.insn("90");
  const uint64_t before = bench.count(Instructions);
  const uint32_t at = bench.ip;
  bench.insn("f3 ab");
  bench.model.repeat();
  bench.model.hard_interrupt(0x30, at);
  bench.model.set_state(bench.state);
  bench.ip = 0x9000;
  bench.insn("cf");
  bench.model.far_transfer(Crossing::Iret);
  bench.model.set_state(bench.state);
  bench.ip = at;
  bench.insn("f3 ab");
  bench.model.repeat();
  CHECK(bench.count(Instructions) - before == 1 + 1 + 1);  // REP, delivery, IRET
}

TEST_CASE("pentium: a REP in a loop is a new instruction each time, also after an interrupt") {
  Bench bench;
  SUBCASE("with timing") {}
  SUBCASE("without timing") { bench.model.set_timing(false); }
  const auto loop = [&] {  // rep stosb; jmp back
    bench.ip = Bench::kCode;
    bench.insn("f3 aa");
    bench.model.repeat();
    bench.ip = Bench::kCode;  // some emulators report each iteration as another instruction
    bench.insn("f3 aa");
    bench.model.repeat();
    bench.insn("eb fc");
  };
  CHECK(bench.grows(Instructions, [&] {
    loop();
    loop();
    loop();
  }) == 6);
  CHECK(bench.grows(Instructions, [&] {
    loop();
    bench.model.hard_interrupt(0x30, Bench::kCode);  // before the REP begins again
    bench.change([](State&) {});
    loop();
  }) == 2 + 1 + 2);
  CHECK(bench.grows(Instructions, [&] {
    loop();
    bench.model.exception(14, false, Bench::kCode);  // its fetch faults; the jump was last
    bench.change([](State&) {});
    loop();
  }) == 2 + 1 + 2);
}

TEST_CASE("pentium: events go to the ring and address space in which they happen") {
  Bench bench;
  bench.change([](State& state) { state.ring = 3; });
  bench.warm({"89 d8"});
  const uint64_t user = bench.count(Instructions, 1 << 3);
  CHECK(user == 15);
  CHECK(bench.count(Instructions, 1 << 0) == 0);
  bench.change([](State& state) { state.ring = 0; });
  bench.load(0x2000);
  CHECK(bench.count(Instructions, 1 << 3) == user);
  CHECK(bench.count(Instructions, 1 << 0) == 1);
  CHECK(bench.count(DataReads, 1 << 0) == 1);

  bench.change([](State& state) { state.cr3 = 0x5000; });
  bench.load(0x2000);
  const auto& banks = bench.model.counters().banks();
  uint64_t old_space = 0, new_space = 0;
  for (const auto& bank : banks) {
    if (bank->ring == 0) (bank->cr3 == 0x5000 ? new_space : old_space) += bank->count[DataReads];
  }
  CHECK(old_space == 1);
  CHECK(new_space == 1);
}

TEST_CASE("pentium: busy and idle cycles add up to the clock, by ring") {
  Bench bench;
  bench.warm({"f7 f1"});
  bench.change([](State& state) { state.ring = 3; });
  bench.warm({"f7 f1"});
  bench.model.idle(1000);
  bench.warm({"f7 f1"});
  CHECK(bench.count(CyclesIdle) == 1000);
  CHECK(bench.count(CyclesBusy) + bench.count(CyclesIdle) == bench.model.clock());
  CHECK(bench.count(CyclesBusy, 1 << 0) > 0);
  CHECK(bench.count(CyclesBusy, 1 << 3) > bench.count(CyclesBusy, 1 << 0));
}

TEST_CASE("pentium: ring crossings by instruction, and asynchronous crossings separately") {
  Bench bench;
  const auto to_ring = [&](uint8_t ring) {
    bench.change([ring](State& state) { state.ring = ring; });
  };
  to_ring(3);

  bench.insn("cd 80");  // system call
  bench.model.soft_interrupt(0x80);
  to_ring(0);
  CHECK(bench.count(CrossInt) == 1);
  CHECK(bench.count(SoftInterrupts) == 1);
  bench.insn("cf");
  bench.model.far_transfer(Crossing::Iret);
  to_ring(3);
  CHECK(bench.count(CrossIret) == 1);

  bench.model.hard_interrupt(0x30, bench.ip);
  to_ring(0);
  CHECK(bench.count(CrossAsync) == 1);
  CHECK(bench.count(HwInterrupts) == 1);
  bench.model.hard_interrupt(0x31, bench.ip);  // inside ring 0: no crossing
  to_ring(0);
  CHECK(bench.count(CrossAsync) == 1);
  CHECK(bench.count(HwInterrupts) == 2);
  bench.insn("cf");
  bench.model.far_transfer(Crossing::Iret);
  to_ring(0);
  CHECK(bench.count(CrossIret) == 1);

  to_ring(3);
  bench.insn("9a 00 00 00 00 08 00");
  bench.model.far_transfer(Crossing::Gate);
  to_ring(0);
  bench.insn("cb");
  bench.model.far_transfer(Crossing::Far);
  to_ring(3);
  CHECK(bench.count(CrossGate) == 1);
  CHECK(bench.count(CrossFar) == 1);

  bench.insn("8b 08");
  bench.model.exception(14, true, bench.ip - 2);
  to_ring(0);
  CHECK(bench.count(CrossAsync) == 2);
  CHECK(bench.count(Exceptions) == 1);
  CHECK(bench.count(CrossInt) == 1);

  uint64_t clock_vector = 0, calls = 0;
  for (const auto& bank : bench.model.counters().banks()) {
    for (const auto& [key, count] : bank->vectors) {
      if (key == std::pair(Entry::Irq, uint8_t(0x30))) clock_vector += count;
      if (key == std::pair(Entry::Soft, uint8_t(0x80))) calls += count;
    }
  }
  CHECK(clock_vector == 1);
  CHECK(calls == 1);
}

TEST_CASE("pentium: a ring crossing costs the inner-level clocks") {  // 31, 48; 10, 27 [CHEN95]
  Bench bench;
  bench.change([](State& state) { state.ring = 3; });
  const auto call = [&](uint8_t inner) {
    return [&bench, inner] {
      bench.insn("cd 80");
      bench.model.soft_interrupt(0x80);
      bench.change([inner](State& state) { state.ring = inner; });
    };
  };
  const auto back = [&] {
    bench.insn("cf");
    bench.model.far_transfer(Crossing::Iret);
    bench.change([](State& state) { state.ring = 3; });
  };
  CHECK(bench.warm(call(3)) == 31);
  CHECK(bench.warm([&] {
    call(0)();
    back();
  }) == 48 + 27);
  CHECK(bench.warm(back) == 10);
}

TEST_CASE("pentium: rows that depend on more than the encoding") {
  Bench bench;
  const auto rep_movs = [&](int times) {
    return [&bench, times] {
      bench.insn("90");
      bench.insn("f3 a5");
      for (int i = 0; i < times; i++) bench.model.repeat();
    };
  };
  CHECK(bench.warm(rep_movs(0)) == 1 + 1 + 6);  // a count of zero
  CHECK(bench.warm(rep_movs(1)) == 1 + 1 + 13 + 1);
  CHECK(bench.warm({"c8 10 00 00"}) == 11);
  CHECK(bench.warm({"c8 10 00 05"}) == 15 + 5 * 2);  // ENTER, five levels

  CHECK(bench.warm({"0f 31"}) == 1 + 6);  // RDTSC and its 0F byte
  CHECK(bench.warm({"ec"}) == 4);
  bench.change([](State& state) { state.ring = 3, state.user_io = true; });
  CHECK(bench.warm({"0f 31"}) == 1 + 11);
  CHECK(bench.warm({"ec"}) == 21);  // with the permission bitmap
  bench.change([](State& state) { state.user_io = false; });
  CHECK(bench.warm({"ec"}) == 4);
  bench.change([](State& state) { state.mode = MachineMode::V86, state.user_io = true; });
  CHECK(bench.warm({"ec"}) == 19);
}

TEST_CASE("pentium: a call gate to an inner ring, and back") {  // 44 and 23 [86BOX, UM3]
  Bench bench;
  const auto change_ring = [&](uint8_t ring) {
    bench.change([ring](State& state) { state.ring = ring; });
  };
  change_ring(3);
  CHECK(bench.warm([&] {
    bench.insn("9a 00 00 00 00 08 00");
    bench.model.call_gate(0);
    bench.model.far_transfer(Crossing::Gate);
    change_ring(0);
    bench.insn("cb");
    bench.model.far_transfer(Crossing::Far);
    change_ring(3);
  }) == 44 + 23);
}

TEST_CASE("pentium: machine-mode changes") {
  Bench bench;
  for (const auto mode : {MachineMode::Real, MachineMode::Prot16, MachineMode::Prot32,
                          MachineMode::V86, MachineMode::Prot32, MachineMode::Prot32}) {
    bench.change([mode](State& state) { state.mode = mode; });
  }
  CHECK(bench.count(ModeReal) == 1);
  CHECK(bench.count(Mode16) == 1);
  CHECK(bench.count(ModeV86) == 1);
  CHECK(bench.count(Mode32) == 3);  // the bench began with one load
}

TEST_CASE("pentium: segment loads") {
  Bench bench;
  CHECK(bench.grows(SegmentLoads, [&] { bench.insn("8e d8"); }) == 1);
  CHECK(bench.grows(SegmentLoads, [&] { bench.insn("1f"); }) == 1);
  CHECK(bench.grows(SegmentLoads, [&] { bench.insn("8c d8"); }) == 0);
}

TEST_CASE("pentium: instructions that a Pentium lacks, and their clocks in the timing table") {
  Bench bench;
  const std::pair<const char*, uint64_t> newer[] = {
      {"0f 44 c1", 1},    // CMOVE EAX, ECX
      {"0f 4f 06", 2},    // CMOVG EAX, [ESI]
      {"da c1", 2},       // FCMOVB
      {"df e9", 2},       // FUCOMIP
      {"0f 1f 00", 1},    // NOP [EAX]
      {"f3 0f 1e fb", 1}  // ENDBR32
  };
  for (const auto& [code, clocks] : newer) {
    CAPTURE(code);
    CHECK(bench.grows(NewerInstructions, [&] { bench.insn(code); }) == 1);
    CHECK(bench.grows(NewerCycles, [&] { bench.insn(code); }) == clocks);
  }
  // Ordinary instructions, and an instruction that both levels refuse.
  for (const char* other : {"89 c8", "90", "d9 c1", "f3 0f 10 c1"}) {
    CAPTURE(other);
    CHECK(bench.grows(NewerInstructions, [&] { bench.insn(other); }) == 0);
  }
}

TEST_CASE("pentium: locked cycles go to the bus and drop the line") {
  Bench bench;
  bench.load(0x6000);
  bench.store(0x6000);
  bench.insn("87 08");  // xchg [eax],ecx
  bench.model.data(0x6000, 0x6000, 4, DataKind::ReadWrite);
  CHECK(bench.count(LockedCycles) == 1);
  CHECK(bench.count(L1dWritebacks) == 1);  // the line was modified
  CHECK(bench.grows(DataReadMisses, [&] { bench.load(0x6000); }) == 1);
}

TEST_CASE("pentium: port accesses") {
  Bench bench;
  bench.insn("ec");
  const uint64_t before = bench.model.clock();
  bench.model.port(0x60, false);
  CHECK(bench.model.clock() - before >= 90);  // ISA: 1 us
  bench.model.port(0xCF8, true);
  CHECK(bench.count(IoReads) == 1);
  CHECK(bench.count(IoWrites) == 1);
}

TEST_CASE("pentium: an instruction without a class is reported") {
  Bench bench;
  bench.insn("0f 0b");
  bench.insn("0f 0b");
  CHECK(bench.model.unknown().size() == 1);
  CHECK(bench.model.unknown().at(0x10B) == 2);
  CHECK(Bench().model.unknown().empty());
}

TEST_CASE("pentium: a marker and its fetch have no counts and no clocks") {
  Bench bench;
  bench.insn("90");
  const uint64_t clock = bench.model.clock(), count = bench.count(Instructions);
  const Insn cpuid = Bench::decode_text("0f a2");
  bench.model.skip(cpuid, bench.ip);
  bench.ip += cpuid.length;
  CHECK(bench.model.clock() == clock);
  CHECK(bench.count(Instructions) == count);
  CHECK(bench.grows(CodeReads, [&] { bench.insn("90"); }) == 0);
}

TEST_CASE("pentium: without timing each instruction takes one clock") {
  Bench bench;
  bench.model.set_timing(false);
  const uint64_t start = bench.model.clock();
  for (int i = 0; i < 100; i++) {
    bench.insn("f7 f1");
    bench.read(0x100000 + 4096 * i);
  }
  CHECK(bench.model.clock() - start == 100);
  CHECK(bench.count(Instructions) == 100);
}

TEST_CASE("counters: CESR selects event and rings") {  // [INTEL-DM 16.4]
  Bench bench;
  const auto select = [&](uint32_t es0, uint32_t cc0, uint32_t es1, uint32_t cc1) {
    bench.model.msrs().write_cesr(es0 | cc0 << 6 | es1 << 16 | cc1 << 22);
    bench.model.msrs().write(0, 0);
    bench.model.msrs().write(1, 0);
  };
  const auto run = [&] {  // 3 instructions at ring 0, 5 at ring 3, each one clock
    bench.change([](State& state) { state.ring = 0; });
    for (int i = 0; i < 3; i++) bench.insn("89 d8");
    bench.change([](State& state) { state.ring = 3; });
    for (int i = 0; i < 5; i++) bench.insn("89 d8");
    bench.ip = Bench::kCode;
  };
  run();
  const struct {
    uint32_t cc;
    uint64_t instructions;
  } cases[] = {{0, 0}, {1, 3}, {2, 5}, {3, 8}, {4, 0}};
  for (const auto& test : cases) {
    CAPTURE(test.cc);
    select(0x16, test.cc, 0x16, 3);
    run();
    CHECK(bench.model.msrs().read(0) == test.instructions);
    CHECK(bench.model.msrs().read(1) == 8);
  }
  // With CC 5, 6 or 7, a counter counts clocks (also idle clocks), for any selected event.
  select(0x16, 7, 0x16, 5);
  uint64_t start = bench.model.clock();
  run();
  bench.model.idle(50);
  CHECK(bench.model.msrs().read(0) == bench.model.clock() - start);
  CHECK(bench.model.msrs().read(1) < bench.model.msrs().read(0));
  // The two counters have different events.
  select(0x00, 3, 0x01, 3);
  bench.load(0x2000);
  bench.store(0x2000);
  bench.store(0x2000);
  CHECK(bench.model.msrs().read(0) == 1);
  CHECK(bench.model.msrs().read(1) == 2);
  CHECK(CounterMsrs::supported(0x16));
  CHECK_FALSE(CounterMsrs::supported(0x10));  // reserved
}

TEST_CASE("counters: values survive a new selection and are 40 bits wide") {
  Bench bench;
  bench.model.msrs().write_cesr(0x16 | 3 << 6);
  bench.model.msrs().write(0, 100);
  bench.insn("90");
  bench.insn("90");
  CHECK(bench.model.msrs().read(0) == 102);
  bench.model.msrs().write_cesr(0x00 | 3 << 6);  // INTEL-DM: does not clear counters
  CHECK(bench.model.msrs().read(0) == 102);
  bench.load(0x2000);
  CHECK(bench.model.msrs().read(0) == 103);
  bench.model.msrs().write(0, (uint64_t(1) << 40) - 1);
  bench.load(0x2000);
  CHECK(bench.model.msrs().read(0) == 0);
  bench.model.msrs().write_cesr(0xFFFFFFFF);
  CHECK(bench.model.msrs().cesr() == 0x03FF03FF);  // reserved bits read as zero
}
