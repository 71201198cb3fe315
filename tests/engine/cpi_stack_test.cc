// SPDX-License-Identifier: MIT
// To which component of the CPI stack does each clock belong? The components must add up to the
// busy cycles, and a loop with one known cause must show this cause and no other.
#include "p5/cpi_stack.hh"

#include <doctest/doctest.h>

#include <numeric>

#include "bench.hh"
#include "exercise.hh"

using namespace p5;

namespace {

using Stack = std::map<std::string, uint64_t>;

// The components that are not zero, without the prefix "cpi.".
Stack components(Bench& bench) {
  Stack stack;
  for (uint32_t event = CpiPairs; event <= CpiPageTables; event++) {
    const uint64_t count = bench.count(Event(event));
    if (count) stack[std::string(event_name(event)).substr(4)] = count;
  }
  return stack;
}

std::string text(const Stack& stack) {
  std::string text;
  for (const auto& [name, count] : stack) text += name + "=" + std::to_string(count) + " ";
  return text;
}

uint64_t sum(const Stack& stack) {
  return std::accumulate(stack.begin(), stack.end(), uint64_t(0),
                         [](uint64_t total, const auto& one) { return total + one.second; });
}

// What `code` adds to the stack.
Stack grown(Bench& bench, const std::function<void()>& code) {
  const Stack before = components(bench);
  const uint64_t cycles = bench.count(CyclesBusy);
  code();
  Stack stack = components(bench);
  for (const auto& [name, count] : before) {
    if ((stack[name] -= count) == 0) stack.erase(name);
  }
  CHECK(sum(stack) == bench.count(CyclesBusy) - cycles);
  return stack;
}

// A bench that counts the stack. The page tables map linear addresses to equal physical addresses.
class Explained : public Bench {
 public:
  explicit Explained(const Config& config = p90()) : Bench(config) { model.explain_clocks(); }

  // The stack of `code` in the third pass. Code and data are then in the caches. NEG, which does
  // not pair, precedes and follows the code; the stack does not contain them.
  Stack of(const std::function<void()>& code) {
    Stack stack;
    for (int pass = 0; pass < 3; pass++) {
      ip = kCode;
      model.idle(1000);
      for (const char* hex : {"90", "90", "90", "f7 df"}) insn(hex);
      stack = grown(*this, [&] {
        code();
        insn("f7 df");
      });
    }
    if (--stack["single.first"] == 0) stack.erase("single.first");
    return stack;
  }
  Stack of(const std::vector<std::string>& code) {
    return of([&] {
      for (const auto& hex : code) insn(hex);
    });
  }
  // The stack of `code`, without a pass before.
  Stack cold(const std::function<void()>& code) { return grown(*this, code); }

  void page(uint32_t number) {
    memory[0x1000] = 0x2001;
    memory[0x2000 + 4 * number] = number << 12 | 1;
  }
};

uint64_t clocks(ClassId cls) { return timing_table().clocks(Mode::Prot)[cls]; }

}  // namespace

TEST_CASE("CPI stack: instructions without memory") {
  const struct {
    const char* what;
    std::vector<std::string> code;
    Stack expected;
  } cases[] = {
      {"a pair", {"89 d8", "89 d1"}, {{"pairs", 1}}},
      {"two pairs", {"89 d8", "89 d1", "89 d6", "89 d5"}, {{"pairs", 2}}},
      {"NEG takes no companion", {"f7 d8", "f7 d8"}, {{"single.first", 2}}},
      {"NEG cannot go into V", {"89 d1"}, {{"single.second", 1}}},
      {"a result is read", {"89 d8", "89 c1"}, {{"single.registers", 1}, {"single.second", 1}}},
      {"two results", {"89 d8", "89 c8"}, {{"single.registers", 1}, {"single.second", 1}}},
      {"PUSH and POP", {"50", "5b"}, {{"single.registers", 1}, {"single.second", 1}}},
      {"a prefix", {"66 89 d8"}, {{"prefixes", 1}, {"single.second", 1}}},
      {"two prefixes", {"66 64 8b 08"}, {{"prefixes", 2}, {"single.second", 1}}},
      {"MOVZX", {"0f b6 c0"}, {{"prefixes", 1}, {"single.first", 1}, {"long", 2}}},
      {"a shift by CL", {"d3 e0"}, {{"single.first", 1}, {"long", 3}}},
      {"MUL", {"f7 e1"}, {{"single.first", 1}, {"long", 8}}},
      {"DIV", {"f7 f1"}, {{"single.first", 1}, {"long", 40}}},
      {"add m,r twice", {"01 0b", "01 33"}, {{"pairs", 1}, {"long", 4}}},
      {"add r,r; add r,m", {"01 d1", "03 33"}, {{"pairs", 1}, {"long", 1}}},
      {"AGI", {"89 d8", "8b 08"}, {{"single.registers", 1}, {"agi", 1}, {"single.second", 1}}},
      {"AGI in both pipes", {"89 d8", "89 d1", "8b 30", "8b 29"}, {{"pairs", 2}, {"agi", 1}}},
      {"AGI in V", {"89 d8", "89 d1", "89 d6", "8b 28"}, {{"pairs", 2}, {"agi", 1}}},
      {"AGI behind IMUL",
       {"0f af c3", "64 8b 08"},
       {{"prefixes", 1}, {"single.first", 1}, {"long", 8}, {"agi", 1}, {"single.second", 1}}},
      {"an x87 operand", {"d8 c1", "d8 c2"}, {{"single.second", 2}, {"x87.waits", 2}}},
      {"the x87 unit", {"dc f9", "d8 c2"}, {{"single.second", 2}, {"x87.waits", 36}}},
      {"FXCH in V", {"d8 c1", "d9 c9", "dc c2"}, {{"pairs", 1}, {"single.second", 1}}},
      {"FXCH without x87 behind",
       {"d8 c1", "d9 c9", "89 d1"},
       {{"pairs", 1}, {"x87.waits", 1}, {"single.second", 1}}},
      {"MUL behind FDIV",
       {"d8 f1", "f7 e1"},
       {{"single.second", 1}, {"x87.waits", 38}, {"single.first", 1}, {"long", 8}}},
      {"FCHS", {"d9 e0", "d9 e0"}, {{"single.second", 2}}},
      {"FSTP, 2 clocks", {"d9 1b"}, {{"single.first", 1}, {"x87", 1}}},
  };
  for (const auto& test : cases) {
    INFO(std::string(test.what));
    Explained bench;
    CHECK(text(bench.of(test.code)) == text(test.expected));
  }
}

TEST_CASE("CPI stack: strings, segments, transfers, ports") {
  Explained bench;
  CHECK(bench.of([&] {
    bench.insn("f3 a5");
    for (int i = 0; i < 3; i++) bench.model.repeat();
  }) == Stack{{"prefixes", 1}, {"strings", 13 + 3}});
  CHECK(bench.of([&] { bench.insn("f3 a5"); }) == Stack{{"prefixes", 1}, {"strings", 6}});
  CHECK(bench.of({"8e d8"}) ==
        Stack{{"single.first", 1}, {"segments", clocks(Class::MovSreg) - 1}});
  const Stack ports = bench.of([&] {
    bench.insn("ec");
    bench.model.port(0x1F0, false);
  });
  CHECK(ports == Stack{{"ports", clocks(Class::In) + 90}});
  const Stack drained = bench.of([&] {
    bench.store(0x300000);
    bench.insn("0f a2");
  });
  CHECK(drained.size() == 3);
  CHECK(drained.count("single.second") == 1);  // the store
  CHECK(drained.count("prefixes") == 1);
  CHECK(drained.at("serializing") > clocks(Class::Cpuid));
}

TEST_CASE("CPI stack: changes of the ring") {
  Explained bench;
  bench.change([](State& state) { state.ring = 3; });
  bench.insn("90");
  const Stack call = bench.cold([&] {
    bench.insn("cd 80");
    bench.model.soft_interrupt(0x80);
    bench.change([](State& state) { state.ring = 0; });
  });
  CHECK(call == Stack{{"transfers", timing_table().inner_level()[Class::IntN]}});
  const Stack interrupt = bench.cold([&] {
    bench.model.hard_interrupt(0x30, bench.ip);
    bench.change([](State&) {});
  });
  CHECK(interrupt == Stack{{"interrupts", clocks(Class::Interrupt) + 90}});
  bench.change([](State& state) { state.ring = 3; });
  const Stack fault = bench.cold([&] {
    bench.model.exception(13, false, bench.ip);
    bench.change([](State& state) { state.ring = 0; });
  });
  CHECK(fault == Stack{{"interrupts", timing_table().inner_level()[Class::Exception]}});
}

TEST_CASE("CPI stack: the last instruction of a ring is alone") {
  Explained bench;
  bench.of({"89 d8"});
  const Stack stack = bench.cold([&] {
    bench.insn("89 d8");  // MOV could take a companion
    bench.model.hard_interrupt(0x30, bench.ip);
    bench.change([](State& state) { state.cr3 = 0x5000; });
  });
  CHECK(stack.count("single.other") == 1);
}

TEST_CASE("CPI stack: mispredicted branches") {
  Explained bench;
  const auto branch = [&] {
    bench.insn("70 10");
    bench.model.branch(bench.ip - 2, 0x20000, true, true);
    bench.ip = 0x20000;
  };
  bench.of(branch);
  bench.model.load_cr3(0);
  bench.ip = Bench::kCode;
  for (const char* hex : {"90", "90", "90", "f7 df"}) bench.insn(hex);
  CHECK(bench.cold(branch) == Stack{{"branches", 3}, {"single.first", 1}});
}

TEST_CASE("CPI stack: waits for data") {
  Explained bench;
  const auto load = [&](uint32_t address) { return [&bench, address] { bench.load(address); }; };
  bench.of(load(0x2000));
  const auto wait = [&](const char* component, const std::function<void()>& code) {
    bench.of({"90"});
    bench.model.idle(1000);
    uint64_t stalled = bench.count(StallRead) + bench.count(StallWrite);
    const Stack stack = bench.cold(code);
    stalled = bench.count(StallRead) + bench.count(StallWrite) - stalled;
    INFO(std::string(component), ": ", text(stack));
    CHECK(stalled > 0);
    CHECK(stack.count(component) == 1);
    uint64_t others = 0;
    for (const auto& [name, count] : stack) {
      const bool issue = name.compare(0, 6, "single") == 0 || name == "pairs";
      if (name != component && !issue) others += count;
    }
    return others;
  };
  CHECK(wait("data.dram", load(0x102000)) == 0);
  CHECK(wait("data.dram", load(0x104000)) == 0);  // the same set of L1D, another of L2
  CHECK(wait("data.dram", load(0x106000)) == 0);
  CHECK(wait("data.l2", load(0x102000)) == 0);
  CHECK(wait("uncached", load(0xA0000)) == 0);
  CHECK(wait("uncached", [&] {
          for (uint32_t i = 0; i < 4; i++) bench.store(0xA0000 + 4 * i);
        }) == 0);
  CHECK(wait("locked", [&] {
          bench.insn("f0 01 08");
          bench.model.data(0x2000, 0x2000, 4, DataKind::ReadWrite);
        }) <= 2 + 2);  // the prefix and the further clocks of ADD
  CHECK(wait("writes.buffers", [&] {
          for (uint32_t i = 0; i < 4; i++) bench.store(0x302000 + 4 * i);
        }) == 0);
  CHECK(wait("bus.writes", [&] {
          bench.store(0x302000);
          bench.load(0x10A000);
        }) > 0);  // and from DRAM
  CHECK(wait("data.fill", [&] {
          bench.load(0x10C000);
          bench.load(0x10C004);
        }) > 0);
  CHECK(wait("bus.reads", [&] {
          bench.load(0x10D000);
          bench.load(0x10E000);
        }) > 0);
  CHECK(wait("bus.others", [&] {
          bench.model.bus_master(0x200000, 256, true);
          bench.load(0x110000);
        }) > 0);
  bench.of({"90"});
  CHECK(bench.of([&] {
    bench.insn("8b 08");
    bench.read(0x2002);
  }) == Stack{{"single.second", 1}, {"misaligned", 3}});
  CHECK(bench.of([&] {
    bench.load(0x2000);
    bench.insn("8b 33");
    bench.read(0x2020);
  }) == Stack{{"pairs", 1}, {"banks", 1}});
}

TEST_CASE("CPI stack: a write waits for the writes before it") {
  Explained bench;
  bench.of([&] { bench.load(0x2000); });
  bench.load(0x2000);
  bench.store(0x2000);
  const Stack stack = bench.cold([&] {
    bench.store(0x302000);
    bench.store(0x2000);
  });
  CHECK(stack.at("writes.order") > 0);
}

TEST_CASE("CPI stack: waits for code and page walks") {
  Explained bench;
  for (uint32_t page : {0x10u, 0x20u, 0x30u, 0x31u}) bench.page(page);
  bench.change([](State& state) {
    state.paging = true;
    state.cr3 = 0x1000;
  });
  bench.ip = 0x20000;
  const Stack first = bench.cold([&] {
    for (int i = 0; i < 6; i++) bench.insn(i % 2 ? "89 d8" : "89 d1");
  });
  for (const char* component : {"itlb", "code.dram", "code.fill", "single.new_code"}) {
    INFO(std::string(component), ": ", text(first));
    CHECK(first.count(component) == 1);
  }
  bench.insn("8b 08");
  const Stack walk = bench.cold([&] { bench.read(0x30000); });
  CHECK(walk.at("dtlb") == bench.count(StallWalk) - first.at("itlb"));
  CHECK(walk.count("data.dram") == 1);
  CHECK(bench.cold([&] { bench.model.page_table_update(0x2000); }).count("page_tables") == 1);
}

TEST_CASE("CPI stack: random programs have the same counts, and every clock has a component") {
  Bench plain;
  exercise(plain);
  Explained explained;
  exercise(explained);
  CHECK(explained.model.clock() == plain.model.clock());
  uint64_t busy = 0;
  for (const auto& bank : explained.model.counters().banks()) {
    uint64_t total = 0;
    for (uint32_t event = CpiPairs; event <= CpiPageTables; event++) total += bank->count[event];
    CAPTURE(bank->cr3);
    CHECK(total == bank->count[CyclesBusy]);
    busy += total;
  }
  CHECK(busy > 1000);
  for (uint32_t event = 0; event < CpiPairs; event++) {
    CAPTURE(event);
    CHECK(explained.count(Event(event)) == plain.count(Event(event)));
  }
}

TEST_CASE("CPI stack: settle() at any place changes nothing") {
  Explained often, once;
  const std::vector<std::string> code = {"89 d8", "89 d1", "89 d6", "f7 df", "89 d8", "89 c1",
                                         "d8 c1", "d9 c9", "dc c2", "50",    "58"};
  for (int pass = 0; pass < 3; pass++) {
    often.ip = once.ip = Bench::kCode;
    for (const auto& hex : code) {
      often.insn(hex);
      often.model.settle();
      once.insn(hex);
    }
  }
  CHECK(components(often) == components(once));
}
