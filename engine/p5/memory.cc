// SPDX-License-Identifier: MIT
#include "p5/memory.hh"

#include <algorithm>
#include <cstdio>

namespace p5 {

bool parse_burst(const std::string& text, uint32_t (*burst)[4]) {
  char rest;
  unsigned b[4];
  if (std::sscanf(text.c_str(), "%u-%u-%u-%u%c", &b[0], &b[1], &b[2], &b[3], &rest) != 4) {
    return false;
  }
  for (int i = 0; i < 4; i++) {
    if (b[i] == 0 || b[i] > 1000) return false;
    (*burst)[i] = b[i];
  }
  return true;
}

void MemoryConfig::answer_at_once() {
  core_clocks = bus_clocks = 1;
  l2_read = l2_write = dram_read = dram_write = BusPattern();
  miss_overhead = walk_overhead = 0;
  snoop_clocks = page_miss = buffer_clocks = refresh_interval = 0;
}

[[gnu::always_inline]] inline Memory::Answer Memory::read_answer(uint32_t address, uint64_t now,
                                                                 Bank& bank, Fill fill) {
  if (config_.l2_present) {
    bank.count[L2Reads]++;
    const CacheAccess access = l2_.access(address, false, fill);
    if (access.hit) return {config_.l2_read, 0, 0};
    bank.count[L2ReadMisses]++;
    bank.count[DramReads]++;
    if (config_.ideal_l2) {
      bank.count[DramWrites] += access.victim_dirty;
      return {config_.l2_read, 0, 0};
    }
    const Answer answer = dram_answer(address, now);
    if (access.victim_dirty) {
      // The chipset delivers the new line before the last word of a dirty victim has left the
      // chipset's buffer [Intel 290479, LBX]. The write of the victim therefore costs no bus
      // clocks. The write opens the DRAM page of the victim.
      bank.count[DramWrites]++;
      open_page(access.victim);
    }
    return answer;
  }
  bank.count[DramReads]++;
  return dram_answer(address, now);
}

[[gnu::always_inline]] inline bool Memory::write_hits_l2(uint32_t address, Bank& bank) {
  if (!config_.l2_present) {
    bank.count[DramWrites]++;
    return false;
  }
  bank.count[L2Writes]++;
  const CacheAccess access = l2_.access(address, true);
  if (!access.hit) bank.count[L2WriteMisses]++;
  if (access.through || access.victim_dirty) bank.count[DramWrites]++;
  return access.hit || access.filled;
}

void Memory::count_read(uint32_t address, Bank& bank, Fill fill) {
  read_answer(address, 0, bank, fill);
}

void Memory::count_write(uint32_t address, Bank& bank) { write_hits_l2(address, bank); }

void Memory::grant_if_free(uint64_t now) {
  const bool early = takes_address_ && rule(Rule::Pipelined);
  if (start(waiting_from_, 0, 0, early ? 0 : free_) < now * unit_) grant();
}

Memory::Line Memory::read_line(uint32_t address, uint64_t now, Bank& bank, uint32_t overhead) {
  grant_before(now);
  const Answer from = read_answer(address, now, bank, Fill::Exclusive);
  const uint64_t lead = uint64_t(from.lead + from.pattern.burst[0]) * edge_;
  const uint64_t rest = uint64_t(from.pattern.burst_total() - from.pattern.burst[0]) * edge_;
  const bool overlaps = takes_address_ && now * unit_ < free_ && rule(Rule::Pipelined);
  const uint64_t t = start(now, overhead, from.ready, overlaps ? 0 : free_);
  // If the address left early, the first 8 bytes arrive behind the line before them.
  const uint64_t first = overlaps ? std::max(t + lead, free_ + edge_) : t + lead;
  occupy(overlaps ? std::max(t, free_) : t, first + rest, CpiBusReads);
  takes_address_ = config_.pipelined && &from.pattern == &config_.dram_read;
  return {clocks(rule(Rule::FillFirst) ? first : free_), clocks(free_)};
}

uint64_t Memory::read_single(uint32_t address, uint64_t now, Bank& bank, uint32_t overhead,
                             Fill fill) {
  grant_before(now);
  const Answer from = read_answer(address, now, bank, fill);
  const uint64_t t = start(now, overhead, from.ready);
  occupy(t, t + uint64_t(from.lead + from.pattern.single_read) * edge_, CpiBusReads);
  return clocks(free_);
}

uint64_t Memory::uncached(uint64_t now, uint32_t clocks) {
  grant_before(now);
  const uint64_t t = start(now, 0);
  occupy(t, t + uint64_t(clocks) * unit_, CpiBusReads);
  return this->clocks(free_);
}

void Memory::device_access(uint32_t address, uint32_t bytes, uint64_t now, bool write, Bank& bank) {
  grant_before(now);
  const uint64_t t = start(now, 0);
  if (rule(Rule::InquireBus)) {
    occupy(t, t + uint64_t(config_.snoop_clocks) * edge_, CpiBusOthers);
  }
  if (config_.l2_present && write && l2_.invalidate(address)) bank.count[DramWrites]++;
  if (rule(Rule::DeviceMemory) && !config_.ideal_l2) move_device_data(address, bytes, t, write);
}

// The data of a device go between DRAM and the chip set's buffers, which collect a line [Intel
// 290479, LBX], and not over the bus of the processor. Estimate: DRAM takes the time of the same
// access by the processor, also for a line that L2 holds.
void Memory::move_device_data(uint32_t address, uint32_t bytes, uint64_t t, bool write) {
  refresh(t);
  const BusPattern& pattern = write ? config_.dram_write : config_.dram_read;
  const uint32_t single = write ? pattern.single_write : pattern.single_read;
  const uint32_t data = bytes > 8 ? pattern.burst_total() : single;
  dram_free_ = std::max(dram_free_, t) + uint64_t(open_page(address) + data) * edge_;
}

void Memory::use(const MemoryConfig& config) {
  busy_ = busy() * config.bus_clocks;
  config_ = config;
  unit_ = config.bus_clocks;
  edge_ = config.core_clocks;
  by_unit_ = Divider(unit_);
  by_edge_ = Divider(edge_);
  free_ = dram_free_ = writes_[0] = writes_[1] = 0;
  stop_waiting();
  take_times();
  std::fill(posted_.begin(), posted_.end(), 0);
}

uint64_t Memory::write_single(uint32_t address, uint64_t now, Pipe pipe, Bank& bank) {
  grant_before(now);
  last_write_hit_ = write_hits_l2(address, bank);
  if (config_.ideal_writes) return now;
  last_write_fast_ = (last_write_hit_ && config_.l2.write_back) || config_.ideal_l2;
  last_write_ = address;
  return post_write(now, pipe, last_write_fast_ ? 0 : open_for_write(now));
}

uint64_t Memory::write_uncached(uint64_t now, Pipe pipe, uint32_t clocks) {
  if (config_.ideal_writes) return uncached(now, clocks);
  grant_before(now);
  const uint64_t go_on = take_buffer(now, pipe);
  const uint64_t t = start(go_on + config_.buffer_clocks, 0);
  release_buffer(t, t + uint64_t(clocks) * unit_);
  return go_on;
}

void Memory::write_line(uint32_t address, uint64_t now, Bank& bank) {
  grant_before(now);
  const bool hit = write_hits_l2(address, bank) || config_.ideal_l2;
  if (!hit) refresh(std::max(now * unit_, free_));
  const uint64_t t = start(now, 0, hit ? 0 : dram_free_);
  const uint32_t bus_clocks =
      hit ? config_.l2_write.burst_total() : open_page(address) + config_.dram_write.burst_total();
  occupy(t, t + uint64_t(bus_clocks) * edge_, CpiBusWrites);
}

}  // namespace p5
