// SPDX-License-Identifier: MIT
// Does the branch target buffer predict and count sequences of branches correctly? rule_cases.cc
// tests the single rules.
#include <doctest/doctest.h>

#include "bench.hh"
#include "p5/pentium.hh"

using namespace p5;

namespace {

// Executes three pairs and a branch at `at` once, so the code is not a tight loop. Returns how many
// clocks the code takes in addition to the clocks of the instructions.
uint64_t branch(Bench& bench, uint32_t at, bool taken, uint32_t target = 0x20000) {
  bench.ip = at;
  for (int i = 0; i < 3; i++) bench.insn("f7 df");
  bench.insn("70 10");
  const uint64_t start = bench.model.clock();
  bench.model.branch(bench.ip - 2, target, taken, true);
  const uint64_t clocks = bench.model.clock() - start;
  for (int i = 0; i < 3; i++) bench.insn("f7 df");
  return clocks;
}

}  // namespace

TEST_CASE("branches: the states of one entry, and its events") {  // [AGN-MA 3.2]
  Bench bench;
  const auto next = [&](bool taken) { return branch(bench, Bench::kCode, taken); };
  CHECK(next(false) == 0);  // no entry: predicts the next instruction
  CHECK(bench.count(BtbHits) == 0);
  CHECK(next(true) == 3);  // the new entry has state 3
  CHECK(next(true) == 0);
  CHECK(next(false) == 3);  // 2
  CHECK(next(false) == 3);  // 1
  CHECK(next(false) == 0);  // 0: the entry is still there
  CHECK(next(true) == 3);   // from 0 to 3
  CHECK(next(true) == 0);
  CHECK(next(false) == 3);  // 2
  CHECK(next(true) == 0);   // 3
  CHECK(bench.count(Branches) == 10);
  CHECK(bench.count(BtbHits) == 8);
  CHECK(bench.count(TakenOrBtbHit) == 9);
  CHECK(bench.count(PipelineFlushes) == 5);
}

// [INTEL-DM 2]
TEST_CASE("branches: the low bits of the previous pair select one of 64 sets of 4 ways") {
  Bench bench;
  const auto round = [&](uint32_t branches, uint32_t apart) {
    uint64_t clocks = 0;
    for (uint32_t i = 0; i < branches; i++) {
      clocks += branch(bench, 0x40000 + apart * i, true, 0x20000 + 0x100 * i);
    }
    return clocks;
  };
  CHECK(round(4, 64) == 4 * 3);  // one set
  CHECK(round(4, 64) == 0);
  CHECK(round(5, 64) > 0);  // the fifth entry displaces one ...
  CHECK(round(5, 64) > 0);  // ... which then displaces another entry
  bench.model.load_cr3(0);
  round(250, 65);  // all sets
  CHECK(round(250, 65) == 0);
}

TEST_CASE("branches: the branch's own address as key, if the machine has this setting") {
  Config config = p90();
  config.btb.by_pair = false;
  Bench bench(config);
  const auto over = [&](uint32_t from) {
    bench.ip = from;
    bench.insn("f7 df");
    bench.insn("f7 df");
    bench.ip = 0x19000;
    bench.insn("70 10");
    const uint64_t start = bench.model.clock();
    bench.model.branch(0x19000, 0x20000, true, true);
    return bench.model.clock() - start;
  };
  CHECK(over(0x10000) == 3);
  CHECK(over(0x12000) == 0);
}

TEST_CASE("branches: a displaced entry has no effect") {
  Bench bench;
  // A RET returns directly to a branch. The branch's entry then belongs to the RET, because the RET
  // precedes the branch.
  const auto ret_to = [&](uint32_t target) {
    bench.ip = Bench::kCode;
    for (int i = 0; i < 6; i++) bench.insn("f7 df");
    bench.insn("c3");
    bench.model.branch(bench.ip - 1, target, true, false);
    bench.ip = target;
  };
  const auto to_branch = [&] {
    ret_to(0x22000);
    bench.insn("70 10");
    bench.model.branch(bench.ip - 2, 0x24000, true, true);
  };
  const auto to_plain_code = [&] {
    ret_to(0x23000);
    for (int i = 0; i < 3; i++) bench.insn("f7 df");
    bench.insn("70 10");
    bench.model.branch(bench.ip - 2, 0x24000, false, true);
  };
  to_plain_code();
  to_branch();
  to_branch();
  to_plain_code();  // mispredicted: no look-up after it
  CHECK(bench.grows(PipelineFlushes, to_plain_code) == 1);
  // Seven other entries in the RET's set displace the RET's entry, whichever ways the model
  // chooses.
  for (int pass = 0; pass < 8; pass++) {
    for (uint32_t i = 1; i < 8; i++) {
      branch(bench, Bench::kCode + 12 - 4 + 64 * 64 * i, true, 0x30000 + 0x100 * i);
    }
  }
  to_plain_code();
  CHECK(bench.grows(PipelineFlushes, to_plain_code) == 0);
}
