// SPDX-License-Identifier: MIT
// Does an ideal part take no time, and do all counts that do not depend on time stay?
#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

#include "bench.hh"
#include "exercise.hh"

using namespace p5;

namespace {

struct IdealPart {
  const char* name;
  std::function<void(Config&)> make;
  std::vector<Event> zero;  // the components of the CPI stack that must be 0
};

const std::vector<Event> kWaits = {CpiCodeL2, CpiCodeDram,   CpiCodeFill,    CpiItlb,
                                   CpiDataL2, CpiDataDram,   CpiDataFill,    CpiDtlb,
                                   CpiLocked, CpiPageTables, CpiWriteBuffers};

const std::vector<IdealPart> kParts = {
    {"L1I",
     [](Config& config) { config.ideal.code_lines = config.ideal.known_code = true; },
     {CpiCodeL2, CpiCodeDram, CpiCodeFill, CpiSingleNewCode}},
    {"L1D",
     [](Config& config) { config.ideal.data_lines = true; },
     {CpiDataL2, CpiDataDram, CpiDataFill}},
    {"L2", [](Config& config) { config.memory.ideal_l2 = true; }, {CpiCodeDram, CpiDataDram}},
    {"memory",
     [](Config& config) {
       Ideal& ideal = config.ideal;
       ideal.code_lines = ideal.data_lines = ideal.itlb = ideal.dtlb = true;
       config.memory.answer_at_once();
     },
     kWaits},
    {"ITLB", [](Config& config) { config.ideal.itlb = true; }, {CpiItlb}},
    {"DTLB", [](Config& config) { config.ideal.dtlb = true; }, {CpiDtlb}},
    {"BTB",
     [](Config& config) { config.mispredict_clocks = config.mispredict_v_clocks = 0; },
     {CpiBranches}},
    {"write buffers",
     [](Config& config) { config.memory.ideal_writes = true; },
     {CpiWriteBuffers, CpiWriteOrder}},
};

// A bench with page tables: linear addresses are equal to physical addresses.
class Paged : public Bench {
 public:
  explicit Paged(const Config& config) : Bench(config) {
    for (uint32_t cr3 = 0; cr3 < 3; cr3++) memory[cr3 << 12] = 0x100001;
    for (uint32_t page = 0; page < 1024; page++) memory[0x100000 + 4 * page] = page << 12 | 1;
    model.explain_clocks();
    change([](State& state) { state.paging = true; });
    exercise(*this);
  }
};

}  // namespace

TEST_CASE("ideal parts: no time, and the same misses") {
  Paged plain(p90());
  for (const IdealPart& part : kParts) {
    INFO(std::string(part.name));
    Config config = p90();
    part.make(config);
    Paged ideal(config);
    for (const Event component : part.zero) {
      INFO(std::string(event_name(component)));
      CHECK(plain.count(component) > 0);
      CHECK(ideal.count(component) == 0);
    }
    CHECK(ideal.count(CyclesBusy) < plain.count(CyclesBusy));
    for (uint32_t event = 0; event < kEventCount; event++) {
      if (kEvents[event].depends == Depends::Clocks) continue;
      INFO(std::string(event_name(event)));
      CHECK(ideal.count(Event(event)) == plain.count(Event(event)));
    }
  }
}

TEST_CASE("ideal parts: with all of them, no component of a part is left") {
  Config config = p90();
  for (const IdealPart& part : kParts) part.make(config);
  Paged ideal(config);
  for (const IdealPart& part : kParts) {
    for (const Event component : part.zero) CHECK(ideal.count(component) == 0);
  }
  uint64_t sum = 0;
  for (uint32_t event = CpiPairs; event <= CpiPageTables; event++) sum += ideal.count(Event(event));
  CHECK(sum == ideal.count(CyclesBusy));
}

TEST_CASE("ideal parts: a part does not occupy the bus") {
  const auto busy = [](const std::function<void(Config&)>& make,
                       const std::function<void(Bench&)>& code) {
    Config config = p90();
    make(config);
    Bench bench(config);
    bench.insn("90");
    return bench.grows(BusBusy, [&] { code(bench); });
  };
  const auto read = [](Bench& bench) { bench.read(0x300000); };
  const auto write = [](Bench& bench) { bench.write(0x300000); };
  const auto fetch = [](Bench& bench) {
    bench.ip = 0x40000;
    bench.insn("90");
  };
  const auto plain = [](Config&) {};
  CHECK(busy(plain, read) > 0);
  CHECK(busy(kParts[1].make, read) == 0);
  CHECK(busy(plain, write) > 0);
  CHECK(busy(kParts[7].make, write) == 0);
  CHECK(busy(plain, fetch) > 0);
  CHECK(busy(kParts[0].make, fetch) == 0);
}

TEST_CASE("ideal pairing: any two simple instructions pair") {
  const auto insn = [](Bench& bench, const char* hex) {
    Insn decoded = Bench::decode_text(hex);
    pair_always(&decoded);
    bench.model.retire(decoded, bench.ip);
    bench.ip += decoded.length;
  };
  Bench bench;
  bench.insn("90");
  const uint64_t pairs = bench.grows(InstructionsV, [&] {
    // NEG; a result that is read; a prefix in V; PUSH and POP
    for (const char* hex : {"f7 d8", "89 d8", "89 c1", "66 89 d8", "50", "5b"}) insn(bench, hex);
  });
  CHECK(pairs >= 2);  // the first line of code begins a new pair
  Insn system = Bench::decode_text("cd 80"), before = system;
  pair_always(&system);
  CHECK(system.as_u == before.as_u);
  CHECK(system.as_v == before.as_v);
}
