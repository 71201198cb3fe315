// SPDX-License-Identifier: MIT
// Which references must the shadows record? Most references change nothing in any geometry. This
// filter finds them, and the shadows do not record them.
//
// The filter keeps the last-used line (or page) of each set, `first`. It has the number of sets of
// the smallest geometry. Every other geometry has a multiple of that number, so the last-used line
// of a set here is also the last-used line of its set there. Another reference to it hits in every
// geometry and changes no replacement order.
//
// If all geometries have two or more ways and true or tree LRU, each of them also holds the line
// used before the last one, `second`. A reference to it hits and only changes the order of the two
// lines. The order matters only when the set uses a third line, so the reference is recorded only
// then (untold()).
//
// The shortcut of the chip's own array is never larger than this filter: it holds only the first
// line of a set. The chip therefore need not ask the filter about references that its shortcut
// answers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "shortcut.hh"

namespace p5 {

class Recent {
 public:
  static constexpr uint32_t kNone = ~0u;
  struct Entry {
    uint32_t key = kNone;  // number of a line or page
    // Recorded writes since the line came in. After two writes every write-back geometry has the
    // line modified; the first may only make a shared line exclusive.
    uint8_t writes = 0;
  };

  // `two`: all geometries also hold the line used before the last one.
  Recent(uint32_t sets, bool two) : mask_(sets - 1), two_(two), sets_(sets) {}

  // Connects the shortcut of the chip's array.
  void join(Shortcut* shortcut) {
    shortcut_ = shortcut;
    shortcut->narrow(mask_ + 1);
  }
  // Removes the key from the chip's shortcut unless it is the first of its set here. `writes`: all
  // geometries are write-back.
  void limit(uint32_t key, bool writes) {
    const Set& set = sets_[key & mask_];
    if (set.order == Hidden || set.first.key != key)
      shortcut_->forget(key);
    else if (!writes || set.first.writes < 2)
      shortcut_->forget_write(key);
  }

  // Returns the entry of a key if a reference to it need not be recorded now. Null: record it.
  Entry* find(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.order == Hidden) return nullptr;
    if (set.first.key != key) {
      if (set.second.key != key) return nullptr;
      leave(key);
      std::swap(set.first, set.second);
      set.order = set.order == Told ? Turned : Told;
    }
    return &set.first;
  }

  // The set of this key is about to record another reference. Returns the key that must be recorded
  // first, because the order of the two lines has changed; kNone: there is none.
  uint32_t untold(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.order != Turned) return kNone;
    set.order = Told;
    return set.first.key;
  }

  // Whether the key is the first or the second of its set.
  bool has(uint32_t key) const {
    const Set& set = sets_[key & mask_];
    return set.first.key == key || set.second.key == key;
  }

  // A reference to the key was recorded, and every geometry now has it.
  Entry& enter(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.first.key != key) {
      leave(key);
      std::swap(set.first, set.second);
      if (set.first.key != key) set.first = {key, 0};
    }
    if (!two_ || set.order == Hidden) set.second = {};
    set.order = Told;
    return set.first;
  }

  // A reference to the key was recorded, and only some geometries have it now. `entered`: this
  // reference may have brought it in.
  void hide(uint32_t key, bool entered) {
    Set& set = sets_[key & mask_];
    if (entered) set.first = {};
    set.second = {};
    set.order = Hidden;
    leave(key);
  }

  // The key may leave some geometry.
  void remove(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.first.key == key) {
      set.first = set.second;
      set.order = Hidden;
      leave(key);
    }
    set.second = {};
  }

  // The line may become clean in some geometry.
  void clean(uint32_t key) {
    Set& set = sets_[key & mask_];
    for (Entry* entry : {&set.first, &set.second}) {
      if (entry->key == key) entry->writes = 0;
    }
    if (shortcut_) shortcut_->forget_write(key);
  }

  // Every geometry becomes empty.
  void clear() {
    std::fill(sets_.begin(), sets_.end(), Set());
    if (shortcut_) shortcut_->clear();
  }

  // Forgets everything. Calls `tell` before that, with each key that must be recorded.
  template <class Tell>
  void clear(Tell tell) {
    for (Set& set : sets_) {
      if (set.order == Turned) tell(set.first.key);
    }
    clear();
  }

 private:
  // The line of this set that the geometries used last. Told: `first`. Turned: `second`, because
  // the last reference was not recorded. Hidden: perhaps another line, and there is no second.
  enum Order : uint8_t { Told, Turned, Hidden };
  struct Set {
    Entry first, second;
    Order order = Told;
  };

  // The first of this key's set changes.
  void leave(uint32_t key) {
    if (shortcut_) shortcut_->forget(key);
  }

  uint32_t mask_;
  bool two_;
  std::vector<Set> sets_;
  Shortcut* shortcut_ = nullptr;
};

}  // namespace p5
