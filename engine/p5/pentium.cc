// SPDX-License-Identifier: MIT
#include "pentium.hh"

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
    : core_(config, timing, platform),
      caches_(core_),
      translation_(core_, caches_),
      pipes_(config),
      prediction_(core_, pipes_),
      x87_(core_),
      fetch_(core_, caches_, translation_, pipes_, prediction_),
      data_path_(core_, caches_, translation_, pipes_, x87_),
      repeats_(core_),
      transfers_(core_, pipes_, prediction_, fetch_, data_path_, repeats_),
      breakpoints_(core_, pipes_),
      ports_(core_, caches_),
      msrs_(core_.counters, config.miscounts) {}

void Pentium::observe(Observer* observer) {
  core_.observer = observer;
  if (!observer) return;
  observer->attach({caches_.l1d.shortcut(), caches_.l1i.shortcut(), translation_.pages(),
                    translation_.large_pages()});
  observer->use(*core_.bank);
}

// --- instructions ---------------------------------------------------------------------------

void Pentium::retire_slow(const Insn& insn, Linear linear) {
  if (insn.flags & kUncommon && !retire_uncommon(insn, linear)) return;
  if (!core_.timing_on) {
    core_.count(Instructions);
    core_.clock++;
    fetch_.go_to(linear + insn.length);
    return;
  }
  const Linear last = linear + insn.length - 1;
  if (!fetch_.follows(insn, linear)) fetch_.fetch(linear, last);
  fetch_.wait_for_line(core_, linear, last);
  prediction_.enter_new_code(pipes_, insn);
  if (insn.flags & kFpu) x87_.follow_exchange();
  fetch_.go_to(linear);
  if (!kX86_64 && insn.flags & kFpu) return retire_fpu(insn);
  if (multiplies(insn.cls)) x87_.wait_for_divider();
  complete(insn);
  if (rule(Rule::SerializingRefetch) && insn.flags & kSerializing) serialize();
}

void Pentium::retire_fpu(const Insn& decoded) {
  Insn insn = decoded;
  insn.cls = x87_.timing_class(insn.cls);
  const bool in_v = pipes_.joins(insn);
  const uint64_t began = x87_.begin(insn, in_v);
  complete(insn);
  x87_.end(insn, in_v, began);
}

// False: all done, nothing more to count for this one.
bool Pentium::retire_uncommon(const Insn& insn, Linear linear) {
  if (!repeats_.begin(insn, linear, fetch_.next())) return false;
  if (!core_.timing_on) return true;
  core_.count(SegmentLoads, insn.segment_loads);
  core_.count(Flops, flops(insn.cls));
  if (!kX86_64 && insn.cls == Class::Unknown) unknown_[uint16_t(insn.map << 8 | insn.opcode)]++;
  charge_system(insn);
  if (repeats_.active()) repeats_.put_off_setup();
  if (rule(Rule::EnterLevels) && insn.cls == Class::EnterN) {
    core_.clock += uint32_t(core_.timing.per_iteration()[insn.cls]) * insn.modrm;
  }
  return true;
}

// What far, serialising and privileged instructions cost and count beside the row's own clocks,
// which complete() adds.
void Pentium::charge_system(const Insn& insn) {
  const bool serializing = insn.flags & kSerializing;
  if (insn.flags & kFar) {
    transfers_.charged(insn.cls);
  } else if (rule(Rule::SerializingBranch) && serializing) {
    core_.count(Branches);  // INTEL-DM 16, events 12h and 14h
    core_.count(TakenOrBtbHit);
  }
  // INTEL-DM 16, event 12h. It also names "some segment descriptor loads", which no source lists.
  if (rule(Rule::VerrBranch) && insn.cls == Class::Verr) core_.count(Branches);
  if (rule(Rule::SerializingDrains) && serializing) {
    core_.wait(caches_.memory.writes_done(), StallWrite);
  }
  const State& state = core_.state;
  if (rule(Rule::UserLevel) && state.mode >= MachineMode::Prot16 &&
      ((insn.flags & kIo && state.user_io) || (insn.cls == Class::Rdtsc && state.ring == 3))) {
    const uint32_t base = core_.clocks[insn.cls];
    core_.clock += std::max<uint32_t>(core_.timing.user_level()[insn.cls], base) - base;
  }
}

uint32_t Pentium::block(const Block& block, uint32_t count, Pace* pace) {
  for (uint32_t i = 0;; i++) {
    const uint32_t at = i * block.bytes;
    if (block.reads) data(block.from + at, block.from_physical + at, block.bytes, DataKind::Read);
    data(block.to + at, block.to_physical + at, block.bytes, DataKind::Write);
    if (i + 1 == count) return count;
    const uint64_t end = core_.clock + repeats_.iteration_clocks(core_);
    if (end - pace->told >= pace->interval) {
      if (end >= pace->due) return i + 1;
      pace->told = end;
    }
    core_.clock = end;
    repeats_.iterated();
  }
}

// --- instructions that are looked at one by one ---------------------------------------------

void Pentium::data_special(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                           bool first_piece) {
  if (breakpoints_.watching()) breakpoints_.match_data(linear, bytes, kind);
  if (!core_.timing_on) return;
  data_path_.access(core_, caches_, translation_, pipes_, linear, physical, bytes, kind,
                    first_piece);
}

void Pentium::step_aside(bool on) {
  if (on == aside_) return;
  aside_ = on;
  fetch_.hold(on);
}

void Pentium::retire_aside(const Insn& insn, Linear linear) {
  if (breakpoints_.watching())
    breakpoints_.match_code(insn, linear);
  else if (warming_ && warm(insn, linear))
    return;
  step_aside(false);
  retire(insn, linear);
  step_aside(true);
}

// An instruction whose code only has to be fetched from L1I; false: another.
bool Pentium::warm(const Insn& insn, Linear linear) {
  if (insn.flags & kUncommon ||
      !fetch_.enter_line(core_, caches_, pipes_, linear, linear + insn.length - 1)) {
    return false;
  }
  fetch_.go_to(linear);
  pass(insn);
  return true;
}

void Pentium::watch_each(bool on) {
  each_ = on;
  step_aside(breakpoints_.watching() || warming_ || each_);
}

void Pentium::set_warming(bool on) {
  if (on == warming_ || !core_.timing_on) return;
  warming_ = on;
  core_.config = on ? core_.machine.without_feedback() : core_.machine;
  caches_.memory.use(core_.config.memory);
  data_path_.settle();
  step_aside(false);
  fetch_.settle();
  step_aside(breakpoints_.watching() || warming_ || each_);
  pipes_.empty();
}

void Pentium::pause(bool on) {
  set_timing(!on);
  fetch_.drop_page();
  prediction_.forget();
}

void Pentium::set_breakpoints(const std::array<Linear, 4>& addresses, uint32_t control) {
  breakpoints_.set(addresses, control);
  step_aside(breakpoints_.watching() || warming_ || each_);
  set_timing(core_.timing_on);
}

// --- the state ------------------------------------------------------------------------------

void Pentium::set_state(const State& state) {
  const State& old = core_.state;
  transfers_.arrive(state);
  if (state.mode != old.mode) {
    core_.count(mode_event(state.mode));
    if (rule(Rule::ModeColumn)) core_.clocks = core_.timing.clocks(timing_mode(state.mode));
  }
  if (state.cr3 != old.cr3 || state.ring != old.ring) {
    fold();
    core_.use_bank(state.cr3, state.ring);
  }
  if (state.paging != old.paging) fetch_.drop_page();
  // On x86-64 a change of CR0.PG or CR4.PGE empties the TLBs [AMD64 5.5].
  if (kX86_64 && (state.paging != old.paging || state.global_pages != old.global_pages)) {
    flush_tlbs(true);
  }
  core_.state = state;
  translation_.set_paging(state.paging);
  caches_.set_caching(state.caching);
}

void Pentium::load_cr3(Space value) {
  core_.count(value == core_.state.cr3 ? Cr3Unchanged : Cr3Changed);
  flush_tlbs(!core_.state.global_pages);
}

void Pentium::flush_tlbs(bool global_too) {
  translation_.flush(global_too);
  prediction_.load_cr3();
  fetch_.drop_page();
}

void Pentium::invalidate_page(Linear linear) {
  translation_.invalidate_page(linear);
  fetch_.drop_page();  // INVLPG is serialising [INTEL-DM]
}

void Pentium::flush_caches(bool write_back) {
  caches_.flush(write_back);
  fetch_.drop_page();
}

void Pentium::write_tr12(uint32_t value) {
  tr12_ = value;
  prediction_.allocate(!(rule(Rule::Tr12NoPrediction) && value & kNoBranchPrediction));
  pipes_.set_single(rule(Rule::Tr12SinglePipe) && value & kSinglePipe);
  serialize();  // so that the next instruction finds it
}

void Pentium::idle(uint64_t clocks) {
  fold();
  core_.clock += clocks;
  core_.folded = core_.clock;
  core_.count(CyclesIdle, clocks);
}

}  // namespace p5
