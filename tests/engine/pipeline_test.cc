// SPDX-License-Identifier: MIT
// Pairing, the costs of a pair, the interlocks and the branch target buffer. Every case has its
// clocks from the rule that its comment names.
#include "engine/p5/pentium.hh"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "bench.hh"

using namespace p5;

namespace {

struct Case {
  std::vector<std::string> code;
  unsigned clocks;
};

void check(const std::vector<Case>& cases) {
  for (const auto& [code, clocks] : cases) {
    std::string text;
    for (const auto& hex : code) text += hex + "; ";
    CAPTURE(text);
    Bench bench;
    bench.before_pass = [&] { bench.model.idle(1000); };  // lets the x87 finish the last pass
    CHECK(bench.warm(code) == clocks);
  }
}

}  // namespace

TEST_CASE("pairing: both pipes' classes") {  // [INTEL-OPT ch. 3, AGN-MA]
  check({
      {{"89 d8", "89 d1"}, 1},                  // mov; mov: UV, UV
      {{"89 d8", "89 d1", "89 d6"}, 2},         // the third begins a pair of its own
      {{"89 d8", "89 d1", "89 d6", "89 d5"}, 2},
      {{"f7 d8", "89 d1"}, 2},                  // neg is NP: nothing joins it
      {{"89 d1", "f7 d8"}, 2},                  // ... and it joins nothing
      {{"11 d8", "89 d1"}, 1},                  // adc; mov: PU takes a companion
      {{"89 d1", "11 d8"}, 2},                  // mov; adc: PU cannot go into V
      {{"d1 e0", "89 d1"}, 1},                  // shl eax,1; mov
      {{"89 d1", "d1 e0"}, 2},
      {{"d3 e0", "89 d6"}, 5},                  // shl eax,cl: NP, 4 clocks
      {{"39 c8", "70 00"}, 1},                  // cmp; jo: PV joins, flags are no obstacle
      {{"70 00", "89 d1"}, 2},                  // jo alone goes into U, and nothing joins it
      {{"01 d8", "01 d1"}, 1},                  // two that write flags
  });
}

TEST_CASE("pairing: registers") {  // [INTEL-OPT ch. 3]
  check({
      {{"89 d8", "89 c1"}, 2},                  // mov eax,ebx; mov ecx,eax: read after write
      {{"89 d8", "89 c8"}, 2},                  // mov eax,ebx; mov eax,ecx: write after write
      {{"89 c1", "89 d8"}, 1},                  // mov ecx,eax; mov eax,ebx: write after read
      {{"b0 01", "b4 02"}, 2},                  // mov al,1; mov ah,2: parts are the whole
      {{"40", "43"}, 1},                        // inc eax; inc ebx
      {{"40", "40"}, 2},
  });
}

TEST_CASE("pairing: the stack pointer") {  // [AGN-MA 3.2]
  check({
      {{"50", "53"}, 1},                        // push; push
      {{"58", "5b"}, 1},                        // pop; pop
      {{"50", "e8 00 00 00 00"}, 1},            // push; call
      {{"50", "5b"}, 2},                        // push; pop
      {{"5b", "50"}, 2},                        // pop; push
      {{"50", "89 e1"}, 2},                     // push; mov ecx,esp
      {{"83 c4 04", "53"}, 3},                  // add esp,4; push: no pair, and AGI
  });
}

TEST_CASE("pairing: displacement and immediate, length, prefixes") {  // [INTEL-OPT ch. 3]
  check({
      {{"c7 03 01 00 00 00", "89 d1"}, 1},      // mov [ebx],1; mov
      {{"c7 43 04 01 00 00 00", "89 d1"}, 2},   // mov [ebx+4],1: both: NP
      {{"89 d1", "8b 84 8b 00 01 00 00"}, 3},   // reads ecx, which mov wrote, in an address
      {{"89 d6", "8b 84 8b 00 01 00 00"}, 1},   // 7 bytes in V
      {{"89 d6", "64 8b 84 8b 00 01 00 00"}, 3},  // prefixed: U only, and a clock
      {{"64 8b 03", "89 d1"}, 2},               // in U, with its prefix clock
      {{"89 d1", "66 89 d8"}, 3},
      {{"0f 80 00 00 00 00"}, 1},               // near Jcc's 0F is no prefix
      {{"39 c8", "0f 80 00 00 00 00"}, 1},
  });
}

TEST_CASE("pairing: costs of pairs with memory") {  // [AGN-MA 3.4]
  // add ecx,reg / add ecx,[ebx] / add [ebx],ecx beside the same with edx and esi, in other banks.
  const std::string u[3] = {"01 d1", "03 0b", "01 0b"}, v[3] = {"01 ee", "03 33", "01 33"};
  const unsigned clocks[3][3] = {{1, 2, 3}, {2, 2, 3}, {3, 4, 5}};
  for (int first = 0; first < 3; first++) {
    for (int second = 0; second < 3; second++) {
      CAPTURE(first);
      CAPTURE(second);
      CHECK(Bench().warm({u[first], v[second]}) == clocks[first][second]);
    }
  }
}

TEST_CASE("pairing: bank conflicts") {  // [INTEL-DM 2, INTEL-OPT]
  const auto pair = [](uint32_t first, uint32_t second) {
    Bench bench;
    const uint64_t clocks = bench.warm([&] {
      bench.insn("8b 08");  // mov ecx,[eax]
      bench.read(first);
      bench.insn("8b 33");  // mov esi,[ebx]
      bench.read(second);
    });
    CHECK(bench.count(MemoryBothPipes) == 2);  // not in the first pass, which brings the code in
    return clocks + 10 * (bench.count(BankConflicts) / 2);
  };
  CHECK(pair(0x2000, 0x2004) == 1);
  CHECK(pair(0x2000, 0x2020) == 12);  // bits 4:2 are equal
  CHECK(pair(0x2000, 0x2000) == 12);
  CHECK(pair(0x2004, 0x2018) == 1);
}

TEST_CASE("pairing: code that has just come in") {  // [INTEL-OPT: instruction boundaries]
  Bench bench;
  const auto run = [&](uint32_t at, const char* first) {
    bench.ip = at;
    bench.insn("f7 df");
    const uint64_t before = bench.count(InstructionsV);
    bench.insn(first);
    bench.insn("89 d1");
    return bench.count(InstructionsV) - before;
  };
  CHECK(run(0x30000, "89 d8") == 0);
  CHECK(run(0x30000, "89 d8") == 1);  // the second time it is known
  CHECK(run(0x30100, "40") == 1);     // an instruction of one byte pairs at once
}

TEST_CASE("interlocks: AGI counts from pair to pair") {  // [INTEL-OPT, AGN-MA]
  check({
      {{"89 d8", "89 d1", "8b 30", "8b 29"}, 3},  // both in V's pair and U's: one clock
      {{"89 d8", "89 f1", "8b 30", "89 d5"}, 3},  // written in U
      {{"89 f1", "89 d8", "8b 30", "89 d5"}, 3},  // written in V
      {{"89 d8", "89 d1", "89 d6", "8b 28"}, 3},  // used in V
      {{"89 d8", "f7 df", "8b 30"}, 3},           // a clock between
  });
}

TEST_CASE("branches: one entry's states") {  // [AGN-MA 3.2]
  Bench bench;
  // The pair before the branch, then the branch; returns the clocks beside the instructions' own.
  const auto branch = [&](bool taken) {
    bench.ip = Bench::kCode;
    bench.insn("f7 df");
    bench.insn("f7 df");
    const uint64_t start = bench.model.clock();
    bench.insn("70 10");
    bench.model.branch(bench.ip - 2, 0x20000, taken, true);
    bench.insn("f7 df");
    return bench.model.clock() - start - 2;
  };
  branch(false);
  CHECK(bench.count(BtbHits) == 0);
  CHECK(branch(false) == 0);  // not there: falls through
  CHECK(branch(true) == 3);   // enters with state 3
  CHECK(branch(true) == 0);
  CHECK(branch(false) == 3);  // 2
  CHECK(branch(false) == 3);  // 1
  CHECK(branch(false) == 0);  // 0: still there
  CHECK(branch(true) == 3);   // from 0 to 3
  CHECK(branch(true) == 0);
  CHECK(branch(false) == 3);  // 2
  CHECK(branch(true) == 0);   // 3
  CHECK(bench.count(BtbHits) == 8);
  CHECK(bench.count(PipelineFlushes) == 5);
  bench.model.load_cr3(0);
  CHECK(branch(true) == 3);
}

TEST_CASE("x87: latency and throughput") {  // [INTEL-OPT, AGN-IT]
  check({
      {{"d8 c1"}, 1},                             // fadd st,st(1): the integer pipes go on
      {{"d8 c1", "89 d1"}, 2},
      {{"d8 c1", "d8 c2"}, 4},                    // needs the sum: 3 clocks later
      {{"dc c1", "dc c2"}, 2},                    // independent: one each clock
      {{"d8 c9", "d8 ca"}, 4},                    // fmul; fmul needing it
      {{"dc c9", "dc ca"}, 3},                    // independent: two clocks apart
      {{"dc c1", "dc ca"}, 2},                    // fadd; fmul
      {{"d8 c1", "d9 c9", "dc c2"}, 2},           // fadd; fxch in V; fadd that needs neither
      {{"d8 c1", "d9 c9", "89 d1"}, 3},           // behind FXCH in V something else: a clock
      {{"d8 c1", "89 d1", "89 d6", "d9 1b"}, 6},  // store: sum ready at 3, plus 1; 2 clocks
      {{"d8 f1", "89 d1"}, 2},                    // fdiv leaves 38 of 39 to the integer pipes
      {{"d8 f1", "d8 c2"}, 40},
  });
}
