// SPDX-License-Identifier: MIT
// One set of a set-associative array, for the reference models. The code is written for readers,
// not for speed. The code differs from the engine's code on purpose. The engine uses stamps, and
// this code uses lists in order of use. Instead of a word of bits, this code has a tree of nodes.
// The shift register consists of single bits.
#pragma once

#include <bitset>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace reference {

// x^16 + x^14 + x^13 + x^11 + 1 in Galois form, started from ACE1h.
class ShiftRegister {
 public:
  uint32_t next() {
    const bool out = bits_[0];
    std::bitset<16> shifted;
    for (int i = 0; i < 15; i++) shifted[i] = bits_[i + 1];
    for (const int tap : {16, 14, 13, 11}) {
      if (out) shifted.flip(tap - 1);
    }
    bits_ = shifted;
    return uint32_t(bits_.to_ulong());
  }

 private:
  std::bitset<16> bits_{0xACE1};
};

// The tree of pseudo-LRU has a leaf for each slot. An inner node stores the half that was NOT used
// last.
class UseTree {
 public:
  UseTree(int first, int count) : first_(first), count_(count) {
    if (count > 1) {
      left_ = std::make_unique<UseTree>(first, count / 2);
      right_ = std::make_unique<UseTree>(first + count / 2, count / 2);
    }
  }

  void used(int slot) {
    if (count_ == 1) return;
    const bool in_left = slot < first_ + count_ / 2;
    older_ = in_left ? right_.get() : left_.get();
    (in_left ? left_ : right_)->used(slot);
  }

  int victim() const {
    if (count_ == 1) return first_;
    return (older_ ? older_ : left_.get())->victim();
  }

 private:
  int first_, count_;
  std::unique_ptr<UseTree> left_, right_;
  UseTree* older_ = nullptr;  // null before the first use, which means left
};

struct Entry {
  uint32_t number;  // line or page
  int slot;
  bool dirty = false;
};

class Set {
 public:
  Set(const std::string& policy, int ways) : policy_(policy), ways_(ways), tree_(0, ways) {
    for (int slot = 0; slot < ways; slot++) free_.insert(slot);
  }

  // Returns null if the number is not in the set. The look-up does not count as a use.
  Entry* find(uint32_t number) {
    for (Entry& entry : entries_) {
      if (entry.number == number) return &entry;
    }
    return nullptr;
  }

  void use(uint32_t number) {
    const auto entry = position(number);
    tree_.used(entry->slot);
    if (policy_ == "lru") entries_.splice(entries_.begin(), entries_, entry);
  }

  // Inserts `number`. Returns the displaced number.
  std::optional<Entry> fill(uint32_t number, ShiftRegister& random) {
    std::optional<Entry> displaced;
    int slot;
    if (!free_.empty()) {
      slot = *free_.begin();
      free_.erase(slot);
    } else {
      const auto victim = choose(random);
      displaced = *victim;
      slot = victim->slot;
      entries_.erase(victim);
    }
    entries_.push_front({number, slot});
    tree_.used(slot);
    return displaced;
  }

  void remove(uint32_t number) {
    const auto entry = position(number);
    if (entry == entries_.end()) return;
    free_.insert(entry->slot);
    entries_.erase(entry);
  }

  const std::list<Entry>& entries() const { return entries_; }

 private:
  std::list<Entry>::iterator position(uint32_t number) {
    auto entry = entries_.begin();
    while (entry != entries_.end() && entry->number != number) ++entry;
    return entry;
  }

  std::list<Entry>::iterator choose(ShiftRegister& random) {
    // The list is in order of use (lru) or of arrival (fifo), newest first.
    if (policy_ == "lru" || policy_ == "fifo") return std::prev(entries_.end());
    const int slot = policy_ == "plru" ? tree_.victim() : int(random.next() % uint32_t(ways_));
    auto entry = entries_.begin();
    while (entry->slot != slot) ++entry;
    return entry;
  }

  std::string policy_;
  int ways_;
  std::list<Entry> entries_;
  std::set<int> free_;
  UseTree tree_;
};

}  // namespace reference
