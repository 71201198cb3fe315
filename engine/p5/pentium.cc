// SPDX-License-Identifier: MIT
#include "p5/pentium.hh"

#include <algorithm>

namespace p5 {
namespace {

Mode timing_mode(MachineMode mode) {
  if (mode == MachineMode::Real) return Mode::Real;
  return mode == MachineMode::V86 ? Mode::V86 : Mode::Prot;
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

}  // namespace

Pentium::Pentium(const Config& config, const TimingTable& timing, Platform& platform)
    : chip_(config, timing, platform),
      repeats_(chip_.core),
      transfers_(chip_.core, chip_.pipes, chip_.prediction, chip_.fetch(), chip_.data_path(),
                 repeats_),
      breakpoints_(chip_.core, chip_.pipes),
      ports_(chip_.core, chip_.caches),
      msrs_(chip_.core.counters, config.miscounts) {}

void Pentium::observe(MemoryObserver* observer) {
  chip_.core.observer = observer;
  if (!observer) return;
  observer->attach({chip_.caches.l1d.shortcut(), chip_.caches.l1i.shortcut(),
                    chip_.translation.pages(), chip_.translation.large_pages()});
  observer->use(*chip_.core.bank);
}

// --- instructions ---------------------------------------------------------------------------

void Pentium::retire_general(const Insn& insn, Linear linear) {
  if (insn.flags & kUncommon && !begin_uncommon(insn, linear)) return;
  if (!chip_.core.timing_on) {
    chip_.core.count(Instructions);
    chip_.core.clock++;
    chip_.fetch().go_to(linear + insn.length);
    return;
  }
  const Linear last = linear + insn.length - 1;
  if (!chip_.fetch().follows(insn, linear)) chip_.fetch().fetch(linear, last);
  chip_.fetch().wait_for_line(chip_.core, linear, last);
  if (chip_.fetch().complete(chip_.core)) chip_.fetch().open();
  chip_.prediction.enter_new_code(chip_.pipes, insn);
  if (insn.flags & kFpu) chip_.x87.follow_exchange();
  if (insn.flags & kFpu && !chip_.core.flat()) return retire_fpu(insn, linear);
  if (multiplies(insn.cls)) chip_.x87.wait_for_divider();
  chip_.fetch().go_to(linear);
  complete(insn);
  if (rule(Rule::SerializingRefetch) && insn.flags & kSerializing) serialize();
}

void Pentium::retire_fpu(const Insn& decoded, Linear linear) {
  Insn insn = decoded;
  insn.cls = chip_.x87.timing_class(insn.cls);
  const bool in_v = chip_.pipes.joins(insn);
  const uint64_t began = chip_.x87.begin(insn, in_v);
  chip_.fetch().go_to(linear);
  complete(insn);
  chip_.x87.end(insn, in_v, began);
}

// Returns false if the instruction is complete and needs no further count.
bool Pentium::begin_uncommon(const Insn& insn, Linear linear) {
  if (!repeats_.begin(insn, linear, chip_.fetch().next())) return false;
  if (!chip_.core.timing_on) return true;
  chip_.core.count(SegmentLoads, insn.segment_loads);
  chip_.core.count(Flops, flops(insn.cls));
  if (is_newer(insn)) {
    chip_.core.count(NewerInstructions);
    chip_.core.count(NewerCycles, chip_.core.clocks[insn.cls]);
  }
  if (insn.cls == Class::Unknown && !chip_.core.flat())
    unknown_[uint16_t(insn.map << 8 | insn.opcode)]++;
  charge_system(insn);
  if (repeats_.active()) repeats_.put_off_setup();
  if (rule(Rule::EnterLevels) && insn.cls == Class::EnterN) {
    chip_.core.clock += uint32_t(chip_.core.timing.per_iteration()[insn.cls]) * insn.modrm;
  }
  return true;
}

// Adds the additional clocks and counts of far, serialising and privileged instructions. complete()
// adds the clocks of the timing row.
void Pentium::charge_system(const Insn& insn) {
  const bool serializing = insn.flags & kSerializing;
  if (insn.flags & kFar) {
    transfers_.charged(insn.cls);
  } else if (rule(Rule::SerializingBranch) && serializing) {
    chip_.core.count(Branches);  // INTEL-DM 16, events 12h and 14h
    chip_.core.count(TakenOrBtbHit);
  }
  // INTEL-DM 16, event 12h. The manual also names "some segment descriptor loads", but no source
  // lists them.
  if (rule(Rule::VerrBranch) && insn.cls == Class::Verr) chip_.core.count(Branches);
  if (rule(Rule::SerializingDrains) && serializing) {
    chip_.core.wait(chip_.caches.memory.writes_done(), StallWrite, CpiSerializing);
  }
  const State& state = chip_.core.state;
  if (rule(Rule::UserLevel) && state.mode >= MachineMode::Prot16 &&
      ((insn.flags & kIo && state.user_io) || (insn.cls == Class::Rdtsc && state.ring == 3))) {
    const uint32_t base = chip_.core.clocks[insn.cls];
    chip_.core.clock += std::max<uint32_t>(chip_.core.timing.user_level()[insn.cls], base) - base;
  }
}

// Adds the clocks of iteration `i`. Returns false if the block ends before these clocks.
inline bool Pentium::end_iteration(uint32_t i, uint32_t count, Pace* pace) {
  if (i + 1 == count) return false;
  const uint64_t end = chip_.core.clock + repeats_.iteration_clocks(chip_.core);
  if (end - pace->reported >= pace->interval) {
    if (end >= pace->due) return false;
    pace->reported = end;
  }
  chip_.core.clock = end;
  repeats_.iterated();
  return true;
}

uint32_t Pentium::block(const Block& block, uint32_t count, Pace* pace) {
  const bool plain = !special_ && !chip_.core.observer && !block.reads;
  for (uint32_t i = 0;; i++) {
    const uint32_t at = i * block.bytes;
    if (i && plain) chip_.caches.memory.grant_before(chip_.core.clock);
    if (i && plain && chip_.data_path().misses_again(chip_.caches, block.to_physical + at) &&
        chip_.translation.quick_data(block.to)) {
      i = write_line_again(block, i, count, pace);
    } else {
      if (block.reads) data(block.from + at, block.from_physical + at, block.bytes, DataKind::Read);
      data(block.to + at, block.to_physical + at, block.bytes, DataKind::Write);
    }
    if (!end_iteration(i, count, pace)) return i + 1;
  }
}

// Executes the writes of iteration `first`, which is not the first of the block, and of the next
// iterations in the same line. All miss in the same way, so they need no look-up and are counted
// together, until the L2 reads a line of code ahead. The function stops before the clocks of the
// last iteration that it executes, and returns its number.
uint32_t Pentium::write_line_again(const Block& block, uint32_t first, uint32_t count, Pace* pace) {
  Core& core = chip_.core;
  Memory& memory = chip_.caches.memory;
  const uint32_t physical = block.to_physical + first * block.bytes;
  const uint32_t in_line = chip_.data_path().left_in_line(physical) / block.bytes;
  const uint32_t last = std::min(count - 1, first + in_line - 1);
  chip_.pipes.access(core, physical);
  const Pipe pipe = chip_.pipes.pipe();
  uint64_t waited = 0;
  uint32_t written = 0;
  uint32_t i = first;
  while (true) {
    const uint64_t go_on = memory.write_again(core.clock, pipe);
    if (go_on > core.clock && core.config.feedback) {
      waited += go_on - core.clock;
      core.clock = go_on;
    }
    written++;
    if (i == last || !end_iteration(i, count, pace)) break;
    i++;
    memory.grant_before(core.clock);
    if (chip_.caches.missed == Caches::kNoLine) break;
  }
  core.count(StallWrite, waited);
  core.explained += waited;
  chip_.data_path().count_again(core, memory, written);
  const uint32_t at = i * block.bytes;
  if (written > i - first) {
    chip_.pipes.access(core, block.to_physical + at);
  } else {
    data(block.to + at, block.to_physical + at, block.bytes, DataKind::Write);
  }
  return i;
}

// --- instructions outside of the fast path --------------------------------------------------

void Pentium::data_special(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                           bool first_piece) {
  if (breakpoints_.watching()) breakpoints_.match_data(linear, bytes, kind);
  if (!chip_.core.timing_on) return;
  chip_.data_path().access(chip_.core, chip_.caches, chip_.translation, chip_.pipes, linear,
                           physical, bytes, kind, first_piece);
}

void Pentium::instrument(bool on) {
  if (on == instrumented_) return;
  instrumented_ = on;
  chip_.fetch().hold(on);
}

void Pentium::retire_instrumented(const Insn& insn, Linear linear) {
  if (breakpoints_.watching())
    breakpoints_.match_code(insn, linear);
  else if (warming_ && warm_slow(insn, linear))
    return;
  const PairMask blocks = chip_.pipes.blocks();
  if (chip_.core.explains) stack_.begin(chip_.core);
  chip_.fetch().hold(false);
  retire_slow(insn, linear);
  chip_.fetch().hold(true);
  if (chip_.core.explains) stack_.end(chip_.core, chip_.pipes, insn, blocks);
}

// During warming, executes an instruction without kUncommon if enter_line() accepts the
// instruction's line of code. Returns false for other instructions.
bool Pentium::warm_slow(const Insn& insn, Linear linear) {
  if (insn.flags & kUncommon || !chip_.fetch().enter_line(chip_.core, chip_.caches, chip_.pipes,
                                                          linear, linear + insn.length - 1)) {
    return false;
  }
  chip_.fetch().go_to(linear);
  warm_one(insn);
  return true;
}

void Pentium::watch_each(bool on) {
  each_ = on;
  instrument(must_instrument());
}

void Pentium::explain_clocks() {
  chip_.core.explains = chip_.core.fills_instrumented = true;
  stack_.start(chip_.core);
  instrument(must_instrument());
}

void Pentium::set_warming(bool on) {
  if (on == warming_ || !chip_.core.timing_on) return;
  warming_ = on;
  chip_.core.config = on ? chip_.core.machine.without_feedback() : chip_.core.machine;
  chip_.caches.memory.use(chip_.core.config.memory);
  chip_.data_path().settle();
  instrument(false);
  chip_.fetch().settle();
  instrument(must_instrument());
  chip_.pipes.empty();
}

void Pentium::pause(bool on) {
  set_timing(!on);
  chip_.fetch().drop_page();
  chip_.prediction.forget();
}

void Pentium::set_breakpoints(const std::array<Linear, 4>& addresses, uint32_t control) {
  breakpoints_.set(addresses, control);
  instrument(must_instrument());
  set_timing(chip_.core.timing_on);
}

// --- the state ------------------------------------------------------------------------------

void Pentium::set_state(const State& state) {
  const State& old = chip_.core.state;
  transfers_.arrive(state);
  if (state.mode != old.mode) {
    chip_.core.count(mode_event(state.mode));
    if (rule(Rule::ModeColumn))
      chip_.core.clocks = chip_.core.timing.clocks(timing_mode(state.mode));
  }
  if (state.cr3 != old.cr3 || state.ring != old.ring) {
    chip_.caches.memory.grant_before(chip_.core.clock);
    if (chip_.core.explains) stack_.finish(chip_.core);
    fold();
    chip_.core.use_bank(state.cr3, state.ring);
    if (chip_.core.explains) stack_.enter(chip_.core);
  }
  if (state.paging != old.paging) chip_.fetch().drop_page();
  // On x86-64 a change of CR0.PG or CR4.PGE empties the TLBs [AMD64 5.5].
  if (kX86_64 && (state.paging != old.paging || state.global_pages != old.global_pages)) {
    flush_tlbs(true);
  }
  chip_.core.state = state;
  chip_.translation.set_paging(state.paging);
  chip_.caches.set_caching(state.caching);
}

void Pentium::load_cr3(Space value) {
  chip_.core.count(value == chip_.core.state.cr3 ? Cr3Unchanged : Cr3Changed);
  flush_tlbs(!chip_.core.state.global_pages);
}

void Pentium::flush_tlbs(bool global_too) {
  chip_.translation.flush(global_too);
  chip_.prediction.load_cr3();
  chip_.fetch().drop_page();
}

void Pentium::invalidate_page(Linear linear) {
  chip_.translation.invalidate_page(linear);
  chip_.fetch().drop_page();  // INVLPG is serialising [INTEL-DM]
}

void Pentium::flush_caches(bool write_back) {
  chip_.caches.flush(write_back);
  chip_.fetch().drop_page();
}

void Pentium::write_tr12(uint32_t value) {
  tr12_ = value;
  chip_.prediction.allocate(!(rule(Rule::Tr12NoPrediction) && value & kNoBranchPrediction));
  chip_.pipes.set_single(rule(Rule::Tr12SinglePipe) && value & kSinglePipe);
  serialize();  // the new value must apply to the next instruction
}

void Pentium::idle(uint64_t clocks) {
  settle();
  chip_.core.clock += clocks;
  chip_.core.explained += clocks;
  chip_.core.folded = chip_.core.clock;
  chip_.core.count(CyclesIdle, clocks);
}

}  // namespace p5
