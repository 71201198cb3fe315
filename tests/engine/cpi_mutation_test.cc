// SPDX-License-Identifier: MIT
// Does each rule of the model move only the components of the CPI stack that it is about? The cases
// of each rule run with the rule and without it, on machines whose memory takes no time. The table
// says which components differ. In a whole program with memory, may_move() says which components
// can differ. This program is built with P5_MUTABLE.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bench.hh"
#include "exercise.hh"
#include "rule_cases.hh"

using namespace p5;

namespace {

using Components = std::set<Event>;

// The components that differ without the rule. If there are none, `why` gives the reason.
struct Moves {
  Rule rule;
  Components components;
  const char* why = "";
  bool new_code = false;  // the cases need code that is new in L1I
};

// The reasons why a rule moves no component.
constexpr char kCounts[] = "the rule changes counts and no clocks";
constexpr char kMemory[] = "the rule is about memory, which takes no time here";
constexpr char kBus[] = "the rule is about waits for the bus, which takes no time here";

// The last instruction before a pause has CpiSingleOther. A rule of pairing decides whether this
// instruction is alone.
const Moves kMoves[] = {
    {Rule::PairFirst, {CpiPairs, CpiSingleFirst, CpiSingleSecond, CpiSingleOther}},
    {Rule::PairSecond, {CpiPairs, CpiSingleFirst, CpiSingleSecond, CpiSingleOther}},
    // An address also waits for a register that U has just written.
    {Rule::PairReadAfterWrite,
     {CpiPairs, CpiSingleRegisters, CpiSingleSecond, CpiSingleOther, CpiAgi}},
    {Rule::PairWriteAfterWrite, {CpiPairs, CpiSingleRegisters, CpiSingleSecond, CpiSingleOther}},
    {Rule::PairWholeRegister, {CpiPairs, CpiSingleRegisters, CpiSingleSecond, CpiSingleOther}},
    // CALL takes no companion, and without the rule it is in U.
    {Rule::PairStack,
     {CpiPairs, CpiSingleRegisters, CpiSingleFirst, CpiSingleSecond, CpiSingleOther}},
    {Rule::PairPushPop, {CpiPairs, CpiSingleRegisters, CpiSingleSecond, CpiSingleOther}},
    {Rule::PairAccumulator, {CpiPairs, CpiSingleRegisters, CpiSingleSecond, CpiSingleOther}},
    {Rule::PairDispImm, {CpiPairs, CpiSingleFirst, CpiSingleSecond, CpiSingleOther}},
    // In V no prefix is decoded.
    {Rule::PairPrefix, {CpiPairs, CpiSingleSecond, CpiSingleOther, CpiPrefixes}},
    {Rule::PairCold, {CpiPairs, CpiSingleNewCode, CpiSingleOther}, "", true},
    {Rule::PairColdByte, {CpiPairs, CpiSingleNewCode, CpiSingleOther}, "", true},
    {Rule::PairFxch, {CpiPairs, CpiSingleFirst, CpiSingleSecond}},
    {Rule::PairFxAlone, {CpiPairs, CpiSingleSecond, CpiSingleOther}},
    {Rule::FxchThenX87, {CpiX87Waits}},
    {Rule::PairSerial, {CpiLong}},
    {Rule::PairOverlap, {CpiLong}},
    {Rule::BankConflict, {CpiBanks}},
    {Rule::Agi, {CpiAgi}},
    {Rule::AgiInV, {CpiAgi}},
    {Rule::AgiFromV, {CpiAgi}},
    {Rule::AgiOnce, {CpiAgi}},
    {Rule::AgiImplicitStack, {CpiAgi}},
    {Rule::AgiAccumulator, {CpiAgi}},
    {Rule::AgiPrefix, {CpiAgi}},
    {Rule::Prefix, {CpiPrefixes}},
    {Rule::PrefixHidden, {CpiPrefixes}},
    {Rule::PrefixNearJcc, {CpiPrefixes}},
    {Rule::Misaligned, {CpiMisaligned}},
    {Rule::MisalignedTwice, {}, kCounts},
    {Rule::BtbHit, {CpiBranches}},
    {Rule::BtbThreshold, {CpiBranches}},
    {Rule::BtbDown, {CpiBranches}},
    {Rule::BtbFromZero, {CpiBranches}},
    {Rule::BtbEnterTaken, {CpiBranches}},
    {Rule::BtbEnterHigh, {CpiBranches}},
    {Rule::BtbNextInstruction, {CpiBranches}},
    {Rule::BtbTarget, {CpiBranches}},
    {Rule::BtbPairBefore, {CpiBranches}},
    {Rule::BtbBehindFlush, {CpiBranches}},
    {Rule::BtbCr3, {CpiBranches}},
    {Rule::BtbTightLoop, {CpiBranches}},
    {Rule::BtbFalseHit, {CpiBranches}, "", true},
    {Rule::BtbFalseDown, {CpiBranches}},
    {Rule::Tr12NoPrediction, {CpiBranches}},
    {Rule::Tr12SinglePipe, {CpiPairs, CpiSingleOther}},
    {Rule::Mispredict, {CpiBranches}},
    {Rule::MispredictV, {CpiBranches}},
    {Rule::X87Operand, {CpiX87Waits}},
    {Rule::X87Busy, {CpiX87Waits}},
    {Rule::X87OverlapX87, {CpiX87Waits}},
    // Without the rule, x87 instructions hold the integer pipes until the result is ready.
    {Rule::X87OverlapInteger, {CpiX87}},
    {Rule::X87Multiply, {CpiX87Waits}},
    {Rule::X87StoreEarly, {CpiX87Waits}},
    {Rule::X87Precision, {CpiX87Waits}},
    {Rule::X87MultiplyWaits, {CpiX87Waits}},
    {Rule::X87Exchange, {CpiX87Waits}},
    {Rule::RepIteration, {CpiStrings}},
    {Rule::RepZero, {CpiStrings}},
    {Rule::RepOnce, {}, kCounts},
    {Rule::EnterLevels, {CpiLong}},
    {Rule::UserLevel, {CpiLong, CpiPorts}},   // RDTSC and IN
    {Rule::ModeColumn, {CpiLong, CpiPorts}},  // PUSHF and IN
    {Rule::InnerLevel, {CpiTransfers}},
    {Rule::SegmentLoadTwice, {}, kCounts},
    {Rule::IntoTaken, {CpiTransfers}},
    {Rule::Gate, {CpiTransfers}},
    {Rule::GateParameters, {CpiTransfers}},
    {Rule::TaskSwitch, {CpiTransfers}},
    {Rule::SerializingBranch, {}, kCounts},
    {Rule::SerializingDrains, {}, kBus},
    {Rule::SerializingRefetch, {}, kMemory},
    {Rule::VerrBranch, {}, kCounts},
    {Rule::DeliveryCounts, {}, kCounts},
    {Rule::DeliveryFlushes, {}, kCounts},
    {Rule::MissOverhead, {}, kMemory},
    {Rule::BusEdge, {}, kBus},
    {Rule::BusOne, {}, kBus},
    {Rule::FillFirst, {}, kMemory},
    {Rule::FillWhole, {}, kMemory},
    {Rule::FillCode, {}, kMemory},
    {Rule::AheadNext, {}, kMemory},
    {Rule::AheadPage, {}, kMemory},
    {Rule::AheadYields, {}, kMemory},
    {Rule::AheadOverhead, {}, kMemory},
    {Rule::AheadAbandon, {}, kMemory},
    {Rule::AheadArrives, {}, kMemory},
    {Rule::WriteBuffers, {}, kBus},
    {Rule::WriteOrder, {}, kBus},
    {Rule::WritePosted, {}, kBus},
    {Rule::PageMiss, {}, kMemory},
    {Rule::Refresh, {}, kMemory},
    {Rule::Pipelined, {}, kMemory},
    {Rule::PostedFirst, {}, kMemory},
    {Rule::WriteOnce, {}, kMemory},
    {Rule::PageNoCache, {}, kMemory},
    {Rule::PageWriteThrough, {}, kMemory},
    {Rule::InquireBus, {}, kBus},
    {Rule::DeviceMemory, {}, kMemory},
    {Rule::InquireModified, {}, kMemory},
    {Rule::InquireWrite, {}, kMemory},
    {Rule::InquireRead, {}, kMemory},
    {Rule::PortDrains, {}, kBus},
    {Rule::PortWaits, {CpiPorts}},
    {Rule::LockedOnBus, {}, kMemory},
};

// In a whole program, a rule also moves other components, because all later instructions begin at
// other clocks. The waits depend on the moment: how much of a wait other clocks hide, and whether
// the bus is busy.
const Components kWaits = {CpiX87Waits,  CpiSerializing,  CpiPorts,      CpiCodeL2,    CpiCodeDram,
                           CpiCodeFill,  CpiItlb,         CpiDataL2,     CpiDataDram,  CpiDataFill,
                           CpiDtlb,      CpiWriteBuffers, CpiWriteOrder, CpiBusWrites, CpiBusReads,
                           CpiBusOthers, CpiLocked,       CpiUncached,   CpiPageTables};
// These clocks depend on which instructions pair.
const Components kPipes = {CpiPairs,         CpiSingleFirst, CpiSingleSecond, CpiSingleRegisters,
                           CpiSingleNewCode, CpiSingleOther, CpiLong,         CpiX87,
                           CpiStrings,       CpiTransfers,   CpiPrefixes,     CpiAgi,
                           CpiBanks,         CpiBranches};

// The components that may move in a whole program without this rule.
Components may_move(const Moves& row) {
  Components all = row.components;
  const auto add = [&all](const Components& more) { all.insert(more.begin(), more.end()); };
  add(kWaits);
  const auto between = [&row](Rule first, Rule last) {
    return row.rule >= first && row.rule <= last;
  };
  // A clock in which the pipes wait for an address hides a prefix of the next instruction, and the
  // clocks of a prefix hide such a wait.
  if (between(Rule::PairSerial, Rule::PrefixNearJcc)) add({CpiPrefixes, CpiAgi});
  // Rules of pairing. Three rules of memory change which code is new in L1I, and AgiImplicitStack
  // changes which registers PUSH and POP use.
  if (between(Rule::PairFirst, Rule::PairFxAlone)) add(kPipes);
  for (const Rule rule : {Rule::AgiImplicitStack, Rule::MisalignedTwice, Rule::SerializingRefetch,
                          Rule::InquireWrite}) {
    if (row.rule == rule) add(kPipes);
  }
  // Interrupts, segment loads and far transfers have clocks for each mode and ring.
  if (row.rule == Rule::ModeColumn) add({CpiSegments, CpiTransfers, CpiInterrupts});
  if (row.rule == Rule::InnerLevel) add({CpiInterrupts});
  return all;
}

// The sum of the components equals the busy clocks, in each bank.
void check_sum(Bench& bench) {
  for (const auto& bank : bench.model.counters().banks()) {
    uint64_t sum = 0;
    for (uint32_t event = CpiPairs; event <= CpiPageTables; event++) sum += bank->count[event];
    CAPTURE(bank->cr3);
    CHECK(sum == bank->count[CyclesBusy]);
  }
}

// Adds up the CPI stacks of all benches. Their memory takes no time.
class Stacks : public BenchWatch {
 public:
  explicit Stacks(bool new_code) : new_code_(new_code) {}

  Config machine(const Config& described) override {
    Config config = described;
    Ideal& ideal = config.ideal;
    ideal.code_lines = ideal.data_lines = ideal.itlb = ideal.dtlb = true;
    ideal.known_code = !new_code_;
    config.memory.ideal_writes = true;
    config.memory.answer_at_once();
    return config;
  }
  void begins(Bench& bench) override { bench.model.explain_clocks(); }
  void ends(Bench& bench) override {
    check_sum(bench);
    for (uint32_t event = CpiPairs; event <= CpiPageTables; event++) {
      clocks[event] += bench.count(Event(event));
    }
  }

  std::vector<uint64_t> clocks = std::vector<uint64_t>(kEventCount);

 private:
  bool new_code_;
};

std::vector<uint64_t> stack_of(const RuleCase& test, Rule off, bool new_code) {
  Stacks stacks(new_code);
  rule_off = off;
  test.measure();
  rule_off = Rule::Count;
  return stacks.clocks;
}

// The components that differ in this case without the rule.
Components moved(const RuleCase& test, bool new_code) {
  const auto on = stack_of(test, Rule::Count, new_code), off = stack_of(test, test.rule, new_code);
  Components moved;
  for (uint32_t event = 0; event < kEventCount; event++) {
    if (on[event] != off[event]) moved.insert(Event(event));
  }
  return moved;
}

std::string names(const Components& components) {
  std::string text;
  for (const Event event : components) text += std::string(event_name(event)) + " ";
  return text;
}

// Executes the random program with page tables. Linear addresses are equal to physical addresses.
std::unique_ptr<Bench> exercised(bool explained) {
  auto bench = std::make_unique<Bench>();
  for (uint32_t cr3 = 0; cr3 < 3; cr3++) bench->memory[cr3 << 12] = 0x100001;
  for (uint32_t page = 0; page < 1024; page++) {
    bench->memory[0x100000 + 4 * page] = page << 12 | 1;
  }
  if (explained) bench->model.explain_clocks();
  bench->change([](State& state) { state.paging = true; });
  exercise(*bench);
  return bench;
}

}  // namespace

TEST_CASE("CPI stack without a rule: the table has each rule once") {
  CHECK(std::size(kMoves) == size_t(Rule::Count));
  for (size_t i = 0; i < std::size(kMoves); i++) {
    INFO(rule_name(kMoves[i].rule));
    CHECK(kMoves[i].rule == Rule(i));
    CHECK(kMoves[i].components.empty() == (*kMoves[i].why != 0));
  }
}

TEST_CASE("CPI stack without a rule: only the components of the table move") {
  for (const Moves& row : kMoves) {
    INFO(rule_name(row.rule));
    Components all;
    for (const RuleCase& test : rule_cases()) {
      if (test.rule != row.rule) continue;
      INFO(test.what);
      const Components these = moved(test, row.new_code);
      for (const Event component : these) {
        INFO(std::string(event_name(component)));
        CHECK(row.components.count(component) == 1);
      }
      if (test.applies) all.insert(these.begin(), these.end());
    }
    CHECK(names(all) == names(row.components));
  }
}

TEST_CASE("CPI stack without a rule: a whole random program") {
  const auto whole = exercised(true);
  size_t moving = 0;
  for (const Moves& row : kMoves) {
    INFO(rule_name(row.rule));
    rule_off = row.rule;
    const auto plain = exercised(false), explained = exercised(true);
    check_sum(*explained);
    CHECK(explained->model.clock() == plain->model.clock());
    CHECK(explained->count(CyclesBusy) > 1000);
    rule_off = Rule::Count;
    const Components allowed = may_move(row);
    moving += explained->count(CyclesBusy) != whole->count(CyclesBusy);
    for (uint32_t event = CpiPairs; event <= CpiPageTables; event++) {
      INFO(std::string(event_name(event)));
      if (!allowed.count(Event(event)))
        CHECK(explained->count(Event(event)) == whole->count(Event(event)));
    }
  }
  CHECK(moving > 60);  // the program uses most rules
}
