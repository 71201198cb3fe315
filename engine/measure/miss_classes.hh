// SPDX-License-Identifier: MIT
// Why does a cache or TLB miss? This file uses the classes of Hill [M. D. Hill, Aspects of Cache
// Memory and Instruction Buffer Performance, Berkeley 1987]. For each array this class simulates a
// second one of the same size. The second array is fully associative, has true LRU, and gets the
// same accesses. A miss of the real array has one of these classes:
//
//   compulsory  the entry has never been in the array
//   removed     the entry was in the array until another bus master, a locked access, the other L1,
//               INVD, INVLPG or a load of CR3 removed it
//   conflict    the fully associative array has the entry
//   capacity    the fully associative array does not have the entry either
//
// If the fully associative array misses and the real array hits, the access is counted as
// `avoided`. The number of Hill's conflict misses is `conflict` minus `avoided`. Uncached and
// locked accesses do not reach the caches and have no class.
//
// For each miss that is not compulsory, the class also knows which access loaded the entry last and
// which access evicted or removed it. A write that misses and loads no line is counted for this
// evictor once, although the line is missed again by the next write.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/events.hh"
#include "measure/access_listener.hh"
#include "p5/config.hh"

namespace measure {

class MissClasses : public AccessListener {
 public:
  enum Kind : uint8_t { DataRead, DataWrite, Code, L2Read, L2Write, DataPage, CodePage, kKinds };
  enum Class : uint8_t { Compulsory, Capacity, Conflict, Removed, Avoided, kClasses };
  static constexpr size_t kCounts = size_t(kKinds) * kClasses;
  static const char* name(Level level);  // such as "L1I"; the data TLBs have one name
  static const char* name(Kind kind);    // the event, such as "l2_read_misses"
  static const char* name(Class cls);
  static const char* name(Use use);
  static std::string name(size_t count);  // such as "l2_read_misses.conflict"

  // The code that uses an array, and what for. `instruction`: its linear address, if at() tells it.
  struct User {
    uint32_t function = 0;
    Use use = Use::Table;
    uint32_t instruction = 0;
    bool operator==(const User& other) const { return key() == other.key(); }
    std::tuple<uint32_t, Use, uint32_t> key() const { return {function, use, instruction}; }
  };
  // `loser` misses an entry that `winner` has evicted or removed. Both entries have one `colour`:
  // the page of the cache (of one way of it), or the set of the TLB.
  struct Pair {
    Level level;
    Class cls;
    User loser, winner;  // without instructions
    uint32_t colour;
    bool operator<(const Pair& other) const { return key() < other.key(); }

   private:
    std::tuple<Level, Class, uint32_t, Use, uint32_t, Use, uint32_t> key() const {
      return {level, cls, loser.function, loser.use, winner.function, winner.use, colour};
    }
  };
  using Pairs = std::map<Pair, uint64_t>;
  // A past access: its user (in users()), the clock at which its instruction began, and its entry.
  struct Past {
    uint32_t user = 0;  // 0: there was no access
    uint32_t address = 0;
    uint64_t clock = 0;
  };
  struct Miss {
    Level level;
    Kind kind;
    Class cls;
    uint32_t address;
    User user;
    Past loaded, lost;  // the access that loaded the entry last, and the one that took it away
  };
  class Trace {
   public:
    virtual ~Trace() = default;
    virtual void missed(const Miss& miss) = 0;
  };

  explicit MissClasses(const p5::Config& config);

  // From this call to the next call of use(), `function` is the function that uses the arrays.
  // `counted` states whether the misses of this function are counted.
  void use(uint32_t function, bool counted) {
    function_ = function;
    counted_ = counted;
  }
  // A bracket begins, or the last one ends. Each open bracket gets the pairs.
  void begin(uint32_t phase) { open_.push_back(&pairs_[phase]); }
  void end() { open_.pop_back(); }
  // `trace` gets each miss that is counted. at() must then be called before each instruction.
  void trace(Trace* trace) { trace_ = trace; }
  void at(uint32_t instruction, uint64_t clock) {
    instruction_ = instruction;
    clock_ = clock;
  }
  const std::array<uint64_t, kCounts>& counts() const { return counts_; }
  // [phase]
  const std::map<uint32_t, Pairs>& pairs() const { return pairs_; }
  const User& user(uint32_t number) const { return users_[number]; }

  void access(Level level, uint32_t address, bool write, const p5::CacheAccess& result,
              bool may_fill) override;
  void invalidated(Level level, uint32_t address, Use by) override;
  void cleaned(uint32_t) override {}
  void flushed() override;
  void flushed_tlbs() override;

 private:
  static constexpr uint32_t kNone = ~0u;
  enum class State : uint8_t { New, Held, Evicted, Removed };

  struct Line {
    uint32_t newer = kNone, older = kNone;  // neighbours in the order of use, if `near`
    uint32_t filled = 0;                    // epoch of the last fill
    bool near = false;                      // the fully associative array contains the entry
    bool told = false;                      // an access that loaded nothing has missed it already
    State state = State::New;               // in the real array; Held: if no flush has followed
    Past loaded, lost;

    void lose(State how, const Past& to) {
      state = how;
      lost = to;
      told = false;
    }
  };
  // One level: the fully associative array, and the history of each entry.
  struct Array {
    uint32_t shift = 0, capacity = 0;
    uint32_t colour_shift = 0, colours = 1;
    bool allocates = true;  // a write miss loads the entry
    uint32_t newest = kNone, oldest = kNone, held = 0;
    uint32_t epoch = 1;  // 1 plus the number of times that the array was emptied
    Past emptied;        // the last time

    Line& at(uint32_t line) {
      const size_t chunk = line / kChunk;
      if (chunk >= lines_.size()) lines_.resize(chunk + 1);
      if (!lines_[chunk]) lines_[chunk] = std::make_unique<Chunk>();
      return (*lines_[chunk])[line % kChunk];
    }
    // The line exists.
    Line& known(uint32_t line) { return (*lines_[line / kChunk])[line % kChunk]; }
    void unlink(const Line& here);
    void to_front(uint32_t line);
    void drop(uint32_t line);
    void fill(uint32_t line);
    void empty(const Past& by);

   private:
    // Few parts of the memory are in use.
    static constexpr uint32_t kChunk = 128;
    using Chunk = std::array<Line, kChunk>;
    std::vector<std::unique_ptr<Chunk>> lines_;
  };
  struct Hash {
    size_t operator()(const User& user) const {
      const uint64_t key = uint64_t(user.function) << 32 | user.instruction;
      return size_t((key * 8 + uint64_t(user.use)) * 0x9E3779B97F4A7C15u >> 16);
    }
  };

  Array& array(Level level) { return arrays_[size_t(level)]; }
  static Class class_of(const Line& line, bool hit);
  void miss(const Miss& miss);
  Past past(uint32_t address, Use use);

  Array arrays_[kLevels];
  uint32_t function_ = 0, instruction_ = 0;
  uint64_t clock_ = 0;
  bool counted_ = false;
  Use use_ = Use::Table;  // of the last access to an L1 or a TLB: why the next level is accessed
  std::array<uint64_t, kCounts> counts_{};
  std::map<uint32_t, Pairs> pairs_;  // [phase]
  std::vector<Pairs*> open_;         // of the open brackets, nested
  std::vector<User> users_{{}};
  std::unordered_map<User, uint32_t, Hash> numbers_;
  Trace* trace_ = nullptr;
};

}  // namespace measure
