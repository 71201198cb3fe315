// SPDX-License-Identifier: MIT
// Does P5CPU (configs/gem5/extras) drive the same chip as the engine? A program goes to the
// interface that P5CPU uses, and to the model itself. Both must have the same clock and counts.
#ifdef P5_X86_64
#define P5LAB_PROCESSOR x86_64
#else
#define P5LAB_PROCESSOR pentium
#endif
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "configs/gem5/extras/chip/model.cc"
#include "machine_text.hh"
#include "table.hh"

namespace {

namespace chips = p5lab::P5LAB_PROCESSOR;
using p5lab::Access;
using p5lab::CodeMode;
using p5lab::Effect;

constexpr CodeMode kMode = p5::kX86_64 ? CodeMode::Long64 : CodeMode::Prot32;
constexpr uint64_t kEntry = 0x67;  // of a page table: page 0 for every address

struct Around : p5lab::Surroundings {
  uint64_t page_table_entry(uint32_t) override { return kEntry; }
  uint32_t code_physical(uint64_t linear) override { return uint32_t(linear); }
  uint16_t x87_control() override { return 0x37F; }
};

struct Platform : p5::Platform {
  p5::PageEntry read_physical(uint32_t) override { return kEntry; }
  uint32_t code_physical(p5::Linear linear) override { return uint32_t(linear); }
  uint16_t x87_control() override { return 0x37F; }
};

p5lab::ChipOptions options() {
  std::ifstream file("engine/p5/timing.csv");
  p5lab::ChipOptions found;
  found.machine = kMachine;
  found.timing_table = {std::istreambuf_iterator<char>(file), {}};
  found.cpi = true;
  return found;
}

p5::Config config() {
  base::Settings settings;
  std::string error;
  REQUIRE(settings.parse(kMachine, "machine", &error));
  const p5::Config found = p5::Config::read(settings);
  REQUIRE(settings.error() == "");
  return found;
}

// The chip, and the model that must agree with it.
struct Pair {
  Pair() : model(table, timing_table(), platform) {
    std::string error;
    chip = chips::make(options(), around, &error);
    REQUIRE_MESSAGE(chip, error);
    model.explain_clocks();
  }

  void state(uint8_t ring) {
    p5lab::ChipState of_chip;
    of_chip.cr3 = 0x5000;
    of_chip.ring = ring;
    of_chip.mode = kMode;
    of_chip.paging = true;
    chip->set_state(of_chip);
    p5::State now;
    now.cr3 = 0x5000;
    now.ring = ring;
    now.mode = p5::kX86_64 ? p5::MachineMode::Long64 : p5::MachineMode::Prot32;
    now.paging = now.caching = true;
    model.set_state(now);
  }

  // Executes an instruction at `linear`. `target`: where a near branch goes; 0: no branch, or not
  // taken.
  void execute(const std::vector<uint8_t>& bytes, uint64_t linear, uint64_t target = 0) {
    const p5lab::Code* code = chip->decode(bytes.data(), unsigned(bytes.size()), kMode);
    chip->retire(*code, linear);
    p5::Insn insn;
    const auto length = unsigned(bytes.size());
    REQUIRE((p5::kX86_64 ? p5::decode64(bytes.data(), length, timing_table(), &insn)
                         : p5::decode(bytes.data(), length, true, timing_table(), &insn)));
    model.retire(insn, p5::Linear(linear));
    CHECK(code->branch == bool(insn.flags & p5::kBranch));
    if (!code->branch) return;
    chip->branch(linear, target, target != 0, code->conditional);
    model.branch(p5::Linear(linear), p5::Linear(target), target != 0,
                 insn.flags & p5::kConditional);
  }

  void access(uint32_t address, unsigned bytes, bool write) {
    chip->data(address, address, bytes, write ? Access::Write : Access::Read, false);
    model.data(address, address, bytes, write ? p5::DataKind::Write : p5::DataKind::Read);
  }

  Around around;
  Platform platform;
  const p5::Config table = config();
  p5::Pentium model;
  std::unique_ptr<p5lab::Chip> chip;
};

Effect effect(const std::vector<uint8_t>& bytes) {
  static Pair pair;
  return pair.chip->decode(bytes.data(), unsigned(bytes.size()), kMode)->effect;
}

}  // namespace

TEST_CASE("P5CPU's chip: the clock and all counts of the model") {
  const std::vector<std::vector<uint8_t>> code = {{0x89, 0xD8},       {0x01, 0xC8}, {0x8B, 0x08},
                                                  {0x0F, 0xAF, 0xC3}, {0xD8, 0xC1}, {0x0F, 0xA2}};
  Pair pair;
  pair.state(3);
  std::mt19937 random(5);
  const auto below = [&](uint32_t limit) { return uint32_t(random()) % limit; };
  uint64_t at = 0x10000;
  for (int i = 0; i < 20'000; i++) {
    const auto& bytes = code[below(uint32_t(code.size()))];
    pair.execute(bytes, at);
    at += bytes.size();
    if (below(3) == 0) pair.access(below(0x20000), 1u << below(4), below(2));
    if (below(5) == 0) {
      const uint64_t target = below(3) ? 0x10000 + below(64) * 0x80 : 0;
      pair.execute({0x74, 0x10}, at, target);
      at = target ? target : at + 2;
    }
    if (below(500) == 0) pair.state(below(2) ? 3 : 0);
  }
  CHECK(pair.chip->clock() == pair.model.clock());
  const auto& events = pair.chip->events();
  for (unsigned ring : {0u, 3u}) {
    const std::vector<uint64_t> counts = pair.chip->counts(ring);
    const p5::Counters& counters = pair.model.counters();
    for (uint32_t event = 0; event < p5::kEventCount; event++) {
      for (size_t i = 0; i < events.size(); i++) {
        if (events[i].name != base::events::event_name(event)) continue;
        CHECK_MESSAGE(counts[i] == counters.total(p5::Event(event), 1u << ring), events[i].name);
      }
    }
  }
}

TEST_CASE("P5CPU's chip: what an instruction does beyond its accesses") {
  CHECK(effect({0x0F, 0xA2}) == Effect::Marker);
  CHECK(effect({0x0F, 0x31}) == Effect::TimeStamp);
  CHECK(effect({0xCD, 0x80}) == Effect::SoftInterrupt);
  CHECK(effect({0xCF}) == Effect::InterruptReturn);
  CHECK(effect({0xCB}) == Effect::FarReturn);
  CHECK(effect({0x0F, 0x22, 0xD8}) == Effect::LoadCr3);
  CHECK(effect({0x0F, 0x22, 0xC0}) == Effect::ChangeMode);
  CHECK(effect({0x0F, 0x01, 0x38}) == Effect::InvalidatePage);
  CHECK(effect({0x0F, 0x01, 0xF8}) == Effect::None);  // SWAPGS
  CHECK(effect({0x0F, 0x09}) == Effect::WriteBack);
  CHECK(effect({0x0F, 0x04, 0x5A, 0x00}) == Effect::Pseudo);
  CHECK(effect({0xFF, 0x28}) == Effect::Gate);
  CHECK(effect({0xFF, 0x20}) == Effect::None);
  CHECK(effect({0x66, 0x90}) == Effect::None);
  CHECK(effect({0x0F, 0x34}) == Effect::Gate);
}

TEST_CASE("P5CPU's chip: a wrong machine gives one line") {
  Around around;
  std::string error;
  p5lab::ChipOptions wrong = options();
  wrong.machine += "l1d.wings = 2\n";
  CHECK(!chips::make(wrong, around, &error));
  CHECK(error.find("l1d.wings") != error.npos);
  wrong.machine = "cpu.clock_mhz = 90\n";
  CHECK(!chips::make(wrong, around, &error));
  CHECK(error.find("missing") != error.npos);
}
