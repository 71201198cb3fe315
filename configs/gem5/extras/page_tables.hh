// SPDX-License-Identifier: MIT
// Page tables for the chip when gem5 emulates the system calls of a program. gem5 keeps the pages
// of such a program in a table of its own, so memory contains no page tables that the chip's page
// walks could read. This class gives the walks the tables that a kernel would have made: each table
// has a page of gem5's memory, and an entry has the present content of gem5's table. A table gets
// its page at its first use.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "base/types.hh"

namespace gem5 {

class Process;

namespace p5lab {

class PageTables {
 public:
  // `levels`: 2 for a Pentium, 4 for x86-64.
  PageTables(Process& process, unsigned levels);

  // The physical address of the highest table, for CR3.
  Addr root() const { return root_; }
  // The entry at this physical address. Accessed and dirty bits are set. An address outside of the
  // tables has the entry 0.
  uint64_t entry(Addr physical);

 private:
  // A table, by its level (0: its entries are pages) and the index of its entry among all entries
  // of the next level.
  using Table = std::pair<unsigned, uint64_t>;

  Addr place(const Table& table);

  Process& process_;
  const unsigned index_bits_, entry_bytes_;
  std::map<Table, Addr> places_;
  std::map<Addr, Table> tables_;
  Addr root_;
};

}  // namespace p5lab
}  // namespace gem5
