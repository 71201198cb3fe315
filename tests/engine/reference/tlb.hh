// SPDX-License-Identifier: MIT
// Two reference models. The first model is one TLB, which is an array of page numbers. The second
// model is the pair of data TLBs of the P54C. The P54C looks up 4 KB and 4 MB pages in these two
// arrays together [INTEL-DM ch. 3].
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "set.hh"

namespace reference {

class Tlb {
 public:
  Tlb(uint32_t entries, uint32_t ways, const std::string& policy)
      : sets_(entries / ways), ways_(ways), policy_(policy) {}

  bool lookup(uint32_t page) {
    Set& set = set_of(page);
    if (!set.find(page)) return false;
    set.use(page);
    return true;
  }

  // Returns the displaced page.
  std::optional<uint32_t> insert(uint32_t page) {
    const auto gone = set_of(page).fill(page, random_);
    if (!gone) return std::nullopt;
    return gone->number;
  }

  void invalidate(uint32_t page) { set_of(page).remove(page); }

  void flush() {
    for (auto& [index, set] : map_) {
      while (!set.entries().empty()) set.remove(set.entries().front().number);
    }
  }

  bool holds(uint32_t page) { return set_of(page).find(page) != nullptr; }

 private:
  Set& set_of(uint32_t page) {
    return map_.try_emplace(page % sets_, policy_, int(ways_)).first->second;
  }

  uint32_t sets_, ways_;
  std::string policy_;
  std::map<uint32_t, Set> map_;
  ShiftRegister random_;
};

}  // namespace reference
