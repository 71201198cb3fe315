// SPDX-License-Identifier: MIT
// Implements the interface of chip.hh with the classes of engine/p5. Compiled twice (names.hh).
#include <string>
#include <unordered_map>

#include "base/events.hh"
#include "base/settings.hh"
#include "chip.hh"
#include "p5/classes.hh"
#include "p5/config.hh"
#include "p5/decode.hh"
#include "p5/pentium.hh"
#include "p5/timing.hh"

namespace p5lab {
namespace P5LAB_PROCESSOR {
namespace {

struct Record : Code {
  p5::Insn insn;
};

// The engine's names for what chip.hh names.
p5::MachineMode machine_mode(CodeMode mode) { return p5::MachineMode(mode); }
static_assert(int(p5::MachineMode::Long64) == int(CodeMode::Long64) &&
              int(p5::MachineMode::Prot16) == int(CodeMode::Prot16));

p5::DataKind data_kind(Access kind) {
  if (kind == Access::Read) return p5::DataKind::Read;
  return kind == Access::Write ? p5::DataKind::Write : p5::DataKind::ReadWrite;
}

// gem5's own instructions are 0F 04 and a number of 16 bits, which no processor decodes.
constexpr unsigned kPseudoBytes = 4;

// The effect of an instruction of the map 0F.
Effect two_byte_effect(uint8_t opcode, uint8_t modrm) {
  const unsigned reg = modrm >> 3 & 7;
  switch (opcode) {
    case 0x01:
      if (reg == 7 && modrm < 0xC0) return Effect::InvalidatePage;
      return reg == 6 ? Effect::ChangeMode : Effect::None;  // LMSW
    case 0x05:                                              // SYSCALL
    case 0x34:                                              // SYSENTER
      return Effect::Gate;
    case 0x07:  // SYSRET
    case 0x35:  // SYSEXIT
      return Effect::InterruptReturn;
    case 0x06:  // CLTS
    case 0x30:  // WRMSR
      return Effect::ChangeMode;
    case 0x08:
      return Effect::Invalidate;
    case 0x09:
      return Effect::WriteBack;
    case 0x22:
      if (reg == 3) return Effect::LoadCr3;
      return reg == 0 || reg == 4 ? Effect::ChangeMode : Effect::None;
    case 0x31:
      return Effect::TimeStamp;
    case 0xA2:
      return Effect::Marker;
    default:
      return Effect::None;
  }
}

Effect one_byte_effect(uint8_t opcode, uint8_t modrm) {
  const unsigned reg = modrm >> 3 & 7;
  switch (opcode) {
    case 0x9A:  // CALL far
    case 0xEA:  // JMP far
      return Effect::Gate;
    case 0xCA:
    case 0xCB:
      return Effect::FarReturn;
    case 0xCC:  // INT3
    case 0xCD:
      return Effect::SoftInterrupt;
    case 0xCF:
      return Effect::InterruptReturn;
    case 0xFF:
      return reg == 3 || reg == 5 ? Effect::Gate : Effect::None;
    default:
      return Effect::None;
  }
}

class Model final : public Chip, private p5::Platform {
 public:
  Model(const p5::Config& config, p5::TimingTable timing, const ChipOptions& options,
        Surroundings& around)
      : around_(around),
        config_(config),
        timing_(std::move(timing)),
        pentium_(config_, timing_, *this),
        clock_hz_(config.clock_hz()) {
    clock_ = pentium_.clock_address();
    if (options.cpi) pentium_.explain_clocks();
    for (uint32_t event = 0; event < p5::kEventCount; event++) {
      if (counts_event(event, options)) counted_.push_back(event);
    }
    for (const uint32_t event : counted_) {
      const auto& info = base::events::kEvents[event];
      events_.push_back({info.name, info.unit, info.name});
    }
  }

  const Code* decode(const uint8_t* bytes, unsigned length, CodeMode mode) override {
    std::string key(reinterpret_cast<const char*>(bytes), length);
    key += char(mode);
    const auto [found, is_new] = known_.try_emplace(std::move(key));
    if (is_new) fill(&found->second, bytes, length, mode);
    return &found->second;
  }

  void retire(const Code& code, uint64_t linear) override {
    pentium_.retire(static_cast<const Record&>(code).insn, p5::Linear(linear));
  }
  void skip(const Code& code, uint64_t linear) override {
    pentium_.skip(static_cast<const Record&>(code).insn, p5::Linear(linear));
  }
  void data(uint64_t linear, uint32_t physical, unsigned bytes, Access kind,
            bool first_piece) override {
    pentium_.data(p5::Linear(linear), physical, bytes, data_kind(kind), first_piece);
  }
  void branch(uint64_t linear, uint64_t target, bool taken, bool conditional) override {
    if (p5::kX86_64 && pentium_.flat()) return pentium_.branch(taken);
    pentium_.branch(p5::Linear(linear), p5::Linear(target), taken, conditional);
  }
  void repeat() override { pentium_.repeat(); }
  void port(uint16_t port, bool write, unsigned bytes) override {
    pentium_.port(port, write, bytes);
  }
  void soft_interrupt(uint8_t vector) override { pentium_.soft_interrupt(vector); }
  void hard_interrupt(uint8_t vector, uint64_t resume) override {
    pentium_.hard_interrupt(vector, p5::Linear(resume));
  }
  void exception(uint8_t vector, bool fault, uint64_t resume) override {
    pentium_.exception(vector, fault, p5::Linear(resume));
  }
  void page_fault(uint64_t linear, bool code, bool present) override {
    pentium_.page_fault(p5::Linear(linear), code, present);
  }
  void far_transfer(Effect how) override {
    pentium_.far_transfer(how == Effect::InterruptReturn ? p5::Crossing::Iret
                          : how == Effect::FarReturn     ? p5::Crossing::Far
                                                         : p5::Crossing::Gate);
  }

  void set_state(const ChipState& state) override {
    p5::State now;
    now.cr3 = p5::Space(state.cr3);
    now.ring = state.ring;
    now.mode = machine_mode(state.mode);
    now.paging = state.paging;
    now.large_pages = state.large_pages;
    now.global_pages = state.global_pages;
    now.caching = state.caching;
    now.user_io = state.user_io;
    pentium_.set_state(now);
  }
  void serialize() override { pentium_.serialize(); }
  void load_cr3(uint64_t value) override { pentium_.load_cr3(p5::Space(value)); }
  void invalidate_page(uint64_t linear) override { pentium_.invalidate_page(p5::Linear(linear)); }
  void flush_caches(bool write_back) override { pentium_.flush_caches(write_back); }
  void table_update(uint32_t physical) override { pentium_.page_table_update(physical); }
  void bus_master(uint32_t physical, unsigned bytes, bool write) override {
    pentium_.bus_master(physical, bytes, write);
  }
  void idle(uint64_t clocks) override { pentium_.idle(clocks); }

  uint64_t clock_hz() const override { return clock_hz_; }
  const std::vector<Counted>& events() const override { return events_; }
  std::vector<uint64_t> counts(unsigned ring) override {
    const p5::Counters& counters = pentium_.counters();
    std::vector<uint64_t> found;
    for (const uint32_t event : counted_) {
      found.push_back(counters.total(p5::Event(event), 1u << ring));
    }
    return found;
  }

 private:
  p5::PageEntry read_physical(uint32_t address) override {
    return p5::PageEntry(around_.page_table_entry(address));
  }
  uint32_t code_physical(p5::Linear linear) override { return around_.code_physical(linear); }
  uint16_t x87_control() override { return around_.x87_control(); }

  static bool counts_event(uint32_t event, const ChipOptions& options) {
    const auto& info = base::events::kEvents[event];
    if (info.part != base::events::Part::P5) return false;
    if ((info.asked && !options.cpi) || (info.newer && !options.cmov)) return false;
    return p5::kX86_64 ? info.x86_64 || (options.clocks && info.nominal) : info.pentium;
  }

  void fill(Record* record, const uint8_t* bytes, unsigned length, CodeMode mode) {
    p5::Insn& insn = record->insn;
    if (length == kPseudoBytes && bytes[0] == 0x0F && bytes[1] == 0x04) {
      insn.length = record->length = uint8_t(length);
      record->effect = Effect::Pseudo;
      return;
    }
    const bool decoded = mode == CodeMode::Long64
                             ? p5::decode64(bytes, length, timing_, &insn)
                             : p5::decode(bytes, length, mode == CodeMode::Prot32, timing_, &insn);
    if (!decoded || insn.length != length) {
      insn = p5::Insn();
      insn.flags = p5::kUncommon;
    }
    insn.length = uint8_t(length);
    if (config_.ideal.pairing) p5::pair_always(&insn);
    record->length = uint8_t(length);
    record->branch = insn.flags & p5::kBranch;
    record->conditional = insn.flags & p5::kConditional;
    record->repeated = insn.flags & p5::kRep;
    record->effect = insn.map == 1 ? two_byte_effect(insn.opcode, insn.modrm)
                                   : one_byte_effect(insn.opcode, insn.modrm);
    record->system = insn.flags & (p5::kFar | p5::kSystem | p5::kSerializing);
  }

  Surroundings& around_;
  const p5::Config config_;
  const p5::TimingTable timing_;
  p5::Pentium pentium_;
  const uint64_t clock_hz_;
  std::vector<uint32_t> counted_;
  std::vector<Counted> events_;
  std::unordered_map<std::string, Record> known_;  // by bytes and mode
};

}  // namespace

std::unique_ptr<Chip> make(const ChipOptions& options, Surroundings& around, std::string* error) {
  base::Settings settings;
  if (!settings.parse(options.machine, "machine", error)) return nullptr;
  p5::Config config = p5::Config::read(settings);
  if (!settings.finish().empty()) {  // also an unknown key
    *error = settings.error();
    return nullptr;
  }
  if (p5::kX86_64 && !options.clocks) config = config.without_clocks();
  if (!options.feedback) config = config.without_feedback();
  p5::TimingTable timing;
  if (config.flat)
    timing = p5::TimingTable::flat();
  else if (!timing.parse(options.timing_table, "timing.csv", error))
    return nullptr;
  return std::make_unique<Model>(config, std::move(timing), options, around);
}

}  // namespace P5LAB_PROCESSOR
}  // namespace p5lab
