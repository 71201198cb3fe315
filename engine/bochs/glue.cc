// SPDX-License-Identifier: LGPL-2.1-or-later
// How do Bochs and the Pentium model work together? Hooks in Bochs call the model. The model
// supplies the time and the counter registers. The model is in p5/. session/ executes the markers.
#include "bochs/glue.hh"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "bochs.h"
#include "cpu/cpu.h"
#include "cpu/cpudb/amd/athlon64_clawhammer.h"
#include "cpu/cpudb/intel/pentium.h"
#include "memory/memory-bochs.h"
#include "observe/group.hh"
#include "p5/decode.hh"
#include "pc_system.h"
#include "x87/divider.hh"

const Bit64u* p5_clock;
Bit64u p5_ticked;

static_assert(p5::kX86_64 == bool(BX_SUPPORT_X86_64), "P5_X86_64 needs Bochs's --enable-x86-64");
static_assert(sizeof(p5::Insn) == 24,
              "the instruction object fills one cache line: 24 bytes and Bochs's own 40 bytes");

namespace {

using p5::Linear;

BX_CPU_C* cpu() { return BX_CPU(0); }

Linear code_linear(bx_address rip) {
#if BX_SUPPORT_X86_64
  if (cpu()->long64_mode()) return rip;  // no segment base
#endif
  return Bit32u(cpu()->sregs[BX_SEG_REG_CS].cache.u.segment.base + rip);
}

class BochsPlatform : public session::Emulator {
 public:
  p5::PageEntry read_physical(uint32_t address) override {
    p5::PageEntry entry = ~p5::PageEntry(0);
    const Bit8u* host = BX_MEM(0)->getHostMemAddr(cpu(), address, BX_READ);
    if (host) std::memcpy(&entry, host, sizeof entry);
    return entry;
  }

  // The fetch window of Bochs usually contains the page of the instruction pointer. After Bochs has
  // linked traces, the window can be out of date. The test of the window's bounds detects this
  // case.
  uint32_t code_physical(Linear linear) override {
    const bx_address biased = cpu()->get_instruction_pointer() + cpu()->eipPageBias;
    const bx_address at = biased + linear - code_linear(cpu()->get_instruction_pointer());
    if (biased < cpu()->eipPageWindowSize && at < cpu()->eipPageWindowSize) {
      return Bit32u(cpu()->pAddrFetchPage + at);
    }
    bx_phy_address physical = 0;
    cpu()->dbg_xlate_linear2phy(linear, &physical);
    return Bit32u(physical);
  }

  bool code(Linear linear, bool fetched, uint32_t* physical) override {
    bx_phy_address found = 0;
    if (fetched) {
      found = code_physical(linear);
    } else if (!cpu()->dbg_xlate_linear2phy(linear, &found)) {
      return false;
    }
    *physical = uint32_t(found);
    return true;
  }

  const uint8_t* page(uint32_t physical) override {
    return BX_MEM(0)->getHostMemAddr(cpu(), physical, BX_READ);
  }

  observe::Registers registers() override;

  uint16_t x87_control() override { return cpu()->the_i387.get_control_word(); }

  bool write_memory(uint32_t address, const uint8_t* bytes, size_t count) override;

  uint8_t* memory(uint32_t physical, bool write) override {
    const bx_phy_address address = A20ADDR(physical);
    // For a read beyond RAM, the emulator would return other bytes.
    if (address >= BX_MEM(0)->get_memory_len()) return nullptr;
    Bit8u* host = BX_MEM(0)->getHostMemAddr(cpu(), address, write ? BX_WRITE : BX_READ);
    if (host && write) pageWriteStampTable.decWriteStamp(address);
    return host;
  }

  bool stopped = false;  // the emulator has removed its devices

  session::Screen screen() override { return stopped ? session::Screen() : bochs::screen(); }
  session::Picture picture() override { return stopped ? session::Picture() : bochs::picture(); }

  session::Picture view() override { return stopped ? session::Picture() : bochs::view(); }

  bool key(const std::string& code, bool down) override { return bochs::key(code, down); }

  bool mouse(int right, int down, unsigned buttons) override {
    return bochs::mouse(right, down, buttons);
  }

  base::Time report() const override { return bochs::mouse_report(); }

  bool insert(unsigned drive, const std::string& path) override {
    return bochs::insert(drive, path);
  }

  bool save_disk(unsigned drive, std::FILE* file) override { return bochs::save_disk(drive, file); }

  void let_pass(uint64_t clocks) override;

  void end_at_panic() override { bochs::end_at_panic(); }
};

std::unique_ptr<session::Session> the_run;  // null: the emulator is starting

measure::Blocks* blocks;   // null: not requested
observe::Group observers;  // of engine/observe; empty before the guest is ready
measure::Issues* issues;   // null: not requested, or the guest is not ready yet
// The session wants to look at the run after this time, in core clocks.
Bit64u next_look;
session::Region* region;  // null: not requested, or the guest is not ready yet
bool branches_watched;    // blocks is not null, or an observer sees each instruction
bool each_watched;        // region or issues is not null, or there are observers

// Takes the observers that the run has now.
void take_observers() {
  session::Measurement& measurement = the_run->measurement();
  blocks = measurement.observers().blocks();
  observers = measurement.observers().started();
  issues = measurement.observers().issues();
  region = measurement.region();
  branches_watched = blocks || !observers.each().empty();
  each_watched = region || issues || !observers.all().empty();
}

void marker(BX_CPU_C* cpu, Bit32u operation, cpuid_function_t* leaf) {
  const session::MarkerCall call{operation,
                                 cpu->get_reg32(BX_32BIT_REG_EDX),
                                 cpu->get_reg32(BX_32BIT_REG_ESI),
                                 cpu->get_reg32(BX_32BIT_REG_EBX),
                                 cpu->real_mode(),
                                 bochs::place(BX_SEG_REG_DS, BX_32BIT_REG_ESI),
                                 bochs::place(BX_SEG_REG_ES, BX_32BIT_REG_EDI)};
  const session::MarkerResult result = the_run->marker(call);
  if (operation == session::kReady) {
    bochs::run_agendas();
    next_look = the_run->next_look();
  }
  take_observers();
  leaf->eax = result.eax;
  leaf->ebx = result.ebx;
  leaf->ecx = result.ecx;
  leaf->edx = result.edx;
}

#if BX_SUPPORT_X86_64

// One of the first x86-64 processors. The processor supports no extension of a later processor,
// except the CPUID leaf for markers.
class Processor : public athlon64_clawhammer_t {
 public:
  explicit Processor(BX_CPU_C* cpu) : athlon64_clawhammer_t(cpu) {}

  void get_cpuid_leaf(Bit32u function, Bit32u subfunction, cpuid_function_t* leaf) const override {
    if (function == session::kMarkerLeaf) return marker(cpu, subfunction, leaf);
    athlon64_clawhammer_t::get_cpuid_leaf(function, subfunction, leaf);
  }
};

#else

// The machine check registers: P5_MC_ADDR is register 0, and P5_MC_TYPE is register 1 [INTEL-DM].
constexpr Bit32u kMachineCheckType = 1;

// The processor's identity, its counter registers and the CPUID leaf for markers.
class Processor : public pentium_t {
 public:
  explicit Processor(BX_CPU_C* cpu) : pentium_t(cpu) {}

  void get_cpuid_leaf(Bit32u function, Bit32u subfunction, cpuid_function_t* leaf) const override {
    if (function == session::kMarkerLeaf) return marker(cpu, subfunction, leaf);
    leaf->eax = leaf->ebx = leaf->ecx = leaf->edx = 0;
    if (function == 0) {
      get_leaf_0(0x1, "GenuineIntel", leaf);
    } else if (function == 1) {
      leaf->eax = the_run->conf().config().signature;
      leaf->edx = the_run->conf().config().cpuid_features();
    }
  }

  int rdmsr(Bit32u index, Bit64u* value) override {
    if (index <= kMachineCheckType) {  // no machine check has occurred
      *value = 0;
      return 1;
    }
    uint64_t result = 0;
    if (!the_run->counter_registers().read(index, &result)) return -1;
    *value = result;
    return 1;
  }
  int wrmsr(Bit32u index, Bit64u value) override;
};

#endif

BochsPlatform platform;
// The storage is static, so that the hooks reach the model's fields without a pointer.
union ModelStorage {
  ModelStorage() {}
  ~ModelStorage() {}
  p5::Pentium pentium;
} storage;
p5::Pentium& model = storage.pentium;
bool state_stale = true;  // ring, mode or address space may have changed
bool delivery_known;      // p5_interrupt() belongs to an exception or hardware interrupt
bool breakpoints_stale;   // DR0 to DR3 or DR7 may have changed
Linear last_linear;       // address of the last instruction that began
bool cmov_allowed;
bool block_moves;  // repeated string instructions run in blocks
constexpr Bit32u kRepeatInterval = BX_MAX_TRACE_LENGTH - 1;  // as in Bochs's cpu.cc
constexpr unsigned kLinuxCall = 0x80;
bool watches_programs;      // of the session
observe::Entrance crossed;  // the last event that made the state stale
p5::ClassId last_class;     // class of the last instruction that began, with each_watched
Linear after_last;          // the address of the instruction after it

// Returns a general register. `number` is the register's number in the encoding of instructions.
bx_address general_register(unsigned number) {
#if BX_SUPPORT_X86_64
  return cpu()->get_reg64(number);
#else
  return cpu()->get_reg32(number);
#endif
}

observe::Registers BochsPlatform::registers() {
  return {cpu()->get_instruction_pointer(),
          general_register(0),
          general_register(3),
          general_register(1),
          general_register(2),
          cpu()->cr2};
}

Linear stack_pointer() { return Linear(general_register(4)); }

// Returns the place at which the code continues if it executes no further instruction. `stack`: the
// value of the stack pointer.
observe::Position place(bx_address rip, bx_address stack) {
  const auto& segment = cpu()->sregs[BX_SEG_REG_SS].cache.u.segment;
#if BX_SUPPORT_X86_64
  if (cpu()->long64_mode()) return {code_linear(rip), stack};
#endif
  return {code_linear(rip), Linear(segment.base + (segment.d_b ? stack : stack & 0xFFFF))};
}

observe::Position here() { return place(cpu()->get_instruction_pointer(), general_register(4)); }

// Returns the base address of the thread-local data, by which the region knows its thread.
Linear thread_base() {
  const unsigned segment = p5::kX86_64 ? BX_SEG_REG_FS : BX_SEG_REG_GS;
  return Linear(cpu()->sregs[segment].cache.u.segment.base);
}

p5::MachineMode machine_mode() {
  if (!cpu()->cr0.get_PE()) return p5::MachineMode::Real;
  if (cpu()->v8086_mode()) return p5::MachineMode::V86;
#if BX_SUPPORT_X86_64
  if (cpu()->long64_mode()) return p5::MachineMode::Long64;
#endif
  return cpu()->sregs[BX_SEG_REG_CS].cache.u.segment.d_b ? p5::MachineMode::Prot32
                                                         : p5::MachineMode::Prot16;
}

// Returns the cause of the last change of state. For a system call of Linux the result also
// contains the number of the call.
observe::Entrance entrance() {
  const std::string_view kind = crossed.kind ? crossed.kind : "";
  const bool call = kind == "gate" || (kind == "int" && crossed.vector == 0x80);
  return {crossed.kind, crossed.vector, call ? general_register(0) : 0};
}

void refresh_state() {
  state_stale = false;
  if (breakpoints_stale) {
    breakpoints_stale = false;
    const auto& dr = cpu()->dr;
    model.set_breakpoints({Linear(dr[0]), Linear(dr[1]), Linear(dr[2]), Linear(dr[3])},
                          cpu()->dr7.get32());
  }
  p5::State state;
  state.cr3 = p5::Space(cpu()->cr3);
  state.mode = machine_mode();
  switch (state.mode) {
    case p5::MachineMode::Real:
      state.ring = 0;
      break;
    case p5::MachineMode::V86:
      state.ring = 3;
      break;
    default:
      state.ring = Bit8u(cpu()->sregs[BX_SEG_REG_CS].selector.rpl);
  }
  state.paging = cpu()->cr0.get_PG();
#if BX_SUPPORT_X86_64
  if (state.paging && !cpu()->long_mode()) {
    the_run->end().fail(
        "paging outside long mode: this engine models only the page tables of x86-64");
  }
  state.large_pages = true;
  state.global_pages = cpu()->cr4.get_PGE();
#else
  state.large_pages = cpu()->cr4.get_PSE();
#endif
  state.caching = !cpu()->cr0.get_CD() && !(model.tr12() & p5::kCacheInhibit);
  state.user_io = state.ring > cpu()->get_IOPL();
  if (blocks) blocks->leave();
  model.set_state(state);
  if (!observers.all().empty()) {
    const observe::Entrance how = entrance();
    const observe::Position at = here();
    observers.tell([&](observe::Observer& one) { one.arrive(how, at, stack_pointer()); });
  }
  crossed = {};
  if (blocks) blocks->enter(code_linear(cpu()->get_instruction_pointer()));
}

#if !BX_SUPPORT_X86_64
int Processor::wrmsr(Bit32u index, Bit64u value) {
  state_stale = true;  // TR12 may inhibit the caches
  return the_run->counter_registers().write(index, value) ? 1 : -1;
}
#endif

}  // namespace

void p5_initialize(void) {
  the_run = session::Session::of_files(&model, platform);
  the_run->begin();
  p5_clock = model.clock_address();
  next_look = the_run->next_look();
  watches_programs = the_run->watches_programs();
  const session::RunConfig& config = the_run->conf().config();
  cmov_allowed = config.cmov;
  block_moves = config.fast_paths;
  take_observers();
  cpu()->cpuid = new Processor(cpu());
  if (!p5::kX86_64) p5_flawed_divider = x87::divider_is_flawed(config.signature);
}

void bochs::hold() { model.hold(); }

void p5_exit(void) {
  platform.stopped = true;
  if (the_run) the_run->end().emulator_stopped();
}

void p5_reset(unsigned type) {
  (void)type;
  state_stale = true;
  if (!the_run) return;
  model.serialize();  // drops the fetched code
  the_run->guest_reset();
}

void p5_decoded(bxInstruction_c* i, const Bit8u* bytes, unsigned length, bool code32, bool code64) {
  const p5::TimingTable& timing = the_run->conf().timing();
  const bool decoded = code64 ? p5::decode64(bytes, length, timing, &i->p5)
                              : p5::decode(bytes, length, code32, timing, &i->p5);
  if (!decoded || i->p5.length != length) {
    session::decoder_differs(bytes, length, i->p5.length);
    i->p5 = p5::Insn();
    i->p5.length = Bit8u(length);
    i->p5.flags = p5::kUncommon;
  }
  if (the_run->conf().config().machine.ideal.pairing) p5::pair_always(&i->p5);
  for (observe::Observer* one : observers.each()) one->decoded(Bit32u(cpu()->pAddrFetchPage));
  if (p5::kX86_64) return;
  // Even if Bochs emulates an older processor, Bochs decodes some instructions of later processors.
  // These instructions must raise #UD.
  const Bit16u refused = cmov_allowed ? p5::kNotOnPentiumCmov : p5::kNotOnPentium;
  if (i->p5.flags & refused) i->execute1 = &BX_CPU_C::BxError;
}

// Region, issues and the observers of observers.each() see each instruction before its execution.
// They take the model off its fast path. The other observers need only far instructions, which
// never take the fast path.
static __attribute__((noinline)) void watch(const p5::Insn& insn, Linear linear) {
  const Linear stack = stack_pointer();
  observers.at(linear, stack);
  if (issues) issues->at(linear);
  if (region) the_run->cross_region(region->at(model.state(), linear, stack, thread_base()));
  if (insn.flags & p5::kFar) {
    const bx_address next = cpu()->get_instruction_pointer() + insn.length;
    const observe::Position after = place(next, general_register(4));
    const Bit32u eax = Bit32u(general_register(0));
    for (observe::Observer* one : observers.all()) one->before_far(after, eax);
  }
  last_class = insn.cls;
  after_last = Linear(linear + insn.length);
}

static bool is_marker(const p5::Insn& insn) {
  return insn.cls == p5::Class::Cpuid && cpu()->get_reg32(BX_32BIT_REG_EAX) == session::kMarkerLeaf;
}

static void change_breakpoints() {
  breakpoints_stale = state_stale = true;
  model.serialize();
}

// The model's fast path is off, and this function stands for p5_before_general(). It is separate,
// so each of the two saves only the registers that it needs.
static __attribute__((noinline)) void p5_before_instrumented(const p5::Insn& insn, Linear linear) {
  if (is_marker(insn)) return model.skip(insn, linear);
  last_linear = linear;
  if (__builtin_expect(insn.cls != p5::Class::MovToDr, 1))
    return model.retire_instrumented(insn, linear);
  model.retire_instrumented(insn, linear);
  change_breakpoints();
}

static __attribute__((noinline)) void p5_before_general(bxInstruction_c* i) {
  if (i->p5.length == 0) return;  // the end-of-trace filler
  if (state_stale) refresh_state();
  const Linear linear = code_linear(cpu()->get_instruction_pointer());
  if (__builtin_expect(each_watched, 0)) watch(i->p5, linear);
  if (__builtin_expect(model.instrumented(), 0)) {
    if (!model.warm_fast(i->p5, linear)) return p5_before_instrumented(i->p5, linear);
    last_linear = linear;
    return;
  }
  if (is_marker(i->p5)) return model.skip(i->p5, linear);
  last_linear = linear;
  model.retire_slow(i->p5, linear);
  if (i->p5.cls == p5::Class::MovToDr) change_breakpoints();
}

// The instruction is not on the fast path. Nearly always its code is in another line or still on
// its way.
static __attribute__((noinline)) void p5_before_slow(bxInstruction_c* i) {
  if (__builtin_expect(state_stale || i->p5.flags & p5::kUncommon || model.instrumented(), 0)) {
    return p5_before_general(i);
  }
  const Linear linear = code_linear(cpu()->get_instruction_pointer());
  last_linear = linear;
  model.retire_slow(i->p5, linear);
}

void p5_before(bxInstruction_c* i) {
  // After each event that sets state_stale, the model must fetch again. on_fast_path() therefore
  // returns false, and p5_before_general() refreshes the state.
  if (__builtin_expect(!model.on_fast_path(i->p5), 0)) return p5_before_slow(i);
  last_linear = model.next();
  model.retire_fast(i->p5);
}

static __attribute__((noinline)) void p5_branch_watched(bx_address rip, bx_address target,
                                                        bool taken, bool conditional) {
  model.branch(code_linear(rip), code_linear(target), taken, conditional);
  if (blocks) blocks->branch(code_linear(taken ? target : cpu()->get_instruction_pointer()));
  const bool next = code_linear(target) == after_last;
  for (observe::Observer* one : observers.each()) one->branch(last_class, stack_pointer(), next);
}

// Not inline: without nominal clocks, p5_branch() of an x86-64 processor needs no addresses.
static __attribute__((noinline)) void p5_branch_nominal(bx_address rip, bx_address target,
                                                        bool taken, bool conditional) {
  model.branch(code_linear(rip), code_linear(target), taken, conditional);
}

void p5_branch(bx_address rip, bx_address target, bool taken, bool conditional) {
  if (__builtin_expect(branches_watched, 0)) {
    return p5_branch_watched(rip, target, taken, conditional);
  }
  if (!p5::kX86_64)
    model.branch(code_linear(rip), code_linear(target), taken, conditional);
  else if (__builtin_expect(model.flat(), 1))
    model.branch(taken);
  else
    p5_branch_nominal(rip, target, taken, conditional);
}

void p5_repeat(void) { model.repeat(); }

namespace {

// A page that Bochs may access directly with the current rights. If `host` is null, direct access
// is impossible or not allowed.
struct Window {
  Bit8u* host = nullptr;
  Bit32u linear = 0, physical = 0, bytes = 0;  // up to the end of the page

  Window(unsigned segment, Bit32u offset, bool write) {
    const auto& seg = cpu()->sregs[segment];
    if (!(seg.cache.valid & (write ? SegAccessWOK4G : SegAccessROK4G))) return;
    linear = offset;
    const bx_TLB_entry* entry = cpu()->DTLB.get_entry_of(linear, 0);
    if (entry->lpf != (linear & ~0xFFFu)) return;
    physical = Bit32u(entry->ppf | (linear & 0xFFF));
    // If a page contains code that Bochs has decoded, Bochs must see each write to this page.
    if (write && pageWriteStampTable.getFineGranularityMapping(physical)) return;
    host = write ? cpu()->v2h_write_byte(linear, cpu()->user_pl)
                 : cpu()->v2h_read_byte(linear, cpu()->user_pl);
    bytes = 0x1000 - (linear & 0xFFF);
  }
};

template <class Word>
void transfer(Bit8u* to, const Bit8u* from, Bit32u words) {
  for (Bit32u i = 0; i < words; i++) {  // forward, even if the ranges overlap
    Word word;
    std::memcpy(&word, from, sizeof word);
    std::memcpy(to, &word, sizeof word);
    to += sizeof word;
    from += sizeof word;
  }
}

template <class Word>
void fill(Bit8u* to, Bit32u value, Bit32u words) {
  const Word word = Word(value);
  for (Bit32u i = 0; i < words; i++) std::memcpy(to + i * sizeof word, &word, sizeof word);
}

}  // namespace

bool p5_block(bxInstruction_c* i, unsigned bytes, bool moves) {
#if BX_SUPPORT_X86_64
  if (cpu()->long64_mode()) return false;  // segments have a different meaning in long mode
#endif
  const Bit32u left = cpu()->get_reg32(BX_32BIT_REG_ECX);
  if (left < 2 || cpu()->get_DF() || cpu()->async_event || !block_moves) return false;
  const Bit32u esi = cpu()->get_reg32(BX_32BIT_REG_ESI), edi = cpu()->get_reg32(BX_32BIT_REG_EDI);
  if ((edi | (moves ? esi : 0)) & (bytes - 1)) return false;
  const Window to(BX_SEG_REG_ES, edi, true);
  if (!to.host) return false;
  Bit32u count = std::min(left, to.bytes / bytes);
  p5::Block block{moves, 0, 0, to.linear, to.physical, bytes};
  const Bit8u* source = nullptr;
  if (moves) {
    const Window from(i->seg(), esi, false);
    if (!from.host) return false;
    source = from.host;
    block.from = from.linear;
    block.from_physical = from.physical;
    count = std::min(count, from.bytes / bytes);
  }
  if (count < 2) return false;
  // Single iterations report the time to Bochs at fixed intervals. A block of iterations reports
  // the time at the same intervals. The block ends before the iteration at which a timer is due,
  // and Bochs executes this iteration itself.
  p5::Pace pace{p5_ticked, p5_ticked + bx_pc_system.getNumCpuTicksLeftNextEvent(), kRepeatInterval};
  count = model.block(block, count, &pace);
  if (pace.reported != p5_ticked) {
    const Bit32u due = Bit32u(pace.reported - p5_ticked);
    p5_ticked = pace.reported;
    BX_TICKN(due);
  }
  if (moves) {
    if (bytes == 4)
      transfer<Bit32u>(to.host, source, count);
    else if (bytes == 2)
      transfer<Bit16u>(to.host, source, count);
    else
      transfer<Bit8u>(to.host, source, count);
    cpu()->set_reg32(BX_32BIT_REG_ESI, esi + count * bytes);
  } else {
    const Bit32u value = cpu()->get_reg32(BX_32BIT_REG_EAX);
    if (bytes == 4)
      fill<Bit32u>(to.host, value, count);
    else if (bytes == 2)
      fill<Bit16u>(to.host, value, count);
    else
      fill<Bit8u>(to.host, value, count);
  }
  cpu()->set_reg32(BX_32BIT_REG_EDI, edi + count * bytes);
  cpu()->set_reg32(BX_32BIT_REG_ECX, left - (count - 1));
  return true;
}

namespace {

// An access over a page boundary has two halves, and the first half ends at the boundary. Only
// Bochs's record address_xlation shows whether this access is a first half.
__attribute__((noinline)) void data_at_page_end(Linear linear, Bit32u physical, unsigned length,
                                                p5::DataKind kind) {
  const auto& split = cpu()->address_xlation;
  const bool first_piece = split.pages == 2 && split.len1 == length && split.paddress1 == physical;
  model.data(linear, physical, length, kind, first_piece);
}

inline void data(Linear linear, Bit32u physical, unsigned length, p5::DataKind kind) {
  if (__builtin_expect(((linear + length) & 0xFFF) == 0, 0)) {
    return data_at_page_end(linear, physical, length, kind);
  }
  model.data(linear, physical, length, kind);
}

}  // namespace

void p5_read(bx_address linear, Bit32u physical, unsigned length) {
  data(linear, physical, length, p5::DataKind::Read);
}
void p5_write(bx_address linear, Bit32u physical, unsigned length) {
  data(linear, physical, length, p5::DataKind::Write);
}
void p5_read_write(bx_address linear, Bit32u physical, unsigned length) {
  data(linear, physical, length, p5::DataKind::ReadWrite);
}

// Bochs writes page-table entries only to set accessed and dirty bits.
void p5_physical(Bit32u physical, unsigned rw) {
  if (rw == BX_WRITE) model.page_table_update(physical);
}

static void far_transfer(p5::Crossing how, const char* kind) {
  crossed = {kind, -1};
  model.far_transfer(how);
}

// Reports to the observers which kind of far transfer has taken place.
static __attribute__((noinline)) void watch_far(unsigned what) {
  const bool gate = what == BX_INSTR_IS_SYSCALL || what == BX_INSTR_IS_SYSENTER;
  if (gate)
    observers.tell([](observe::Observer& one) { one.gate(); });
  else if (what != BX_INSTR_IS_INT)
    observers.tell([](observe::Observer& one) { one.moved(); });
}

void p5_far_branch(unsigned what) {
  state_stale = true;
  if (__builtin_expect(!observers.all().empty(), 0)) watch_far(what);
  switch (what) {
    case BX_INSTR_IS_RET:
      far_transfer(p5::Crossing::Far, "far");
      break;
    case BX_INSTR_IS_SYSRET:
    case BX_INSTR_IS_SYSEXIT:
    case BX_INSTR_IS_IRET:
      far_transfer(p5::Crossing::Iret, "iret");
      break;
    case BX_INSTR_IS_INT:
      break;  // p5_interrupt() has reported this interrupt
    default:
      far_transfer(p5::Crossing::Gate, "gate");
      break;  // also SYSCALL and SYSENTER
  }
}

void p5_call_gate(unsigned parameters) {
  model.call_gate(parameters);
  const bool call = last_class == p5::Class::CallFar || last_class == p5::Class::CallFarMem;
  if (call) observers.tell([](observe::Observer& one) { one.gate(); });
}

void p5_task_switch(bool wide, bool v86) {
  model.task_switch(v86 ? p5::Task::V86 : wide ? p5::Task::Tss32 : p5::Task::Tss16);
}

void p5_lock(bool on) { model.lock(on); }

// Whether the signal of kill(), tkill() or tgkill() ends a program, so that its stack tells where.
static bool sends_signal() {
  const bx_address call = general_register(0);
  return call == 37 || call == 238 || call == 270;
}

// A program of ring 3 enters the kernel. `at`: the address of its instruction.
static void program_enters(unsigned vector, unsigned error, bx_address at, bool with_stack) {
  if (!watches_programs || cpu()->sregs[BX_SEG_REG_CS].selector.rpl != 3) return;
  session::KernelEntry entry;
  entry.vector = int(vector);
  entry.error = error;
  entry.at = code_linear(at);
  entry.cr2 = Linear(cpu()->cr2);
  entry.cr3 = p5::Space(cpu()->cr3);
  for (unsigned i = 0; i < 8; i++) entry.registers[i] = general_register(i);
  the_run->program().entered(std::move(entry), with_stack);
}

// Reports the delivery of an interrupt or exception to the observers. `back`: where the code
// continues after a return.
static void report(p5::Entry entry, unsigned vector, observe::Position back) {
  observers.tell([&](observe::Observer& one) { one.delivered(entry, Bit8u(vector), back); });
}

void p5_interrupt(unsigned vector) {
  state_stale = true;
  if (!delivery_known) {
    if (vector == kLinuxCall) program_enters(vector, 0, cpu()->prev_rip, sends_signal());
    crossed = {"int", int(vector)};
    report(p5::Entry::Soft, vector, {0, 0});
    model.soft_interrupt(Bit8u(vector));
  }
  delivery_known = false;
}

// The bytes of all registers that a program of ring 3 can read or use.
static std::string registers() {
  std::string bytes;
  const auto add = [&bytes](const auto& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (unsigned i = 0; i < 8; i++) add(general_register(i));
  add(cpu()->get_instruction_pointer());
  add(cpu()->read_eflags());
  for (const auto& segment : cpu()->sregs) {
    add(segment.selector.value);
    add(segment.cache.u.segment.base);
  }
  add(cpu()->cr0.get32());  // TS: the x87 has the registers of another program
  add(cpu()->the_i387);
  return bytes;
}

void p5_hwinterrupt(unsigned vector) {
  if (state_stale) refresh_state();
  if (watches_programs && model.state().ring == 3) {
    const auto cr3 = p5::Space(cpu()->cr3);
    the_run->program_seen(code_linear(cpu()->get_instruction_pointer()), cr3, registers);
  }
  crossed = {"interrupt", int(vector)};
  report(p5::Entry::Irq, vector, here());
  model.hard_interrupt(Bit8u(vector), code_linear(cpu()->get_instruction_pointer()));
  delivery_known = true;
  state_stale = true;
}

// CMPXCHG8B with LOCK and a register, F0 0F C7 C8 to CF. Other prefixes can come before it.
static bool is_locked_cmpxchg8b(Linear at) {
  uint8_t code[15];
  unsigned length = 0;
  uint32_t physical = 0;
  while (length < sizeof code && platform.code(at + length, false, &physical)) {
    const uint8_t* page = platform.page(physical);
    if (!page) break;
    code[length++] = *page;
  }
  bool lock = false;
  unsigned i = 0;
  const std::string_view prefixes = "\x26\x2E\x36\x3E\x64\x65\x66\x67\xF0\xF2\xF3";
  for (; i < length && prefixes.find(char(code[i])) != prefixes.npos; i++) lock |= code[i] == 0xF0;
  return lock && i + 3 <= length && code[i] == 0x0F && code[i + 1] == 0xC7 && code[i + 2] >= 0xC8 &&
         code[i + 2] <= 0xCF;
}

// The processor reads the vector of #UD with a locked cycle and never unlocks the bus. If it may
// not write to the vector, it raises a page fault instead: so the systems work around the flaw
// (Intel, Pentium Processor Specification Update, erratum 81; Collins, The Pentium F00F Bug, Dr.
// Dobb's Journal, May 1998).
static void lock_bus(Linear at) {
  const Linear vector = cpu()->idtr.base + BX_UD_EXCEPTION * (cpu()->real_mode() ? 4 : 8);
  if (cpu()->cr0.get_PG())
    cpu()->translate_linear(cpu()->DTLB.get_entry_of(vector, 0), vector, 0, BX_RW);
  the_run->guest_locked(at);
}

void p5_exception(unsigned vector, unsigned error_code) {
  if (state_stale) refresh_state();
  const Linear at = code_linear(cpu()->prev_rip);
  // Programs probe processors with invalid opcodes, and monitors of the time use them as calls.
  if (vector == BX_UD_EXCEPTION) {
    the_run->invalid_opcodes().add(at);
    if (!p5::kX86_64 && is_locked_cmpxchg8b(at)) lock_bus(at);
  }
  if (vector == BX_PF_EXCEPTION) {
    const Linear address = cpu()->cr2;
    model.page_fault(address, address == at && last_linear != at, error_code & 1);
  }
  if (vector != BX_NM_EXCEPTION) program_enters(vector, error_code, cpu()->prev_rip, true);
  const bool trap =
      vector == BX_DB_EXCEPTION || vector == BX_BP_EXCEPTION || vector == BX_OF_EXCEPTION;
  crossed = {"exception", int(vector)};
  const bx_address stack = cpu()->speculative_rsp ? cpu()->prev_rsp : general_register(4);
  const bx_address next = trap ? cpu()->get_instruction_pointer() : cpu()->prev_rip;
  report(p5::Entry::Fault, vector, place(next, stack));
  model.exception(Bit8u(vector), !trap && last_linear == at, at);
  delivery_known = true;
  state_stale = true;
}

void p5_tlb_control(unsigned what, bx_address value) {
  switch (what) {
    case BX_INSTR_MOV_CR3:
    case BX_INSTR_TASK_SWITCH:
      crossed = {"cr3", -1};
      model.load_cr3(value);
      break;
    case BX_INSTR_INVLPG:
      model.invalidate_page(value);
      break;
    default:
      model.serialize();
      break;  // CR0, CR4: the Pentium does not flush its TLBs
  }
  state_stale = true;
}

void p5_cache_control(unsigned what) { model.flush_caches(what == BX_INSTR_WBINVD); }

void p5_port(Bit16u port, unsigned bytes, bool write) {
  model.port(port, write, bytes);
  p5_tick();  // the device must see the time of this access
}

void p5_bus_master(Bit32u physical, unsigned bytes, bool write) {
  if (state_stale) refresh_state();
  model.bus_master(physical, bytes, write);
}

void p5_tick(void) {
  const Bit64u now = *p5_clock;
  const Bit32u due = Bit32u(now - p5_ticked);
  p5_ticked = now;
  BX_TICKN(due);
  if (now > next_look) next_look = the_run->look(now);
}

static void stand_still(Bit64u clocks) {
  model.idle(clocks);
  if (blocks) blocks->idle(clocks);
  p5_tick();
}

void p5_idle(void) {
  if (!cpu()->get_IF()) the_run->guest_halted();
  // The session looks at its own times, not at the next event of a device after them.
  const Bit64u now = *p5_clock;
  const Bit64u look = next_look < now ? 1 : next_look + 1 - now;
  stand_still(std::min<Bit64u>(look, bx_pc_system.getNumCpuTicksLeftNextEvent()));
}

void BochsPlatform::let_pass(uint64_t clocks) {
  p5_tick();
  while (clocks) {
    const Bit64u step = std::min<Bit64u>(clocks, bx_pc_system.getNumCpuTicksLeftNextEvent());
    stand_still(step);
    clocks -= step;
  }
}

Bit64u p5_read_tsc(Bit64s adjust) {
  if (cpu()->sregs[BX_SEG_REG_CS].selector.rpl == 3) the_run->program().disturbed();
  return the_run->counter_registers().time_stamp(adjust);
}

namespace bochs {

session::Session& run() { return *the_run; }

void count_event(p5::Event event, uint64_t number) {
  if (state_stale) refresh_state();
  model.count(event, number);
}

void wide_ports(uint16_t first, uint16_t last) { model.wide_ports(first, last); }

}  // namespace bochs

// Copies the boot ROM's files into memory. Returns false if an address is outside of DRAM, because
// no memory exists there.
bool BochsPlatform::write_memory(uint32_t address, const uint8_t* bytes, size_t count) {
  while (count) {
    const size_t chunk = std::min<size_t>(count, 0x1000 - (address & 0xFFF));
    Bit8u* host = memory(address, true);
    if (!host) return false;
    std::memcpy(host, bytes, chunk);
    address += uint32_t(chunk);
    bytes += chunk;
    count -= chunk;
  }
  return true;
}
