// SPDX-License-Identifier: MIT
#include "pentium.hh"

#include <algorithm>
#include <utility>

namespace p5 {
namespace {

// Bits of a page-directory or page-table entry; PWT and PCD stand from kPageBits on.
constexpr uint32_t kPresent = 1, kPageBits = 3, kPageSize = 0x80, kGlobal = 0x100;
constexpr uint32_t kUncachedFetch = 8;  // INTEL-DM 16: an uncached code read brings 8 bytes
constexpr size_t kMaxInterruptedReps = 64;
constexpr unsigned kPrecisionBit = 8;  // of the x87's control word: 0 24 bits, 2 53, 3 64

Mode timing_mode(MachineMode mode) {
  if (mode == MachineMode::Real) return Mode::Real;
  return mode == MachineMode::V86 ? Mode::V86 : Mode::Prot;
}

// Event 22h: additions, multiplications, divisions, remainders and roots count once, integer
// multiplications as well; a transcendental function counts "several" [INTEL-DM 16].
constexpr uint32_t kTranscendental = 10;  // estimate: terms of its series
uint32_t flops(ClassId cls) {
  switch (cls) {
    case Class::Fadd:
    case Class::Fmul:
    case Class::Fdiv:
    case Class::Fiadd:
    case Class::Fidiv:
    case Class::Fprem:
    case Class::Fprem1:
    case Class::Fsqrt:
      return 1;
    case Class::Fsin:
    case Class::Fsincos:
    case Class::F2xm1:
    case Class::Fyl2x:
    case Class::Fyl2xp1:
    case Class::Fptan:
    case Class::Fpatan:
      return kTranscendental;
    default:
      return multiplies(cls);
  }
}

// The row of a division in the precision of the control word.
ClassId divide_class(ClassId cls, uint16_t control) {
  const unsigned precision = control >> kPrecisionBit & 3;
  if (precision == 0) return cls == Class::Fdiv ? Class::Fdiv24 : Class::Fidiv24;
  if (precision == 2) return cls == Class::Fdiv ? Class::Fdiv53 : Class::Fidiv53;
  return cls;
}

// The row of a transfer that switches tasks.
ClassId task_class(ClassId cls) {
  switch (cls) {
    case Class::JmpFar:
    case Class::JmpFarMem:
      return Class::JmpTask;
    case Class::CallFar:
    case Class::CallFarMem:
      return Class::CallTask;
    case Class::Iret:
    case Class::Iretd:
      return Class::IretTask;
    default:
      return Class::IntTask;
  }
}

Event mode_event(MachineMode mode) {
  switch (mode) {
    case MachineMode::Real:
      return ModeReal;
    case MachineMode::V86:
      return ModeV86;
    case MachineMode::Prot16:
      return Mode16;
    case MachineMode::Prot32:
      return Mode32;
    default:
      return Mode64;
  }
}

Event crossing_event(Crossing crossing) {
  switch (crossing) {
    case Crossing::Int:
      return CrossInt;
    case Crossing::Gate:
      return CrossGate;
    case Crossing::Far:
      return CrossFar;
    case Crossing::Iret:
      return CrossIret;
    default:
      return CrossAsync;
  }
}

}  // namespace

Pentium::Pentium(const Config& config, const TimingTable& timing, Platform& platform)
    : clocks_(timing.clocks(Mode::Real)),
      code_line_(config.l1i.line),
      data_line_(config.l1d.line),
      line_shift_(uint32_t(__builtin_ctz(data_line_))),
      prefix_cost_(config.prefix_clocks),
      agi_cost_(config.agi_clocks),
      btb_by_pair_(config.btb.by_pair),
      l1d_(config.l1d),
      l1i_(config.l1i),
      dtlb_(config.dtlb),
      dtlb_large_(config.dtlb_large),
      memory_(config.memory),
      btb_(config.btb),
      itlb_(config.itlb),
      msrs_(counters_, config.miscounts),
      machine_(config),
      config_(config),
      timing_(timing),
      platform_(platform),
      cached_pages_((config.dram_bytes + 4095) >> 12, 1),
      per_iteration_(timing.per_iteration()) {
  for (const auto& [first, last] : config.uncached) {
    for (uint64_t page = first >> 12; page <= last >> 12 && page < cached_pages_.size(); page++) {
      cached_pages_[page] = 0;
    }
  }
  bank_ = ring_banks_[0] = &counters_.bank(0, 0);
}

void Pentium::set_shadows(std::unique_ptr<Shadows> shadows) {
  shadows_ = std::move(shadows);
  if (!shadows_) return;
  shadows_->join(&l1d_.shortcut(), &l1i_.shortcut(), &dtlb_.shortcut(), &dtlb_large_.shortcut());
  shadows_->use(*bank_);
}

void Pentium::set_state(const State& state) {
  const bool ring_changed = state.ring != state_.ring;
  if (crossing_ != Crossing::None) {
    if (ring_changed) {
      bank_->count[crossing_event(crossing_)]++;
      // INTEL-DM 16: far transfers with a ring change count twice.
      bank_->count[SegmentLoads] += rule(Rule::SegmentLoadTwice);
      // The row charged so far was that of a transfer inside the ring.
      const uint32_t base = clocks_[transfer_class_];
      const bool iret = transfer_class_ == Class::Iret || transfer_class_ == Class::Iretd;
      uint32_t inner = timing_.inner_level()[transfer_class_];
      if (state_.mode == MachineMode::V86)
        inner = base;
      else if (iret && state.mode == MachineMode::V86) {
        inner = timing_.clocks(Mode::Prot)[Class::IretToV86];
      }
      if (rule(Rule::GateParameters)) inner += parameters_ * per_iteration_[transfer_class_];
      if (rule(Rule::InnerLevel) && timing_on_ && inner > base) clock_ += inner - base;
    }
    crossing_ = Crossing::None;
    parameters_ = 0;
  }
  if (state.mode != state_.mode) {
    bank_->count[mode_event(state.mode)]++;
    if (rule(Rule::ModeColumn)) clocks_ = timing_.clocks(timing_mode(state.mode));
  }
  if (state.cr3 != state_.cr3) std::fill(std::begin(ring_banks_), std::end(ring_banks_), nullptr);
  if (state.cr3 != state_.cr3 || ring_changed) {
    fold();
    Bank*& bank = ring_banks_[state.ring];
    if (!bank) bank = &counters_.bank(state.cr3, state.ring);
    bank_ = bank;
    if (shadows_) shadows_->use(*bank_);
  }
  if (state.paging != state_.paging) drop_prefetch();
  // On x86-64 a change of CR0.PG or CR4.PGE empties the TLBs [AMD64 5.5].
  if (kX86_64 && (state.paging != state_.paging || state.global_pages != state_.global_pages)) {
    flush_tlbs(true);
  }
  state_ = state;
  paging_ = state.paging;
}

void Pentium::retire_slow(const Insn& insn, Linear linear) {
  if (insn.flags & kUncommon && !retire_uncommon(insn, linear)) return;
  if (!timing_on_) {
    bank_->count[Instructions]++;
    clock_++;
    next_ = linear + insn.length;
    return;
  }
  const Linear last = linear + insn.length - 1;
  if (linear != next_ || last - window_ >= window_bytes_) fetch(linear, last);
  if (clock_ < code_complete_) wait_for_code(linear, last);
  look_at_new_code(insn);
  // An FXCH in V is free if the next instruction is x87 as well [INTEL-OPT].
  if (insn.flags & kFpu && fxch_in_v_ && bank_->count[Instructions] == fxch_in_v_) clock_--;
  next_ = linear;
  if (!kX86_64 && insn.flags & kFpu) return retire_fpu(insn);
  // The x87's divider multiplies integers as well [AGN-IT].
  if (rule(Rule::X87MultiplyWaits) && multiplies(insn.cls)) {
    clock_ = std::max(clock_, fpu_.divided());
  }
  complete(insn);
  if (rule(Rule::SerializingRefetch) && insn.flags & kSerializing) serialize();
}

// --- functional warming -----------------------------------------------------------------------

void Pentium::set_warming(bool on) {
  if (on == warming_ || !timing_on_) return;
  warming_ = on;
  config_ = on ? machine_.without_feedback() : machine_;
  memory_.use(config_.memory);
  fill_done_ = code_complete_ = 0;
  step_aside(false);
  code_ready_ = 0;
  step_aside(watching_ || on || each_);
  u_ = kNothingJoins;
  agi_writes_ = agi_before_ = u_interlock_ = 0;
  v_bank_ = kNotInV;
  u_bank_ = kNoBank;
}

void Pentium::pause(bool on) {
  set_timing(!on);
  drop_prefetch();
  foretold_ = kNoPair;
}

// An instruction whose code only has to be fetched from L1I; false: another.
bool Pentium::warm(const Insn& insn, Linear linear) {
  if (insn.flags & kUncommon || !enter_line(linear, linear + insn.length - 1)) return false;
  next_ = linear;
  pass(insn);
  return true;
}

// --- breakpoints [INTEL-DM 17; 16, events 23h to 26h: matches count whether enabled or not]
// -------

void Pentium::set_breakpoints(const std::array<Linear, 4>& addresses, uint32_t control) {
  watching_ = false;
  for (unsigned i = 0; i < 4; i++) {
    const uint32_t kind = control >> (16 + 4 * i);
    Breakpoint& breakpoint = breakpoints_[i];
    breakpoint.linear = addresses[i];
    breakpoint.what = decltype(breakpoint.what)(kind & 3);
    breakpoint.bytes = 1 + (kind >> 2 & 3);
    breakpoint.enabled = control >> (2 * i) & 3;
    watching_ |= addresses[i] != 0;
  }
  step_aside(watching_ || warming_ || each_);
  set_timing(timing_on_);
}

void Pentium::step_aside(bool on) {
  constexpr uint64_t kNever = ~uint64_t(0);
  if (on == aside_) return;
  aside_ = on;
  if (on)
    true_code_ready_ = std::exchange(code_ready_, kNever);
  else
    code_ready_ = true_code_ready_;
}

void Pentium::retire_aside(const Insn& insn, Linear linear) {
  if (watching_)
    match_code(insn, linear);
  else if (warming_ && warm(insn, linear))
    return;
  aside_ = false;
  std::swap(code_ready_, true_code_ready_);
  retire(insn, linear);
  std::swap(code_ready_, true_code_ready_);
  aside_ = true;
}

void Pentium::match_code(const Insn& insn, Linear linear) {
  for (unsigned i = 0; i < 4; i++) {
    const Breakpoint& breakpoint = breakpoints_[i];
    // In V only breakpoints that are enabled are looked at.
    if (breakpoint.what == Breakpoint::Code && breakpoint.linear && breakpoint.linear == linear &&
        (breakpoint.enabled || !joins(insn))) {
      bank_->count[BreakpointMatch0 + i]++;
    }
  }
}

void Pentium::watch_data(Linear linear, uint32_t bytes, DataKind kind) {
  for (unsigned i = 0; i < 4; i++) {
    const Breakpoint& breakpoint = breakpoints_[i];
    const bool watched = breakpoint.what == Breakpoint::Accesses ||
                         (breakpoint.what == Breakpoint::Writes && kind != DataKind::Read);
    const Linear first = breakpoint.linear & ~Linear(breakpoint.bytes - 1);
    if (breakpoint.linear && watched && linear < first + breakpoint.bytes &&
        first < linear + bytes) {
      bank_->count[BreakpointMatch0 + i]++;
    }
  }
}

void Pentium::retire_fpu(const Insn& decoded) {
  Insn insn = decoded;
  if (rule(Rule::X87Precision) && (insn.cls == Class::Fdiv || insn.cls == Class::Fidiv)) {
    insn.cls = divide_class(insn.cls, platform_.x87_control());
  }
  const bool in_v = joins(insn);
  if (!in_v) clock_ = fpu_.start(insn, clock_);
  const uint64_t start = clock_;
  complete(insn);
  fpu_.issue(insn, start, clocks_[insn.cls], timing_.fp_overlap()[insn.cls]);
  if (insn.cls == Class::FstMem || insn.cls == Class::FstM80) {
    fp_store_ = bank_->count[Instructions];
  }
  if (in_v) {
    if (!rule(Rule::FxchThenX87)) return;
    fxch_in_v_ = bank_->count[Instructions];
    clock_++;
  } else {
    if (rule(Rule::X87OverlapInteger)) clock_ -= timing_.int_overlap()[insn.cls];
  }
}

// False: all done, nothing more to count for this one.
bool Pentium::retire_uncommon(const Insn& insn, Linear linear) {
  const bool again = (insn.flags & kRep) && rep_continues(linear);
  in_rep_ = insn.flags & kRep;
  if (in_rep_) {
    rep_class_ = insn.cls;
    rep_linear_ = linear;
    rep_next_ = linear + insn.length;
    if (again) return false;  // the emulator took a breath between two iterations
    const auto resumed = std::find(interrupted_reps_.begin(), interrupted_reps_.end(),
                                   std::pair(state_.cr3, linear));
    if (resumed != interrupted_reps_.end()) {
      // Set-up clocks and the fetch come again, but a REP counts as one instruction [chen95].
      interrupted_reps_.erase(resumed);
      bank_->count[Instructions] -= rule(Rule::RepOnce);
    }
  }
  if (!timing_on_) return true;
  bank_->count[SegmentLoads] += insn.segment_loads;
  bank_->count[Flops] += flops(insn.cls);
  if (!kX86_64 && insn.cls == Class::Unknown) unknown_[uint16_t(insn.map << 8 | insn.opcode)]++;
  // Clocks beside the row's own, which complete() adds.
  const uint32_t base = clocks_[insn.cls];
  const bool protected_mode = state_.mode >= MachineMode::Prot16;
  if (insn.flags & kFar) {
    transfer_class_ = insn.cls;
  } else if (rule(Rule::SerializingBranch) && insn.flags & kSerializing) {
    bank_->count[Branches]++;  // INTEL-DM 16, events 12h and 14h
    bank_->count[TakenOrBtbHit]++;
  }
  // INTEL-DM 16, event 12h. It also names "some segment descriptor loads", which no source lists.
  if (rule(Rule::VerrBranch) && insn.cls == Class::Verr) bank_->count[Branches]++;
  if (rule(Rule::SerializingDrains) && insn.flags & kSerializing) {
    wait(memory_.writes_done(), StallWrite);
  }
  if (rule(Rule::UserLevel) && protected_mode &&
      ((insn.flags & kIo && state_.user_io) || (insn.cls == Class::Rdtsc && state_.ring == 3))) {
    clock_ += std::max<uint32_t>(timing_.user_level()[insn.cls], base) - base;
  }
  if (in_rep_) {
    // The first iteration pays for the set-up; with a count of zero there is none.
    const uint32_t zero =
        rule(Rule::RepZero) ? std::min<uint32_t>(timing_.zero_iterations()[insn.cls], base) : base;
    rep_setup_ = base - zero;
    clock_ -= rep_setup_;
  }
  if (rule(Rule::EnterLevels) && insn.cls == Class::EnterN) {
    clock_ += uint32_t(per_iteration_[insn.cls]) * insn.modrm;
  }
  return true;
}

// --- code -----------------------------------------------------------------------------------

void Pentium::fetch(Linear linear, Linear last) {
  const bool sequential = linear == next_;
  if (!sequential || linear - window_ >= window_bytes_) fetch_line(linear);
  while (last - window_ >= window_bytes_) fetch_line(window_ + window_bytes_);
}

void Pentium::fetch_line(Linear linear) {
  const Linear page = linear >> 12;
  if (page != code_page_) {
    code_attributes_ = 0;
    if (shadows_ && paging_ && !shadows_->holds_code_page(linear)) {
      shadows_->code_page(linear, page_walk(linear));
    }
    if (paging_ && !itlb_.quick(page)) {
      if (itlb_.lookup(page)) {
        code_attributes_ = itlb_.attributes();
      } else {
        bank_->count[ItlbMisses]++;
        const PageWalk found = walk(linear);
        code_attributes_ = found.attributes;
        itlb_.insert(page, code_attributes_,
                     found.global);  // large pages as 4 KB pages [INTEL-DM 2]
      }
    }
    code_page_ = page;
    code_frame_ = platform_.code_physical(linear) & ~0xFFFu;
  }
  const uint32_t physical = code_frame_ | (linear & 0xFFF);
  bank_->count[CodeReads]++;
  if (!cached(physical)) {
    if (shadows_) shadows_->uncached_read(CodeMisses);
    bank_->count[CodeMisses]++;
    bank_->count[UncachedReads]++;
    window_ = linear & ~Linear(kUncachedFetch - 1);
    window_bytes_ = kUncachedFetch;
    forget_boundaries();
    wait(memory_.uncached(clock_), StallFetch);
    return;
  }
  window_bytes_ = code_line_;
  window_ = linear & ~Linear(window_bytes_ - 1);
  cold_ = single_pipe_;
  code_ready_ = code_complete_;
  const Fill fill = fill_state(code_attributes_);
  if (l1i_.quick_read(physical)) return;
  if (shadows_) shadows_->code(physical, fill);
  const CacheAccess access = l1i_.access(physical, false, fill);
  if (shadows_) shadows_->limit_code(physical);
  if (access.hit) return;
  forget_boundaries();
  bank_->count[CodeMisses]++;
  if (fill == Fill::None) {
    window_ = linear & ~Linear(kUncachedFetch - 1);
    window_bytes_ = kUncachedFetch;
    return noncacheable_read(physical, StallFetch);
  }
  // A code miss takes the line away from L1D [INTEL-DM 3].
  if (l1d_.invalidate(physical)) write_back(physical, clock_);
  const Memory::Line line = read_line(physical);
  wait(line.first, StallFetch);
  code_qword_ = linear >> 3;
  code_complete_ = line.complete;
  const bool look = rule(Rule::BtbFalseHit) && btb_.may_hold(window_, window_bytes_);
  code_ready_ = look ? ~uint64_t(0) : code_complete_;
}

// Where instructions begin only L1I knows, of what it has had before [INTEL-OPT].
void Pentium::forget_boundaries() {
  cold_ = single_pipe_;
  if (!machine_.feedback || !rule(Rule::PairCold)) return;
  cold_ |= kLong;
  u_ = kNothingJoins;
}

// The line is still coming in; only the 8 bytes that came first can be used [INTEL-OPT].
void Pentium::wait_for_code(Linear linear, Linear last) {
  if (!rule(Rule::FillCode)) return;
  if (linear >> 3 != code_qword_ || last >> 3 != code_qword_) wait(code_complete_, StallFetch);
}

// --- data -----------------------------------------------------------------------------------

void Pentium::data_special(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                           bool first_piece) {
  if (watching_) watch_data(linear, bytes, kind);
  if (timing_on_) data_timed(linear, physical, bytes, kind, first_piece);
}

void Pentium::data_untranslated(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                                bool first_piece) {
  walked_ = false;
  page_bits_ = translate_data(linear);
  if (page_bits_ == 0) {
    data_translated(linear, physical, bytes, kind, first_piece);
  } else {
    if (v_bank_ < kNotInV) second_access(physical);
    u_bank_ = physical & kBankBits;
    data_slow(linear, physical, bytes, kind, first_piece);
    page_bits_ = 0;
  }
  walked_ = false;
}

void Pentium::data_slow(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                        bool first_piece) {
  // On x86-64 the operand is up to 8 bytes wherever in a line (estimate: as long as what memory
  // transfers at once), longer ones come in pieces of 8.
  if (kX86_64 && bytes > 8) {
    data_slow(linear, physical, 8, kind, false);
    return data_slow(linear + 8, physical + 8, bytes - 8, kind, first_piece);
  }
  // Operands of 2 and 4 bytes are misaligned when they cross 4 bytes, longer ones when they
  // cross 8 (10 bytes are 8 and 2); each part is an access of its own [INTEL-DM 16].
  const uint32_t shift = kX86_64 ? line_shift_ : bytes <= 4 ? 2 : 3, grain = 1u << shift;
  const uint32_t offset = linear & (grain - 1);
  const uint32_t parts = rule(Rule::MisalignedTwice) ? (offset + bytes + grain - 1) >> shift : 1;
  const bool misaligned = first_piece || offset + std::min(bytes, grain) > grain;
  const uint64_t misses = bank_->count[DataReadMisses];
  if (misaligned) {
    bank_->count[Misaligned]++;
    if (bank_->count[Instructions] == fp_store_) bank_->miscount[MisalignedStores]++;
    const uint32_t clocks = rule(Rule::Misaligned) ? config_.misaligned_clocks : 0;
    if (kind == DataKind::Write)
      clock_ += clocks;
    else
      stall_until(clock_ + clocks, StallRead);
    if (kind != DataKind::Write && !walked_) bank_->miscount[MisalignedReads]++;
    if (kind != DataKind::Read) bank_->miscount[WriteParts]++;
  }
  uint32_t at = physical;
  for (uint32_t part = 0; part < parts; part++) {
    const uint32_t here = at;
    at = (at & ~(grain - 1)) + grain;
    if (rule(Rule::LockedOnBus) && locked_) {
      locked_access(here);
      continue;
    }
    if (kind == DataKind::Read && clock_ >= fill_done_ && l1d_.quick_read(here)) {
      bank_->count[DataReads]++;
      continue;
    }
    if (kind != DataKind::Write) read_piece(here);
    if (kind != DataKind::Read) write_piece(here);
  }
  // The second part found the line on its way.
  if (misaligned && parts > 1 && bank_->count[DataReadMisses] == misses + 1 &&
      ((physical ^ at) & ~(data_line_ - 1)) == 0) {
    bank_->miscount[MisalignedMisses]++;
  }
}

void Pentium::read_piece(uint32_t physical) {
  bank_->count[DataReads]++;
  if (!cached(physical)) {
    if (shadows_) shadows_->uncached_read(DataReadMisses);
    bank_->count[DataReadMisses]++;
    bank_->count[UncachedReads]++;
    wait(memory_.uncached(clock_), StallRead);
    return;
  }
  if (shadows_) shadows_->read(physical, fill_state(page_bits_));
  const uint32_t line = physical & ~(data_line_ - 1);
  const CacheAccess access = l1d_.access(physical, false, fill_state(page_bits_));
  if (shadows_) shadows_->limit_line(physical);
  if (access.hit) {
    // A second reference to a line that is being filled waits for all of it [INTEL-OPT].
    if (rule(Rule::FillWhole) && line == filling_) wait(fill_done_, StallRead);
    return;
  }
  bank_->count[DataReadMisses]++;
  l1i_.invalidate(physical);  // a data read miss takes the line away from L1I [INTEL-DM 3]
  if (!access.filled) return noncacheable_read(physical, StallRead);
  const Memory::Line fill = read_line(physical);
  start_fill(line, fill, access);
  wait(fill.first, StallRead);
}

// Of memory that could be cached, but not now (CR0.CD) or not in this page (PCD).
void Pentium::noncacheable_read(uint32_t physical, Event stall) {
  bank_->count[UncachedReads]++;
  missed_ = kNoLine;
  wait(memory_.read_noncacheable(physical, clock_, *bank_), stall);
}

// L1D takes in a line; the dirty one in its place is written back after it [INTEL-DM 3].
void Pentium::start_fill(uint32_t line, const Memory::Line& fill, const CacheAccess& access) {
  filling_ = line;
  fill_done_ = fill.complete;
  if (access.victim_dirty) write_back(access.victim, fill.complete);
}

void Pentium::write_piece(uint32_t physical) {
  const uint32_t line = physical & ~(data_line_ - 1);
  if (line == missed_) return write_again();
  bank_->count[DataWrites]++;
  if (!cached(physical)) {
    if (shadows_) shadows_->uncached_write();
    bank_->count[DataWriteMisses]++;
    bank_->count[UncachedWrites]++;
    wait(memory_.write_uncached(clock_, pipe()), StallWrite);
    return;
  }
  if (shadows_) shadows_->write(physical, write_state());
  const CacheAccess access = l1d_.access(physical, true, write_state());
  if (shadows_) shadows_->limit_line(physical);
  if (access.hit) {
    if (!access.through) {
      bank_->count[WriteHitsME]++;
      if (shadows_) shadows_->own_write_hit();
      wait_for_writes();
    }
  } else {
    bank_->count[DataWriteMisses]++;
  }
  if (access.filled) start_fill(line, read_line(physical), access);
  if (access.through) {
    l1i_.invalidate(physical);  // a write on the bus takes the line away from L1I [INTEL-DM 3]
    wait(memory_.write_single(physical, clock_, pipe(), *bank_), StallWrite);
    // With a cache that allocates on writes the line is there the next time; with a hit in a
    // write-through L1D the replacement order changes: both are no mere repetition.
    missed_ = access.hit || access.filled || config_.memory.l2.write_allocate ? kNoLine : line;
  }
}

// Another write to the line that the last one missed: the caches answer as before.
void Pentium::write_again() {
  if (shadows_) shadows_->write(missed_, write_state());
  bank_->count[DataWrites]++;
  bank_->count[DataWriteMisses]++;
  wait(memory_.write_again(clock_, pipe(), *bank_), StallWrite);
}

// Both halves go to the bus and the line leaves L1D [INTEL-DM 3].
void Pentium::locked_access(uint32_t physical) {
  Bank& bank = *bank_;
  bank.count[DataReads]++;
  bank.count[DataReadMisses]++;
  bank.count[DataWrites]++;
  bank.count[DataWriteMisses]++;
  bank.count[LockedCycles]++;
  if (!cached(physical)) {
    if (shadows_) {
      shadows_->uncached_read(DataReadMisses);
      shadows_->uncached_write();
    }
    bank.count[UncachedReads]++;
    bank.count[UncachedWrites]++;
    wait(memory_.uncached(memory_.uncached(clock_)), StallRead);
    return;
  }
  if (shadows_) shadows_->locked(physical);
  if (l1d_.invalidate(physical)) write_back(physical, clock_);
  l1i_.invalidate(physical);
  missed_ = kNoLine;
  wait(memory_.read_single(physical, clock_, bank), StallRead);
  memory_.write_single(physical, clock_, Pipe::U, bank);
  wait(memory_.writes_done(), StallWrite);
}

uint32_t Pentium::block(const Block& block, uint32_t count, Pace* pace) {
  for (uint32_t i = 0;; i++) {
    const uint32_t at = i * block.bytes;
    if (block.reads) data(block.from + at, block.from_physical + at, block.bytes, DataKind::Read);
    data(block.to + at, block.to_physical + at, block.bytes, DataKind::Write);
    if (i + 1 == count) return count;
    const uint64_t end = clock_ + iteration_clocks();
    if (end - pace->told >= pace->interval) {
      if (end >= pace->due) return i + 1;
      pace->told = end;
    }
    clock_ = end;
    rep_setup_ = 0;
  }
}

// --- translation ----------------------------------------------------------------------------

// The PageBits of the page.
uint32_t Pentium::translate_data(Linear linear) {
  if (!shadows_) return look_up_data(linear);
  if (!shadows_->holds_page(linear)) shadows_->data_page(linear, page_walk(linear));
  const uint32_t attributes = look_up_data(linear);
  shadows_->limit_page(linear);
  return attributes;
}

uint32_t Pentium::look_up_data(Linear linear) {
  const Linear page = linear >> 12, large_page = linear >> kLargePageShift;
  // Both arrays are looked up at once; the entry of a large page wins [INTEL-DM 2].
  if (dtlb_large_.lookup(large_page)) return dtlb_large_.attributes();
  if (dtlb_.lookup(page)) return dtlb_.attributes();
  bank_->count[DtlbMisses]++;
  walked_ = true;
  const PageWalk found = walk(linear);
  if (found.large)
    dtlb_large_.insert(large_page, found.attributes, found.global);
  else
    dtlb_.insert(page, found.attributes, found.global);
  return found.attributes;
}

// What the translation of an address reads, and finds.
PageWalk Pentium::page_walk(Linear linear) {
  PageWalk walk;
  uint32_t table = uint32_t(state_.cr3) & ~0xFFFu;
  for (unsigned level = kPageLevels - 1;; level--) {
    const uint32_t index = uint32_t(linear >> (12 + kTableBits * level)) & ((1u << kTableBits) - 1);
    const uint32_t address = table | uint32_t(index * sizeof(PageEntry));
    walk.entries[walk.reads++] = address;
    const PageEntry entry = platform_.read_physical(address);
    if (!(entry & kPresent)) return walk;
    walk.large = level == 1 && state_.large_pages && entry & kPageSize;
    if (level == 0 || walk.large) {
      walk.present = true;
      walk.global = state_.global_pages && entry & kGlobal;
      walk.attributes = entry >> kPageBits & (kWriteThrough | kNoCache);
      return walk;
    }
    table = uint32_t(entry) & ~0xFFFu;
  }
}

// Reads the page tables over the bus: the reads are not served by L1D, though L2 may have them,
// and are snooped in L1D, which writes a dirty line back first [INTEL-DM 3, 16].
PageWalk Pentium::walk(Linear linear) {
  const PageWalk found = page_walk(linear);
  for (uint32_t i = 0; i < found.reads; i++) {
    if (l1d_.clean(found.entries[i])) write_back(found.entries[i], clock_);
    bank_->count[WalkReads]++;
    walk_read(found.entries[i]);
  }
  return found;
}

void Pentium::page_fault(Linear linear, bool code, bool present) {
  if (!timing_on_) return;
  if (shadows_) shadows_->page_fault(linear, code, present, page_walk(linear));
  const Linear page = linear >> 12, large_page = linear >> kLargePageShift;
  const bool hit = code ? itlb_.lookup(page) : dtlb_.lookup(page) || dtlb_large_.lookup(large_page);
  if (shadows_) shadows_->limit_page(linear);  // hidden by the fault
  if (hit) return;                             // a protection fault on a page that the TLB holds
  bank_->count[code ? ItlbMisses : DtlbMisses]++;
  bank_->miscount[code ? ItlbMissFaults : DtlbMissFaults]++;
  const PageWalk found = walk(linear);
  if (!found.present || !present) return;
  if (code)
    itlb_.insert(page, found.attributes, found.global);
  else if (found.large)
    dtlb_large_.insert(large_page, found.attributes, found.global);
  else
    dtlb_.insert(page, found.attributes, found.global);
  if (shadows_) shadows_->limit_page(linear);
}

void Pentium::page_table_update(uint32_t physical) {
  if (!timing_on_) return;
  bank_->count[LockedCycles]++;
  if (shadows_) shadows_->table_update(physical);
  if (l1d_.invalidate(physical)) write_back(physical, clock_);
  walk_read(physical);
  memory_.write_single(physical, clock_, Pipe::U, *bank_);
  wait(memory_.writes_done(), StallWalk);
}

void Pentium::load_cr3(Space value) {
  bank_->count[value == state_.cr3 ? Cr3Unchanged : Cr3Changed]++;
  flush_tlbs(!state_.global_pages);
}

void Pentium::flush_tlbs(bool global_too) {
  bank_->count[TlbFlushes]++;
  if (shadows_) shadows_->flush_tlbs();
  for (Tlb* tlb : {&itlb_, &dtlb_, &dtlb_large_}) global_too ? tlb->flush() : tlb->flush_local();
  foretold_ = kNoPair;
  if (rule(Rule::BtbCr3)) btb_.flush();  // INTEL-DM 2, INTEL-SU erratum 60
  drop_prefetch();
}

void Pentium::invalidate_page(Linear linear) {
  if (shadows_) shadows_->flush_page(linear);
  itlb_.invalidate(linear >> 12);
  dtlb_.invalidate(linear >> 12);
  dtlb_large_.invalidate(linear >> kLargePageShift);
  drop_prefetch();  // INVLPG is serialising [INTEL-DM]
}

void Pentium::flush_caches(bool write_back) {
  if (shadows_) shadows_->flush_caches(write_back);
  const uint32_t dirty = l1d_.invalidate_all();
  if (write_back) bank_->count[L1dWritebacks] += dirty;
  l1i_.invalidate_all();
  memory_.l2().invalidate_all();
  missed_ = kNoLine;
  drop_prefetch();
}

// --- transfers of control -------------------------------------------------------------------

void Pentium::foretell_branch() {
  const Btb::Entry* entry = btb_by_pair_ && pair_ != flushed_ ? btb_.find(pair_) : nullptr;
  if (entry && entry->predicts_taken()) foretold_ = pair_;
}

void Pentium::false_hit() {
  Btb::Entry* entry = btb_.find(foretold_);
  foretold_ = kNoPair;
  if (!rule(Rule::BtbFalseHit)) return;
  bank_->count[PipelineFlushes]++;
  clock_ += config_.mispredict_clocks;
  if (entry && rule(Rule::BtbFalseDown)) Btb::update(entry, false, 0, pairs());
}

void Pentium::write_tr12(uint32_t value) {
  tr12_ = value;
  btb_.allocate(!(rule(Rule::Tr12NoPrediction) && value & kNoBranchPrediction));
  single_pipe_ = rule(Rule::Tr12SinglePipe) && value & kSinglePipe ? kAlways : 0;
  serialize();  // so that the next instruction finds it
}

// A code segment is loaded; what ring and mode that leads to the next set_state() tells.
void Pentium::transfer(Crossing crossing) {
  // A branch foretold for the pair of the transfer itself comes to nothing: the pipeline is
  // flushed.
  if (foretold_ != kNoPair && foretold_ != pair_ && foretold_ != pair_before_) false_hit();
  foretold_ = kNoPair;
  bank_->count[SegmentLoads]++;
  bank_->count[Branches]++;
  bank_->count[TakenOrBtbHit]++;
  bank_->count[PipelineFlushes] += rule(Rule::DeliveryFlushes) && crossing == Crossing::Async;
  crossing_ = crossing;
  window_bytes_ = 0;
  u_ = kNothingJoins;
  locked_ = false;    // of an instruction that did not complete ...
  v_bank_ = kNotInV;  // ... and its neighbour's
}

void Pentium::delivery(Entry entry, uint8_t vector, Crossing crossing) {
  bank_->vectors[{entry, vector}]++;
  transfer(crossing);
}

void Pentium::soft_interrupt(uint8_t vector) {
  bank_->count[SoftInterrupts]++;
  delivery(Entry::Soft, vector, Crossing::Int);
  if (rule(Rule::IntoTaken) && transfer_class_ == Class::Into) becomes(Class::IntoTaken);
}

// The transfer under way has another timing row than what was charged.
void Pentium::becomes(ClassId cls) {
  if (!timing_on_) return;
  clock_ += clocks_[cls];
  clock_ -= clocks_[transfer_class_];
  transfer_class_ = cls;
}

void Pentium::call_gate(uint32_t parameters) {
  if (!rule(Rule::Gate)) return;
  const bool jump = transfer_class_ == Class::JmpFar || transfer_class_ == Class::JmpFarMem;
  becomes(jump ? Class::JmpGate : Class::CallGate);
  parameters_ = parameters;
}

void Pentium::task_switch(Task to) {
  if (!timing_on_ || !rule(Rule::TaskSwitch)) return;
  becomes(task_class(transfer_class_));
  clock_ += clocks_[to == Task::V86     ? Class::TaskSwitchV86
                    : to == Task::Tss16 ? Class::TaskSwitch16
                                        : Class::TaskSwitch32];
}

// A REP that will be resumed is not counted a second time.
void Pentium::leave_rep(Linear resume) {
  if (rep_continues(resume)) {
    if (interrupted_reps_.size() == kMaxInterruptedReps) {
      interrupted_reps_.erase(interrupted_reps_.begin());
    }
    interrupted_reps_.emplace_back(state_.cr3, resume);
  }
  in_rep_ = false;
}

void Pentium::hard_interrupt(uint8_t vector, Linear resume) {
  leave_rep(resume);
  bank_->count[HwInterrupts]++;
  bank_->count[Instructions] +=
      rule(Rule::DeliveryCounts);  // INTEL-DM 16, event 16h: each delivery adds one
  delivery(Entry::Irq, vector, Crossing::Async);
  transfer_class_ = Class::Interrupt;
  clock_ += timing_on_ ? clocks_[Class::Interrupt] + config_.inta_clocks : 1;
}

void Pentium::exception(uint8_t vector, bool fault, Linear resume) {
  if (rep_continues(resume))
    leave_rep(resume);
  else if (fault)
    bank_->count[Instructions]--;
  bank_->count[Exceptions]++;
  bank_->count[Instructions] += rule(Rule::DeliveryCounts);
  delivery(Entry::Fault, vector, Crossing::Async);
  transfer_class_ = Class::Exception;
  clock_ += timing_on_ ? clocks_[Class::Exception] : 1;
}

void Pentium::far_transfer(Crossing kind) { transfer(kind); }

// --- input, output, idle time ---------------------------------------------------------------

void Pentium::port(uint16_t port, bool write, uint32_t bytes) {
  bank_->count[write ? IoWrites : IoReads]++;
  if (!timing_on_) return;
  // Port accesses wait for the write buffers and are not posted [INTEL-DM 3].
  const bool pci = port >= 0x1000 || (port >= 0xCF8 && port <= 0xCFF);
  const bool drains = rule(Rule::PortDrains) && config_.feedback;
  const uint64_t start = drains ? std::max(clock_, memory_.writes_done()) : clock_;
  uint32_t clocks = pci ? config_.pci_clocks : config_.isa_clocks;
  if (bytes > 1 && port >= wide_first_ && port <= wide_last_) {
    clocks = config_.isa16_clocks * (bytes / 2);
  }
  stall_until(start + (rule(Rule::PortWaits) ? clocks : 0), StallIo);
}

void Pentium::bus_master(uint32_t physical, uint32_t bytes, bool write) {
  if (!timing_on_ || bytes == 0) return;
  missed_ = kNoLine;
  const uint32_t last = physical + bytes - 1;
  for (uint32_t line = physical & ~(data_line_ - 1);; line += data_line_) {
    // An inquire cycle for each line; a modified one is written back before the master gets it
    // [INTEL-DM 3, 6].
    if (shadows_) shadows_->snoop(line, write);
    bank_->count[Snoops]++;
    bank_->count[SnoopHits] += l1d_.holds(line);
    memory_.snoop(line, clock_, write, *bank_);
    const bool dirty = l1d_.dirty(line);
    if (dirty && rule(Rule::InquireModified)) write_back(line, clock_);
    if (write && rule(Rule::InquireWrite)) {
      l1d_.invalidate(line);
      l1i_.invalidate(line);
    } else if (!write && rule(Rule::InquireRead)) {
      l1d_.share(line);
    }
    if (last - line < data_line_) break;
  }
}

void Pentium::idle(uint64_t clocks) {
  fold();
  clock_ += clocks;
  folded_ = clock_;
  bank_->count[CyclesIdle] += clocks;
}

void Pentium::stall_until(uint64_t until, Event stall) {
  if (until <= clock_) return;
  bank_->count[stall] += until - clock_;
  clock_ = until;
}

}  // namespace p5
