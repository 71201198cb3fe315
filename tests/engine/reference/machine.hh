// SPDX-License-Identifier: MIT
// Reference model for all memory events that the model counts: both L1 caches, the TLBs, page walks
// and the board's L2. It executes one access after another, and does not model time. It is written
// from the descriptions in INTEL-DM ch. 2, 3 and 16.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "cache.hh"
#include "tlb.hh"

namespace reference {

struct MachineGeometry {
  Geometry l1i, l1d, l2;
  bool has_l2 = true;
};

class Machine {
 public:
  using Count = std::map<std::string, uint64_t>;

  // `entry_at` reads a page-table entry from physical memory.
  Machine(const MachineGeometry& geometry, uint32_t directory,
          const std::function<uint32_t(uint32_t)>& entry_at)
      : geometry_(geometry),
        l1i_(geometry.l1i),
        l1d_(geometry.l1d),
        l2_(geometry.l2),
        directory_(directory),
        entry_at_(entry_at) {}

  // One instruction of one byte.
  void execute(uint32_t linear) {
    count["instructions"]++;
    const uint32_t line = linear / geometry_.l1i.line;
    const bool straight_on = linear == next_ && line == fetched_line_;
    next_ = linear + 1;
    if (straight_on) return;
    fetched_line_ = line;
    if (!itlb_.lookup(linear / 4096)) {
      count["itlb_misses"]++;
      walk(linear);
      itlb_.insert(linear / 4096);  // also for a 4 MB page
    }
    const uint32_t physical = translate(linear);
    count["code_reads"]++;
    if (l1i_.access(physical, false, true).hit) return;
    count["code_misses"]++;
    drop_from_data_cache(physical);  // before the read, because L1D may have changed the line
    read_beyond(physical);
  }

  enum class Kind { Read, Write, ReadWrite, Locked };

  void data(uint32_t linear, uint32_t bytes, Kind kind) {
    if (!dtlb_large_.lookup(linear >> 22) && !dtlb_.lookup(linear >> 12)) {
      count["dtlb_misses"]++;
      if (walk(linear)) {
        dtlb_large_.insert(linear >> 22);
      } else {
        dtlb_.insert(linear >> 12);
      }
    }
    // Splits the operand into pieces. No piece crosses a boundary of 4 bytes (operands up to 4
    // bytes) or 8 bytes (longer operands).
    const uint32_t limit = bytes <= 4 ? 4 : 8;
    if (linear % limit + bytes > limit) count["misaligned"]++;
    for (uint32_t at = linear; at < linear + bytes; at = (at / limit + 1) * limit) {
      const uint32_t physical = translate(linear) + (at - linear);
      if (kind == Kind::Locked) locked(physical);
      if (kind == Kind::Read || kind == Kind::ReadWrite) read(physical);
      if (kind == Kind::Write || kind == Kind::ReadWrite) write(physical);
    }
  }

  void load_cr3() {
    itlb_.flush();
    dtlb_.flush();
    dtlb_large_.flush();
    fetched_line_ = kNoLine;
  }

  void invalidate_page(uint32_t linear) {
    itlb_.invalidate(linear >> 12);
    dtlb_.invalidate(linear >> 12);
    dtlb_large_.invalidate(linear >> 22);
    fetched_line_ = kNoLine;
  }

  void write_back_and_invalidate() {
    count["l1d_writebacks"] += l1d_.invalidate_all();
    l1i_.invalidate_all();
    l2_.invalidate_all();
    fetched_line_ = kNoLine;
  }

  // The processor sets an accessed or dirty bit in a locked cycle.
  void mark_page(uint32_t entry) {
    count["locked_cycles"]++;
    drop_from_data_cache(entry);
    read_beyond(entry);
    write_beyond(entry);
  }

  uint32_t translate(uint32_t linear) const {
    const uint32_t upper = entry_at_(directory_ + linear / (1u << 22) * 4);
    if (upper & 0x80) return (upper & 0xFFC00000) + linear % (1u << 22);
    return (entry_at_((upper & ~0xFFFu) + linear / 4096 % 1024 * 4) & ~0xFFFu) + linear % 4096;
  }

  Count count;

 private:
  static constexpr uint32_t kNoLine = ~0u;

  // Reads the page tables. Returns true for a 4 MB page. These reads do not fill L1D. If L1D
  // contains the entry in a modified line, L1D first writes this line back.
  bool walk(uint32_t linear) {
    const uint32_t upper = directory_ + linear / (1u << 22) * 4;
    walk_read(upper);
    if (entry_at_(upper) & 0x80) return true;
    walk_read((entry_at_(upper) & ~0xFFFu) + linear / 4096 % 1024 * 4);
    return false;
  }

  void walk_read(uint32_t entry) {
    if (l1d_.clean(entry)) {
      count["l1d_writebacks"]++;
      write_beyond(entry);
    }
    count["walk_reads"]++;
    read_beyond(entry);
  }

  void read(uint32_t physical) {
    count["data_reads"]++;
    const Outcome outcome = l1d_.access(physical, false, true);
    if (outcome.hit) return;
    count["data_read_misses"]++;
    l1i_.invalidate(physical);
    bring_in(physical, outcome);
  }

  void write(uint32_t physical) {
    count["data_writes"]++;
    const Outcome outcome = l1d_.access(physical, true, true);
    if (!outcome.hit)
      count["data_write_misses"]++;
    else if (!outcome.through)
      count["write_hits_me"]++;
    if (outcome.filled) bring_in(physical, outcome);
    if (outcome.through) {
      l1i_.invalidate(physical);
      write_beyond(physical);
    }
  }

  void locked(uint32_t physical) {
    for (const char* event :
         {"data_reads", "data_read_misses", "data_writes", "data_write_misses", "locked_cycles"}) {
      count[event]++;
    }
    drop_from_data_cache(physical);
    l1i_.invalidate(physical);
    read_beyond(physical);
    write_beyond(physical);
  }

  void bring_in(uint32_t physical, const Outcome& outcome) {
    read_beyond(physical);
    if (outcome.write_back) {
      count["l1d_writebacks"]++;
      write_beyond(*outcome.displaced);
    }
  }

  void drop_from_data_cache(uint32_t physical) {
    if (l1d_.invalidate(physical)) {
      count["l1d_writebacks"]++;
      write_beyond(physical);
    }
  }

  void read_beyond(uint32_t physical) {
    if (!geometry_.has_l2) {
      count["dram_reads"]++;
      return;
    }
    count["l2_reads"]++;
    const Outcome outcome = l2_.access(physical, false, true);
    if (!outcome.hit) {
      count["l2_read_misses"]++;
      count["dram_reads"]++;
    }
    count["dram_writes"] += outcome.write_back;
  }

  void write_beyond(uint32_t physical) {
    if (!geometry_.has_l2) {
      count["dram_writes"]++;
      return;
    }
    count["l2_writes"]++;
    const Outcome outcome = l2_.access(physical, true, true);
    count["l2_write_misses"] += !outcome.hit;
    count["dram_writes"] += outcome.through || outcome.write_back;
  }

  MachineGeometry geometry_;
  Cache l1i_, l1d_, l2_;
  Tlb itlb_{32, 4, "plru"}, dtlb_{64, 4, "plru"}, dtlb_large_{8, 4, "plru"};
  uint32_t directory_;
  std::function<uint32_t(uint32_t)> entry_at_;
  uint32_t next_ = kNoLine, fetched_line_ = kNoLine;
};

}  // namespace reference
