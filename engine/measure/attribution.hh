// SPDX-License-Identifier: MIT
// Attribution: which function, ring, address space and entrance to the kernel the counts inside the
// brackets belong to, and on demand which calls led there.
//
// The model counts as always. Whenever control passes to another function, ring or address space,
// the growth of all counts since the last time is added to a node of a tree. The sum of the nodes
// is therefore exactly what the banks have grown by, for every event (differs()). This is checked
// before each instruction. What an instruction causes, its fetch included, belongs to the function
// that the instruction is in. What a delivery costs belongs to what was interrupted, as in the
// banks.
//
// Stacks are followed by the stack pointer, not by matching calls with returns: a frame is left
// when the pointer has come above it. A pointer that has moved to another piece of 8 KB (the size
// of Linux's kernel stacks, 16 KB on x86-64) is on another stack with frames of its own. If a call
// moved it, it continues the stack before: either one stack spans two pieces, or a kernel calls on
// another stack.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "functions.hh"
#include "insn.hh"
#include "miss_classes.hh"
#include "pentium.hh"

namespace p5 {

class Attribution {
 public:
  // Of one node: the events, and behind them the classes of misses.
  static constexpr size_t kCounts = kEventCount + MissClasses::kCounts;
  using Counts = std::array<uint64_t, kCounts>;

  // Why a ring was entered: how (null: not known), by which vector (-1: none), and the number of a
  // system call.
  struct Entrance {
    const char* kind = nullptr;
    int vector = -1;
    uint64_t number = 0;
    bool operator<(const Entrance& other) const {
      return std::tie(kind, vector, number) < std::tie(other.kind, other.vector, other.number);
    }
  };
  // A function in a ring of an address space, with what the ring was entered for. `parent` is the
  // node of its caller; 0: not known, or stacks are off.
  struct Node {
    uint32_t parent, function, bank, entrance;
  };
  using Grown = decltype(Bank::count);
  // One phase: by node, null where nothing was counted; and by bank, between the markers.
  struct Phase {
    std::vector<std::unique_ptr<Counts>> counts;
    std::vector<Grown> began, grown;
  };

  // What it asks its surroundings.
  class Guest {
   public:
    virtual ~Guest() = default;
    // Where code is in memory; false: nowhere. `fetched`: its page was just fetched from.
    virtual bool code(Linear linear, bool fetched, uint32_t* physical) = 0;
    // 4 KB of memory; null: none.
    virtual const uint8_t* page(uint32_t physical) = 0;
  };

  // `stacks`: nodes know who called. `classes`: counts the classes of misses; null: nobody does.
  Attribution(Pentium& model, Guest& guest, Functions functions, bool stacks, MissClasses* classes);

  // An instruction begins.
  void at(Linear linear, Linear stack) {
    if (__builtin_expect(linear - first_ >= bytes_, 0)) move(linear, stack);
  }
  // A near branch of a class is done.
  void branch(ClassId cls, Linear stack) {
    if (cls == Class::Call || cls == Class::CallInd)
      call(stack);
    else if (cls == Class::Ret || cls == Class::RetImm)
      look_ = Look::Return, bytes_ = 0;
  }
  // The model has another state, or control goes on elsewhere, at `linear`.
  void state(const Entrance& how, Linear linear, Linear stack);
  // Code in this physical page has changed, or is seen for the first time.
  void decoded(uint32_t physical);

  // A bracket begins and ends, its marker being written.
  void begin(uint32_t phase);
  void end(uint32_t phase);

  const Functions& functions() const { return functions_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Entrance>& entrances() const { return entrances_; }
  const Bank& bank(uint32_t number) const { return *banks_[number].bank; }
  const std::map<uint32_t, Phase>& phases() const { return phases_; }
  // The first event whose sum over the nodes is not what the banks have grown by; empty: none.
  std::string differs() const;

 private:
  static constexpr uint32_t kNone = ~0u;
  static constexpr unsigned kStackShift = kX86_64 ? 14 : 13;
  static constexpr uint32_t kDeepest = 200;  // calls; deeper ones count as made by the last of them

  struct Frame {
    Linear stack;  // where its return address is; all ones: the outermost known
    uint32_t parent, entrance;
    uint32_t node;
  };
  struct Stack {
    uint64_t key = ~uint64_t(0);
    std::vector<Frame> frames;
  };
  struct Seen {  // a bank, and what it had when it was looked at last
    const Bank* bank;
    Grown count;
  };
  enum class Look : uint8_t { Jump, Call, Return };
  struct Key {
    uint32_t parent, function, bank, entrance;
    bool operator==(const Key& o) const {
      return parent == o.parent && function == o.function && bank == o.bank &&
             entrance == o.entrance;
    }
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      uint64_t hash = (uint64_t(key.parent) << 32 | key.function) * 0x9E3779B97F4A7C15u;
      hash ^= (uint64_t(key.bank) << 32 | key.entrance) * 0xC2B2AE3D27D4EB4Fu;
      return size_t(hash ^ hash >> 29);
    }
  };
  struct Known {
    Linear linear = 0;
    uint32_t page = kNone;
    Functions::Place place{};
  };
  struct Recent {
    Key key{kNone, 0, 0, 0};
    uint32_t node = 0;
  };

  void move(Linear linear, Linear stack);
  void call(Linear stack);
  void look_up(Linear linear, bool fetched);
  uint32_t page_in(uint32_t frame);
  uint64_t key_of(Linear stack) const {
    const State& state = model_.state();
    return (state.ring ? uint64_t(state.cr3) << 24 : 0) ^ (uint64_t(stack) >> kStackShift);
  }
  Stack& stack_at(Linear stack);
  void return_to(Linear stack);
  // Who a call from here is made by.
  uint32_t caller() const {
    if (!stacks_) return 0;
    return depths_[node_] < kDeepest ? node_ : nodes_[node_].parent;
  }
  uint32_t number_of(const Bank& bank);
  void use_node();
  uint32_t node_of(const Key& key);
  uint32_t entrance_of(const Entrance& how);
  void flush();

  Pentium& model_;
  Guest& guest_;
  Functions functions_;
  const bool stacks_;
  MissClasses* classes_;

  // Where control is: `function_` holds for `bytes_` from `first_` on; 0: look again.
  Linear first_ = 0, bytes_ = 0;
  uint32_t function_ = Functions::kUnknown;
  uint32_t bank_ = 0, node_ = 0;
  uint8_t ring_ = 0;
  Look look_ = Look::Jump;
  std::vector<Known> known_{4096};
  std::vector<uint32_t> page_in_;  // [physical page] of functions_; kNone: not looked at

  std::vector<Seen> banks_;
  std::unordered_map<const Bank*, uint32_t> bank_numbers_;
  std::vector<Node> nodes_{{0, Functions::kUnknown, 0, 0}};
  std::vector<uint32_t> depths_{0};
  std::unordered_map<Key, uint32_t, Hash> node_numbers_;
  std::vector<Recent> recent_{4096};
  std::vector<Entrance> entrances_{{}};
  std::map<Entrance, uint32_t> entrance_numbers_{{{}, 0}};

  std::unordered_map<uint64_t, Stack> stacks_known_;
  Stack entering_;  // the kernel has been entered, and is on no stack of its own yet
  Stack* stack_ = &entering_;

  std::map<uint32_t, Phase> phases_;
  std::vector<Phase*> open_;  // brackets inside one another count in each
  std::array<uint64_t, MissClasses::kCounts> classes_seen_{};
};

}  // namespace p5
