// SPDX-License-Identifier: MIT
#include "data_path.hh"

#include <algorithm>

namespace p5 {

DataPath::DataPath(Core& core, Caches& caches, Translation& translation, Pipes& pipes,
                   const X87& x87)
    : line_(core.machine.l1d.line),
      line_shift_(uint32_t(__builtin_ctz(line_))),
      core_(core),
      caches_(caches),
      translation_(translation),
      pipes_(pipes),
      x87_(x87) {}

void DataPath::untranslated(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                            bool first_piece) {
  walked_ = false;
  page_bits_ = translation_.data(linear, &walked_);
  if (page_bits_ == 0) {
    translated(core_, caches_, pipes_, linear, physical, bytes, kind, first_piece);
  } else {
    pipes_.access(core_, physical);
    slow(linear, physical, bytes, kind, first_piece);
    page_bits_ = 0;
  }
  walked_ = false;
}

// What a misaligned access costs beside its parts.
inline void DataPath::misaligned(DataKind kind) {
  core_.count(Misaligned);
  auto& miscount = core_.bank->miscount;
  if (x87_.stored()) miscount[MisalignedStores]++;
  const uint32_t clocks = rule(Rule::Misaligned) ? core_.config.misaligned_clocks : 0;
  if (kind == DataKind::Write)
    core_.clock += clocks;
  else
    core_.stall_until(core_.clock + clocks, StallRead);
  if (kind != DataKind::Write && !walked_) miscount[MisalignedReads]++;
  if (kind != DataKind::Read) miscount[WriteParts]++;
}

inline void DataPath::part(uint32_t physical, DataKind kind) {
  if (rule(Rule::LockedOnBus) && locked_) return caches_.locked_access(physical);
  if (kind == DataKind::Read && core_.clock >= fill_done_ && caches_.l1d.quick_read(physical)) {
    core_.count(DataReads);
    return;
  }
  if (kind != DataKind::Write) read(physical);
  if (kind != DataKind::Read) write(physical);
}

void DataPath::slow(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                    bool first_piece) {
  // On x86-64 the operand is up to 8 bytes wherever in a line (estimate: as long as what memory
  // transfers at once), longer ones come in pieces of 8.
  if (kX86_64 && bytes > 8) {
    slow(linear, physical, 8, kind, false);
    return slow(linear + 8, physical + 8, bytes - 8, kind, first_piece);
  }
  // Operands of 2 and 4 bytes are misaligned when they cross 4 bytes, longer ones when they
  // cross 8 (10 bytes are 8 and 2); each part is an access of its own [INTEL-DM 16].
  const uint32_t shift = kX86_64 ? line_shift_ : bytes <= 4 ? 2 : 3, grain = 1u << shift;
  const uint32_t offset = linear & (grain - 1);
  const uint32_t parts = rule(Rule::MisalignedTwice) ? (offset + bytes + grain - 1) >> shift : 1;
  const bool crosses = first_piece || offset + std::min(bytes, grain) > grain;
  const uint64_t misses = core_.bank->count[DataReadMisses];
  if (crosses) misaligned(kind);
  uint32_t at = physical;
  for (uint32_t i = 0; i < parts; i++) {
    part(at, kind);
    at = (at & ~(grain - 1)) + grain;
  }
  // The second part found the line on its way.
  if (crosses && parts > 1 && core_.bank->count[DataReadMisses] == misses + 1 &&
      line_of(physical ^ at) == 0) {
    core_.bank->miscount[MisalignedMisses]++;
  }
}

void DataPath::read(uint32_t physical) {
  core_.count(DataReads);
  if (!caches_.cacheable(physical)) {
    if (core_.observer) core_.observer->uncached_read(DataReadMisses);
    core_.count(DataReadMisses);
    core_.count(UncachedReads);
    return core_.wait(caches_.memory.uncached(core_.clock), StallRead);
  }
  const Fill fill_state = caches_.fill_state(page_bits_);
  if (core_.observer) core_.observer->read(physical, fill_state);
  const uint32_t line = line_of(physical);
  const CacheAccess access = caches_.l1d.access(physical, false, fill_state);
  if (core_.observer) core_.observer->used_line(physical);
  if (access.hit) {
    // A second reference to a line that is being filled waits for all of it [INTEL-OPT].
    if (rule(Rule::FillWhole) && line == filling_) core_.wait(fill_done_, StallRead);
    return;
  }
  core_.count(DataReadMisses);
  caches_.l1i.invalidate(physical);  // as a data read miss does [INTEL-DM 3]
  if (!access.filled) return caches_.read_noncacheable(physical, StallRead);
  const Memory::Line fill = caches_.read_line(physical);
  start_fill(line, fill, access);
  core_.wait(fill.first, StallRead);
}

// L1D takes in a line; the dirty one in its place is written back after it [INTEL-DM 3].
void DataPath::start_fill(uint32_t line, const Memory::Line& fill, const CacheAccess& access) {
  filling_ = line;
  fill_done_ = fill.complete;
  if (access.victim_dirty) caches_.write_back(access.victim, fill.complete);
}

void DataPath::write(uint32_t physical) {
  const uint32_t line = line_of(physical);
  if (line == caches_.missed) return write_again(pipes_.pipe());
  core_.count(DataWrites);
  if (!caches_.cacheable(physical)) return write_uncached();
  const Fill state = caches_.write_state(page_bits_);
  if (core_.observer) core_.observer->write(physical, state);
  const CacheAccess access = caches_.l1d.access(physical, true, state);
  if (core_.observer) core_.observer->used_line(physical);
  if (!access.hit) {
    core_.count(DataWriteMisses);
  } else if (!access.through) {
    core_.count(WriteHitsME);
    if (core_.observer) core_.observer->counted_write_hit();
    wait_for_writes(core_, caches_);
  }
  if (access.filled) start_fill(line, caches_.read_line(physical), access);
  if (access.through) {
    caches_.l1i.invalidate(physical);  // as a write on the bus does [INTEL-DM 3]
    core_.wait(caches_.memory.write_single(physical, core_.clock, pipes_.pipe(), *core_.bank),
               StallWrite);
    // With a cache that allocates on writes the line is there the next time; with a hit in a
    // write-through L1D the replacement order changes: both are no mere repetition.
    const bool same_again = !access.hit && !access.filled && !core_.config.memory.l2.write_allocate;
    caches_.missed = same_again ? line : Caches::kNoLine;
  }
}

// Another write to the line that the last one missed: the caches answer as before.
void DataPath::write_again(Pipe pipe) {
  if (core_.observer) core_.observer->write(caches_.missed, caches_.write_state(page_bits_));
  core_.count(DataWrites);
  core_.count(DataWriteMisses);
  core_.wait(caches_.memory.write_again(core_.clock, pipe, *core_.bank), StallWrite);
}

void DataPath::write_uncached() {
  if (core_.observer) core_.observer->uncached_write();
  core_.count(DataWriteMisses);
  core_.count(UncachedWrites);
  core_.wait(caches_.memory.write_uncached(core_.clock, pipes_.pipe()), StallWrite);
}

}  // namespace p5
