// SPDX-License-Identifier: MIT
// The cases for the rules of the model. rule_cases.hh explains them.
#include "rule_cases.hh"

#include "bench.hh"

using namespace p5;

namespace {

struct Row {
  std::string what;
  std::function<uint64_t()> measure;
  uint64_t expected;
};

// Measures the clocks of code without branches, with code and data in the caches.
Row code(const char* what, std::vector<std::string> hex, uint64_t clocks) {
  const auto measure = [hex = std::move(hex)] {
    Bench bench;
    bench.before_pass = [&] { bench.model.idle(1000); };  // the x87 finishes the last pass
    return bench.warm(hex);
  };
  return {what, measure, clocks};
}

// A machine on which a bus clock lasts two core clocks, so all times are whole numbers.
Config even() {
  Config config = p90();
  config.memory.core_clocks = 2;
  config.memory.bus_clocks = 1;
  return config;
}

// Waits until the machine is idle and a bus clock of even() begins.
void settle(Bench& bench) { bench.model.idle(1000 + bench.model.clock() % 2); }

uint64_t clocks_of(Bench& bench, const std::function<void()>& action) {
  const uint64_t start = bench.model.clock();
  action();
  return bench.model.clock() - start;
}

std::vector<RuleCase> all;

void rule_has(Rule rule, const std::vector<Row>& applies, const std::vector<Row>& does_not) {
  for (const Row& row : applies) {
    all.push_back({rule, true, row.what, row.measure, row.expected});
  }
  for (const Row& row : does_not) {
    all.push_back({rule, false, row.what, row.measure, row.expected});
  }
}

// --- pairing [INTEL-OPT ch. 3, AGN-MA 3.2]: two paired one-clock instructions take one clock

// Counts how many of two instructions run in V. If `again` is true, the code has run before.
// Otherwise the code is new.
Row new_code(const char* what, const char* first, bool again, uint64_t in_v) {
  const auto measure = [first, again] {
    Bench bench;
    uint64_t pairs = 0;
    for (int pass = 0; pass <= again; pass++) {
      bench.ip = 0x30000;
      bench.insn("f7 df");
      pairs = bench.grows(InstructionsV, [&] {
        bench.insn(first);
        bench.insn("89 d1");
      });
    }
    return pairs;
  };
  return {what, measure, in_v};
}

void pairing() {
  const Row two_moves = code("mov eax,ebx; mov ecx,edx", {"89 d8", "89 d1"}, 1);
  const Row fxch = code("fadd st,st1; fxch st1; fadd st2,st", {"d8 c1", "d9 c9", "dc c2"}, 2);

  rule_has(Rule::PairFirst,
           {code("neg eax (NP); mov ecx,edx", {"f7 d8", "89 d1"}, 2),
            code("shl eax,cl (NP, 4 clocks); mov esi,edx", {"d3 e0", "89 d6"}, 4 + 1),
            code("jo (PV); mov ecx,edx", {"70 00", "89 d1"}, 2)},
           {two_moves, code("adc eax,ebx (PU); mov ecx,edx", {"11 d8", "89 d1"}, 1),
            code("shl eax,1 (PU); mov ecx,edx", {"d1 e0", "89 d1"}, 1)});
  rule_has(Rule::PairSecond,
           {code("mov ecx,edx; neg eax (NP)", {"89 d1", "f7 d8"}, 2),
            code("mov ecx,edx; adc eax,ebx (PU)", {"89 d1", "11 d8"}, 2),
            code("mov ecx,edx; shl eax,1 (PU)", {"89 d1", "d1 e0"}, 2)},
           {two_moves, code("cmp eax,ecx; jo (PV)", {"39 c8", "70 00"}, 1),
            code("three moves: the third begins a pair", {"89 d8", "89 d1", "89 d6"}, 2)});
  rule_has(Rule::PairReadAfterWrite,
           {code("mov eax,ebx; mov ecx,eax", {"89 d8", "89 c1"}, 2),
            // The instructions do not pair, and the second one also waits one clock for its address
            // (AGI).
            code("mov ecx,edx; mov eax,[ebx+ecx*4+100h]", {"89 d1", "8b 84 8b 00 01 00 00"}, 3)},
           {code("mov ecx,eax; mov eax,ebx: write after read", {"89 c1", "89 d8"}, 1),
            code("cmp eax,ecx; jo: flags do not count", {"39 c8", "70 00"}, 1)});
  rule_has(Rule::PairWriteAfterWrite, {code("mov eax,ebx; mov eax,ecx", {"89 d8", "89 c8"}, 2)},
           {code("add eax,ebx; add ecx,edx: flags do not count", {"01 d8", "01 d1"}, 1)});
  rule_has(Rule::PairWholeRegister, {code("mov al,1; mov ah,2", {"b0 01", "b4 02"}, 2)},
           {code("mov al,1; mov cl,2", {"b0 01", "b1 02"}, 1)});
  rule_has(Rule::PairStack,
           {code("push eax; push ebx", {"50", "53"}, 1), code("pop eax; pop ebx", {"58", "5b"}, 1),
            code("push eax; call", {"50", "e8 00 00 00 00"}, 1)},
           {code("mov ecx,edx; push eax", {"89 d1", "50"}, 1),
            code("add esp,4; push ebx: 1 each and AGI", {"83 c4 04", "53"}, 3)});
  rule_has(Rule::PairPushPop,
           {code("push eax; pop ebx", {"50", "5b"}, 2), code("pop ebx; push eax", {"5b", "50"}, 2),
            code("push eax; mov ecx,esp", {"50", "89 e1"}, 2)},
           {code("push eax; push ebx", {"50", "53"}, 1)});
  rule_has(Rule::PairAccumulator,
           {code("mov [2000h],eax; mov ecx,eax", {"a3 00 20 00 00", "89 c1"}, 2)},
           {code("mov [2000h],eax; mov ecx,edx", {"a3 00 20 00 00", "89 d1"}, 1)});
  rule_has(Rule::PairDispImm,
           {code("mov [ebx+4],1; mov ecx,edx", {"c7 43 04 01 00 00 00", "89 d1"}, 2)},
           {code("mov [ebx],1; mov ecx,edx", {"c7 03 01 00 00 00", "89 d1"}, 1),
            code("mov esi,edx; mov eax,[ebx+ecx*4+100h]: 7 bytes in V",
                 {"89 d6", "8b 84 8b 00 01 00 00"}, 1)});
  rule_has(Rule::PairPrefix,
           {code("mov ecx,edx; mov ax,bx: 1, prefix, 1", {"89 d1", "66 89 d8"}, 3)},
           {code("mov eax,fs:[ebx]; mov ecx,edx: prefix and 1", {"64 8b 03", "89 d1"}, 2),
            code("cmp eax,ecx; near jo: its 0F is no prefix", {"39 c8", "0f 80 00 00 00 00"}, 1)});
  rule_has(Rule::PairCold, {new_code("mov eax,ebx; mov ecx,edx, coming in", "89 d8", false, 0)},
           {new_code("the same again", "89 d8", true, 1)});
  rule_has(Rule::PairColdByte, {new_code("inc eax; mov ecx,edx, coming in", "40", false, 1)},
           {new_code("mov eax,ebx; mov ecx,edx, coming in", "89 d8", false, 0)});
  // FADD occupies the integer pipes for 1 of its 3 clocks. FXCH takes no clock.
  rule_has(Rule::PairFxch, {fxch},
           {code("mov ecx,edx; fxch st1; fadd st,st2", {"89 d1", "d9 c9", "d8 c2"}, 3)});
  rule_has(Rule::PairFxAlone, {code("fadd st,st1; mov ecx,edx", {"d8 c1", "89 d1"}, 2)}, {fxch});
  rule_has(Rule::FxchThenX87,
           {code("fadd st,st1; fxch st1; mov ecx,edx: 1, 1, 1", {"d8 c1", "d9 c9", "89 d1"}, 3)},
           {fxch});
}

// --- clocks of a pair [AGN-MA 3.4]

// Measures the pair mov ecx,[first] and mov esi,[second].
Row two_reads(const char* what, uint32_t first, uint32_t second, uint64_t clocks) {
  const auto measure = [first, second] {
    Bench bench;
    return bench.warm([&] {
      bench.load(first);
      bench.insn("8b 33");
      bench.read(second);
    });
  };
  return {what, measure, clocks};
}

void pair_costs() {
  const std::string add_reg_u = "01 d1", add_load_u = "03 0b", add_store_u = "01 0b";
  const std::string add_reg_v = "01 ee", add_load_v = "03 33", add_store_v = "01 33";
  // An instruction that loads and calculates takes 2 clocks. An instruction that also stores takes
  // 3 clocks. In a pair of such instructions, only the first clock of V's instruction overlaps with
  // U's instruction. If U's instruction does not store, the second clock overlaps too.
  rule_has(Rule::PairSerial,
           {code("add r,r; add r,m", {add_reg_u, add_load_v}, 2),
            code("add r,r; add m,r", {add_reg_u, add_store_v}, 3),
            code("add m,r; add r,m", {add_store_u, add_load_v}, 3 + 1),
            code("add m,r; add m,r", {add_store_u, add_store_v}, 3 + 2)},
           {code("add r,r; add r,r", {add_reg_u, add_reg_v}, 1),
            code("add r,m; add r,r", {add_load_u, add_reg_v}, 2),
            code("add m,r; add r,r", {add_store_u, add_reg_v}, 3)});
  rule_has(Rule::PairOverlap,
           {code("add r,m; add r,m", {add_load_u, add_load_v}, 2),
            code("add r,m; add m,r", {add_load_u, add_store_v}, 3)},
           {code("add m,r; add r,m", {add_store_u, add_load_v}, 4),
            code("add r,m; add r,r", {add_load_u, add_reg_v}, 2)});
  rule_has(Rule::BankConflict,
           {two_reads("bits 4:2 are equal", 0x2000, 0x2020, 2),
            two_reads("the same word", 0x2000, 0x2000, 2)},
           {two_reads("neighbours", 0x2000, 0x2004, 1),
            two_reads("one line, other banks", 0x2004, 0x2018, 1)});
}

// --- interlocks [INTEL-OPT, AGN-MA 3.3]

Row misaligned(const char* what, uint32_t address, uint32_t bytes, uint64_t clocks) {
  const auto measure = [address, bytes] {
    Bench bench;
    return bench.warm([&] {
      bench.insn("8b 08");
      bench.read(address, bytes);
    });
  };
  return {what, measure, clocks};
}

Row references(const char* what, uint32_t address, uint32_t bytes, uint64_t count) {
  const auto measure = [address, bytes] {
    Bench bench;
    return bench.grows(DataReads, [&] { bench.read(address, bytes); });
  };
  return {what, measure, count};
}

void interlocks() {
  const Row in_u =
      code("mov eax,ebx; mov ecx,edx; mov esi,[eax]; mov ebp,edx: written and used in U",
           {"89 d8", "89 d1", "8b 30", "89 d5"}, 3);
  const Row in_v = code("mov eax,ebx; mov ecx,edx; mov esi,edx; mov ebp,[eax]: used in V",
                        {"89 d8", "89 d1", "89 d6", "8b 28"}, 3);
  rule_has(
      Rule::Agi,
      {code("mov eax,ebx; mov ecx,[eax]", {"89 d8", "8b 08"}, 3), in_u,
       code("mov eax,ebx; mov ecx,[ebx+eax*2]: as index", {"89 d8", "8b 0c 43"}, 3),
       code("mov eax,ebx; lea ecx,[eax]", {"89 d8", "8d 08"}, 3),
       code("mov al,1; mov ecx,[eax]: a part", {"b0 01", "8b 08"}, 3),
       code("pop eax; mov ecx,[eax]", {"58", "8b 08"}, 3),
       code("sub esp,8; push eax: ESP written explicitly", {"83 ec 08", "50"}, 3),
       code("mov esp,ebp; pop ebp", {"89 ec", "5d"}, 3),
       code("ret 4 (3 clocks); push eax", {"c2 04 00", "50"}, 3 + 1 + 1)},
      {code("mov eax,ebx; neg edi; mov ecx,[eax]: a clock between", {"89 d8", "f7 df", "8b 08"}, 3),
       code("mov eax,ebx; mov ecx,eax: as data", {"89 d8", "89 c1"}, 2)});
  rule_has(Rule::AgiInV, {in_v}, {in_u});
  rule_has(Rule::AgiFromV,
           {code("mov ecx,esi; mov eax,ebx; mov esi,[eax]; mov ebp,edx: written in V",
                 {"89 f1", "89 d8", "8b 30", "89 d5"}, 3)},
           {in_u});
  rule_has(Rule::AgiOnce,
           {code("mov eax,ebx; mov ecx,edx; mov esi,[eax]; mov ebp,[ecx]",
                 {"89 d8", "89 d1", "8b 30", "8b 29"}, 3)},
           {in_v});
  rule_has(Rule::AgiImplicitStack,
           {code("push eax; mov ecx,[esp]", {"50", "8b 0c 24"}, 2),
            code("ret (2 clocks); push eax", {"c3", "50"}, 3)},
           {code("sub esp,8; push eax", {"83 ec 08", "50"}, 3)});
  rule_has(Rule::AgiAccumulator,
           {code("mov [2000h],eax; mov ecx,[eax]", {"a3 00 20 00 00", "8b 08"}, 2)},
           {code("mov eax,[2000h]; mov ecx,[eax]", {"a1 00 20 00 00", "8b 08"}, 3)});
  rule_has(
      Rule::AgiPrefix,
      {code("mov eax,ebx; mov ecx,fs:[eax]: 1, prefix, 1", {"89 d8", "64 8b 08"}, 3),
       code("the same with a companion that uses EAX as well", {"89 d8", "64 8b 08", "8b 30"}, 3)},
      {code("imul eax,ebx (9 clocks, and its 0F) hides the prefix, not AGI",
            {"0f af c3", "64 8b 08"}, 1 + 9 + 1 + 1),
       code("mov eax,ebx; mov ecx,[eax]", {"89 d8", "8b 08"}, 3)});
  rule_has(Rule::Prefix,
           {code("mov ax,bx", {"66 89 d8"}, 2), code("mov cx,fs:[eax]", {"66 64 8b 08"}, 3),
            code("movzx eax,al (3 clocks) and its 0F", {"0f b6 c0"}, 4)},
           {code("mov eax,ebx", {"89 d8"}, 1)});
  rule_has(Rule::PrefixHidden,
           {code("div ecx (41 clocks); mov ax,bx", {"f7 f1", "66 89 d8"}, 42),
            code("cwde (3 clocks) hides two of three", {"98", "66 64 26 8b 0b"}, 3 + 1 + 1)},
           {code("mov ecx,edx; mov ax,bx", {"89 d1", "66 89 d8"}, 3)});
  rule_has(Rule::PrefixNearJcc, {code("near jo", {"0f 80 00 00 00 00"}, 1)},
           {code("movzx eax,al (3 clocks) and its 0F", {"0f b6 c0"}, 4)});
  rule_has(Rule::Misaligned,
           {misaligned("4 bytes across 4", 0x2002, 4, 1 + 3),
            misaligned("2 bytes across 4", 0x2003, 2, 1 + 3),
            misaligned("8 bytes across 8", 0x2004, 8, 1 + 3)},
           {misaligned("2 bytes within 4", 0x2002, 2, 1), misaligned("a byte", 0x2003, 1, 1),
            misaligned("8 bytes on 8", 0x2008, 8, 1)});
  rule_has(Rule::MisalignedTwice, {references("4 bytes across 4", 0x2001, 4, 2)},
           {references("2 bytes within 4", 0x2002, 2, 1), references("8 on 8", 0x2008, 8, 1)});
}

// --- branches [AGN-MA 3.2]

constexpr uint32_t kTarget = 0x20000, kElsewhere = 0x21000;

// A bench that executes the same pair and the same conditional branch repeatedly.
class Branch : public Bench {
 public:
  // Returns how many clocks the code takes in addition to the clocks of the instructions.
  uint64_t operator()(bool taken, uint32_t target = kTarget, const char* before = "f7 df") {
    ip = kCode;
    for (int i = 0; i < 6; i++) insn("f7 df");
    insn(before);
    const uint64_t start = model.clock();
    insn("70 10");
    const uint64_t own = model.clock() - start;
    model.branch(ip - 2, target == kNext ? ip : target, taken, true);
    return model.clock() - start - own;
  }
  static constexpr uint32_t kNext = 0;  // means that the target is the next instruction
  static constexpr uint32_t kBranch = kCode + 7 * 2;
};

// In `outcomes` T means taken and N means not taken. Measures the clocks of the last branch.
Row outcomes(const char* what, const char* pattern, uint64_t clocks) {
  const auto measure = [pattern] {
    Branch branch;
    uint64_t last = 0;
    for (const char* at = pattern; *at; at++) last = branch(*at == 'T');
    return last;
  };
  return {what, measure, clocks};
}

Row targets(const char* what, uint32_t first, uint32_t second, uint64_t clocks) {
  const auto measure = [first, second] {
    Branch branch;
    branch(true, first);
    return branch(true, second);
  };
  return {what, measure, clocks};
}

// There is no return stack. A RET returns first to kTarget and then to `second`.
Row returns(const char* what, uint32_t second, uint64_t clocks) {
  const auto measure = [second] {
    Bench bench;
    uint64_t last = 0;
    for (const uint32_t caller : {kTarget, second}) {
      bench.ip = Bench::kCode;
      for (int i = 0; i < 3; i++) bench.insn("f7 df");
      bench.insn("c3");
      const auto ret = [&] { bench.model.branch(bench.ip - 1, caller, true, false); };
      last = clocks_of(bench, ret);
    }
    return last;
  };
  return {what, measure, clocks};
}

// Two code paths lead to a branch. The paths differ in the pair directly before the branch, or only
// in an earlier pair.
Row ways(const char* what, bool other_pair, uint64_t clocks) {
  const auto measure = [other_pair] {
    Bench bench;
    const auto branch = [&](uint32_t from) {
      bench.ip = from;
      bench.insn("f7 df");
      if (!other_pair) bench.ip = 0x18000;
      bench.insn("f7 df");
      bench.ip = 0x19000;
      bench.insn("70 10");
      return clocks_of(bench, [&] { bench.model.branch(0x19000, kTarget, true, true); });
    };
    branch(0x10000);
    return branch(0x12000);
  };
  return {what, measure, clocks};
}

// A jump leads to a conditional branch. The jump goes to the same target as before. If
// `mispredicted` is true, the jump has gone to another target in between. Measures the clocks of
// the branch.
Row behind(const char* what, bool mispredicted, uint64_t clocks) {
  const auto measure = [mispredicted] {
    Bench bench;
    const auto jump = [&](uint32_t target) {
      bench.ip = Bench::kCode;
      for (int i = 0; i < 6; i++) bench.insn("f7 df");
      bench.insn("ff e0");
      bench.model.branch(bench.ip - 2, target, true, false);
      bench.ip = target;
    };
    const auto branch = [&] {
      jump(kTarget);
      bench.insn("70 10");
      return clocks_of(bench, [&] { bench.model.branch(kTarget, kElsewhere, true, true); });
    };
    branch();
    branch();
    if (mispredicted) {
      jump(kElsewhere);
      bench.insn("70 10");
      bench.model.branch(kElsewhere, kElsewhere, true, true);
    }
    return branch();
  };
  return {what, measure, clocks};
}

Row after_cr3(const char* what, bool load, uint64_t clocks) {
  const auto measure = [load] {
    Branch branch;
    branch(true);
    if (load) branch.model.load_cr3(0);
    return branch(true);
  };
  return {what, measure, clocks};
}

// Measures the clocks of a branch in V after cmp eax,ecx. The branch has no entry in the buffer.
Row in_v(const char* what, const char* hex, bool conditional, uint64_t clocks) {
  const auto measure = [hex, conditional] {
    Bench bench;
    bench.warm({"f7 d8", "39 c8", hex});
    bench.ip = Bench::kCode;
    for (int i = 0; i < 2; i++) bench.insn("f7 df");
    bench.insn("39 c8");
    bench.insn(hex);
    return clocks_of(bench, [&] { bench.model.branch(bench.ip - 2, kTarget, true, conditional); });
  };
  return {what, measure, clocks};
}

// The outcomes TNNN set the entry to state 0. Then the branch is taken in a loop of `pairs` pairs,
// and is taken a second time. The clocks of the last branch show whether the state became 3 or 1.
Row loop(const char* what, int pairs, uint64_t clocks) {
  const auto measure = [pairs] {
    Branch branch;
    for (const bool taken : {true, false, false, false}) branch(taken);
    branch.ip = Branch::kBranch + 2;
    const auto round = [&] {
      for (int i = 2; i < pairs; i++) branch.insn("f7 df");
      branch.ip = Branch::kBranch - 2;  // the last pair before the branch
      branch.insn("f7 df");
      branch.insn("70 10");
    };
    round();
    branch.model.branch(Branch::kBranch, kTarget, true, true);
    for (int i = 0; i < 8; i++) branch.insn("f7 df");
    return branch(true);
  };
  return {what, measure, clocks};
}

// A RET goes to a branch, so the entry of this branch belongs to the RET. Then the RET goes to a
// pair without a branch. There follow two more pairs and a branch that is not taken. The RET to
// this code is executed `times` times. Measures by how much `event` (clocks or pipeline flushes)
// grows in the last execution of this code.
Row false_hit(const char* what, const char* outcomes_before, int times, Event event,
              uint64_t expected) {
  const auto measure = [=] {
    Bench bench;
    const auto ret_to = [&](uint32_t target) {
      bench.ip = Bench::kCode;
      for (int i = 0; i < 6; i++) bench.insn("f7 df");
      bench.insn("c3");
      bench.model.branch(bench.ip - 1, target, true, false);
      bench.ip = target;
    };
    const auto branch = [&](bool taken) {
      bench.insn("70 10");
      bench.model.branch(bench.ip - 2, kElsewhere, taken, true);
    };
    const auto plain = [&] {  // an earlier target of the RET: three pairs, then a branch
      for (int i = 0; i < 3; i++) bench.insn("f7 df");
      branch(false);
    };
    // Loads the code of `plain` into the caches, and makes `plain` the target in the RET's own
    // entry.
    ret_to(0x22000);
    plain();
    for (const char* at = outcomes_before; *at; at++) {
      for (int i = 0; i < 2; i++) ret_to(kTarget);  // the second RET is predicted correctly
      branch(*at == 'T');
    }
    for (int i = 0; i < 6; i++) bench.insn("f7 df");
    // The first RET to `plain` is mispredicted, so there is no look-up for the pair after this RET.
    // Therefore the RET goes to `plain` again.
    ret_to(0x22000);
    plain();
    uint64_t last = 0;
    for (int i = 0; i < times; i++) {
      ret_to(0x22000);
      last = bench.grows(event, plain);
    }
    return last;
  };
  return {what, measure, expected};
}

// The code is mov, mov, jmp. If the code has run before, the two mov are a pair, and the jump's
// entry belongs to this pair. In new code the two mov do not pair. Measures the pipeline flushes of
// this code.
Row cold_entry(const char* what, bool evict, uint64_t count) {
  const auto measure = [evict] {
    Bench bench;
    const auto run = [&] {
      bench.ip = 0x30000;
      for (const char* hex : {"89 d8", "89 d1", "ff e0"}) bench.insn(hex);
      bench.model.branch(0x30004, kTarget, true, false);
    };
    for (int i = 0; i < 3; i++) run();
    for (const uint32_t other : {0x31000u, 0x32000u}) {  // displace the two ways of L1I
      if (!evict) break;
      bench.ip = other;
      bench.insn("f7 df");
    }
    return bench.grows(PipelineFlushes, run);
  };
  return {what, measure, count};
}

// Writes to TR12 and then executes a taken branch twice.
Row with_tr12(const char* what, uint32_t value, uint64_t clocks) {
  const auto measure = [value] {
    Branch branch;
    branch.model.write_tr12(value);
    branch(true);
    return branch(true);
  };
  return {what, measure, clocks};
}

Row pair_with_tr12(const char* what, uint32_t value, uint64_t clocks) {
  const auto measure = [value] {
    Bench bench;
    bench.model.write_tr12(value);
    return bench.warm({"89 d8", "89 d1"});
  };
  return {what, measure, clocks};
}

void branches() {
  const Row known = outcomes("taken, taken", "TT", 0), first = outcomes("taken at first", "T", 3);
  rule_has(Rule::BtbHit, {known}, {first, outcomes("not taken, without an entry", "N", 0)});
  // The entry starts in state 3, and each N subtracts 1.
  rule_has(Rule::BtbThreshold,
           {outcomes("state 1, not taken", "TNNN", 0), outcomes("state 1, taken", "TNNT", 3)},
           {outcomes("state 2, taken", "TNT", 0), outcomes("state 2, not taken", "TNN", 3)});
  rule_has(Rule::BtbDown, {outcomes("3, 2, 1", "TNNN", 0)}, {known});
  rule_has(Rule::BtbFromZero, {outcomes("0, then 3", "TNNNTT", 0)},
           {outcomes("1, then 2", "TNNTT", 0), outcomes("taken in state 0", "TNNNT", 3)});
  rule_has(Rule::BtbEnterTaken, {outcomes("not taken, without an entry", "NN", 0)},
           {outcomes("not taken, entered before", "TN", 3)});
  rule_has(Rule::BtbEnterHigh, {known, outcomes("3, then 2", "TNT", 0)}, {first});
  rule_has(Rule::BtbNextInstruction,
           {targets("to the next instruction", Branch::kNext, Branch::kNext, 3)}, {known});
  rule_has(Rule::BtbTarget, {targets("to somewhere else", kTarget, kElsewhere, 3)},
           {targets("to the same", kTarget, kTarget, 0)});
  rule_has(Rule::BtbTarget, {returns("RET to another caller than the last", kElsewhere, 3)},
           {returns("RET to the last caller", kTarget, 0)});
  rule_has(Rule::BtbPairBefore, {ways("over another pair", true, 3)},
           {ways("over the same pair", false, 0)});
  rule_has(Rule::BtbBehindFlush, {behind("behind a jump to an unexpected place", true, 3)},
           {behind("behind a jump to where it went before", false, 0)});
  rule_has(Rule::BtbCr3, {after_cr3("taken, CR3 loaded, taken", true, 3)},
           {after_cr3("taken, taken", false, 0)});
  rule_has(Rule::BtbTightLoop, {loop("a loop of 4 pairs: 0, then 1", 4, 3)},
           {loop("a loop of 5 pairs: 0, then 3", 5, 0)});
  // The code takes 4 clocks.
  rule_has(Rule::BtbFalseHit,
           {false_hit("RET's entry is of a taken branch", "T", 1, CyclesBusy, 4 + 3),
            false_hit("the same as pipeline flush", "T", 1, PipelineFlushes, 1),
            cold_entry("a pair that comes in again as two", true, 1)},
           {false_hit("RET has no entry", "", 1, CyclesBusy, 4),
            false_hit("its entry is in state 1", "TNN", 1, CyclesBusy, 4),
            cold_entry("a pair that is still there", false, 0)});
  rule_has(Rule::BtbFalseDown, {false_hit("state 3, then 2, then 1", "T", 3, CyclesBusy, 4)},
           {false_hit("state 3, then 2", "T", 2, CyclesBusy, 4 + 3)});
  rule_has(Rule::Tr12NoPrediction, {with_tr12("NBP = 1", kNoBranchPrediction, 3)},
           {with_tr12("NBP = 0", 0, 0)});
  rule_has(Rule::Tr12SinglePipe, {pair_with_tr12("SE = 1", kSinglePipe, 2)},
           {pair_with_tr12("SE = 0", 0, 1)});
  rule_has(Rule::Mispredict, {first, outcomes("not taken in state 3", "TN", 3)}, {known});
  rule_has(Rule::MispredictV, {in_v("jo in V", "70 10", true, 4)},
           {in_v("jmp in V", "eb 10", false, 3), first});
}

// --- x87 [INTEL-OPT, AGN-IT]

Row divide(const char* what, uint16_t control, std::vector<std::string> hex, uint64_t clocks) {
  const auto measure = [control, hex = std::move(hex)] {
    Bench bench;
    bench.x87_control_word = control;
    bench.before_pass = [&] { bench.model.idle(1000); };
    return bench.warm(hex);
  };
  return {what, measure, clocks};
}

void x87() {
  const Row independent = code("fadd st1,st; fadd st2,st", {"dc c1", "dc c2"}, 2);
  // FADD takes 3 clocks. The next instruction can overlap with 2 of these clocks.
  rule_has(Rule::X87Operand, {code("fadd st,st1; fadd st,st2", {"d8 c1", "d8 c2"}, 3 + 1)},
           {independent});
  rule_has(Rule::X87Busy,
           // FDIV takes 39 clocks. Later x87 instructions can overlap with 2 of these clocks.
           {code("fdiv st1,st; fadd st,st2", {"dc f9", "d8 c2"}, 37 + 1)}, {independent});
  rule_has(Rule::X87OverlapX87, {independent}, {code("fchs; fchs", {"d9 e0", "d9 e0"}, 2)});
  rule_has(Rule::X87OverlapInteger,
           {code("fadd st,st1; mov ecx,edx", {"d8 c1", "89 d1"}, 2),
            code("fdiv st,st1; mov ecx,edx", {"d8 f1", "89 d1"}, 2)},
           {code("fchs; mov ecx,edx", {"d9 e0", "89 d1"}, 2)});
  rule_has(Rule::X87Multiply, {code("fmul st1,st; fmul st2,st", {"dc c9", "dc ca"}, 3)},
           {code("fadd st1,st; fmul st2,st", {"dc c1", "dc ca"}, 2)});
  rule_has(Rule::X87StoreEarly,
           // The sum is ready after 3 clocks. The store begins one clock later and takes 2 clocks.
           {code("fadd st,st1; mov; mov; fstp [ebx]", {"d8 c1", "89 d1", "89 d6", "d9 1b"}, 6)},
           {code("fadd st,st1; div ecx; fstp [ebx]", {"d8 c1", "f7 f1", "d9 1b"}, 1 + 41 + 2)});
  rule_has(Rule::X87Precision,
           {divide("fdiv st,st1; fadd st,st2, 24 bits", 0x07F, {"d8 f1", "d8 c2"}, 19 + 1),
            divide("fdiv st,st1; fadd st,st2, 53 bits", 0x27F, {"d8 f1", "d8 c2"}, 33 + 1),
            divide("fidiv [ebx]; fadd st,st2, 53 bits", 0x27F, {"da 33", "d8 c2"}, 36 + 1)},
           {divide("fdiv st,st1; fadd st,st2, 64 bits", 0x37F, {"d8 f1", "d8 c2"}, 39 + 1),
            divide("fmul st,st1; fadd st,st2, 24 bits", 0x07F, {"d8 c9", "d8 c2"}, 3 + 1)});
  rule_has(Rule::X87MultiplyWaits,
           {code("fdiv st,st1; mul ecx", {"d8 f1", "f7 e1"}, 39 + 9),
            code("fdiv st,st1; imul ecx,edx, 0F hidden", {"d8 f1", "0f af ca"}, 39 + 9)},
           {code("fdiv st,st1; div ecx", {"d8 f1", "f7 f1"}, 1 + 41),
            code("fmul st,st1; mul ecx", {"d8 c9", "f7 e1"}, 1 + 9)});
  rule_has(Rule::X87Exchange,
           {code("fadd st,st1; fxch st1; fadd st2,st", {"d8 c1", "d9 c9", "dc c2"}, 2)},
           {code("fxch st1; mov ecx,edx", {"d9 c9", "89 d1"}, 2)});
}

// --- strings, modes and rings [AGN-IT, INTEL-DM 16, UM3]

// NOP takes 1 clock. REP MOVSD takes 1 clock for the prefix, 13 other clocks, and 1 clock for each
// iteration. If there is no iteration, the other clocks are 6 instead of 13.
Row rep_movs(const char* what, int times, uint64_t clocks) {
  const auto measure = [times] {
    Bench bench;
    return bench.warm([&] {
      bench.insn("90");
      bench.insn("f3 a5");
      for (int i = 0; i < times; i++) bench.model.repeat();
    });
  };
  return {what, measure, clocks};
}

// Counts the instructions of a REP STOS, with or without an interrupt during the REP STOS.
Row rep_counts(const char* what, bool interrupted, uint64_t count) {
  const auto measure = [interrupted] {
    Bench bench;
    bench.insn("90");
    return bench.grows(Instructions, [&] {
      const uint32_t at = bench.ip;
      bench.insn("f3 ab");
      bench.model.repeat();
      if (!interrupted) return;
      bench.model.hard_interrupt(0x30, at);
      bench.model.set_state(bench.state);
      bench.ip = 0x9000;
      bench.insn("cf");
      bench.model.far_transfer(Crossing::Iret);
      bench.model.set_state(bench.state);
      bench.ip = at;
      bench.insn("f3 ab");
      bench.model.repeat();
    });
  };
  return {what, measure, count};
}

Row in_state(const char* what, const char* hex, MachineMode mode, uint8_t ring, bool user_io,
             uint64_t clocks) {
  const auto measure = [=] {
    Bench bench;
    bench.change([=](State& state) {
      state.mode = mode;
      state.ring = ring;
      state.user_io = user_io;
    });
    return bench.warm({hex});
  };
  return {what, measure, clocks};
}

// INT 80h from ring 3.
Row int_80(const char* what, uint8_t to, Event event, uint64_t expected) {
  const auto measure = [to, event] {
    Bench bench;
    uint64_t before = 0;
    const uint64_t clocks = bench.warm([&] {
      bench.change([](State& state) { state.ring = 3; });
      before = bench.count(event);
      bench.insn("cd 80");
      bench.model.soft_interrupt(0x80);
      bench.change([to](State& state) { state.ring = to; });
    });
    return event == CyclesBusy ? clocks : bench.count(event) - before;
  };
  return {what, measure, expected};
}

Row grows(const char* what, const char* hex, Event event, uint64_t count) {
  const auto measure = [hex, event] {
    Bench bench;
    return bench.grows(event, [&] { bench.insn(hex); });
  };
  return {what, measure, count};
}

Row interrupt_counts(const char* what, bool hardware, uint64_t count) {
  const auto measure = [hardware] {
    Bench bench;
    return bench.grows(Instructions, [&] {
      if (hardware) return bench.model.hard_interrupt(0x30, bench.ip);
      bench.insn("cd 80");
      bench.model.soft_interrupt(0x80);
    });
  };
  return {what, measure, count};
}

using Outcome = std::function<void(Bench&)>;

// Measures a far transfer from ring 3 to another ring. The emulator reports `outcome` to the model.
Row far(const char* what, const char* hex, Crossing kind, uint8_t to, const Outcome& outcome,
        uint64_t clocks) {
  const auto measure = [=] {
    Bench bench;
    return bench.warm([&] {
      bench.change([](State& state) { state.ring = 3; });
      bench.insn(hex);
      outcome(bench);
      bench.model.far_transfer(kind);
      bench.change([to](State& state) { state.ring = to; });
    });
  };
  return {what, measure, clocks};
}

Row soft(const char* what, const char* hex, bool taken, const Outcome& outcome, uint64_t clocks) {
  const auto measure = [=] {
    Bench bench;
    return bench.warm([&] {
      bench.insn(hex);
      if (taken) bench.model.soft_interrupt(4);
      outcome(bench);
      bench.change([](State&) {});
    });
  };
  return {what, measure, clocks};
}

// Measures the clocks of an instruction after a write miss, on a machine with the settings even().
Row behind_write(const char* what, const char* hex, uint64_t clocks) {
  const auto measure = [hex] {
    Bench bench(even());
    for (int pass = 0; pass < 2; pass++) {
      settle(bench);
      bench.ip = Bench::kCode;
      bench.store(0x300000);
      const uint64_t taken = clocks_of(bench, [&] { bench.insn(hex); });
      if (pass == 1) return taken;
    }
    return uint64_t(0);
  };
  return {what, measure, clocks};
}

Row fetches(const char* what, const char* hex, uint64_t count) {
  const auto measure = [hex] {
    Bench bench;
    bench.insn("90");
    return bench.grows(CodeReads, [&] {
      bench.insn(hex);
      bench.insn("90");
    });
  };
  return {what, measure, count};
}

Row flushes(const char* what, bool hardware, uint64_t count) {
  const auto measure = [hardware] {
    Bench bench;
    return bench.grows(PipelineFlushes, [&] {
      if (hardware) return bench.model.hard_interrupt(0x30, bench.ip);
      bench.insn("cd 80");
      bench.model.soft_interrupt(0x80);
    });
  };
  return {what, measure, count};
}

void transfers() {
  const Outcome direct = [](Bench&) {};
  const auto gate = [](uint32_t parameters) -> Outcome {
    return [parameters](Bench& bench) { bench.model.call_gate(parameters); };
  };
  const auto task = [](Task to) -> Outcome {
    return [to](Bench& bench) { bench.model.task_switch(to); };
  };
  const char* call = "9a 00 00 00 00 08 00";
  const char* jmp = "ea 00 00 00 00 08 00";
  const Row call_direct = far("CALL FAR", call, Crossing::Gate, 3, direct, 4);
  const Row jmp_direct = far("JMP FAR", jmp, Crossing::Gate, 3, direct, 3);
  const Row call_inner = far("CALL through a gate to ring 0", call, Crossing::Gate, 0, gate(0), 44);

  rule_has(Rule::Gate,
           {far("CALL through a gate within the ring", call, Crossing::Gate, 3, gate(3), 22),
            far("JMP through a gate", jmp, Crossing::Gate, 3, gate(0), 18), call_inner},
           {call_direct, jmp_direct});
  rule_has(Rule::GateParameters,
           {far("CALL through a gate to ring 0, 3 parameters", call, Crossing::Gate, 0, gate(3),
                44 + 3 * 2)},
           {call_inner,
            far("CALL through a gate within the ring", call, Crossing::Gate, 3, gate(3), 22)});
  // JMP, CALL, INT and IRET take 19, 21, 23 and 10 clocks. The task switch adds 85, 87 or 71
  // clocks, which depends on its kind. A change of ring does not change these clocks.
  rule_has(Rule::TaskSwitch,
           {far("JMP to a 386 TSS", jmp, Crossing::Gate, 3, task(Task::Tss32), 19 + 85),
            far("CALL to a 386 TSS", call, Crossing::Gate, 0, task(Task::Tss32), 21 + 85),
            far("JMP to a 286 TSS", jmp, Crossing::Gate, 3, task(Task::Tss16), 19 + 87),
            far("JMP to a virtual-8086 task", jmp, Crossing::Gate, 3, task(Task::V86), 19 + 71),
            far("IRET to a 386 TSS", "cf", Crossing::Iret, 0, task(Task::Tss32), 10 + 85),
            soft("INT to a 386 TSS", "cd 04", true, task(Task::Tss32), 23 + 85)},
           {call_direct, jmp_direct, far("IRET", "cf", Crossing::Iret, 3, direct, 10),
            soft("INT", "cd 04", true, direct, 31)});
  rule_has(Rule::IntoTaken, {soft("INTO, overflow", "ce", true, direct, 27)},
           {soft("INTO, none", "ce", false, direct, 4), soft("INT 4", "cd 04", true, direct, 31)});
}

void system() {
  constexpr auto kProt = MachineMode::Prot32;
  rule_has(Rule::RepIteration, {rep_movs("7 iterations", 7, 2 + 13 + 7)},
           {rep_movs("none", 0, 2 + 6)});
  rule_has(Rule::RepZero, {rep_movs("none", 0, 2 + 6)}, {rep_movs("one", 1, 2 + 13 + 1)});
  rule_has(Rule::RepOnce, {rep_counts("REP STOS, interrupt, IRET, REP STOS", true, 3)},
           {rep_counts("REP STOS", false, 1)});
  rule_has(Rule::EnterLevels, {code("enter 16,5", {"c8 10 00 05"}, 15 + 5 * 2)},
           {code("enter 16,0", {"c8 10 00 00"}, 11)});
  rule_has(Rule::UserLevel,
           {in_state("RDTSC and its 0F, ring 3", "0f 31", kProt, 3, false, 1 + 11),
            in_state("IN beyond IOPL", "ec", kProt, 3, true, 21)},
           {in_state("RDTSC and its 0F, ring 0", "0f 31", kProt, 0, false, 1 + 6),
            in_state("IN within IOPL", "ec", kProt, 3, false, 4)});
  rule_has(Rule::ModeColumn,
           {in_state("PUSHF, protected mode (4 in real mode)", "9c", kProt, 0, false, 3),
            in_state("POPF, protected mode (6 in real mode)", "9d", kProt, 0, false, 4),
            in_state("IN, virtual-8086 mode", "ec", MachineMode::V86, 3, true, 19)},
           {in_state("MOV EAX,EBX, protected mode", "89 d8", kProt, 0, false, 1)});
  rule_has(Rule::InnerLevel, {int_80("INT to ring 0", 0, CyclesBusy, 48)},
           {int_80("INT within ring 3", 3, CyclesBusy, 31)});
  rule_has(Rule::SegmentLoadTwice, {int_80("INT to ring 0", 0, SegmentLoads, 2)},
           {int_80("INT within ring 3", 3, SegmentLoads, 1)});
  rule_has(Rule::SerializingBranch, {grows("mov cr3,eax", "0f 22 d8", Branches, 1)},
           {grows("mov eax,cr3", "0f 20 d8", Branches, 0)});
  // The store ends at an odd clock, so its 12 clocks on the bus begin one clock later. LGDT itself
  // takes 6 clocks, SGDT takes 4, and the byte 0F takes another clock.
  rule_has(Rule::SerializingDrains, {behind_write("lgdt [eax]", "0f 01 10", 1 + 12 + 6 + 1)},
           {behind_write("sgdt [eax]", "0f 01 00", 4 + 1)});
  rule_has(Rule::SerializingRefetch, {fetches("lgdt [eax]", "0f 01 10", 1)},
           {fetches("sgdt [eax]", "0f 01 00", 0)});
  rule_has(Rule::VerrBranch,
           {grows("verr ax", "0f 00 e0", Branches, 1), grows("verw ax", "0f 00 e8", Branches, 1)},
           {grows("lar ecx,eax", "0f 02 c8", Branches, 0)});
  rule_has(Rule::DeliveryFlushes, {flushes("hardware interrupt", true, 1)},
           {flushes("INT 80h", false, 0)});
  rule_has(Rule::DeliveryCounts, {interrupt_counts("hardware interrupt", true, 1)},
           {interrupt_counts("INT 80h itself", false, 1)});
}

// --- memory [INTEL-DM 2, 3; INTEL-OPT]

// Measures the clocks of an access to the board. L2 contains all lines below 10000h.
Row board(const char* what, const Config& config, uint64_t clocks,
          const std::function<uint64_t(Memory&, Bank&)>& access) {
  const auto measure = [config, access] {
    Memory memory(config.memory);
    Bank bank;
    for (uint32_t line = 0; line < 0x10000; line += 32) memory.read_line(line, 0, bank);
    return access(memory, bank);
  };
  return {what, measure, clocks};
}

constexpr uint64_t kQuiet = 1 << 20;  // the bus is idle long before this clock

// Measures the clocks of `action` on a machine of even(). L1 contains the lines of `action` below
// 300000h.
Row on_bench(const char* what, uint64_t clocks, const std::function<void(Bench&)>& before,
             const std::function<void(Bench&)>& action) {
  const auto measure = [before, action] {
    Bench bench(even());
    for (int pass = 0; pass < 2; pass++) {
      bench.ip = Bench::kCode;
      for (int i = 0; i < 16; i++) bench.insn("f7 df");
    }
    bench.load(0x2000);
    bench.store(0x2000);  // M
    settle(bench);
    bench.ip = Bench::kCode;
    before(bench);
    return clocks_of(bench, [&] { action(bench); });
  };
  return {what, measure, clocks};
}

// Executes code of a line that comes from L2. Measures the clocks of the nth instruction of 2
// bytes.
Row code_fill(const char* what, int nth, uint64_t clocks) {
  const auto measure = [nth] {
    Bench bench(even());
    for (uint32_t line = 0x30000; line < 0x33000; line += 0x1000) {  // two ways: evicts the first
      bench.ip = line;
      bench.insn("f7 df");
    }
    settle(bench);
    bench.ip = 0x30000;
    for (int i = 1; i < nth; i++) bench.insn("f7 df");
    return clocks_of(bench, [&] { bench.insn("f7 df"); });
  };
  return {what, measure, clocks};
}

void memory() {
  const auto nothing = [](Bench&) {};
  const auto load = [](uint32_t at) { return [at](Bench& bench) { bench.load(at); }; };
  const auto store = [](uint32_t at) { return [at](Bench& bench) { bench.store(at); }; };
  const auto port = [](Bench& bench) { bench.model.port(0x60, false); };
  const auto first = [](uint64_t now) {
    return [now](Memory& memory, Bank& bank) {
      return memory.read_line(0x1000, now, bank).first - now;
    };
  };
  const Row hit = on_bench("read hit", 1, nothing, load(0x2000));

  // L2 delivers a line in 3-2-2-2 bus clocks of two core clocks each. So the first 8 bytes arrive
  // after 6 clocks, and the whole line arrives after 18 clocks.
  rule_has(Rule::MissOverhead, {board("L2 read", even(), 4 + 6, first(kQuiet))}, {hit});
  rule_has(Rule::BusEdge,
           // A bus clock lasts 1.5 clocks. A request at clock 0 gets the bus at 4.5 (not 4). A
           // request at clock 1 gets the bus at 6 (not 5).
           {board("L2 read, between bus clocks", p90(), 5 + 5, first(kQuiet / 3 * 3 + 1))},
           {board("L2 read, at a bus clock", p90(), 4 + 5, first(kQuiet / 3 * 3 + 2))});
  rule_has(Rule::BusOne,
           {board("read behind a read", even(), 18 + 4 + 6,
                  [](Memory& memory, Bank& bank) {
                    const uint64_t start = kQuiet - 4;
                    memory.read_line(0x2000, start, bank);  // on the bus from kQuiet on
                    return memory.read_line(0x1000, kQuiet, bank).first - kQuiet;
                  }),
            // Writes start at the first bus clock after the clock that fills their buffers.
            board("read behind two writes of 6 bus clocks", even(), 2 + 24 + 4 + 6,
                  [](Memory& memory, Bank& bank) {
                    memory.write_single(0x2000, kQuiet, Pipe::U, bank);
                    memory.write_single(0x2008, kQuiet, Pipe::V, bank);
                    return memory.read_line(0x1000, kQuiet, bank).first - kQuiet;
                  })},
           {board("read on an idle bus", even(), 4 + 6, first(kQuiet))});
  rule_has(Rule::FillFirst, {board("the first 8 bytes", even(), 4 + 6, first(kQuiet))},
           {board("the whole line", even(), 4 + 18, [](Memory& memory, Bank& bank) {
             return memory.read_line(0x1000, kQuiet, bank).complete - kQuiet;
           })});
  // DRAM delivers a line in 7-4-4-4 bus clocks. So the first 8 bytes arrive after 14 clocks, and
  // the whole line arrives after 38 clocks.
  rule_has(Rule::FillWhole,
           {on_bench("the next word of the line", 38 - 14, load(0x300000), load(0x300004))},
           {on_bench("a line that is there", 1, load(0x300000), load(0x2000))});
  // The first 8 bytes arrive at clock 6, and the whole line at clock 18. The fourth instruction
  // ends at clock 10.
  rule_has(Rule::FillCode, {code_fill("behind the first 8 bytes", 5, 18 - 10 + 1)},
           {code_fill("the end of the first 8 bytes", 4, 1)});
  // Measures the clocks of the n-th write if the two pipes write in turn.
  const auto nth_write = [](uint32_t at, int nth) {
    return [at, nth](Memory& memory, Bank& bank) {
      uint64_t now = kQuiet, last = 0;
      for (int i = 0; i < nth; i++) {
        last = now;
        now = memory.write_single(at + 32 * uint32_t(i), now, i % 2 ? Pipe::V : Pipe::U, bank);
      }
      return now - last;
    };
  };
  rule_has(Rule::WriteBuffers,
           {board("a third write", even(), 2 + 12, nth_write(0x1000, 3)),
            board("a second write of the same pipe", even(), 2 + 12,
                  [](Memory& memory, Bank& bank) {
                    memory.write_single(0x1000, kQuiet, Pipe::U, bank);
                    return memory.write_single(0x1020, kQuiet, Pipe::U, bank) - kQuiet;
                  })},
           {board("a second write", even(), 0, nth_write(0x1000, 2))});
  rule_has(Rule::WritePosted,
           {board("to DRAM at the pace of L2", even(), 2 + 12, nth_write(0x100000, 3))},
           {board("to DRAM at its own when four wait", even(), 18, nth_write(0x100000, 40)),
            board("to L2", even(), 2 + 12, nth_write(0x1000, 3))});
  // The first store begins at an odd clock, so its 12 clocks on the bus begin one clock later.
  rule_has(Rule::WriteOrder,
           {on_bench("write hit behind a write miss", 1 + 12, store(0x300000), store(0x2000))},
           {on_bench("read hit behind a write miss", 1, store(0x300000), load(0x2000)),
            on_bench("read of what was just written", 1, store(0x2000), load(0x2000)),
            on_bench("write hit", 1, nothing, store(0x2000))});
  rule_has(Rule::PortDrains,
           {on_bench("IN behind a write miss", 1 + 12 + 90, store(0x300000), port)},
           {on_bench("IN", 90, nothing, port)});
  rule_has(Rule::PortWaits, {on_bench("IN from ISA", 90, nothing, port)},
           {on_bench("write miss", 1, nothing, store(0x300000))});
  const auto exchange = [](const char* hex, bool in_memory) {
    return [hex, in_memory](Memory&, Bank&) {
      Bench bench;
      return bench.grows(LockedCycles, [&] {
        bench.insn(hex);
        if (in_memory) bench.model.data(0x6000, 0x6000, 4, DataKind::ReadWrite);
      });
    };
  };
  rule_has(Rule::LockedOnBus,
           {board("xchg [eax],ecx", even(), 1, exchange("87 08", true)),
            board("lock add [eax],ecx", even(), 1, exchange("f0 01 08", true))},
           {board("add [eax],ecx", even(), 0, exchange("01 08", true)),
            board("xchg eax,ecx", even(), 0, exchange("87 c8", false))});
}

// --- states of lines, pages and other bus masters [INTEL-DM 3, 6]

// DRAM with pages of 4 KB. The opening of a page takes 6 bus clocks.
Config pages() {
  Config config = even();
  config.memory.dram_page = 4096;
  config.memory.page_miss = 6;
  return config;
}

// The same DRAM. A refresh every 1000 clocks takes 8 bus clocks.
Config refreshed() {
  Config config = pages();
  config.memory.refresh_interval = 1000;
  config.memory.refresh_clocks = 8;
  return config;
}

// The chipset accepts the address of the next read while DRAM delivers a line.
Config pipelined() {
  Config config = even();
  config.memory.pipelined = true;
  return config;
}

// --- fetch ahead [INTEL-DM 2, 6]: lines of L2, 4 clocks, then 6 to the first 8 bytes and 18 in all

constexpr uint32_t kLine = 0x30000, kOther = 0x34800, kLastLine = 0x30FE0;

// Begins at a bus clock with the lines of code from `line` on in L2, but not in L1I. `kOther` is
// in L1I.
class AheadBench : public Bench {
 public:
  static Config prefetches() {
    Config config = even();
    config.fetch_ahead = true;
    return config;
  }
  explicit AheadBench(uint32_t line) : Bench(prefetches()) {
    for (uint32_t way = 0; way < 3; way++) {  // two ways: evicts the first
      for (uint32_t at = 0; at < 96; at += 32) go(line + way * 0x1000 + at, 1);
    }
    for (int pass = 0; pass < 2; pass++) {  // the line behind comes too
      go(kOther, 1);
      settle(*this);
    }
    ip = line;
  }
  void run(int instructions) {  // of 2 bytes and one clock
    for (int i = 0; i < instructions; i++) insn("f7 df");
  }
  void go(uint32_t to, int instructions) {
    ip = to;
    run(instructions);
  }
  uint64_t last(int instructions) {
    return clocks_of(*this, [&] { run(instructions); });
  }
};

Row ahead(const char* what, uint32_t line, uint64_t expected,
          const std::function<uint64_t(AheadBench&)>& measure) {
  return {what,
          [line, measure] {
            AheadBench bench(line);
            return measure(bench);
          },
          expected};
}

// Executes instructions of a new line, does something else, and counts the lines that came.
Row lines_ahead(const char* what, uint32_t line, int instructions, uint64_t expected,
                const std::function<void(AheadBench&)>& then) {
  return ahead(what, line, expected, [=](AheadBench& bench) {
    return bench.grows(CodeMisses, [&] {
      bench.run(instructions);
      then(bench);
      settle(bench);
      bench.go(kOther, 1);
    });
  });
}

void fetch_ahead() {
  const auto elsewhere = [](AheadBench& bench) { bench.go(kOther, 1); };
  const auto stay = [](AheadBench&) {};
  const auto last_after = [](int before, int count) {
    return [=](AheadBench& bench) {
      bench.run(before);
      return bench.last(count);
    };
  };
  const Row first = ahead("a line after a jump: its 8 bytes, then all of it, then 12 instructions",
                          kLine, 4 + 18 + 12, last_after(0, 16));
  rule_has(Rule::AheadNext,
           {ahead("the line behind it takes the time of the bus", kLine, 18, last_after(16, 16)),
            ahead("and so does the next one", kLine, 18, last_after(32, 16)),
            lines_ahead("both lines come", kLine, 6, 2, stay)},
           {first});
  rule_has(Rule::AheadOverhead, {ahead("back to back on the bus", kLine, 18, last_after(16, 16))},
           {first});
  rule_has(Rule::AheadPage,
           {lines_ahead("the last line of a page", kLastLine, 6, 1, stay),
            ahead("the first line of the page behind", kLastLine, 4 + 18 + 12, last_after(16, 16))},
           {lines_ahead("another line of a page", kLine, 6, 2, stay)});
  // A load that misses all caches: 4 clocks, then 14 to its 8 bytes.
  const auto load_behind = [](int instructions) {
    return [=](AheadBench& bench) {
      bench.run(instructions);
      return clocks_of(bench, [&] { bench.load(0x300000); });
    };
  };
  rule_has(Rule::AheadYields,
           {ahead("a load while the line before comes", kLine, 22 - 11 + 4 + 14, load_behind(1))},
           {ahead("a load when the bus has begun", kLine, 40 - 23 + 4 + 14, load_behind(5)),
            lines_ahead("the line behind comes later", kLine, 1, 2, [](AheadBench& bench) {
              bench.load(0x300000);
              bench.run(12);
            })});
  rule_has(Rule::AheadAbandon,
           {lines_ahead("a jump while the line before comes", kLine, 1, 1, elsewhere),
            lines_ahead("a serialising instruction", kLine, 1, 1,
                        [](AheadBench& bench) { bench.model.serialize(); })},
           {lines_ahead("a jump when the bus has begun", kLine, 6, 2, elsewhere)});
  const auto back = [](int instructions) {
    return [=](AheadBench& bench) {
      bench.run(instructions);
      bench.go(kOther, 1);
      settle(bench);
      bench.ip = kLine + 32;
      return bench.last(1);
    };
  };
  rule_has(Rule::AheadArrives, {ahead("a line that was not executed at first", kLine, 1, back(6))},
           {ahead("a line that the bus had not begun", kLine, 4 + 6 + 1, back(1))});
}

void dram() {
  // A read takes 4 clocks, and then 7-4-4-4 bus clocks of two clocks each. The opening of a page
  // takes 6 bus clocks more.
  const auto line = [](uint32_t before, uint32_t at, uint64_t now) {
    return [=](Memory& memory, Bank& bank) {
      memory.read_line(before, kQuiet / 2, bank);
      return memory.read_line(at, now, bank).complete - now;
    };
  };
  constexpr uint64_t refresh = kQuiet / 1000 * 1000 + 1000;
  rule_has(
      Rule::Refresh,
      {board("a refresh has closed the page", refreshed(), 4 + 38 + 12,
             line(0x301000, 0x301020, kQuiet)),
       board("a refresh begins", refreshed(), 16 + 4 + 38 + 12, line(0x301000, 0x301020, refresh))},
      {board("no refresh", pages(), 4 + 38, line(0x301000, 0x301020, refresh)),
       board("the board cache", refreshed(), 4 + 18, line(0x301000, 0x2000, refresh))});
  // The line before has its address on the bus at kQuiet, and arrives from clock 14 to clock 38.
  const auto behind = [](uint32_t before, uint64_t after) {
    return [=](Memory& memory, Bank& bank) {
      memory.read_line(before, kQuiet - 4, bank);
      return memory.read_line(0x320000, kQuiet + after, bank).first - kQuiet;
    };
  };
  rule_has(
      Rule::Pipelined,
      {board("address at 34", pipelined(), 34 + 14, behind(0x310000, 30)),
       board("address at 18: behind the line before", pipelined(), 38 + 2, behind(0x310000, 14))},
      {board("address on an idle bus", pipelined(), 44 + 14, behind(0x310000, 40)),
       board("another chip set", even(), 38 + 4 + 14, behind(0x310000, 14)),
       board("behind a line of L2", pipelined(), 18 + 4 + 14, behind(0x2000, 6))});
}

Config write_once() {
  Config config = even();
  config.write_once = true;
  return config;
}

// Executes `before` and then `action`. Measures by how much an event grows during `action`. Linear
// and physical pages are equal. Page 5 has PWT, page 6 has PCD, and all other pages are ordinary.
Row event_of(const char* what, const Config& config, Event event, uint64_t count,
             const std::function<void(Bench&)>& before, const std::function<void(Bench&)>& action) {
  const auto measure = [=] {
    Bench bench(config);
    bench.memory[0x1000] = 0x2000 | 1;
    for (uint32_t page = 0; page < 1024; page++) {
      bench.memory[0x2000 + 4 * page] = page << 12 |
                                        (page == 5   ? 1 << 3
                                         : page == 6 ? 1 << 4
                                                     : 0) |
                                        1;
    }
    bench.change([](State& state) {
      state.paging = true;
      state.cr3 = 0x1000;
    });
    before(bench);
    return bench.grows(event, [&] { action(bench); });
  };
  return {what, measure, count};
}

void states() {
  const auto nothing = [](Bench&) {};
  const auto load = [](uint32_t at) { return [at](Bench& bench) { bench.load(at); }; };
  const auto store = [](uint32_t at) { return [at](Bench& bench) { bench.store(at); }; };
  const auto twice = [](uint32_t at) {  // fills the line, then modifies it if possible
    return [at](Bench& bench) {
      bench.load(at);
      bench.store(at);
    };
  };
  const auto master = [](uint32_t at, bool write) {
    return [at, write](Bench& bench) { bench.model.bus_master(at, 32, write); };
  };
  const auto then = [](auto first, auto second) {
    return [first, second](Bench& bench) {
      first(bench);
      second(bench);
    };
  };
  // A read takes 4 clocks, and then 7-4-4-4 bus clocks of two clocks each. A read from another page
  // takes 6 bus clocks more.
  const auto line = [](uint32_t before, uint32_t at) {
    return [=](Memory& memory, Bank& bank) {
      memory.read_line(before, kQuiet / 2, bank);
      return memory.read_line(at, kQuiet, bank).complete - kQuiet;
    };
  };
  rule_has(Rule::PageMiss, {board("another page", pages(), 4 + 38 + 12, line(0x301000, 0x302000))},
           {board("the same page", pages(), 4 + 38, line(0x301000, 0x301020)),
            board("the board cache", pages(), 4 + 18, line(0x301000, 0x2000))});
  // The write is posted at once. After the transfer on the bus, DRAM takes 9 bus clocks for the
  // write.
  const auto behind_write = [](uint32_t at) {
    return [at](Memory& memory, Bank& bank) {
      memory.write_single(0x301000, kQuiet, Pipe::U, bank);
      const uint64_t off_the_bus = memory.writes_done();
      return memory.read_line(at, off_the_bus, bank).complete - off_the_bus;
    };
  };
  rule_has(Rule::PostedFirst, {board("read of DRAM", even(), 18 + 4 + 38, behind_write(0x310000))},
           {board("read of L2", even(), 4 + 18, behind_write(0x2000))});
  rule_has(Rule::WriteOnce,
           {event_of("the first write", write_once(), L2Writes, 1, load(0x4000), store(0x4000))},
           {event_of("the second", write_once(), L2Writes, 0, twice(0x4000), store(0x4000)),
            event_of("a machine without", even(), L2Writes, 0, load(0x4000), store(0x4000))});
  rule_has(Rule::PageNoCache,
           {event_of("a second read", even(), DataReadMisses, 1, load(0x6000), load(0x6000))},
           {event_of("another page", even(), DataReadMisses, 0, load(0x4000), load(0x4000))});
  rule_has(Rule::PageWriteThrough,
           {event_of("a write", even(), L2Writes, 1, twice(0x5000), store(0x5000))},
           {event_of("another page", even(), L2Writes, 0, twice(0x4000), store(0x4000))});
  rule_has(Rule::InquireBus,
           {event_of("a line", even(), BusBusy, 2 * 2, nothing, master(0x300000, true))},
           {event_of("no master", even(), BusBusy, 0, load(0x4000), load(0x4000))});
  // DRAM takes the line of the device in the time of a burst, before the processor's own access.
  const auto behind_device = [](uint32_t at, uint32_t bytes, bool write) {
    return [=](Memory& memory, Bank& bank) {
      memory.device_access(0x301000, bytes, kQuiet, write, bank);
      return memory.read_line(at, kQuiet, bank).complete - kQuiet;
    };
  };
  rule_has(
      Rule::DeviceMemory,
      {board("read of DRAM behind a line", even(), 38 + 4 + 38, behind_device(0x310000, 32, true)),
       board("behind a word", even(), 18 + 4 + 38, behind_device(0x310000, 4, true)),
       board("behind a line that the device reads", even(), 38 + 4 + 38,
             behind_device(0x310000, 32, false))},
      {board("read of L2", even(), 4 + 4 + 18, behind_device(0x2000, 32, true))});
  rule_has(Rule::InquireModified,
           {event_of("read", even(), L1dWritebacks, 1, twice(0x4000), master(0x4000, false)),
            event_of("written", even(), L1dWritebacks, 1, twice(0x4000), master(0x4000, true))},
           {event_of("clean", even(), L1dWritebacks, 0, load(0x4000), master(0x4000, true))});
  rule_has(Rule::InquireWrite,
           {event_of("a read behind it", even(), DataReadMisses, 1,
                     then(load(0x4000), master(0x4000, true)), load(0x4000))},
           {event_of("behind a read", even(), DataReadMisses, 0,
                     then(load(0x4000), master(0x4000, false)), load(0x4000)),
            event_of("of another line", even(), DataReadMisses, 0,
                     then(load(0x4000), master(0x4020, true)), load(0x4000))});
  rule_has(Rule::InquireRead,
           {event_of("a write behind it", even(), L2Writes, 1,
                     then(twice(0x4000), master(0x4000, false)), store(0x4000))},
           {event_of("to another line", even(), L2Writes, 0,
                     then(twice(0x4000), master(0x4020, false)), store(0x4000))});
}

}  // namespace

const std::vector<RuleCase>& rule_cases() {
  if (all.empty()) {
    pairing();
    pair_costs();
    interlocks();
    branches();
    x87();
    system();
    transfers();
    memory();
    fetch_ahead();
    states();
    dram();
  }
  return all;
}

std::string rule_name(Rule rule) {
  static constexpr const char* kNames[] = {
#define P5_NAME(id, name) name,
      P5_RULES(P5_NAME)
#undef P5_NAME
  };
  return kNames[unsigned(rule)];
}
