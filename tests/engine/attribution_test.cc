// SPDX-License-Identifier: MIT
// To which nodes does the attribution add the counts? For every event, the sum over the nodes must
// equal the growth of the banks. The tests also check entrances and stacks. The stack pointer
// identifies a stack.
#include "observe/attribution/attribution.hh"

#include <doctest/doctest.h>

#include <map>
#include <string>

#include "bench.hh"
#include "trace.hh"

namespace {

using observe::Attribution;
using observe::Entrance;
using observe::Functions;
using p5::Class;
using p5::Linear;

constexpr uint32_t kMain = 0xC0001000, kLeaf = 0xC0002000, kEntry = 0xC0003000,
                   kHandler = 0xC0004000, kFork = 0xC0005000, kUser = 0x08000000;

class System : public Bench, public observe::Guest {
 public:
  explicit System(bool stacks, const std::string& more = "")
      : attribution(model, *this, table(more), stacks, nullptr) {
    attribution.start();
    ip = kMain;
    change([](p5::State& state) { state.cr3 = 0x1000; });
    attribution.arrive({}, {ip, esp}, esp);
  }

  bool code(Linear linear, bool, uint32_t* physical) override {
    *physical = linear & 0x01FFFFFF;
    return linear != kUser + 0x1000;  // an absent page
  }
  const uint8_t* page(uint32_t) override { return content; }

  // Executes one instruction at the current address.
  void step(const std::string& code = "40", uint32_t data = 0) {
    attribution.at(ip, esp);
    insn(code);
    if (data) read(data);
  }
  void call(uint32_t target) {
    step("e8 00 00 00 00");
    returns.push_back(ip);
    esp -= 4;
    write(esp);
    model.branch(ip - 5, target, true, false);
    attribution.branch(Class::Call, esp, target == ip);
    ip = target;
  }
  void ret() {
    step("c3");
    read(esp);
    model.branch(ip - 1, returns.back(), true, false);
    esp += 4;
    attribution.branch(Class::Ret, esp, false);
    ip = returns.back();
    returns.pop_back();
  }
  void jump(uint32_t target) {
    step("e9 00 00 00 00");
    model.branch(ip - 5, target, true, false);
    attribution.branch(Class::Jmp, esp, false);
    ip = target;
  }
  // Changes ring, stack and address.
  void cross(const Entrance& how, uint8_t ring, uint32_t target, uint32_t stack) {
    change([ring](p5::State& state) { state.ring = ring; });
    ip = target;
    esp = stack;
    attribution.arrive(how, {ip, esp}, esp);
  }

  // Returns the number of instructions in phase 1 for each text "outermost;...;function entrance".
  std::map<std::string, uint64_t> instructions() {
    std::map<std::string, uint64_t> found;
    const auto& counts = attribution.phases().at(1).counts;
    for (uint32_t node = 0; node < counts.size(); node++) {
      if (!counts[node] || !(*counts[node])[p5::Instructions]) continue;
      std::string path;
      for (uint32_t at = node; at; at = attribution.nodes()[at].parent) {
        const auto& function = attribution.functions()[attribution.nodes()[at].function];
        path = function.name + (path.empty() ? "" : ";") + path;
      }
      const auto& entrance = attribution.entrances()[attribution.nodes()[node].entrance];
      if (entrance.kind) path += std::string(" ") + entrance.kind;
      found[path] += (*counts[node])[p5::Instructions];
    }
    return found;
  }

  static Functions table(const std::string& more) {
    Functions functions;
    std::string error;
    REQUIRE(
        functions.parse("module k\nfixed c0000000 10000\n"
                        "function c0001000 100 main\nfunction c0001100 100 behind\n"
                        "function c0002000 100 leaf\nfunction c0003000 100 entry\n"
                        "function c0004000 100 handler\nstart c0005000 100 fork\n" +
                            more,
                        "t", &error));
    return functions;
  }

  uint32_t esp = 0xC1001000;
  std::vector<uint32_t> returns;
  uint8_t content[Functions::kPageBytes] = {};
  Attribution attribution;
};

}  // namespace

TEST_CASE("attribution: the counts of functions equal the growth of the banks") {
  System system(false);
  AddressStream random(1, 8192, 32);
  system.step();  // before the bracket
  system.attribution.begin(1);
  for (int i = 0; i < 2000; i++) {
    system.call(kLeaf + random.below(16) * 4);
    for (uint32_t n = random.below(4); n; n--)
      system.step("8b 08", 0x10000 + random.below(1 << 20));
    system.ret();
    if (i % 7 == 0) {  // a system call from ring 3, with another address space on the way back
      system.cross({"iret", -1, 0}, 3, kUser, 0x7000);
      system.step();
      system.cross({"int", 0x80, 41}, 0, kEntry, 0xC1001000);
      system.step();
      system.change([i](p5::State& state) { state.cr3 = 0x1000u << (i % 3); });
      system.attribution.arrive({"cr3", -1, 0}, {system.ip, system.esp}, system.esp);
      system.jump(kMain);
    }
    if (i % 50 == 0) system.ip = kMain + 0xFC;  // continues into the next function
    if (i % 50 == 2) system.ip = kMain;
  }
  system.model.counters();
  system.attribution.end();
  CHECK(system.attribution.differs() == "");
  const auto& phase = system.attribution.phases().at(1);
  uint64_t cycles = 0, misses = 0;
  for (const auto& counts : phase.counts) {
    if (counts) cycles += (*counts)[p5::CyclesBusy], misses += (*counts)[p5::DataReadMisses];
  }
  CHECK(cycles > 10000);
  CHECK(misses > 1000);
  const auto found = system.instructions();
  CHECK(found.at("leaf int") > 0);
  CHECK(found.at("behind int") > 0);
  CHECK(found.at("[unknown]") == 286);  // one instruction in ring 3 each time
}

TEST_CASE("attribution: a count outside of all functions is detected") {
  System system(false);
  system.attribution.begin(1);
  system.step();
  system.attribution.end();
  CHECK(system.attribution.differs() == "");
  // An event is added to the bank, and also to the copy of the bank from the beginning of the
  // bracket. So the attribution adds the event to a node, but the growth of the bank does not
  // contain it.
  const auto& bank = system.model.bank();
  system.attribution.begin(1);
  const_cast<p5::Bank&>(bank).count[p5::Flops]++;
  const_cast<Attribution::Phase&>(system.attribution.phases().at(1)).began.back()[p5::Flops]++;
  system.attribution.end();
  CHECK(system.attribution.differs() ==
        "the sum over all functions differs from the count of flops of phase 1");
}

TEST_CASE("attribution: the stack pointer identifies stacks") {
  System system(true);
  system.attribution.begin(1);
  system.step();
  system.call(kLeaf);
  system.step();
  // An interrupt inside the function, in the same ring.
  const uint32_t at = system.ip, stack = system.esp;
  system.cross({"interrupt", 0x30, 0}, 0, kHandler, stack - 12);
  system.step();
  system.cross({"iret", -1, 0}, 0, at, stack);
  system.step();
  system.ret();
  system.step();
  system.jump(kEntry);  // a tail call replaces main
  system.step();
  system.model.counters();
  system.attribution.end();
  const auto found = system.instructions();
  CHECK(found.at("main") == 4);       // with CALL and JMP
  CHECK(found.at("main;leaf") == 3);  // with RET
  CHECK(found.at("main;leaf;handler interrupt") == 1);
  CHECK(found.at("entry") == 1);
  CHECK(system.attribution.differs() == "");
}

TEST_CASE("attribution: the kernel's stack continues the program's, and each task has its own") {
  System system(true);
  system.cross({"iret", -1, 0}, 3, kUser, 0x7000);
  system.attribution.begin(1);
  system.step();
  system.cross({"int", 0x80, 4}, 0, kEntry, 0xC1003000);  // on the stack for kernel entries
  system.esp = 0xC2001F00;                                // on the task's stack
  system.call(kLeaf);
  system.step();
  system.esp = 0xC2005F00;  // a new task
  system.jump(kFork);
  system.step();
  system.esp = 0xC2001EFC;  // and back to the first task
  system.jump(kLeaf + 0x40);
  system.step();
  system.ret();
  system.step();
  system.model.counters();
  system.attribution.end();
  const auto found = system.instructions();
  CHECK(found.at("[unknown]") == 1);
  CHECK(found.at("[unknown];entry int") == 2);
  CHECK(found.at("[unknown];entry;leaf int") == 4);
  CHECK(found.at("fork start") == 2);
  CHECK(system.attribution.differs() == "");
}

TEST_CASE("attribution: a CALL of the next instruction only reads EIP, except into a function") {
  System system(true);
  system.attribution.begin(1);
  system.call(kMain + 5);
  system.step();
  system.esp += 4;  // POP
  system.call(kLeaf);
  system.step();
  system.ret();
  system.ip = kMain + 0xFB;  // the last instruction of main
  system.call(kMain + 0x100);
  system.step();
  system.model.counters();
  system.attribution.end();
  const auto found = system.instructions();
  CHECK(found.count("main;main") == 0);
  CHECK(found.at("main;leaf") == 2);
  CHECK(found.at("main;behind") == 1);
  CHECK(system.attribution.differs() == "");
}

TEST_CASE("attribution: a program that execve() starts has no callers") {
  // The page of the program contains only zeros, whose digest is 0.
  System system(true, "module u\npage 8000000 0\nstart 8000000 10 _start\nfunction 8000100 80 f\n");
  system.attribution.begin(1);
  system.cross({"iret", -1, 0}, 3, kUser + 0x100, 0x7000);
  system.call(kUser + 0x100);
  system.step();
  system.cross({"int", 0x80, 11}, 0, kEntry, 0xC1003000);
  system.step();
  system.cross({"iret", -1, 0}, 3, kUser, 0x6F00);  // below the frames of the old program
  system.call(kUser + 0x100);
  system.step();
  system.ret();
  system.step();
  system.cross({"interrupt", 0x30, 0}, 0, kHandler, 0xC1003000);
  system.step();
  system.cross({"iret", -1, 0}, 3, kUser + 5, 0x6F00);  // after an interrupt inside _start
  system.call(kUser + 0x100);
  system.step();
  system.esp = 0x5F00;  // local variables, in another piece of the stack
  system.cross({"interrupt", 0x30, 0}, 0, kHandler, 0xC1003000);
  system.step();
  system.cross({"iret", -1, 0}, 3, system.returns.back() + 0x100, 0x5F00);
  system.step();
  system.model.counters();
  system.attribution.end();
  const auto found = system.instructions();
  CHECK(found.at("f") == 1);
  CHECK(found.at("f;f") == 1);
  CHECK(found.at("f;f;entry int") == 1);
  CHECK(found.at("_start") == 3);
  CHECK(found.at("_start;f") == 4);
  CHECK(found.at("_start;f;handler interrupt") == 1);
  CHECK(found.at("_start;handler interrupt") == 1);
  CHECK(system.attribution.differs() == "");
}

TEST_CASE(
    "attribution: both nested brackets count, and code without a symbol is counted as unknown") {
  System system(false);
  system.attribution.begin(1);
  system.step();
  system.attribution.begin(2);
  system.step();
  system.attribution.end();
  system.cross({"iret", -1, 0}, 3, kUser + 0x1000, 0x7000);  // its first instruction page-faults
  system.model.exception(14, false, system.ip);
  system.cross({"exception", 14, 0}, 0, kHandler, 0xC1001000);
  system.step();
  system.model.counters();
  system.attribution.end();
  CHECK(system.attribution.differs() == "");
  const auto found = system.instructions();
  CHECK(found.at("main") == 2);
  CHECK(found.at("[unknown]") == 1);  // the delivery
  CHECK(found.at("handler exception") == 1);
  CHECK(system.attribution.phases().at(2).counts.size() > 0);
}
