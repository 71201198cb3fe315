// SPDX-License-Identifier: MIT
// What are shadows? Shadows are other cache and TLB geometries that observe the chip in the same
// run. Each shadow counts the misses that the chip would have with the shadow's geometry. Shadows
// do not influence the run, need no virtual time, and count no cycles.
//
// How do the shadows keep the simulation fast?
//   - A filter (recent.hh) drops the references that change nothing in any geometry. The chip does
//     not even report most of these references, because the chip's shortcuts answer them.
//   - The other references are recorded. The shadows play recorded references in batches to one
//     geometry after another, so that the tags of one geometry stay in the host's caches.
//   - A thread plays the batches while the chip records the next ones. The run waits for it before
//     it reads counts, so the counts do not depend on it, and no thread runs while a process forks.
//   - A geometry consists of a front (TLBs and L1 caches, front.hh) and an L2 (shadow_l2.hh).
//     Geometries with equal fronts share one front. L2s that contain the same lines are simulated
//     as one L2.
#pragma once

#include <bitset>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "measure/access_listener.hh"
#include "measure/front.hh"
#include "measure/miss_counts.hh"
#include "measure/recent.hh"
#include "measure/shadow_l2.hh"
#include "p5/config.hh"
#include "p5/counters.hh"
#include "p5/isa.hh"
#include "p5/memory_observer.hh"

namespace measure {

class Shadows final : public p5::MemoryObserver {
 public:
  // Creates one shadow for each configuration. All configurations have L1 lines of the same length.
  // If `filter` is false, every geometry simulates every reference. This changes no count. With a
  // `listener` there is only one geometry and no filter. The listener sees each access of this
  // geometry.
  explicit Shadows(const std::vector<p5::Config>& configs, bool filter = true,
                   AccessListener* listener = nullptr);

  // --- what the chip reports (memory_observer.hh)

  void attach(const p5::Shortcuts& shortcuts) override;
  void use(const p5::Bank& bank) override;
  void settle() override {
    play();
    wait();
  }
  void read(uint32_t address, p5::Fill fill) override;
  void write(uint32_t address, p5::Fill fill) override;
  void code(uint32_t address, p5::Fill fill) override;
  void used_line(uint32_t address) override { lines_.limit(address >> line_shift_, write_back_); }
  void used_code(uint32_t address) override { code_.limit(address >> line_shift_, false); }
  void counted_write_hit() override { (*common_)[p5::WriteHitsME]--; }
  void locked(uint32_t address) override;
  void table_update(uint32_t address) override;
  void snoop(uint32_t address, bool write) override;
  void uncached_read(p5::Event miss) override {
    (*common_)[miss]++;
    (*common_)[p5::UncachedReads]++;
  }
  void uncached_write() override { (*common_)[p5::DataWriteMisses]++; }
  bool knows_page(p5::Linear linear) override {
    return pages_.find(page_of(linear)) || large_pages_.find(large_page_of(linear));
  }
  bool knows_code_page(p5::Linear linear) override { return code_pages_.find(page_of(linear)); }
  void data_page(p5::Linear linear, const p5::PageWalk& walk) override;
  void code_page(p5::Linear linear, const p5::PageWalk& walk) override;
  void used_page(p5::Linear linear) override {
    pages_.limit(page_of(linear), false);
    large_pages_.limit(large_page_of(linear), false);
  }
  void page_fault(p5::Linear linear, bool code, bool present, const p5::PageWalk& walk) override;
  void flush_tlbs() override;
  void flush_page(p5::Linear linear) override;
  void flush_caches(bool write_back) override;

  // --- results

  size_t size() const { return shadows_.size(); }
  // The banks that the chip has used, in order of their first use.
  const std::vector<const p5::Bank*>& banks() const { return banks_; }
  // Returns the numbers of the banks that were used since the last call, in ascending order.
  std::vector<uint32_t> used();
  // The next call of used() returns all banks.
  void use_all();
  // Gives the recorded references to the thread, which plays them. settle() also waits for it.
  void play();
  // Returns the counts of a shadow in a bank up to now.
  MissCounts counts(size_t shadow, size_t bank);

 private:
  static constexpr uint32_t kNone = ~0u;
  static constexpr size_t kBatch = 16384;  // references: 128 KB
  static constexpr size_t kBatches = 64;   // that wait for the thread

  static uint32_t page_of(p5::Linear linear) { return uint32_t(linear) >> kPageShift; }
  static uint32_t large_page_of(p5::Linear linear) { return uint32_t(linear) >> kLargeShift; }

  struct Batch {
    std::vector<Reference> references;
    std::vector<p5::PageWalk> walks;  // of the references to pages
  };
  void play(const Batch& batch);
  void play_batches();
  void wait() {
    if (playing_.valid()) playing_.get();
  }
  void record(Reference::Kind kind, uint32_t address, p5::Fill fill = p5::Fill::Exclusive,
              bool flag = false);
  void record_page(Reference::Kind kind, uint32_t linear, const p5::PageWalk& walk,
                   bool present = true);
  void record_first(Recent& recent, Reference::Kind kind, uint32_t key, uint32_t shift);
  bool counts_write_hit(uint32_t address);
  bool repeats_last_write(uint32_t address, p5::Fill fill) const;
  // Returns whether L1I may contain a line.
  bool coded(uint32_t address) const { return !filter_ || coded_[address >> kPageShift]; }
  void forget(uint32_t address);       // a line that may leave some L1D
  void forget_code(uint32_t address);  // a line that may leave some L1I
  void forget_pages(uint32_t linear, bool code);
  bool mixed(uint32_t linear, bool large);

  Batch recorded_;               // not played yet
  uint32_t last_write_ = kNone;  // number of the last reference, if it is a write
  // Counts of the current bank that are the same in every geometry. The write hits in these counts
  // are the sum of two numbers: the hits that the chip's shortcuts count, and the hits that the
  // filter counts.
  MissCounts* common_ = nullptr;
  const p5::Bank* bank_ = nullptr;
  uint32_t number_ = 0;      // of the current bank
  bool bank_known_ = false;  // the recorded references contain the current bank
  bool filter_;
  bool write_back_;                     // every L1D is write-back
  bool all_allocate_, none_allocates_;  // every L1D, no L1D: on a write miss
  uint32_t line_shift_;
  Recent lines_, code_, pages_, large_pages_, code_pages_;
  // Areas of 4 MB in which small and large pages were seen since the last flush of the TLBs. If an
  // area has pages of both sizes, a page can be in either TLB. References to such an area are
  // therefore not filtered.
  std::bitset<1024> small_, large_;
  // Physical pages from which the chip has ever fetched code.
  std::bitset<1 << 20> coded_;

  struct Behind {  // L2s that are played together
    size_t front, bus;
    std::unique_ptr<L2s> l2s;
  };
  struct Shadow {
    p5::MemoryConfig board;
    size_t front, behind;
  };
  std::vector<Front> fronts_;
  std::vector<Behind> behind_;
  std::vector<Shadow> shadows_;
  std::vector<std::unique_ptr<MissCounts>> commons_;  // [bank]
  std::vector<const p5::Bank*> banks_;
  std::unordered_map<const p5::Bank*, uint32_t> numbers_;
  std::vector<uint32_t> used_;
  std::vector<bool> is_used_;  // [bank] is in used_
  std::mutex mutex_;           // of the following members
  std::condition_variable taken_;
  std::deque<Batch> batches_;  // that wait for the thread
  bool plays_ = false;         // the thread looks for another batch
  std::future<void> playing_;  // the thread; it ends before the members that it uses
};

}  // namespace measure
