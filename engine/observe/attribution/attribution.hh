// SPDX-License-Identifier: MIT
// To which function, ring, address space and kernel entrance do the counts inside the brackets
// belong? On request the attribution also reports the chain of calls.
//
// The attribution does not change what the model counts. Before each instruction the attribution
// checks whether control has passed to another function, ring or address space. If so, the
// attribution adds the growth of all counts to a node of a tree. For every event the sum over the
// nodes therefore equals the growth of the banks (differs()). All effects of an instruction,
// including its fetch, belong to the function of the instruction. The cost of the delivery of an
// interrupt or exception belongs to the interrupted code, as in the banks.
//
// The attribution uses the stack pointer to find the frames of calls. The attribution does not
// match calls with returns. A frame ends when the stack pointer rises above the frame. The
// attribution treats each piece of memory of 8 KB (the size of Linux's kernel stacks; 16 KB on
// x86-64) as a separate stack with its own frames. If a call moves the stack pointer to another
// piece, the new stack continues the old stack. This happens in two cases: one stack spans two
// pieces, or a kernel makes a call on another stack.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "measure/functions.hh"
#include "measure/miss_classes.hh"
#include "observe/joint.hh"
#include "observe/late_clock.hh"
#include "observe/observer.hh"

namespace observe {

using measure::Functions;
using measure::MissClasses;

class Attribution : public Observer {
 public:
  // The counts of one node: the events, then the classes of misses.
  static constexpr size_t kCounts = p5::kEventCount + MissClasses::kCounts;
  using Counts = std::array<uint64_t, kCounts>;

  // One function in one ring of one address space, with the entrance to this ring. `parent` is the
  // node of the caller. 0: the caller is unknown, or stacks are not recorded. `joint`: the
  // combination of the values of other observers (joint.hh).
  struct Node {
    uint32_t parent, function, bank, entrance, joint;
    bool operator==(const Node& o) const {
      return parent == o.parent && function == o.function && bank == o.bank &&
             entrance == o.entrance && joint == o.joint;
    }
  };
  using Grown = decltype(p5::Bank::count);
  // One phase: the counts of each node (null: none), and the growth of each bank between the
  // markers.
  struct Phase {
    std::vector<std::unique_ptr<Counts>> counts;
    std::vector<Grown> began, grown;
  };

  // With `stacks`, each node contains the node of its caller. `classes` counts the classes of
  // misses; null: no classes. `joint`: the nodes also divide by the values of these observers.
  Attribution(p5::Pentium& model, Guest& guest, Functions functions, bool stacks,
              MissClasses* classes, Joint joint = {});
  static Make read(base::Settings& settings);

  void start() override;
  bool sees_each() const override { return true; }
  void branch(p5::ClassId cls, p5::Linear stack, bool next) override {
    if (cls == p5::Class::Call && next)
      look_ = Look::CallNext, bytes_ = 0;
    else if (cls == p5::Class::Call || cls == p5::Class::CallInd)
      call(stack), look_ = Look::Call, bytes_ = 0;
    else if (cls == p5::Class::Ret || cls == p5::Class::RetImm)
      look_ = Look::Return, bytes_ = 0;
  }
  void arrive(const Entrance& how, Position here, p5::Linear stack) override;
  void before_far(Position, uint32_t) override;
  void delivered(p5::Entry entry, uint8_t vector, Position back) override;
  void join() override;
  void leave() override {
    if (!joint_.names().empty() && joint_.now() != joined_) flush();
  }
  void decoded(uint32_t physical) override;
  void begin(uint32_t phase) override;
  void end() override;
  void stop() override;
  std::string differs() const override;
  std::string text(const std::vector<uint32_t>& counted) const override;

  const Functions& functions() const { return functions_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  const std::vector<Entrance>& entrances() const { return entrances_; }
  const p5::Bank& bank(uint32_t number) const { return *banks_[number].bank; }
  const std::map<uint32_t, Phase>& phases() const { return phases_; }
  bool stacks() const { return stacks_; }
  const MissClasses* classes() const { return classes_; }
  const Joint& joint() const { return joint_; }

 protected:
  void move(p5::Linear linear, p5::Linear stack) override;

 private:
  static constexpr uint32_t kNone = ~0u;
  static constexpr unsigned kStackShift = p5::kX86_64 ? 14 : 13;
  static constexpr unsigned kSpaceShift = 36;
  static constexpr uint32_t kDeepest = 200;  // calls; a deeper call gets the parent of its caller
  static constexpr size_t kMostJoint = 1 << 17;  // nodes; further ones have no values of others

  struct Frame {
    p5::Linear stack = ~p5::Linear(0);  // address of the return address; all ones: outermost frame
    uint32_t parent = 0, entrance = 0;
    uint32_t node = 0;
  };
  struct Stack {
    uint64_t key = ~uint64_t(0);
    std::vector<Frame> frames;
  };
  struct Seen {  // a bank and its counts at the last flush
    const p5::Bank* bank;
    Grown count;
  };
  enum class Look : uint8_t { Jump, Call, CallNext, Return };
  struct Hash {
    size_t operator()(const Node& key) const {
      uint64_t hash = (uint64_t(key.parent) << 32 | key.function) * 0x9E3779B97F4A7C15u;
      hash ^= (uint64_t(key.bank ^ key.joint << 12) << 32 | key.entrance) * 0xC2B2AE3D27D4EB4Fu;
      return size_t(hash ^ hash >> 29);
    }
  };
  struct Known {
    p5::Linear linear = 0;
    uint32_t page = kNone;
    Functions::Place place{};
  };
  struct Recent {
    Node key{kNone, 0, 0, 0, 0};
    uint32_t node = 0;
  };

  bool is_one_function(uint32_t a, uint32_t b) const;
  void call(p5::Linear stack);
  void look_up(p5::Linear linear, bool fetched);
  uint32_t page_in(uint32_t frame);
  uint64_t key_of(p5::Linear stack) const {
    const p5::State& state = model_.state();
    const uint64_t space = state.ring ? uint64_t(state.cr3) >> 12 : 0;  // a page directory
    return space << kSpaceShift ^ uint64_t(stack) >> kStackShift;
  }
  Stack& stack_at(p5::Linear stack);
  void return_to(p5::Linear stack);
  Frame continued(p5::Linear stack) const;
  void begin_program(p5::Linear stack);
  // Returns the node that is the parent for a call from the current position.
  uint32_t caller() const {
    if (!stacks_) return 0;
    return depths_[node_] < kDeepest ? node_ : nodes_[node_].parent;
  }
  uint32_t number_of(const p5::Bank& bank);
  void use_node();
  uint32_t node_of(const Node& key);
  uint32_t entrance_of(const Entrance& how);
  void flush();
  Counts& counts_of(Phase* phase, uint32_t node);
  void explain(p5::Event component);

  p5::Pentium& model_;
  Guest& guest_;
  Functions functions_;
  const bool stacks_;
  MissClasses* classes_;
  Joint joint_;

  // The current position: `function_` covers `bytes_` bytes, and `first_` is the address of the
  // first of these bytes. If `bytes_` is 0, the function must be looked up again.
  uint32_t function_ = Functions::kUnknown;
  uint32_t bank_ = 0, node_ = 0, joined_ = Joint::kRest;
  uint8_t ring_ = 0;
  Look look_ = Look::Jump;
  std::vector<Known> known_{4096};
  std::vector<uint32_t> page_in_;  // [physical page] page in functions_; kNone: unknown

  LateClock late_;
  uint32_t late_node_ = 0;
  std::vector<Seen> banks_;
  std::unordered_map<const p5::Bank*, uint32_t> bank_numbers_;
  std::vector<Node> nodes_{{0, Functions::kUnknown, 0, 0, 0}};
  std::vector<uint32_t> depths_{0};
  std::unordered_map<Node, uint32_t, Hash> node_numbers_;
  std::vector<Recent> recent_{4096};
  std::vector<Entrance> entrances_{{}};
  std::map<Entrance, uint32_t> entrance_numbers_{{{}, 0}};

  std::unordered_map<uint64_t, Stack> stacks_known_;
  Stack entering_;  // until the kernel has switched to its own stack
  Stack* stack_ = &entering_;

  std::map<uint32_t, Phase> phases_;
  std::vector<Phase*> open_;  // the open brackets, nested; each of them gets the counts
  std::array<uint64_t, MissClasses::kCounts> classes_seen_{};
};

}  // namespace observe
