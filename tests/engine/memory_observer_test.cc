// SPDX-License-Identifier: MIT
// Which calls does an observer of the chip receive? An observer must not change any count or clock.
#include "p5/memory_observer.hh"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "bench.hh"

using namespace p5;

namespace {

// Records the calls.
class Log : public MemoryObserver {
 public:
  void attach(const Shortcuts&) override { add("attach"); }
  void use(const Bank& bank) override { add("use " + std::to_string(bank.ring)); }
  void settle() override { add("settle"); }
  void read(uint32_t address, Fill) override { add("read", address); }
  void write(uint32_t address, Fill) override { add("write", address); }
  void code(uint32_t address, Fill) override { add("code", address); }
  void counted_write_hit() override { add("write hit"); }
  void locked(uint32_t address) override { add("locked", address); }
  void table_update(uint32_t address) override { add("table update", address); }
  void snoop(uint32_t address, bool write) override {
    add(write ? "snoop write" : "snoop read", address);
  }
  void uncached_read(Event) override { add("uncached read"); }
  void uncached_write() override { add("uncached write"); }
  bool knows_page(Linear) override { return false; }
  bool knows_code_page(Linear) override { return false; }
  void data_page(Linear linear, const PageWalk& walk) override {
    add("data page", linear);
    reads = walk.reads;
  }
  void code_page(Linear linear, const PageWalk&) override { add("code page", linear); }
  void page_fault(Linear linear, bool code, bool present, const PageWalk&) override {
    add(std::string(code ? "code" : "data") + (present ? " protection" : " absent"), linear);
  }
  void flush_tlbs() override { add("flush TLBs"); }
  void flush_page(Linear linear) override { add("flush page", linear); }
  void flush_caches(bool write_back) override { add(write_back ? "WBINVD" : "INVD"); }

  // Returns the calls since the last take().
  std::vector<std::string> take() { return std::exchange(calls_, {}); }

  int reads = 0;  // ... of the last walk

 private:
  void add(const std::string& call) { calls_.push_back(call); }
  void add(const std::string& call, uint64_t address) {
    calls_.push_back(call + " " + std::to_string(address));
  }
  std::vector<std::string> calls_;
};

using Calls = std::vector<std::string>;

struct Observed : Bench {
  Observed() {
    model.observe(&log);
    CHECK(log.take() == Calls{"attach", "use 0"});
  }
  Log log;
};

// Exercises all kinds of accesses, in the same way for each model.
void exercise(Bench& bench) {
  for (uint32_t i = 0; i < 300; i++) {
    bench.load(0x200000 + i * 52 % 0x4000);
    bench.store(0x200000 + i * 28 % 0x6000);
    bench.insn("f0 01 08");
    bench.read(0x300000 + i);
    bench.model.bus_master(0x200000 + i * 32, 64, i % 2);
  }
  bench.change([](State& state) { state.ring = 3; });
  bench.model.flush_caches(true);
  bench.load(0x200000);
}

}  // namespace

TEST_CASE("an observer sees each access without a shortcut once") {
  Observed bench;
  bench.insn("90");
  CHECK(bench.log.take() == Calls{"code " + std::to_string(Bench::kCode)});
  bench.insn("90");
  CHECK(bench.log.take() == Calls{});
  bench.read(4096);
  CHECK(bench.log.take() == Calls{"read 4096"});
  bench.model.idle(100);  // the line is complete
  bench.read(4100);
  CHECK(bench.log.take() == Calls{});
  bench.write(4096);
  CHECK(bench.log.take() == Calls{"write 4096", "write hit"});
  bench.write(4096);
  CHECK(bench.log.take() == Calls{});
  bench.write(8192 + 16);
  bench.write(8192 + 20);  // the same line missed again
  CHECK(bench.log.take() == Calls{"write 8208", "write 8192"});
}

TEST_CASE("an observer sees locked and uncached accesses, and those of other masters") {
  Observed bench;
  bench.insn("f0 01 08");
  bench.log.take();
  bench.model.data(4096, 4096, 4, DataKind::ReadWrite);
  CHECK(bench.log.take() == Calls{"locked 4096"});
  bench.model.lock(false);
  bench.read(0xA0000);
  bench.write(0xA0000);
  CHECK(bench.log.take() == Calls{"uncached read", "uncached write"});
  bench.model.bus_master(4096, 64, true);
  bench.model.bus_master(4096, 4, false);
  CHECK(bench.log.take() == Calls{"snoop write 4096", "snoop write 4128", "snoop read 4096"});
  bench.model.page_table_update(8192);
  bench.model.flush_caches(false);
  CHECK(bench.log.take() == Calls{"table update 8192", "INVD"});
}

TEST_CASE("an observer sees translations, faults and flushes") {
  Observed bench;
  bench.memory[0x1000] = 0x2001;      // directory -> table
  bench.memory[0x2000 + 4] = 0x1001;  // page 1
  bench.change([](State& state) {
    state.paging = true;
    state.cr3 = 0x1000;
  });
  CHECK(bench.log.take() == Calls{"use 0"});
  bench.read(0x1000);
  CHECK(bench.log.take() == Calls{"data page 4096", "read 4096"});
  CHECK(bench.log.reads == 2);
  bench.model.page_fault(0x2000, false, false);
  bench.model.page_fault(0x1000, true, true);
  CHECK(bench.log.take() == Calls{"data absent 8192", "code protection 4096"});
  bench.model.invalidate_page(0x1000);
  bench.model.load_cr3(0x1000);
  CHECK(bench.log.take() == Calls{"flush page 4096", "flush TLBs"});
  bench.change([](State& state) { state.ring = 3; });
  CHECK(bench.log.take() == Calls{"use 3"});
}

TEST_CASE("an observer changes no count and no clock, and can be removed") {
  Bench alone;
  exercise(alone);
  Observed observed;
  exercise(observed);
  CHECK(observed.model.clock() == alone.model.clock());
  for (unsigned event = 0; event < kEventCount; event++) {
    CAPTURE(event);
    CHECK(observed.count(Event(event)) == alone.count(Event(event)));
  }
  CHECK(observed.log.take().size() > 300);
  observed.model.observe(nullptr);
  exercise(observed);
  CHECK(observed.log.take() == Calls{});
}
