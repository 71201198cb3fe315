// SPDX-License-Identifier: MIT
// Does 64-bit code take the clocks of the same 32-bit code? This program contains the model of an
// x86-64 processor with nominal clocks. The expected clocks are derived by hand from the rules of
// the Pentium [INTEL-OPT ch. 3, AGN-MA 3]: two simple instructions pair if the second needs no
// result of the first, and an address waits one clock for a register of the clock before.
#include <doctest/doctest.h>

#include <algorithm>

#include "bench.hh"
#include "p5/isa.hh"

using namespace p5;

namespace {

static_assert(kX86_64, "compile this file with P5_X86_64");

using Code = std::vector<std::string>;
constexpr uint32_t kData = 0x20000;

// A bench in 64-bit code or in 32-bit code.
struct Wide : Bench {
  explicit Wide(bool code64) {
    if (code64) change([](State& now) { now.mode = MachineMode::Long64; });
  }
};

// The clocks of code without memory accesses and branches.
uint64_t clocks(bool code64, const Code& code) { return Wide(code64).warm(code); }

bool loads(const Insn& insn) { return insn.cls == Class::MovLoad || insn.cls == Class::AluRM; }

// The clocks of one iteration of a loop in the steady state. The last instruction is a branch to
// the first. Each load reads the same line.
uint64_t iteration(bool code64, const Code& code) {
  constexpr int kBefore = 20, kCounted = 16;
  Wide bench(code64);
  uint64_t start = 0;
  for (int i = 0; i < kBefore + kCounted; i++) {
    if (i == kBefore) start = bench.model.clock();
    bench.ip = Bench::kCode;
    for (const auto& hex : code) {
      if (loads(bench.insn(hex))) bench.read(kData, code64 ? 8 : 4);
    }
    bench.model.branch(bench.ip - 2, Bench::kCode, true, true);
  }
  const uint64_t all = bench.model.clock() - start;
  CHECK(all % kCounted == 0);
  return all / kCounted;
}

uint32_t registers(const std::string& hex) { return Bench::decode_text(hex, true).as_v & 0xFFFF; }

}  // namespace

TEST_CASE("nominal: sixteen registers") {
  constexpr uint32_t kRax = 1, kRdx = 4, kRsi = 64, kR8 = 1 << 8, kR12 = 1 << 12, kR13 = 1 << 13;
  const Insn load = Bench::decode_text("43 8b 44 e5 08", true);  // mov eax,[r13+r12*8+8]
  CHECK(load.address == (kR12 | kR13));
  CHECK(load.agi_writes == kRax);
  CHECK(Bench::decode_text("48 8b 05 00 00 00 00", true).address == 0);  // mov rax,[rip]
  CHECK(Bench::decode_text("41 8b 05 00 00 00 00", true).address == 0);  // the same with REX.B
  CHECK(Bench::decode_text("8b 04 25 00 00 00 00", true).address == 0);  // mov eax,[0]
  CHECK(registers("4c 89 c0") == (kRax | kR8));                          // mov rax,r8
  CHECK(registers("88 f0") == (kRax | kRdx));                            // mov al,dh
  CHECK(registers("40 88 f0") == (kRax | kRsi));                         // mov al,sil
  CHECK(registers("41 50") == (kR8 | 16));                               // push r8
}

TEST_CASE("nominal: the same code in 32 and 64 bits") {
  const struct {
    const char* what;
    Code code32, code64;
    uint64_t clocks;
  } cases[] = {
      {"a pair", {"89 d8", "89 d1"}, {"48 89 d8", "48 89 d1"}, 1},
      {"a pair with R8", {"89 d8", "89 d1"}, {"49 89 d8", "48 89 c1"}, 1},
      {"a result is read", {"89 c8", "89 c2"}, {"4c 89 c0", "49 89 c1"}, 2},
      {"a result in R8 is read", {"89 c8", "89 c2"}, {"49 89 c0", "4c 89 c1"}, 2},
      {"two results", {"89 d8", "89 c8"}, {"49 89 d8", "49 89 c8"}, 2},
      {"AGI", {"89 d8", "8d 08"}, {"49 89 d8", "49 8d 08"}, 3},
      {"AGI by the index", {"89 d8", "8d 0c 02"}, {"49 89 dc", "4a 8d 0c 22"}, 3},
      {"no AGI with another register", {"89 d8", "8d 0b"}, {"49 89 d8", "48 8d 08"}, 1},
      {"REX is no prefix", {"89 d8", "89 d1", "89 d6"}, {"48 89 d8", "89 d1", "48 89 d6"}, 2},
      {"66 is a prefix", {"66 89 d8"}, {"66 89 d8"}, 2},
      {"two PUSHes", {"50", "51"}, {"41 50", "51"}, 1},
      {"PUSH and POP", {"50", "5b"}, {"41 50", "5b"}, 2},
      {"INC", {"40", "43"}, {"ff c0", "48 ff c3"}, 1},
      {"a shift only in U", {"89 d1", "c1 e0 03"}, {"48 89 d1", "48 c1 e0 03"}, 2},
      {"a shift by CL", {"d3 e0"}, {"48 d3 e0"}, 4},
      {"NEG", {"f7 d8"}, {"48 f7 d8"}, 1},
      {"DIV", {"f7 f1"}, {"48 f7 f1"}, 41},
      {"XCHG", {"93"}, {"48 93"}, 2},
      {"FADD twice", {"d8 c1", "d8 c2"}, {"d8 c1", "d8 c2"}, 4},
  };
  for (const auto& one : cases) {
    INFO(one.what);
    CHECK(clocks(false, one.code32) == one.clocks);
    CHECK(clocks(true, one.code64) == one.clocks);
  }
}

TEST_CASE("nominal: clocks that only have to be equal") {
  const std::pair<const char*, const char*> cases[] = {
      {"0f b6 c3", "48 0f b6 c3"},  // MOVZX
      {"0f bf c3", "48 0f bf c3"},  // MOVSX
      {"0f af c3", "4d 0f af c1"},  // IMUL
      {"f7 e1", "48 f7 e1"},        // MUL
      {"0f c8", "48 0f c8"},        // BSWAP
      {"0f a4 d8 03", "48 0f a4 d8 03"},
      {"0f 95 c0", "41 0f 95 c0"},  // SETNZ
      {"0f bc c3", "48 0f bc c3"},  // BSF
      {"0f a2", "0f a2"},           // CPUID
  };
  for (const auto& [code32, code64] : cases) {
    INFO(code64);
    CHECK(clocks(true, {code64}) == clocks(false, {code32}));
  }
  // MOVSXD has no 0F.
  CHECK(clocks(true, {"48 63 c3"}) == timing_table().clocks(Mode::Prot)[Class::MovExtend]);
}

TEST_CASE("nominal: loops") {
  const struct {
    const char* what;
    Code code32, code64;
    uint64_t clocks;
  } loops[] = {
      // add r,m (2) beside add; dec beside jnz (1). A pair lies between ADD and the next address.
      {"a sum",
       {"03 06", "83 c6 04", "49", "75 f8"},
       {"48 03 06", "48 83 c6 08", "ff c9", "75 f5"},
       3},
      {"a sum in R8",
       {"03 06", "83 c6 04", "49", "75 f8"},
       {"4d 03 01", "49 83 c1 08", "41 ff ca", "75 f4"},
       3},
      // mov beside dec (1), jnz (1)
      {"a chain", {"8b 1b", "49", "75 fb"}, {"48 8b 1b", "ff c9", "75 f9"}, 2},
      // mov (1), a wait for its result (1), mov beside dec (1), jnz (1)
      {"a chain of two",
       {"8b 03", "8b 08", "4a", "75 f9"},
       {"4c 8b 03", "49 8b 08", "ff ca", "75 f6"},
       4},
      {"a store is no wait",
       {"89 d8", "89 d1", "4d", "75 f9"},
       {"49 89 d8", "49 89 d1", "ff cd", "75 f6"},
       2},
  };
  for (const auto& one : loops) {
    INFO(one.what);
    CHECK(iteration(false, one.code32) == one.clocks);
    CHECK(iteration(true, one.code64) == one.clocks);
  }
}

TEST_CASE("nominal: long moves only in U") {
  const std::string move = "48 b9 01 02 03 04 05 06 07 08";  // mov rcx,imm64: 10 bytes
  CHECK(clocks(true, {"48 89 d8", move}) == 2);
  CHECK(clocks(true, {move, "48 89 d8"}) == 1);
  CHECK(clocks(true, {"48 89 d8", "48 c7 c1 01 02 03 04"}) == 1);  // 7 bytes with REX
}

TEST_CASE("nominal: instructions that no Pentium has") {
  // The numbers of the last rows of timing.csv, and one clock for what they replace.
  const std::pair<const char*, uint64_t> cases[] = {
      {"0f 05", 12},          // SYSCALL
      {"48 0f 07", 12},       // SYSRET
      {"0f 01 f8", 6},        // SWAPGS
      {"66 0f 6f c1", 2},     // MOVDQA
      {"0f 6f c1", 1},        // MOVQ of MMX
      {"f3 0f 7e c1", 1},     // MOVQ of XMM
      {"0f 57 c0", 2},        // XORPS
      {"66 0f fe c1", 2},     // PADDD
      {"f2 0f 58 c1", 3},     // ADDSD
      {"66 0f 58 c1", 4},     // ADDPD
      {"0f 58 c1", 6},        // ADDPS
      {"f2 0f 59 c1", 3},     // MULSD
      {"0f 59 c1", 9},        // MULPS
      {"f2 0f 5e c1", 33},    // DIVSD
      {"f3 0f 5e c1", 19},    // DIVSS
      {"f2 48 0f 2a c1", 6},  // CVTSI2SD
      {"0f ae f0", 1},        // MFENCE
      {"48 0f 44 c1", 2},     // CMOVZ: as at ISA level pentium+cmov, with its 0F
      {"f3 0f 1e fa", 1},     // ENDBR64
      {"66 2e 0f 1f 84 00 00 00 00 00", 1},
  };
  for (const auto& [hex, expected] : cases) {
    INFO(hex);
    CHECK(clocks(true, {hex}) == expected);
  }
  Wide bench(true);
  CHECK(bench.insn("0f 38 00 c1").cls == Class::Unknown);  // SSSE3
  CHECK(bench.model.unknown().size() == 1);
}

TEST_CASE("nominal: a walk reads four page tables") {
  Wide bench(true);
  for (uint32_t level = 0; level < 4; level++) {
    for (uint32_t index : {0u, kData >> 12, Bench::kCode >> 12}) {
      const uint32_t at = 0x1000 * (level + 1) + 8 * (level == 3 ? index : 0);
      bench.memory[at] = level == 3 ? index << 12 | 1 : (level + 2) << 12 | 1;
    }
  }
  bench.change([](State& now) { now.paging = true, now.cr3 = 0x1000; });
  bench.insn("90");
  const auto walk = [&] {
    return bench.grows(StallWalk, [&] {
      CHECK(bench.grows(WalkReads, [&] { bench.read(kData, 8); }) == 4);
      CHECK(bench.grows(WalkReads, [&] { bench.read(kData + 8, 8); }) == 0);
    });
  };
  walk();
  bench.model.invalidate_page(kData);
  bench.model.idle(1000);
  // The tables are in L2. A read takes 3 bus clocks (4.5 clocks, from an edge of the bus) and the
  // 4 clocks of walk_overhead.
  const uint64_t second = walk();
  CHECK(second >= 4 * 8);
  CHECK(second <= 4 * 10);
}

TEST_CASE("nominal: the CPI stack adds up, and its events have names of their own") {
  Wide bench(true);
  bench.model.explain_clocks();
  const Code code = {"48 89 d8", "48 89 d1", "49 8b 08",    "66 0f 58 c1", "48 f7 f1",
                     "0f 05",    "d8 c1",    "48 0f 44 c1", "41 50",       "f3 48 a5",
                     "c1 e0 03", "90",       "48 c1 e0 3f", "f2 0f 5e c1", "ff c0"};
  for (int i = 0; i < 2000; i++) {
    const Insn insn = bench.insn(code[size_t(i * 7 + i / 13) % code.size()]);
    if (insn.cls == Class::MovLoad) bench.read(kData + 64 * (i % 512), 8);
    if (insn.flags & kRep) bench.write(kData + 8 * i, 8), bench.model.repeat();
    if (bench.ip > Bench::kCode + 0x8000) bench.ip = Bench::kCode;
  }
  uint64_t sum = 0;
  for (uint32_t event = CpiPairs; event <= CpiPageTables; event++) sum += bench.count(Event(event));
  CHECK(sum == bench.count(CyclesBusy));
  CHECK(bench.count(CyclesBusy) == bench.model.clock());
  CHECK(std::string(event_name(CpiPairs)) == "nominal.cpi.pairs");
  CHECK(std::string(event_name(CyclesBusy)) == "nominal.cycles.busy");
  CHECK(std::string(event_name(Instructions)) == "instructions");
}
