// SPDX-License-Identifier: MIT
#include "p5/caches.hh"

#include <algorithm>

namespace p5 {

Caches::Caches(Core& core)
    : l1d(core.machine.l1d),
      l1i(core.machine.l1i),
      memory(core.machine.memory),
      core_(core),
      line_(core.machine.l1d.line),
      pages_((core.machine.dram_bytes + 4095) >> 12),
      cacheable_(std::make_unique<uint8_t[]>(pages_)) {
  std::fill_n(cacheable_.get(), pages_, 1);
  for (const auto& [first, last] : core.machine.uncached) {
    for (uint64_t page = first >> 12; page <= last >> 12 && page < pages_; page++) {
      cacheable_[page] = 0;
    }
  }
}

Memory::Line Caches::fill_instrumented(uint32_t physical, Line line) {
  const Ideal& ideal = core_.config.ideal;
  if (line == Line::Code ? ideal.code_lines : ideal.data_lines) {
    memory.count_read(physical, *core_.bank, Fill::Exclusive);
    return {0, 0};
  }
  memory.grant_before(core_.clock);
  return explained([&] { return memory.read_line(physical, core_.clock, *core_.bank); });
}

template <class Read>
Memory::Line Caches::explained(const Read& read) {
  grant_.clock = memory.bus_free();
  grant_.by = memory.taken_by();
  const uint64_t before = core_.bank->count[DramReads];
  const Memory::Line found = read();
  // With an ideal L2, a line of DRAM takes the time of L2.
  grant_.from_dram = core_.bank->count[DramReads] != before && !core_.config.memory.ideal_l2;
  return found;
}

Memory::Line Caches::read_ahead(uint32_t physical, uint64_t from, uint32_t overhead) {
  missed = kNoLine;
  if (!core_.fills_instrumented) return memory.read_line(physical, from, *core_.bank, overhead);
  if (core_.config.ideal.code_lines) return fill_instrumented(physical, Line::Code);
  return explained([&] { return memory.read_line(physical, from, *core_.bank, overhead); });
}

void Caches::explain_line(uint64_t until, Event stall, Event from_l2, Event from_dram,
                          const Grant& grant) {
  if (until <= core_.clock || !core_.config.feedback) return;
  const uint64_t granted = std::clamp(grant.clock, core_.clock, until);
  core_.move(stall, grant.from_dram ? from_dram : from_l2, until - granted);
  if (granted > core_.clock) core_.move(stall, grant.by, granted - core_.clock);
}

void Caches::locked_access(uint32_t physical, uint32_t end) {
  core_.count(DataReads);
  core_.count(DataReadMisses);
  core_.count(DataWrites);
  core_.count(DataWriteMisses);
  core_.count(LockedCycles);
  if (!cacheable(physical)) {
    if (core_.observer) {
      core_.observer->uncached_read(DataReadMisses);
      core_.observer->uncached_write();
    }
    core_.count(UncachedReads);
    core_.count(UncachedWrites);
    const uint64_t read = memory.uncached(core_.clock, uncached_clocks(physical, end, false));
    core_.wait(memory.uncached(read, uncached_clocks(physical, end, true)), StallRead, CpiUncached);
    return;
  }
  take_from_l1d(physical);
  l1i.invalidate(physical);
  missed = kNoLine;
  const uint64_t arrives = memory.read_single(physical, core_.clock, *core_.bank);
  if (core_.observer) core_.observer->locked(physical);
  core_.wait(arrives, StallRead, CpiLocked);
  memory.write_single(physical, core_.clock, Pipe::U, *core_.bank);
  core_.wait(memory.writes_done(), StallWrite, CpiLocked);
}

void Caches::table_update(uint32_t physical) {
  core_.count(LockedCycles);
  take_from_l1d(physical);
  read_table(physical, CpiPageTables);
  if (core_.observer) core_.observer->table_update(physical);
  memory.write_single(physical, core_.clock, Pipe::U, *core_.bank);
  core_.wait(memory.writes_done(), StallWalk, CpiPageTables);
}

void Caches::bus_master(uint32_t physical, uint32_t bytes, bool write) {
  missed = kNoLine;
  const uint32_t end = physical + bytes, last = end - 1;
  for (uint32_t line = physical & ~(line_ - 1);; line += line_) {
    // Each line needs an inquire cycle. A modified line is written back before the bus master
    // accesses it [INTEL-DM 3, 6].
    core_.count(Snoops);
    core_.count(SnoopHits, l1d.holds(line));
    const uint32_t within = std::min(end - line, line_) - (physical > line ? physical - line : 0);
    memory.device_access(line, within, core_.clock, write, *core_.bank);
    if (core_.observer) core_.observer->snoop(line, write);
    const bool dirty = l1d.dirty(line);
    if (dirty && rule(Rule::InquireModified)) write_back(line, core_.clock);
    if (write && rule(Rule::InquireWrite)) {
      l1d.invalidate(line);
      l1i.invalidate(line);
    } else if (!write && rule(Rule::InquireRead)) {
      l1d.share(line);
    }
    if (last - line < line_) break;
  }
}

void Caches::flush(bool write_back) {
  if (core_.observer) core_.observer->flush_caches(write_back);
  const uint32_t dirty = l1d.invalidate_all();
  if (write_back) core_.count(L1dWritebacks, dirty);
  l1i.invalidate_all();
  memory.l2().invalidate_all();
  missed = kNoLine;
}

}  // namespace p5
