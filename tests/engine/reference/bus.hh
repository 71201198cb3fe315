// SPDX-License-Identifier: MIT
// Reference model for the times of the bus, the post buffer and DRAM. It goes from bus clock to bus
// clock, and from refresh to refresh. It is written from engine/p5/keys.toml and from INTEL-DM ch.
// 3 and 6. The caller says which accesses hit L2.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>

namespace reference {

// All times are ticks; `core` ticks are a core clock, and `bus` ticks are a bus clock.
struct BusTimes {
  uint64_t core = 2, bus = 3;
  std::array<uint64_t, 4> l2{}, dram{};   // bus clocks of the four transfers of a line
  uint64_t l2_write = 0, dram_write = 0;  // bus clocks
  uint64_t page = 4096, page_miss = 0;    // bytes, bus clocks
  uint64_t overhead = 4, entry = 1;       // core clocks before a line fill, and before a write
  size_t posted = 4;
  uint64_t refresh_every = 0, refresh = 0;  // core clocks, bus clocks
  bool early_address = false;
};

class Bus {
 public:
  explicit Bus(const BusTimes& times) : is_(times) {}

  struct Line {
    uint64_t first, complete;  // core clocks
  };

  Line read(uint32_t address, bool in_l2, uint64_t clock) {
    const uint64_t now = clock * is_.core;
    const bool early = is_.early_address && dram_delivers_ && now < bus_free_;
    uint64_t lead = 0, may_begin = early ? now : std::max(now, bus_free_);
    if (!in_l2) {
      refresh_until(std::max(now, bus_free_));
      lead = open(address);
      may_begin = std::max(may_begin, dram_free_);
    }
    const uint64_t begins = edge_after(may_begin + is_.overhead * is_.core);
    const auto& transfers = in_l2 ? is_.l2 : is_.dram;
    uint64_t at = begins + (lead + transfers[0]) * is_.bus;
    // Two transfers of 8 bytes are at least a bus clock apart.
    if (early) at = std::max(at, bus_free_ + is_.bus);
    early_addresses += early;
    const uint64_t first = at;
    for (size_t i = 1; i < 4; i++) at += transfers[i] * is_.bus;
    bus_free_ = at;
    dram_delivers_ = !in_l2;
    return {clock_after(first), clock_after(at)};
  }

  // Returns the core clock at which the core goes on.
  uint64_t write(uint32_t address, bool in_l2, uint64_t clock, int pipe) {
    uint64_t goes_on = clock;
    while (goes_on < buffer_empty_[size_t(pipe)]) goes_on++;
    const uint64_t due = std::max(clock * is_.core, bus_free_);
    const uint64_t begins = edge_after(std::max((goes_on + is_.entry) * is_.core, bus_free_));
    uint64_t leaves = begins + is_.l2_write * is_.bus;
    if (!in_l2) {
      refresh_until(due);
      const uint64_t takes = (is_.dram_write + open(address)) * is_.bus;
      if (is_.posted == 0) {
        leaves = begins + takes;
      } else {
        if (waiting_.size() == is_.posted) {
          leaves = std::max(leaves, waiting_.front());
          waiting_.pop_front();
        }
        dram_free_ = std::max(dram_free_, leaves) + takes;
        waiting_.push_back(dram_free_);
      }
    }
    bus_free_ = leaves;
    dram_delivers_ = false;
    buffer_empty_[size_t(pipe)] = clock_after(leaves);
    return goes_on;
  }

  // Opens the DRAM page of a line that L2 writes back. Nothing waits for this write.
  void write_back(uint32_t address) { open(address); }

  uint64_t early_addresses = 0, refreshes = 0;  // how often these happened

 private:
  uint64_t edge_after(uint64_t tick) const {
    while (tick % is_.bus) tick++;
    return tick;
  }
  uint64_t clock_after(uint64_t tick) const {
    while (tick % is_.core) tick++;
    return tick / is_.core;
  }
  uint64_t open(uint32_t address) {
    const uint64_t wanted = address / is_.page;
    const bool is_open = open_ && page_ == wanted;
    open_ = true;
    page_ = wanted;
    return is_open ? 0 : is_.page_miss;
  }
  void refresh_until(uint64_t tick) {
    if (!is_.refresh_every) return;
    for (; next_refresh_ * is_.core <= tick; next_refresh_ += is_.refresh_every) {
      if (!next_refresh_) continue;  // no refresh at clock 0
      open_ = false;
      refreshes++;
      const uint64_t ends = next_refresh_ * is_.core + is_.refresh * is_.bus;
      dram_free_ = std::max(dram_free_, ends);
    }
  }

  BusTimes is_;
  uint64_t bus_free_ = 0, dram_free_ = 0, next_refresh_ = 0;
  uint64_t buffer_empty_[2] = {0, 0};
  std::deque<uint64_t> waiting_;  // the times at which DRAM completes the posted writes
  bool dram_delivers_ = false;    // the last transfer was a line from DRAM
  bool open_ = true;              // page 0 is open at the start
  uint64_t page_ = 0;
};

}  // namespace reference
