// SPDX-License-Identifier: MIT
#include "page_tables.hh"

#include "mem/page_table.hh"
#include "sim/process.hh"
#include "sim/se_workload.hh"

namespace gem5::p5lab {
namespace {

constexpr unsigned kPageBits = 12;
constexpr Addr kInPage = (Addr(1) << kPageBits) - 1;
// Present, writable, accessed by all rings; accessed and dirty.
constexpr uint64_t kEntryBits = 0x67;

}  // namespace

PageTables::PageTables(Process& process, unsigned levels)
    : process_(process),
      index_bits_(levels == 2 ? 10 : 9),
      entry_bytes_(levels == 2 ? 4 : 8),
      root_(place({levels - 1, 0})) {}

Addr PageTables::place(const Table& table) {
  const auto [found, is_new] = places_.try_emplace(table, 0);
  if (is_new) {
    found->second = process_.seWorkload->allocPhysPages(1);
    tables_[found->second] = table;
  }
  return found->second;
}

uint64_t PageTables::entry(Addr physical) {
  const auto found = tables_.find(physical & ~kInPage);
  if (found == tables_.end()) return 0;
  const auto [level, above] = found->second;
  const uint64_t number = above << index_bits_ | (physical & kInPage) / entry_bytes_;
  if (level > 0) return place({level - 1, number}) | kEntryBits;
  const EmulationPageTable::Entry* page = process_.pTable->lookup(number << kPageBits);
  return page ? page->paddr | kEntryBits : 0;
}

}  // namespace gem5::p5lab
