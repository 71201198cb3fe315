// SPDX-License-Identifier: MIT
// Do joint counts add up? A random program makes system calls, gets interrupts and changes its mode
// and address space. For every event, the sums over each dimension must be the counts of the banks
// and of the observer that has this dimension alone.
#include "observe/joint.hh"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "bench.hh"
#include "observe/attribution/attribution.hh"
#include "observe/calls/calls.hh"
#include "observe/group.hh"
#include "observe/intervals/intervals.hh"
#include "observe/joint/joint_counts.hh"
#include "observe/modes/modes.hh"
#include "trace.hh"

namespace {

using observe::Observer;
using p5::MachineMode;

constexpr uint32_t kCode = 0xC0001000, kUser = 0x08000000, kStack = 0xC1001000;

// In which half of its code is the processor? The value changes without a change of the state.
class Halves : public observe::Places {
 public:
  explicit Halves(p5::Pentium& model) : Places(model, "half") {}
  bool sees_each() const override { return true; }
  uint64_t value() const override { return half_; }

 protected:
  void move(p5::Linear linear, p5::Linear) override {
    half_ = linear >> 5 & 1;
    look();
  }

 private:
  uint64_t half_ = 0;
};

class System : public Bench, public observe::Guest {
 public:
  System()
      : calls(model, table()),
        modes(model),
        halves(model),
        intervals(model, 700, 90),
        counts(model, observe::Joint({"calls", "modes", "half", "intervals"}, machine())),
        attribution(model, *this, functions(), true, nullptr,
                    observe::Joint({"calls", "modes", "half", "intervals"}, machine())),
        all{&attribution, &calls, &intervals, &counts, &halves, &modes},
        group(all) {
    ip = kUser;
    go(MachineMode::Prot32, 3, 0x1000);
    for (Observer* one : all) one->open({}, [](const std::string&) {});
    for (Observer* one : all) one->start();
    for (Observer* one : all) one->begin(1);
    totals.push_back(total());
  }

  bool code(p5::Linear, bool, uint32_t*) override { return false; }
  const uint8_t* page(uint32_t) override { return nullptr; }

  template <class Report>
  void tell(Report report) {
    group.tell(report);
  }
  void arrive(const observe::Entrance& how) {
    tell([&](Observer& one) { one.arrive(how, {ip, esp}, esp); });
  }
  void work(unsigned instructions) {
    for (unsigned i = 0; i < instructions; i++) {
      look();
      group.at(ip, esp);
      load(0x200000 + 36 * (step++ % 4000));
    }
  }
  // Ends the interval if it is over, and notes the counts of each event until then.
  void look() {
    group.look(model.clock());
    if (intervals.value() >= totals.size()) totals.push_back(total());
  }
  std::vector<uint64_t> total() {
    model.settle();
    std::vector<uint64_t> counts;
    for (uint32_t event = 0; event < p5::kEventCount; event++) {
      counts.push_back(model.banks().total(p5::Event(event)));
    }
    return counts;
  }
  void go(MachineMode mode, uint8_t ring, uint32_t cr3) {
    change([=](p5::State& state) {
      state.mode = mode;
      state.ring = ring;
      state.cr3 = cr3;
    });
  }
  // A software interrupt from ring 3.
  void call(uint32_t number) {
    group.at(ip, esp);
    for (Observer* one : all) one->before_far({ip + 2, esp}, number);
    insn("cd 80");
    back.push_back({ip, esp});
    tell([](Observer& one) { one.delivered(p5::Entry::Soft, 0x80, {0, 0}); });
    model.soft_interrupt(0x80);
    enter({"int", 0x80, number});
  }
  void interrupt(uint8_t vector) {
    back.push_back({ip, esp});
    tell([&](Observer& one) { one.delivered(p5::Entry::Irq, vector, {ip, esp}); });
    model.hard_interrupt(vector, ip);
    enter({"interrupt", vector, 0});
  }
  void enter(const observe::Entrance& how) {
    rings.push_back(model.state().ring);
    go(MachineMode::Prot32, 0, uint32_t(model.state().cr3));
    ip = kCode + 0x100 * uint32_t(back.size() % 8);
    esp = back.size() == 1 ? kStack : esp - 12;
    arrive(how);
  }
  void leave() {
    group.at(ip, esp);
    for (Observer* one : all) one->before_far({ip + 1, esp}, 0);
    insn("cf");
    tell([](Observer& one) { one.moved(); });
    model.far_transfer(p5::Crossing::Iret);
    go(MachineMode::Prot32, rings.back(), uint32_t(model.state().cr3));
    ip = back.back().address;
    esp = back.back().stack;
    back.pop_back();
    rings.pop_back();
    arrive({"iret", -1, 0});
  }

  static observe::CallTable table() {
    observe::CallTable table;
    std::string error;
    REQUIRE(table.parse("80:eax", &error));
    return table;
  }
  static observe::Functions functions() {
    observe::Functions functions;
    std::string error;
    REQUIRE(
        functions.parse("module k\nfixed c0000000 10000\nfunction c0001000 100 first\n"
                        "function c0001100 100 second\nfunction c0001200 600 third\n",
                        "t", &error));
    return functions;
  }
  observe::Machine machine() {
    return {model, *this, nullptr, [this](const std::string& name) -> Observer* {
              if (name == "calls") return &calls;
              if (name == "half") return &halves;
              if (name == "intervals") return &intervals;
              return &modes;
            }};
  }

  uint32_t esp = 0xBFFFF000, step = 0;
  std::vector<observe::Position> back;
  std::vector<uint8_t> rings;
  observe::Calls calls;
  observe::Modes modes;
  Halves halves;
  observe::Intervals intervals;
  std::vector<std::vector<uint64_t>> totals;  // at the begin, and at the end of each interval
  observe::JointCounts counts;
  observe::Attribution attribution;
  const std::vector<Observer*> all;
  observe::Group group;
};

// Returns the value of a member of a combination, such as "call".
std::string member(const std::string& line, const std::string& name) {
  const size_t at = line.find("\"" + name + "\":");
  if (at == std::string::npos) return "";
  const size_t begin = line.find_first_not_of("\"", at + name.size() + 3);
  return line.substr(begin, line.find_first_of("\",}", begin) - begin);
}

using Sums = std::map<std::string, uint64_t>;

// An observer whose value never occurs twice.
class Serial : public observe::Places {
 public:
  explicit Serial(p5::Pentium& model) : Places(model, "serial") {}
  uint64_t value() const override { return number; }
  uint64_t number = 0;
};

}  // namespace

TEST_CASE("joint counts: the sums over each dimension are exact, and no count is negative") {
  System system;
  system.model.explain_clocks();
  AddressStream random(11, 8192, 32);
  for (int i = 0; i < 3000; i++) {
    const uint32_t what = random.below(10);
    const bool inside = !system.back.empty();
    system.work(1 + random.below(4));
    if (what < 2 && !inside) system.call(1 + random.below(3));
    if (what == 2 && system.back.size() < 3) system.interrupt(uint8_t(0x20 + random.below(2)));
    if (what == 3 && !inside) {
      system.go(random.below(2) ? MachineMode::Prot16 : MachineMode::Prot32, 3,
                0x1000 * (1 + random.below(2)));
      system.arrive({"cr3", -1, 0});
    }
    if (what >= 5 && inside) system.leave();
    if (i == 1000) system.tell([](Observer& one) { one.begin(2); });
    if (i == 2000) system.tell([](Observer& one) { one.end(); });
  }
  system.totals.push_back(system.total());
  system.tell([](Observer& one) { one.stop(); });
  for (Observer* one : system.all) CHECK(one->differs() == "");

  // With and without functions, a call has the same counts, and those of the observer of calls.
  const observe::Attribution& found = system.attribution;
  for (const auto& node : found.phases().at(1).counts)
    for (uint32_t event = 0; node && event < p5::kEventCount; event++)
      CHECK_MESSAGE(int64_t((*node)[event]) >= 0, p5::event_name(event));
  for (const auto& [place, counts] : system.counts.phases().at(1).counts)
    for (uint32_t event = 0; event < p5::kEventCount; event++)
      CHECK_MESSAGE(int64_t(counts.events[event]) >= 0, p5::event_name(event));
  for (uint32_t event = 0; event < p5::kEventCount; event++) {
    Sums with, without, without_others, modes, halves, intervals;
    const auto& nodes = found.phases().at(1).counts;
    for (uint32_t node = 0; node < nodes.size(); node++) {
      if (!nodes[node]) continue;
      base::JsonLine line("node");
      found.joint().members(found.nodes()[node].joint, &line);
      with[member(line.open(), "call")] += (*nodes[node])[event];
      modes[member(line.open(), "mode")] += (*nodes[node])[event];
      halves[member(line.open(), "half")] += (*nodes[node])[event];
      intervals[member(line.open(), "interval")] += (*nodes[node])[event];
    }
    for (const auto& [place, counts] : system.counts.phases().at(1).counts) {
      base::JsonLine line("joint");
      system.counts.members(place.second, &line);
      without[member(line.open(), "call")] += counts.events[event];
      modes[member(line.open(), "mode")] -= counts.events[event];
    }
    for (const auto& [place, counts] : system.calls.phases().at(1).counts) {
      base::JsonLine line("call");
      system.calls.members(place.second, &line);
      without_others[member(line.open(), "call")] += counts.events[event];
    }
    for (const auto& [place, counts] : system.halves.phases().at(1).counts) {
      halves[std::to_string(place.second)] -= counts.events[event];
    }
    for (const auto& [name, count] : with) {
      CHECK_MESSAGE(count == without[name], name);
      CHECK_MESSAGE(count == without_others[name], name);
    }
    for (const auto& [name, count] : modes) CHECK_MESSAGE(count == 0, name);
    for (const auto& [name, count] : halves) CHECK_MESSAGE(count == 0, name);
    CHECK(intervals.size() + 1 == system.totals.size());
    // The last clock of an interval gets its component after the end of the interval.
    const bool is_component = std::string(p5::event_name(event)).rfind("cpi.", 0) == 0;
    for (size_t number = 0; !is_component && number < intervals.size(); number++) {
      const uint64_t grown = system.totals[number + 1][event] - system.totals[number][event];
      CHECK(intervals[std::to_string(number)] == grown);
    }
    CHECK(with.size() == 1 + 3 + 2);
  }
}

TEST_CASE("joint counts: combinations beyond the limit share the rest, and the sums stay exact") {
  Bench bench;
  Serial serial(bench.model);
  struct : observe::Guest {
    bool code(p5::Linear, bool, uint32_t*) override { return false; }
    const uint8_t* page(uint32_t) override { return nullptr; }
  } guest;
  const observe::Machine machine{bench.model, guest, nullptr,
                                 [&](const std::string&) { return &serial; }};
  observe::JointCounts counts(bench.model, observe::Joint({"serial"}, machine));
  counts.start();
  counts.begin(1);
  const size_t most = observe::Joint::kMost;
  while (serial.number < most + 100) {
    bench.insn("40");
    counts.arrive({}, {0, 0}, 0);
    serial.number++;
    counts.join();
  }
  counts.stop();
  CHECK(counts.differs() == "");
  const auto& found = counts.phases().at(1).counts;
  CHECK(found.size() == most + 1);
  uint64_t rest = 0;
  for (const auto& [place, own] : found) {
    if (place.second == observe::Joint::kRest) rest += own.events[p5::Instructions];
  }
  CHECK(rest == 100);
}
