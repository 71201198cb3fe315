// SPDX-License-Identifier: MIT
// How do tests use the Pentium model? By default, the bench models the machine of p90(). A test
// gives the bench single instructions and accesses.
#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/settings.hh"
#include "machine_text.hh"
#include "p5/decode.hh"
#include "p5/pentium.hh"
#include "table.hh"

// The machine of machine_text.hh.
inline p5::Config p90() {
  static const p5::Config config = [] {
    base::Settings settings;
    std::string error;
    settings.parse(kMachine, "machine_text.hh", &error);
    return p5::Config::read(settings);
  }();
  return config;
}

class Bench;

// Sees each bench that a test makes and drops, for example in the cases of another file
// (rule_cases.hh). Only one watch may exist at a time.
class BenchWatch {
 public:
  BenchWatch() { current = this; }
  virtual ~BenchWatch() { current = nullptr; }
  virtual p5::Config machine(const p5::Config& described) = 0;  // the machine of a new bench
  virtual void begins(Bench& bench) = 0;
  virtual void ends(Bench& bench) = 0;

  inline static BenchWatch* current = nullptr;
};

class Bench : public p5::Platform {
 public:
  explicit Bench(const p5::Config& config = p90())
      : model(BenchWatch::current ? BenchWatch::current->machine(config) : config, timing_table(),
              *this) {
    if (BenchWatch::current) BenchWatch::current->begins(*this);
    state.mode = p5::MachineMode::Prot32;
    state.caching = true;
    model.set_state(state);
  }
  ~Bench() override {
    if (BenchWatch::current) BenchWatch::current->ends(*this);
  }

  // Implements p5::Platform. If the test sets no other values, memory contains zeros, and the
  // linear addresses of code are equal to the physical addresses.
  p5::PageEntry read_physical(uint32_t address) override { return memory[address]; }
  uint32_t code_physical(p5::Linear linear) override {
    const auto page = code_pages.find(uint32_t(linear >> 12));
    if (page == code_pages.end()) return uint32_t(linear);
    return page->second << 12 | uint32_t(linear & 0xFFF);
  }

  uint16_t x87_control() override { return x87_control_word; }

  void change(const std::function<void(p5::State&)>& edit) {
    edit(state);
    model.set_state(state);
  }

  // Executes one instruction at the instruction pointer.
  p5::Insn insn(const std::string& hex) {
    const p5::Insn decoded = decode_text(hex, state.mode == p5::MachineMode::Long64);
    model.retire(decoded, ip);
    ip += decoded.length;
    return decoded;
  }
  void read(uint32_t address, uint32_t bytes = 4) {
    model.data(address, address, bytes, p5::DataKind::Read);
  }
  void write(uint32_t address, uint32_t bytes = 4) {
    model.data(address, address, bytes, p5::DataKind::Write);
  }
  void load(uint32_t address) {  // mov ecx,[eax]
    insn("8b 08");
    read(address);
  }
  void store(uint32_t address) {  // mov [eax],ecx
    insn("89 08");
    write(address);
  }

  // Returns the clocks of `code` if `code` and its data are in the caches, and if earlier code has
  // no effect.
  uint64_t warm(const std::function<void()>& code) {
    uint64_t clocks = 0;
    for (int pass = 0; pass < 3; pass++) {
      ip = kCode;
      before_pass();
      for (int i = 0; i < 3; i++) insn("90");
      insn("f7 df");  // NEG EDI does not pair
      const uint64_t start = model.clock();
      code();
      clocks = model.clock() - start;
    }
    return clocks;
  }
  // Returns these clocks for a list of instructions without memory accesses.
  uint64_t warm(const std::vector<std::string>& code) {
    return warm([&] {
      for (const auto& hex : code) insn(hex);
    });
  }

  uint64_t count(p5::Event event, uint32_t rings = 0xF) {
    return model.counters().total(event, rings);
  }
  // Returns the growth of an event while `code` runs.
  uint64_t grows(p5::Event event, const std::function<void()>& code) {
    const uint64_t before = count(event);
    code();
    return count(event) - before;
  }

  static p5::Insn decode_text(const std::string& hex, bool code64 = false) {
    uint8_t bytes[16] = {};
    unsigned size = 0;
    for (size_t at = 0; at < hex.size(); at += 3) {
      bytes[size++] = uint8_t(std::stoul(hex.substr(at, 2), nullptr, 16));
    }
    p5::Insn decoded;
    INFO(hex);
    REQUIRE((code64 ? p5::decode64(bytes, size, timing_table(), &decoded)
                    : p5::decode(bytes, size, true, timing_table(), &decoded)));
    return decoded;
  }

  static constexpr uint32_t kCode = 0x10000;

  std::function<void()> before_pass = [] {};
  std::map<uint32_t, uint32_t> memory;
  std::map<uint32_t, uint32_t> code_pages;  // linear page -> physical page
  p5::State state;
  uint16_t x87_control_word = 0x37F;  // 64 bits of precision, as FNINIT leaves it
  uint32_t ip = kCode;
  p5::Pentium model;
};
