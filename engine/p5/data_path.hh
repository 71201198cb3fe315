// SPDX-License-Identifier: MIT
// The data path executes loads and stores in L1D. The data path waits for the write buffers and
// splits misaligned accesses. Locked and uncached accesses go to the bus.
#pragma once

#include <cstdint>

#include "base/bits.hh"
#include "p5/caches.hh"
#include "p5/core.hh"
#include "p5/pipes.hh"
#include "p5/translation.hh"

namespace p5 {

struct Chip;

enum class DataKind : uint8_t { Read, Write, ReadWrite };

class DataPath {
 public:
  explicit DataPath(const Config& config)
      : line_(config.l1d.line), line_shift_(base::log2_of(line_)) {}

  // `first_piece`: the access continues in the next page, and another call follows for the rest.
  void access(Core& core, Caches& caches, const Translation& translation, Pipes& pipes,
              Linear linear, uint32_t physical, uint32_t bytes, DataKind kind, bool first_piece) {
    if (__builtin_expect(!translation.quick_data(linear), 0)) {
      return untranslated(linear, physical, bytes, kind, first_piece);
    }
    translated(core, caches, pipes, linear, physical, bytes, kind, first_piece);
  }

  // Whether a write misses in the same way as the last write, which missed and filled no line. Its
  // page must be the page of the last write, and the write must be aligned.
  bool misses_again(const Caches& caches, uint32_t physical) const {
    return line_of(physical) == caches.missed && !locked_;
  }
  // Number of bytes from an address to the end of its line.
  uint32_t left_in_line(uint32_t physical) const { return line_ - (physical & (line_ - 1)); }
  // Counts writes that miss again.
  void count_again(Core& core, const Memory& memory, uint64_t writes) {
    core.count(DataWrites, writes);
    core.count(DataWriteMisses, writes);
    memory.count_again(*core.bank, writes);
  }

  // With `on`, the accesses of the current instruction are locked.
  void lock(bool on) { locked_ = on; }
  // Forgets a line fill that is in progress.
  void settle() { fill_done_ = 0; }

 private:
  // An access across a boundary of kGrain bytes goes to slow().
  static constexpr uint32_t kGrain = kX86_64 ? 8 : 4;

  // Executes an access to a page without PageBits.
  void translated(Core& core, Caches& caches, Pipes& pipes, Linear linear, uint32_t physical,
                  uint32_t bytes, DataKind kind, bool first_piece) {
    pipes.access(core, physical);
    if (__builtin_expect((linear & (kGrain - 1)) + bytes > kGrain || locked_ || first_piece, 0)) {
      return slow(linear, physical, bytes, kind, first_piece);
    }
    if (kind == DataKind::Read) {
      if (core.clock < fill_done_ || !caches.l1d.quick_read(physical)) {
        return read(physical, physical + bytes);
      }
      core.count(DataReads);
    } else if (core.clock >= fill_done_ && caches.l1d.quick_write(physical)) {
      core.count(DataReads, kind == DataKind::ReadWrite);
      core.count(DataWrites);
      core.count(WriteHitsME);
      wait_for_writes(core, caches);
    } else if (kind == DataKind::Write) {
      if (line_of(physical) == caches.missed) return write_again(physical, physical + bytes);
      write(physical, physical + bytes);
    } else {
      slow(linear, physical, bytes, kind, first_piece);
    }
  }
  // Strong ordering: a write to an exclusive or modified line waits until the write buffers are
  // empty [INTEL-DM 3].
  void wait_for_writes(Core& core, const Caches& caches) {
    const uint64_t done = caches.memory.writes_done();
    if (core.clock < done && rule(Rule::WriteOrder)) core.wait(done, StallWriteME);
  }

  Chip& chip();  // the chip that contains this part
  void untranslated(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind,
                    bool first_piece);
  void slow(Linear linear, uint32_t physical, uint32_t bytes, DataKind kind, bool first_piece);
  template <DataKind kind>  // so the compiler knows the kind
  [[gnu::noinline]] void slow(Linear linear, uint32_t physical, uint32_t bytes, bool first_piece);
  // Executes an access in parts of at most 2^shift bytes.
  [[gnu::always_inline]] void in_parts(Linear linear, uint32_t physical, uint32_t bytes,
                                       DataKind kind, bool first_piece, uint32_t shift);
  [[gnu::always_inline]] void misaligned(DataKind kind);
  // Execute an access, or a part of one. `end`: the address after the access.
  [[gnu::always_inline]] void part(uint32_t physical, uint32_t end, DataKind kind);
  void read(uint32_t physical, uint32_t end);
  void write(uint32_t physical, uint32_t end);
  // Executes another write to the line that the last write missed.
  void write_again(uint32_t physical, uint32_t end);
  [[gnu::always_inline]] void write_uncached(uint32_t physical, uint32_t end);
  void start_fill(uint32_t line, const Memory::Line& fill, const CacheAccess& access);
  uint32_t line_of(uint32_t physical) const { return physical & ~(line_ - 1); }

  uint64_t fill_done_ = 0;  // before this clock a line is being filled
  uint32_t line_;           // bytes in a line of L1D
  bool locked_ = false;
  bool walked_ = false;                 // the access missed the data TLBs
  uint32_t page_bits_ = 0;              // PageBits of the accessed page
  uint32_t filling_ = Caches::kNoLine;  // physical address of the line that is being filled
  uint32_t line_shift_;                 // log2 of line_
};

}  // namespace p5
