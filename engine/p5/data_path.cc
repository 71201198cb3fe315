// SPDX-License-Identifier: MIT
#include "p5/data_path.hh"

#include <algorithm>

#include "p5/chip.hh"

namespace p5 {

void DataPath::untranslated(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                            bool first_piece) {
  Core& core = chip().core;
  Pipes& pipes = chip().pipes;
  walked_ = false;
  page_bits_ = chip().translation.data(linear, &walked_);
  if (page_bits_ == 0) {
    translated(core, chip().caches, pipes, linear, physical, bytes, kind, first_piece);
  } else {
    pipes.access(core, physical);
    slow(linear, physical, bytes, kind, first_piece);
    page_bits_ = 0;
  }
  walked_ = false;
}

// Counts a misaligned access and charges its additional clocks. Its parts are counted separately.
inline void DataPath::misaligned(DataKind kind) {
  Core& core = chip().core;
  core.count(Misaligned);
  auto& miscount = core.bank->miscount;
  if (chip().x87.stored()) miscount[MisalignedStores]++;
  const uint32_t clocks = rule(Rule::Misaligned) ? core.config.misaligned_clocks : 0;
  if (kind == DataKind::Write)
    core.spend(CpiMisaligned, clocks);
  else
    core.stall_until(core.clock + clocks, StallRead, CpiMisaligned);
  if (kind != DataKind::Write && !walked_) miscount[MisalignedReads]++;
  if (kind != DataKind::Read) miscount[WriteParts]++;
}

inline void DataPath::part(uint32_t physical, uint32_t end, DataKind kind) {
  Core& core = chip().core;
  Caches& caches = chip().caches;
  if (rule(Rule::LockedOnBus) && locked_) return caches.locked_access(physical, end);
  if (kind == DataKind::Read && core.clock >= fill_done_ && caches.l1d.quick_read(physical)) {
    core.count(DataReads);
    return;
  }
  if (kind != DataKind::Write) read(physical, end);
  if (kind == DataKind::Read) return;
  if (line_of(physical) == caches.missed) return write_again(physical, end);
  write(physical, end);
}

void DataPath::slow(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                    bool first_piece) {
  if (kind == DataKind::Read) return slow<DataKind::Read>(linear, physical, bytes, first_piece);
  if (kind == DataKind::Write) return slow<DataKind::Write>(linear, physical, bytes, first_piece);
  slow<DataKind::ReadWrite>(linear, physical, bytes, first_piece);
}

template <DataKind kind>
void DataPath::slow(Linear linear, uint32_t physical, uint32_t bytes, bool first_piece) {
  // On x86-64, an operand of up to 8 bytes is misaligned only if it crosses a line (estimate:
  // memory transfers 8 bytes at once). A longer operand is accessed in pieces of 8 bytes.
  if (kX86_64 && bytes > 8) {
    slow<kind>(linear, physical, 8, false);
    return slow<kind>(linear + 8, physical + 8, bytes - 8, first_piece);
  }
  // An operand of 2 or 4 bytes is misaligned if it crosses a boundary of 4 bytes. A longer operand
  // is misaligned if it crosses a boundary of 8 bytes. An operand of 10 bytes has pieces of 8 and 2
  // bytes. Each part is a separate access [INTEL-DM 16].
  if (kX86_64) return in_parts(linear, physical, bytes, kind, first_piece, line_shift_);
  if (bytes <= 4) return in_parts(linear, physical, bytes, kind, first_piece, 2);
  in_parts(linear, physical, bytes, kind, first_piece, 3);
}

inline void DataPath::in_parts(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                               bool first_piece, uint32_t shift) {
  Core& core = chip().core;
  const uint32_t grain = 1u << shift;
  const uint32_t offset = linear & (grain - 1);
  const uint32_t parts = rule(Rule::MisalignedTwice) ? (offset + bytes + grain - 1) >> shift : 1;
  const bool crosses = first_piece || offset + std::min(bytes, grain) > grain;
  const uint64_t misses = core.bank->count[DataReadMisses];
  if (crosses) misaligned(kind);
  uint32_t at = physical;
  for (uint32_t i = 0; i < parts; i++) {
    part(at, physical + bytes, kind);
    at = (at & ~(grain - 1)) + grain;
  }
  // The second part used the line while the line was being filled.
  if (crosses && parts > 1 && core.bank->count[DataReadMisses] == misses + 1 &&
      line_of(physical ^ at) == 0) {
    core.bank->miscount[MisalignedMisses]++;
  }
}

void DataPath::read(uint32_t physical, uint32_t end) {
  Core& core = chip().core;
  Caches& caches = chip().caches;
  core.count(DataReads);
  if (!caches.cacheable(physical)) {
    if (core.observer) core.observer->uncached_read(DataReadMisses);
    core.count(DataReadMisses);
    core.count(UncachedReads);
    const uint32_t clocks = caches.uncached_clocks(physical, end, false);
    return core.wait(caches.memory.uncached(core.clock, clocks), StallRead, CpiUncached);
  }
  const Fill fill_state = caches.fill_state(page_bits_);
  const uint32_t line = line_of(physical);
  const CacheAccess access = caches.l1d.access(physical, false, fill_state);
  const auto tell = [&] {
    if (!core.observer) return;
    core.observer->read(physical, fill_state);
    core.observer->used_line(physical);
  };
  if (access.hit) {
    tell();
    // A second reference to a line that is being filled waits for the whole line [INTEL-OPT].
    if (rule(Rule::FillWhole) && line == filling_) core.wait(fill_done_, StallRead, CpiDataFill);
    return;
  }
  core.count(DataReadMisses);
  caches.l1i.invalidate(physical);  // a data read miss removes the line from L1I [INTEL-DM 3]
  if (!access.filled) {
    caches.read_noncacheable(physical, StallRead);
    return tell();
  }
  const Memory::Line fill = caches.read_line(physical, Caches::Line::Data);
  tell();
  start_fill(line, fill, access);
  caches.wait_for_line(fill.first, StallRead, CpiDataL2, CpiDataDram);
}

// L1D fills a line. If the replaced line is dirty, it is written back after the fill [INTEL-DM 3].
void DataPath::start_fill(uint32_t line, const Memory::Line& fill, const CacheAccess& access) {
  filling_ = line;
  fill_done_ = fill.complete;
  if (access.victim_dirty) chip().caches.write_back(access.victim, fill.complete);
}

inline void DataPath::write_uncached(uint32_t physical, uint32_t end) {
  Core& core = chip().core;
  if (core.observer) core.observer->uncached_write();
  core.count(DataWriteMisses);
  core.count(UncachedWrites);
  Caches& caches = chip().caches;
  const uint32_t clocks = caches.uncached_clocks(physical, end, true);
  core.wait(caches.memory.write_uncached(core.clock, chip().pipes.pipe(), clocks), StallWrite,
            CpiUncached);
}

void DataPath::write(uint32_t physical, uint32_t end) {
  Core& core = chip().core;
  Caches& caches = chip().caches;
  Pipes& pipes = chip().pipes;
  const uint32_t line = line_of(physical);
  core.count(DataWrites);
  if (!caches.cacheable(physical)) return write_uncached(physical, end);
  const Fill state = caches.write_state(page_bits_);
  const CacheAccess access = caches.l1d.access(physical, true, state);
  const auto tell = [&] {
    if (!core.observer) return;
    core.observer->write(physical, state);
    core.observer->used_line(physical);
  };
  if (!access.hit) {
    core.count(DataWriteMisses);
  } else if (!access.through) {
    core.count(WriteHitsME);
    tell();
    if (core.observer) core.observer->counted_write_hit();
    wait_for_writes(core, caches);
  }
  if (access.filled) {
    const Memory::Line fill = caches.read_line(physical, Caches::Line::Data);
    if (!access.through) tell();
    start_fill(line, fill, access);
  }
  if (access.through) {
    caches.l1i.invalidate(physical);  // a write on the bus removes the line from L1I [INTEL-DM 3]
    const uint64_t go_on =
        caches.memory.write_single(physical, core.clock, pipes.pipe(), *core.bank);
    tell();
    core.wait(go_on, StallWrite);
    // If this write has changed a cache, write_again() must not execute the next write. A cache
    // that allocates on writes has filled the line. A hit in a write-through L1D has changed the
    // replacement order.
    const bool same_again = !access.hit && !access.filled &&
                            !core.config.memory.l2.write_allocate &&
                            !core.config.memory.ideal_writes;
    caches.missed = same_again ? line : Caches::kNoLine;
  }
}

void DataPath::write_again(uint32_t physical, uint32_t end) {
  Core& core = chip().core;
  Caches& caches = chip().caches;
  // The L2 may have read this line ahead, as a line of code.
  caches.memory.grant_before(core.clock);
  if (caches.missed == Caches::kNoLine) return write(physical, end);
  if (core.observer) core.observer->write(caches.missed, caches.write_state(page_bits_));
  count_again(core, caches.memory, 1);
  core.wait(caches.memory.write_again(core.clock, chip().pipes.pipe()), StallWrite);
}

}  // namespace p5
