// SPDX-License-Identifier: MIT
// Do shadows give the same counts as separate runs of each geometry? All models get the same random
// references. Every miss event must be equal in every ring and address space, with and without the
// filter.
#include "measure/shadow.hh"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "bench.hh"
#include "full_set.hh"
#include "trace.hh"

namespace {

using measure::Shadows;
using p5::Config;
using p5::DataKind;

// Page tables: every fourth region of 4 MB is a large page, every thirteenth page is absent, and
// some pages have PWT or PCD. The physical address of a page is its linear address modulo 32 MB.
class Tables : public p5::Platform {
 public:
  static constexpr uint32_t kTables = 0x01000000;

  uint32_t read_physical(uint32_t address) override {
    if (address < kTables) {  // a directory: CR3 is below
      const uint32_t area = address >> 2 & 0x3FF;
      if (area % 4 == 3) return 0x81;
      if (area % 29 == 5) return 0;
      return (kTables + (area << 12)) | 1;
    }
    const uint32_t page = address >> 2 & 0x3FF;
    return page % 13 == 0 ? 0 : page % 17 == 3 ? 1 | 8 : page % 19 == 4 ? 1 | 16 : 1;
  }
  uint32_t code_physical(uint32_t linear) override { return linear & 0x01FFFFFF; }
  uint16_t x87_control() override { return 0x37F; }
};

// A geometry with random values of all keys that a shadow may change. If `usual` is true, the
// geometry has at least two ways, LRU or pseudo-LRU, and write-back. For such a geometry the filter
// drops more references than for other geometries.
Config random_geometry(AddressStream& random, bool usual) {
  static const char* const policies[] = {"lru", "plru", "fifo", "random"};
  Config config = p90();
  const auto cache = [&](p5::CacheConfig* cache, uint32_t smallest) {
    cache->ways = usual ? 2u << random.below(3) : 1u << random.below(3);
    cache->size = std::max(smallest << random.below(4), cache->ways * cache->line);
    cache->policy = policies[random.below(usual ? 2 : 4)];
  };
  const auto tlb = [&](p5::TlbConfig* tlb, uint32_t smallest) {
    tlb->ways = usual ? 2u << random.below(3) : 1u << random.below(3);
    tlb->entries = std::max(smallest << random.below(4), tlb->ways);
    tlb->policy = policies[random.below(usual ? 2 : 4)];
  };
  cache(&config.l1i, 1024);
  cache(&config.l1d, 1024);
  config.l1d.write_back = usual || random.below(4);
  config.l1d.write_allocate = random.below(2);
  config.memory.l2_present = random.below(6);
  config.memory.l2.line = 32u << random.below(2);
  cache(&config.memory.l2, 8192);
  config.memory.l2.write_back = random.below(4);
  config.memory.l2.write_allocate = random.below(2);
  tlb(&config.itlb, 4);
  tlb(&config.dtlb, 8);
  tlb(&config.dtlb_large, 2);
  return config;
}

// Sends the same references to every model.
class Program {
 public:
  Program(uint32_t seed, p5::Pentium& model)
      : random_(seed, 8192, 32), code_(seed + 1, 8192, 16), model_(model) {
    state_.mode = p5::MachineMode::Prot32;
    state_.caching = state_.paging = state_.large_pages = true;
    state_.cr3 = 0x1000;
    model_.set_state(state_);
  }

  void step() {
    switch (random_.below(64)) {
      case 0:
        return enter(uint8_t(random_.below(2) * 3), state_.cr3);
      case 1:
        if (random_.below(8)) return;
        model_.load_cr3(0x1000 * (1 + random_.below(3)));
        return enter(state_.ring, 0x1000 * (1 + random_.below(3)));
      case 2:
        return random_.below(8) ? void() : model_.invalidate_page(linear());
      case 3:
        return random_.below(64) ? void() : model_.flush_caches(random_.below(2));
      case 4:
        return model_.page_table_update(physical(linear()));
      case 5:
        return model_.page_fault(linear(), random_.below(2), random_.below(2));
      case 6:
        if (random_.below(64)) return;
        state_.caching = random_.below(4);
        if (!state_.caching) model_.flush_caches(true);  // as the manual requires [INTEL-DM 3]
        return model_.set_state(state_);
      case 7:
        return model_.bus_master(physical(linear()), 4u << random_.below(5), random_.below(2));
      default:
        return instruction();
    }
  }

 private:
  uint32_t linear() { return random_.next() & 0x07FFFFFF; }
  static uint32_t physical(uint32_t linear) { return linear & 0x01FFFFFF; }

  void enter(uint8_t ring, uint32_t cr3) {
    state_.ring = ring;
    state_.cr3 = cr3;
    model_.set_state(state_);
  }

  void instruction() {
    static const p5::Insn plain = Bench::decode_text("90");
    static const p5::Insn locked = Bench::decode_text("f0 01 08");
    const p5::Insn& insn = random_.below(50) ? plain : locked;
    if (random_.below(4) == 0) at_ = code_.next() & 0x07FFFFFF;
    model_.retire(insn, at_);
    at_ += insn.length;
    const uint32_t address = linear(), bytes = 1u << random_.below(4);
    const auto kind = DataKind(random_.below(3));
    const uint32_t times = random_.below(8) ? 1 : 1 + random_.below(9);
    for (uint32_t i = 0; i < times; i++) {
      const uint32_t here = address + i * bytes, room = 0x1000 - (here & 0xFFF);
      if (room < bytes) {
        model_.data(here, physical(here), room, kind, true);
        model_.data(here + room, physical(here + room), bytes - room, kind);
      } else {
        model_.data(here, physical(here), bytes, kind);
      }
    }
  }

  AddressStream random_, code_;
  p5::Pentium& model_;
  p5::State state_;
  uint32_t at_ = 0x10000;
};

using Key = std::pair<uint32_t, uint8_t>;  // CR3 and ring
using Table = std::map<Key, std::map<p5::Event, uint64_t>>;

template <class Events, class Counts>
void collect(const p5::Bank& bank, const Events& events, const Counts& counts, Table* table) {
  for (const p5::Event event : events) {
    if (counts[event]) (*table)[{bank.cr3, bank.ring}][event] = counts[event];
  }
}

Table own(p5::Pentium& model) {
  Table table;
  for (const auto& bank : model.counters().banks()) {
    collect(*bank, p5::kMissEvents, bank->count, &table);
  }
  return table;
}

Table stream(p5::Pentium& model) {
  Table table;
  for (const auto& bank : model.counters().banks()) {
    collect(*bank, p5::kStreamEvents, bank->count, &table);
  }
  return table;
}

Table of(Shadows& shadows, size_t shadow) {
  Table table;
  for (size_t bank = 0; bank < shadows.banks().size(); bank++) {
    collect(*shadows.banks()[bank], p5::kMissEvents, shadows.counts(shadow, bank), &table);
  }
  return table;
}

struct Machine {
  Machine(const Config& config, uint32_t seed)
      : model(config, timing_table(), tables), program(seed, model) {}
  Tables tables;
  p5::Pentium model;
  Program program;
};

void compare(uint32_t seed, size_t geometries, bool usual, bool filter, int steps) {
  AddressStream random(seed, 4096, 32);
  Config own_config = p90();
  own_config.write_once = seed % 3 == 0;
  std::vector<Config> configs{own_config};
  while (configs.size() < geometries) {
    configs.push_back(random_geometry(random, usual));
    if (random.below(3) == 0) {  // another geometry with the same front
      configs.push_back(configs.back());
      configs.back().memory.l2 = random_geometry(random, true).memory.l2;
    }
  }
  for (Config& config : configs) config.write_once = own_config.write_once;
  Machine base(own_config, seed);
  Shadows shadows(configs, filter);
  base.model.observe(&shadows);
  Machine alone(own_config, seed);
  std::vector<std::unique_ptr<Machine>> separate;
  for (const Config& config : configs) {
    separate.push_back(std::make_unique<Machine>(config.without_feedback(), seed));
  }
  for (int i = 0; i < steps; i++) {
    base.program.step();
    alone.program.step();
    for (auto& machine : separate) machine->program.step();
  }
  CAPTURE(seed);
  CHECK(base.model.clock() == alone.model.clock());
  CHECK(own(base.model) == own(alone.model));
  CHECK(of(shadows, 0) == own(base.model));
  for (size_t i = 0; i < configs.size(); i++) {
    CAPTURE(i);
    CHECK(of(shadows, i) == own(separate[i]->model));
    CHECK(stream(base.model) == stream(separate[i]->model));
    CHECK(separate[i]->model.clock() == separate[0]->model.clock());
  }
}

}  // namespace

TEST_CASE("shadows have the same counts as separate runs of each geometry") {
  for (uint32_t seed = 1; seed <= random_cases(6, 12); seed++)
    compare(seed, 12, seed % 2, true, 40000);
}

TEST_CASE("the filter does not change any count") {
  for (uint32_t seed = 21; seed <= 24; seed++) compare(seed, 8, seed % 2, false, 20000);
}

TEST_CASE("without feedback caches, TLBs and the bus cost no clocks") {
  Bench bench(p90().without_feedback());
  for (int i = 0; i < 4; i++) bench.insn("f7 df");  // NEG EDI does not pair
  const uint64_t start = bench.model.clock();
  bench.load(0x200000);
  bench.store(0x300000);
  CHECK(bench.model.clock() - start == 2);
  CHECK(bench.count(p5::DataReadMisses) == 1);
  CHECK(bench.count(p5::DataWriteMisses) == 1);
  CHECK(bench.count(p5::CodeMisses) == 1);
  CHECK(bench.count(p5::DramReads) == 2);
  CHECK(bench.count(p5::StallRead) + bench.count(p5::StallWrite) + bench.count(p5::StallFetch) ==
        0);
}
