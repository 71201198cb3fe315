// SPDX-License-Identifier: MIT
// Which references must the shadows record? Most references change nothing in any geometry. This
// filter finds such references, and the shadows do not record them.
//
// For each set the filter keeps the last-used line (or page) as `first`. The filter and the
// smallest geometry have the same number of sets. The number of sets of each other geometry is a
// multiple of this number. The last-used line of a set in the filter is therefore also the
// last-used line of a set in each geometry. Another reference to this line hits in every geometry
// and changes no replacement order.
//
// The filter can also keep the second-last used line as `second`. For this purpose all geometries
// must have two or more ways and true or tree LRU. Each geometry then also contains the second-last
// used line. A reference to `second` hits and only changes the order of the two lines. This order
// matters only when the set uses a third line. The reference to `second` is therefore recorded
// later, immediately before the reference to the third line (unrecorded()).
//
// The shortcut of the chip's own array contains only lines that are `first` in this filter. If the
// shortcut answers a reference, the reference need not be recorded. The chip therefore does not
// report the reference.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "p5/shortcut.hh"

namespace measure {

class Recent {
 public:
  static constexpr uint32_t kNone = ~0u;
  struct Entry {
    uint32_t key = kNone;  // number of a line or page
    // Number of recorded writes since the line was filled. If the line is shared, the first write
    // may make the line exclusive instead of modified. After two writes the line is modified in
    // every write-back geometry.
    uint8_t writes = 0;
  };

  // `two`: all geometries also contain the second-last used line of a set.
  Recent(uint32_t sets, bool two) : mask_(sets - 1), two_(two), sets_(sets) {}

  // Connects the shortcut of the chip's array.
  void join(p5::Shortcut* shortcut) {
    shortcut_ = shortcut;
    shortcut->narrow(mask_ + 1);
  }
  // Removes the key from the chip's shortcut if the key is not `first` of its set in this filter.
  // `writes`: all geometries are write-back.
  void limit(uint32_t key, bool writes) {
    const Set& set = sets_[key & mask_];
    if (set.order == Hidden || set.first.key != key)
      shortcut_->forget(key);
    else if (!writes || set.first.writes < 2)
      shortcut_->forget_write(key);
  }

  // Returns the entry of a key if a reference to the key need not be recorded now. Returns null if
  // the reference must be recorded.
  Entry* find(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.order == Hidden) return nullptr;
    if (set.first.key != key) {
      if (set.second.key != key) return nullptr;
      leave(key);
      std::swap(set.first, set.second);
      set.order = set.order == Recorded ? Swapped : Recorded;
    }
    return &set.first;
  }

  // Call this before a reference to this key is recorded. Returns the key that must be recorded
  // first, because the order of the two lines in this set has changed. Returns kNone if there is no
  // such key.
  uint32_t unrecorded(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.order != Swapped) return kNone;
    set.order = Recorded;
    return set.first.key;
  }

  // Returns whether the key is `first` or `second` of its set.
  bool has(uint32_t key) const {
    const Set& set = sets_[key & mask_];
    return set.first.key == key || set.second.key == key;
  }

  // A reference to the key was recorded, and every geometry now contains the key.
  Entry& enter(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.first.key != key) {
      leave(key);
      std::swap(set.first, set.second);
      if (set.first.key != key) set.first = {key, 0};
    }
    if (!two_ || set.order == Hidden) set.second = {};
    set.order = Recorded;
    return set.first;
  }

  // A reference to the key was recorded, but some geometries may not contain the key. `entered`:
  // this reference may have loaded the line or page of the key.
  void hide(uint32_t key, bool entered) {
    Set& set = sets_[key & mask_];
    if (entered) set.first = {};
    set.second = {};
    set.order = Hidden;
    leave(key);
  }

  // Call this if the key may leave one of the geometries.
  void remove(uint32_t key) {
    Set& set = sets_[key & mask_];
    if (set.first.key == key) {
      set.first = set.second;
      set.order = Hidden;
      leave(key);
    }
    set.second = {};
  }

  // Call this if the line may become clean in one of the geometries.
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

  // Calls `record` with each key that must still be recorded. Then forgets everything.
  template <class Record>
  void clear(Record record) {
    for (Set& set : sets_) {
      if (set.order == Swapped) record(set.first.key);
    }
    clear();
  }

 private:
  // Which line of a set have the geometries used last? Recorded: the line is `first`. Swapped: the
  // line is `second`, because the last reference was not recorded. Hidden: the geometries may have
  // used another line last, and the set has no `second`.
  enum Order : uint8_t { Recorded, Swapped, Hidden };
  struct Set {
    Entry first, second;
    Order order = Recorded;
  };

  // Call this function before the set of this key gets another `first`.
  void leave(uint32_t key) {
    if (shortcut_) shortcut_->forget(key);
  }

  uint32_t mask_;
  bool two_;
  std::vector<Set> sets_;
  p5::Shortcut* shortcut_ = nullptr;
};

}  // namespace measure
