// SPDX-License-Identifier: MIT
// The filter of the shadows. Most references change nothing in any geometry; the filter finds them,
// and they are not recorded.
//
// For each set it keeps the line (or page) that was used last, `first`. It has as many sets as the
// geometry with the fewest. All other geometries have a multiple of that number, so a line that was
// used last in its set here was used last in its set there. Another reference to it hits in every
// geometry and changes no replacement order.
//
// If all geometries have two ways or more and true or tree LRU, each also holds the line that was
// used before the last one, `second`. A reference to it hits and only changes the order of the two.
// That order matters when another line of the set is used, so the reference is recorded only then
// (untold()).
//
// The shortcut of the chip's own array is kept no larger than this filter: it holds nothing but the
// first line of a set. The chip therefore need not ask the filter about what its shortcut answers.
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
    // Writes recorded since it came in. After two, every write-back geometry has the line modified:
    // the first may only make a shared line exclusive.
    uint8_t writes = 0;
  };

  // `two`: all geometries hold the line before the last one as well.
  Recent(uint32_t sets, bool two) : mask_(sets - 1), two_(two), sets_(sets) {}

  // The shortcut of the chip's array.
  void join(Shortcut* shortcut) {
    shortcut_ = shortcut;
    shortcut->narrow(mask_ + 1);
  }
  // Takes the key out of the shortcut, if the chip has put it there and the filter does not know it
  // as the first of its set. `writes`: all geometries are write-back.
  void limit(uint32_t key, bool writes) {
    const Set& set = sets_[key & mask_];
    if (set.order == Hidden || set.first.key != key)
      shortcut_->forget(key);
    else if (!writes || set.first.writes < 2)
      shortcut_->forget_write(key);
  }

  // The entry of a key if a reference to it need not be recorded now; null: it must be.
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

  // Something else in the set of this key is about to be recorded. Returns the key that must be
  // recorded before it, because the order of the two has changed; kNone: nothing.
  uint32_t untold(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.order != Turned) return kNone;
    set.order = Told;
    return set.first.key;
  }

  // Is the key the first or the second of its set?
  bool has(uint32_t key) const {
    const Set& set = sets_[key & mask_];
    return set.first.key == key || set.second.key == key;
  }

  // A reference to the key was recorded, after which every geometry has it.
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

  // A reference to the key was recorded, after which only some geometries have it. `entered`: it
  // may have come in just now.
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

  // Every geometry is emptied.
  void clear() {
    std::fill(sets_.begin(), sets_.end(), Set());
    if (shortcut_) shortcut_->clear();
  }

  // Forgets everything; calls `tell` with each key that must be recorded before that.
  template <class Tell>
  void clear(Tell tell) {
    for (Set& set : sets_) {
      if (set.order == Turned) tell(set.first.key);
    }
    clear();
  }

 private:
  // What the geometries used last in this set: `first` (Told), `second`, as the last reference was
  // not recorded (Turned), or perhaps something else (Hidden; then there is no second).
  enum Order : uint8_t { Told, Turned, Hidden };
  struct Set {
    Entry first, second;
    Order order = Told;
  };

  // The first of the set of this key changes.
  void leave(uint32_t key) {
    if (shortcut_) shortcut_->forget(key);
  }

  uint32_t mask_;
  bool two_;
  std::vector<Set> sets_;
  Shortcut* shortcut_ = nullptr;
};

}  // namespace p5
