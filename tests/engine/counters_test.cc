// SPDX-License-Identifier: MIT
// Do the counter registers count every event code of the P54C, with the same errors as the chip?
#include <doctest/doctest.h>

#include <functional>

#include "bench.hh"

using namespace p5;

namespace {

// Returns the count of counter 0 for event `es`, in all rings, while `code` runs.
uint64_t counted(Bench& bench, uint32_t es, const std::function<void()>& code) {
  bench.model.msrs().write_cesr(es | 3 << 6);
  const uint64_t before = bench.model.msrs().read(0);
  code();
  return bench.model.msrs().read(0) - before;
}

Config exact() {
  Config config = p90();
  config.miscounts = false;
  return config;
}

// A page table with equal linear and physical addresses for the first 4 MB, except page 7.
void map(Bench& bench) {
  bench.memory[0x1000] = 0x2000 | 1;
  for (uint32_t page = 0; page < 1024; page++) {
    if (page != 7) bench.memory[0x2000 + 4 * page] = page << 12 | 1;
  }
  bench.change([](State& state) {
    state.paging = true;
    state.cr3 = 0x1000;
  });
}

}  // namespace

TEST_CASE("counters: the P54C has 38 event codes") {  // [INTEL-DM table 16-24]
  unsigned codes = 0;
  for (unsigned es = 0; es < 64; es++) {
    CAPTURE(es);
    const bool reserved = es > 0x29 || es == 0x10 || es == 0x11 || es == 0x20 || es == 0x21;
    CHECK(CounterMsrs::supported(es) == !reserved);
    codes += CounterMsrs::supported(es);
  }
  CHECK(codes == 38);
}

TEST_CASE("counters: snoops, floating-point operations and the bus") {
  Bench bench(exact());
  bench.load(0x2000);
  CHECK(counted(bench, 0x07, [&] { bench.model.bus_master(0x2000, 64, false); }) == 2);
  CHECK(counted(bench, 0x08, [&] { bench.model.bus_master(0x2000, 64, false); }) == 1);
  // The event counts FADD, FMUL, FDIV, FSQRT, MUL and IMUL. It does not count FLD, FXCH, FCHS and
  // ADD.
  CHECK(counted(bench, 0x22, [&] {
          for (const char* hex : {"d8 c1", "d8 c9", "d8 f1", "d9 fa", "f7 e1", "0f af c1", "d9 c0",
                                  "d9 c9", "d9 e0", "01 d8"}) {
            bench.insn(hex);
          }
        }) == 6);
  CHECK(counted(bench, 0x22, [&] { bench.insn("d9 fe"); }) > 1);  // FSIN: several
  // A line takes 19 bus clocks, which are 28.5 core clocks.
  bench.model.idle(1000);
  const uint64_t busy = counted(bench, 0x18, [&] { bench.load(0x100000); });
  CHECK(busy >= 28);
  CHECK(busy <= 29);
  CHECK(counted(bench, 0x18, [&] { bench.model.idle(1000); }) == 0);
}

TEST_CASE("counters: waits for write buffers and waits for older writes are two events") {
  Bench bench(exact());
  bench.load(0x2000);
  bench.store(0x2000);
  const auto quiet = [&] {
    bench.model.idle(1000);
    bench.ip = Bench::kCode;
    bench.insn("90");
  };
  quiet();
  const auto full = [&] {
    for (int i = 0; i < 3; i++) bench.store(0x300000 + 4096 * i);
  };
  const auto behind = [&] {
    bench.store(0x300000);
    bench.store(0x2000);
  };
  CHECK(counted(bench, 0x19, full) > 0);
  quiet();
  CHECK(counted(bench, 0x1B, full) == 0);
  quiet();
  CHECK(counted(bench, 0x1B, behind) > 0);
  quiet();
  CHECK(counted(bench, 0x19, behind) == 0);
}

TEST_CASE("counters: miscounts of misaligned accesses") {  // [INTEL-SU erratum 44; chen95]
  for (const bool wrong : {false, true}) {
    CAPTURE(wrong);
    Config config = p90();
    config.miscounts = wrong;
    Bench bench(config);
    bench.load(0x2000);
    const auto write = [&] { bench.store(0x2002); };
    CHECK(counted(bench, 0x01, write) == (wrong ? 1 : 2));
    CHECK(counted(bench, 0x28, write) == (wrong ? 1 : 2));
    const auto read = [&] { bench.load(0x2002); };
    CHECK(counted(bench, 0x00, read) == 2);
    CHECK(counted(bench, 0x1A, read) == (wrong ? 2 : 3));
    // Both parts lie in one line, so the fill has already begun when the second part needs the
    // line.
    CHECK(counted(bench, 0x03, [&] { bench.load(0x100002); }) == (wrong ? 2 : 1));
    CHECK(counted(bench, 0x29, [&] { bench.load(0x110002); }) == (wrong ? 2 : 1));
    // If the parts lie in two lines, both parts miss.
    CHECK(counted(bench, 0x03, [&] { bench.load(0x12001E); }) == 2);
    // FST [eax], and MOV.
    const auto store = [&](const char* hex) {
      return counted(bench, 0x0B, [&] {
        bench.insn(hex);
        bench.write(0x2002);
      });
    };
    CHECK(store("d9 10") == (wrong ? 2 : 1));
    CHECK(store("89 08") == 1);
  }
}

TEST_CASE("counters: miscounts of TLB misses, port reads and stalls") {  // [INTEL-SU erratum 44]
  for (const bool wrong : {false, true}) {
    CAPTURE(wrong);
    Config config = p90();
    config.miscounts = wrong;
    Bench bench(config);
    map(bench);
    bench.insn("90");
    CHECK(counted(bench, 0x02, [&] { bench.load(0x9000); }) == 1);
    CHECK(counted(bench, 0x02, [&] { bench.model.page_fault(0x7000, false, false); }) ==
          (wrong ? 2 : 1));
    CHECK(counted(bench, 0x0D, [&] { bench.model.page_fault(0x7000, true, false); }) ==
          (wrong ? 2 : 1));
    CHECK(counted(bench, 0x1E, [&] { bench.model.port(0x60, false); }) == (wrong ? 1 : 0));
    CHECK(counted(bench, 0x1E, [&] { bench.model.port(0x60, true); }) == 0);
    bench.load(0xA000);
    bench.store(0xA000);
    CHECK((counted(bench, 0x1B, [&] {
             bench.store(0x300000);
             bench.store(0xA000);
           }) > 0) == !wrong);
    // If a read misses the TLB and is misaligned, the event counts 3 clocks more than for an
    // aligned read.
    const uint64_t walk = counted(bench, 0x1A, [&] { bench.read(0xB000); });
    bench.read(0xB000);
    bench.model.load_cr3(0x1000);
    const uint64_t again = counted(bench, 0x1A, [&] { bench.read(0xB000); });
    bench.model.load_cr3(0x1000);
    CHECK(walk > again);
    CHECK(counted(bench, 0x1A, [&] { bench.read(0xB002); }) == again + 3);
  }
}

TEST_CASE("counters: accesses at the addresses in DR0 to DR3") {  // [INTEL-DM 16, 17]
  Bench bench;
  for (int i = 0; i < 20; i++) bench.insn("90");
  const auto matches = [&](const std::function<void()>& code) {
    uint64_t before[4];
    for (unsigned i = 0; i < 4; i++) before[i] = bench.count(Event(BreakpointMatch0 + i));
    code();
    std::string text;
    for (unsigned i = 0; i < 4; i++) {
      text += std::to_string(bench.count(Event(BreakpointMatch0 + i)) - before[i]);
    }
    return text;
  };
  const auto everything = [&] {
    bench.ip = Bench::kCode;
    bench.insn("f7 df");  // NEG EDI, alone
    bench.insn("8b 08");  // MOV ECX,[EAX]
    bench.read(0x2004);
    bench.insn("89 08");
    bench.write(0x2007, 1);
    bench.write(0x2008);
  };
  CHECK(matches(everything) == "0000");
  const uint64_t clocks = bench.warm(everything);
  // The four breakpoints are for code, for a write to 4 bytes, for any access to 4 bytes, and for a
  // write to 1 byte. No breakpoint is enabled.
  constexpr uint32_t kWhat = 0u << 16 | 0xDu << 20 | 0xFu << 24 | 0x1u << 28;
  bench.model.set_breakpoints({Bench::kCode, 0x2004, 0x2004, 0x2008}, kWhat);
  CHECK(matches(everything) == "1121");
  CHECK(bench.warm(everything) == clocks);  // breakpoints cost no clocks
  // The model compares the address of an instruction in V with the breakpoints only if breakpoints
  // are enabled.
  const auto pair = [&] {
    bench.ip = Bench::kCode;
    for (const char* hex : {"f7 df", "89 d8", "89 d9"}) bench.insn(hex);
  };
  bench.model.set_breakpoints({Bench::kCode + 4, 0, 0, 0}, 0);
  CHECK(matches(pair) == "0000");
  bench.model.set_breakpoints({Bench::kCode + 4, 0, 0, 0}, 1);
  CHECK(matches(pair) == "1000");
  bench.model.set_breakpoints({0, 0, 0, 0}, 0);
  CHECK(matches(everything) == "0000");
}
