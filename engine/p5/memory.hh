// SPDX-License-Identifier: MIT
// When does data from outside of the processor arrive? This part models the bus, the board L2, DRAM
// and the two write buffers of the processor. The model computes times and contains no data.
//
// The bus executes one transaction after another. Each transaction starts at a bus clock edge.
// There is one exception: some chipsets accept the address of the next read while DRAM delivers a
// line (NA#). The processor has at most two reads on the bus [INTEL-DM 6].
// There are two clock domains: `core_clocks` clocks of the core take as long as `bus_clocks` clocks
// of the bus. Some reads make the core wait. Such a read starts `miss_overhead` core clocks after
// two conditions hold: the core has requested the read, and the bus is free. With a `miss_overhead`
// of 4 [INTEL-OPT: minimum], the model reproduces measured pointer-chase latencies. The measured
// boards have the same burst patterns. Reads never overtake writes [INTEL-DM 3].
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "p5/cache.hh"
#include "p5/counters.hh"
#include "p5/rules.hh"

namespace p5 {

// Bus clocks of a burst of four 8-byte transfers (such as "3-2-2-2") and of single transfers.
struct BusPattern {
  uint32_t burst[4] = {0, 0, 0, 0};
  uint32_t single_read = 0;
  uint32_t single_write = 0;

  uint32_t burst_total() const { return burst[0] + burst[1] + burst[2] + burst[3]; }
};
// Reads four positive numbers, as in "3-2-2-2". Returns false if the text has another form.
bool parse_burst(const std::string& text, uint32_t (*burst)[4]);

// The pipe of an instruction. Each pipe has a write buffer [INTEL-DM 3].
enum class Pipe : uint8_t { U, V };

// A read that gives way to all others: the next line of code (fetch_ahead.hh).
class Waiting {
 public:
  virtual ~Waiting() = default;
  // The bus is free, and nothing else uses it. The read may start at clock `from`.
  virtual void granted(uint64_t from) = 0;
};

struct MemoryConfig {
  uint32_t core_clocks = 3, bus_clocks = 2;  // 3 core clocks are 2 bus clocks: 90 and 60 MHz
  bool l2_present = true;
  CacheConfig l2;
  BusPattern l2_read, l2_write;  // bursts are line fills (read) and write-backs (write)
  BusPattern dram_read, dram_write;
  uint32_t miss_overhead = 4;    // core clocks before a line fill
  uint32_t walk_overhead = 4;    // core clocks before a page-table read
  uint32_t uncached_clocks = 0;  // core clocks of one uncached transfer
  // Core clocks between the entry of a write into the buffer and the earliest start of its bus
  // transaction (estimate). If the next store must wait for the same buffer, the bus is idle during
  // these clocks. Two stores that pair use both buffers, and the bus is not idle.
  uint32_t buffer_clocks = 1;
  // Number of 8-byte writes to DRAM that the chipset accepts at the speed of an L2 write. Further
  // writes make the bus wait.
  uint32_t post_buffer = 4;
  uint32_t dram_page = 4096;  // bytes of one open DRAM page (row), a power of two
  uint32_t snoop_clocks = 2;  // bus clocks of one inquire cycle
  uint32_t page_miss = 0;     // bus clocks that a change of the DRAM page adds
  // Core clocks from one refresh of DRAM to the next (0: no refresh), and the bus clocks that one
  // refresh takes. A refresh closes the DRAM page.
  uint32_t refresh_interval = 0, refresh_clocks = 0;
  // The chipset accepts the address of the next read while DRAM delivers a line (NA#).
  bool pipelined = false;
  bool ideal_l2 = false;      // an access that misses L2 takes the time of a hit
  bool ideal_writes = false;  // writes of the write buffers take no time

  // From now on, L2, DRAM and the bus take no time. Uncached transfers keep their time.
  void answer_at_once();
};

// Divides by a small number that is known only at run time. To save time, the class multiplies by
// the reciprocal of this number. The quotient is exact for dividends below 2^58 and divisors up to
// 64.
class Divider {
 public:
  explicit Divider(uint32_t divisor)
      : divisor_(divisor), reciprocal_(divisor > 1 ? ~uint64_t(0) / divisor + 1 : 0) {}
  uint64_t quotient(uint64_t value) const {
    if (!reciprocal_) return value;
    return uint64_t(static_cast<unsigned __int128>(value) * reciprocal_ >> 64);
  }
  uint64_t round_up(uint64_t value) const { return quotient(value + divisor_ - 1) * divisor_; }

 private:
  uint32_t divisor_;
  uint64_t reciprocal_;
};

class Memory {
 public:
  explicit Memory(const MemoryConfig& config)
      : config_(config),
        l2_(config.l2, false),
        unit_(config.bus_clocks),
        edge_(config.core_clocks),
        by_unit_(config.bus_clocks),
        by_edge_(config.core_clocks),
        posted_(config.post_buffer, 0),
        page_mask_(~(config.dram_page - 1)) {
    take_times();
  }

  // The core clocks at which the requested 8 bytes and the whole line arrive.
  struct Line {
    uint64_t first, complete;
  };
  Line read_line(uint32_t address, uint64_t now, Bank& bank) {
    return read_line(address, now, bank, rule(Rule::MissOverhead) ? config_.miss_overhead : 0);
  }
  // `overhead`: core clocks that pass after the bus is free.
  Line read_line(uint32_t address, uint64_t now, Bank& bank, uint32_t overhead);

  // Reads up to 8 bytes without a line fill (page tables, locked reads). Returns the core clock at
  // which the data arrives.
  uint64_t read_single(uint32_t address, uint64_t now, Bank& bank) {
    return read_single(address, now, bank, config_.walk_overhead, Fill::Exclusive);
  }
  // Reads up to 8 bytes of memory. The read fills no cache line, but the L2 may already contain the
  // data.
  uint64_t read_noncacheable(uint32_t address, uint64_t now, Bank& bank) {
    return read_single(address, now, bank, config_.miss_overhead, Fill::None);
  }

  // Count a line fill, a read of up to 8 bytes, or a write-back that takes no time.
  void count_read(uint32_t address, Bank& bank, Fill fill);
  void count_write(uint32_t address, Bank& bank);

  // Makes one transfer to or from uncached space, which takes this number of core clocks. Returns
  // the core clock at which the transfer ends.
  uint64_t uncached(uint64_t now, uint32_t clocks);
  uint64_t uncached(uint64_t now) { return uncached(now, config_.uncached_clocks); }

  // Writes up to 8 bytes through the pipe's write buffer. Returns the core clock at which the core
  // may continue: `now`, or later if the buffer is full.
  uint64_t write_single(uint32_t address, uint64_t now, Pipe pipe, Bank& bank);
  // Writes again to the line of the last write_single(). No read may come in between, and none may
  // wait that grant_before() would start. The write then hits or misses in the L2 like the last
  // write. count_again() counts such writes.
  uint64_t write_again(uint64_t now, Pipe pipe) {
    return post_write(now, pipe, last_write_fast_ ? 0 : open_for_write(now));
  }
  void count_again(Bank& bank, uint64_t writes) const;
  uint64_t write_uncached(uint64_t now, Pipe pipe, uint32_t clocks);

  // Writes a line back. The core does not wait for the write-back.
  void write_line(uint32_t address, uint64_t now, Bank& bank);

  // Another bus master accesses `bytes` of a line. The inquire cycle occupies the bus, and the data
  // occupy DRAM. If the access is a write, the line is removed from the board L2.
  void device_access(uint32_t address, uint32_t bytes, uint64_t now, bool write, Bank& bank);

  // A read gives way to the reads and writes of the executed instructions. The bus takes it at
  // clock `from` or later, when it is free and nothing else wants it. Only one read can wait.
  void wait(uint64_t from) { waiting_from_ = from; }
  bool waits() const { return waiting_from_ != kNever; }
  void stop_waiting() { waiting_from_ = kNever; }
  // Starts the waiting read if the bus has taken it before clock `now`.
  void grant_before(uint64_t now) {
    if (__builtin_expect(now > waiting_from_, 0)) grant_if_free(now);
  }
  // Starts the waiting read in any case.
  void grant() {
    const uint64_t from = waiting_from_;
    stop_waiting();
    waiting->granted(from);
  }
  Waiting* waiting = nullptr;

  // Core clocks so far in which the bus was busy.
  uint64_t busy() const { return by_unit_.quotient(busy_); }

  // Switches to the clocks of another configuration. Both configurations must have the same caches,
  // and the bus must be idle.
  void use(const MemoryConfig& config);

  // The core clock at which the write buffers are empty.
  uint64_t writes_done() const { return writes_[int(newest_)]; }

  // The core clock from which the bus is free, and the component of the CPI stack for a read that
  // must wait for it.
  uint64_t bus_free() const { return rule(Rule::BusOne) ? clocks(free_) : 0; }
  Event taken_by() const { return taken_by_; }

  Cache& l2() { return l2_; }

 private:
  static constexpr uint64_t kNever = ~uint64_t(0);
  static constexpr uint32_t kNoPage = 1;  // no page begins at this address

  // Bus time is counted in units of 1/bus_clocks of a core clock. All clock edges are then whole
  // numbers. Core clocks start at multiples of unit_, and bus clocks start at multiples of edge_.
  uint64_t start(uint64_t now, uint32_t overhead, uint64_t ready = 0) const {
    return start(now, overhead, ready, free_);
  }
  uint64_t start(uint64_t now, uint32_t overhead, uint64_t ready, uint64_t free) const {
    uint64_t t = now * unit_;
    if (t < free && rule(Rule::BusOne)) t = free;
    if (t < ready) t = ready;
    t += uint64_t(overhead) * unit_;
    return rule(Rule::BusEdge) ? by_edge_.round_up(t) : t;
  }
  uint64_t clocks(uint64_t t) const { return by_unit_.quotient(t + unit_ - 1); }
  // Computes the times that follow from the configuration.
  void take_times() {
    l2_write_time_ = uint64_t(config_.l2_write.single_write) * edge_;
    dram_write_time_ = uint64_t(config_.dram_write.single_write) * edge_;
    next_refresh_ = config_.refresh_interval ? uint64_t(config_.refresh_interval) * unit_ : kNever;
  }
  // Opens the DRAM page of `address`. Returns the bus clocks that DRAM needs to open the page: 0 if
  // the page is already open.
  uint32_t open_page(uint32_t address) {
    if ((address & page_mask_) == page_ || !rule(Rule::PageMiss)) return 0;
    page_ = address & page_mask_;
    return config_.page_miss;
  }
  // Before an access at `t`: DRAM executes the refreshes that were due. The last of them may delay
  // the access, and it has closed the page.
  void refresh(uint64_t t) {
    if (t < next_refresh_ || !rule(Rule::Refresh)) return;
    const uint64_t interval = uint64_t(config_.refresh_interval) * unit_;
    const uint64_t last = t - (t - next_refresh_) % interval;
    next_refresh_ = last + interval;
    page_ = kNoPage;
    dram_free_ = std::max(dram_free_, last + uint64_t(config_.refresh_clocks) * edge_);
  }
  void grant_if_free(uint64_t now);
  // Waits until the write buffer of the pipe is empty, and then uses this buffer. Returns the core
  // clock at which the core may continue.
  uint64_t take_buffer(uint64_t now, Pipe pipe);
  void release_buffer(uint64_t start, uint64_t end);
  uint64_t finish_write(uint64_t t, uint32_t page_clocks);
  // Opens the DRAM page of the last write. Returns the bus clocks that this takes.
  uint32_t open_for_write(uint64_t now) {
    refresh(std::max(now * unit_, free_));
    return open_page(last_write_);
  }
  uint64_t post_write(uint64_t now, Pipe pipe, uint32_t page_clocks);
  // The timing of a read. The timing depends on the source of the data (L2 or DRAM).
  struct Answer {
    const BusPattern& pattern;
    uint32_t lead;   // bus clocks in addition to the pattern
    uint64_t ready;  // time at which the source is free
  };
  Answer dram_answer(uint32_t address, uint64_t now) {
    refresh(std::max(now * unit_, free_));
    return {config_.dram_read, open_page(address), rule(Rule::PostedFirst) ? dram_free_ : 0};
  }
  Answer read_answer(uint32_t address, uint64_t now, Bank& bank, Fill fill);
  uint64_t read_single(uint32_t address, uint64_t now, Bank& bank, uint32_t overhead, Fill fill);
  // The bus is busy from `start` to `end`. `component`: the component of the CPI stack for a read
  // that must wait for the end.
  void occupy(uint64_t start, uint64_t end, Event component) {
    busy_ += end - start;
    free_ = end;
    taken_by_ = component;
    takes_address_ = false;
  }
  bool write_hits_l2(uint32_t address, Bank& bank);
  void move_device_data(uint32_t address, uint32_t bytes, uint64_t t, bool write);

  MemoryConfig config_;
  Cache l2_;
  uint32_t unit_, edge_;
  Divider by_unit_, by_edge_;
  uint64_t free_ = 0;               // time at which the bus is free
  uint64_t waiting_from_ = kNever;  // core clock from which a read waits for the bus
  uint64_t busy_ = 0;               // sum of all times in which the bus was busy
  Event taken_by_ = CpiBusReads;
  bool takes_address_ = false;   // the chipset accepts the next address before the bus is free
  uint64_t writes_[2] = {0, 0};  // core clock at which each write buffer is empty
  Pipe newest_ = Pipe::U;
  std::vector<uint64_t> posted_;  // time at which each entry of the chipset's post buffer is free
  size_t next_posted_ = 0;
  // The times in which L2 takes a single write, and in which DRAM writes it.
  uint64_t l2_write_time_, dram_write_time_;
  uint32_t last_write_ = 0;  // address of the last single write
  bool last_write_hit_ = false;
  bool last_write_fast_ = false;  // takes the time of a hit
  uint64_t dram_free_ = 0;        // time at which DRAM completes posted writes and data of devices
  uint32_t page_mask_;
  uint32_t page_ = 0;  // the open DRAM page
  uint64_t next_refresh_ = kNever;
};

// --- writes; inline, because repeated writes to an absent line are common

inline uint64_t Memory::take_buffer(uint64_t now, Pipe pipe) {
  newest_ = pipe;
  const uint64_t empty = writes_[int(pipe)];
  return now > empty || !rule(Rule::WriteBuffers) ? now : empty;
}

inline void Memory::release_buffer(uint64_t start, uint64_t end) {
  occupy(start, end, CpiBusWrites);
  writes_[int(newest_)] = clocks(end);
}

// Returns the time at which a single write that starts at `t` leaves the bus. A write to DRAM goes
// through the chipset's post buffer. When the buffer is full, the write waits for DRAM.
inline uint64_t Memory::finish_write(uint64_t t, uint32_t page_clocks) {
  const uint64_t taken = t + l2_write_time_;
  if (last_write_fast_) return taken;
  const uint64_t drain = dram_write_time_ + uint64_t(page_clocks) * edge_;
  if (!config_.post_buffer || !rule(Rule::WritePosted)) return t + drain;
  const uint64_t room = posted_[next_posted_];
  const uint64_t done = taken > room ? taken : room;
  dram_free_ = (dram_free_ > done ? dram_free_ : done) + drain;
  posted_[next_posted_] = dram_free_;
  if (++next_posted_ == config_.post_buffer) next_posted_ = 0;
  return done;
}

inline uint64_t Memory::post_write(uint64_t now, Pipe pipe, uint32_t page_clocks) {
  const uint64_t go_on = take_buffer(now, pipe);
  const uint64_t t = start(go_on + config_.buffer_clocks, 0);
  release_buffer(t, finish_write(t, page_clocks));
  return go_on;
}

inline void Memory::count_again(Bank& bank, uint64_t writes) const {
  const uint64_t to_l2 = config_.l2_present ? writes : 0;
  bank.count[L2Writes] += to_l2;
  if (!last_write_hit_) bank.count[L2WriteMisses] += to_l2;
  if (!last_write_hit_ || !config_.l2.write_back) bank.count[DramWrites] += writes;
}

}  // namespace p5
