// SPDX-License-Identifier: MIT
// How does an observer plug into the engine? An observer divides the counts of a run, for example
// by machine mode. It is a folder engine/observe/NAME, or observers/NAME in a directory of
// P5LAB_PATH, with a class that derives from Observer, and one line that registers the class
// (Registered). No other file of the engine names it: a run with the key run.NAME, the path of a
// file, gets the observer, and the file gets its counts.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "base/json.hh"
#include "base/registry.hh"
#include "base/settings.hh"
#include "measure/miss_classes.hh"
#include "p5/insn.hh"
#include "p5/pentium.hh"

namespace observe {

struct Registers {
  uint64_t eip, eax, ebx, ecx, edx, cr2;
};

// The interface through which observers read the guest's memory and registers.
class Guest {
 public:
  virtual ~Guest() = default;
  // Finds the physical address of code. Returns false if the code is not in memory. `fetched`: the
  // processor has just fetched from the page of this code.
  virtual bool code(p5::Linear linear, bool fetched, uint32_t* physical) = 0;
  // Returns 4 KB of memory, or null if there is no memory at this address.
  virtual const uint8_t* page(uint32_t physical) = 0;
  virtual Registers registers() { return {}; }
};

// A place in the code: the linear addresses of the next instruction and of the stack.
struct Position {
  p5::Linear address, stack;
};

// Why the ring, the address space or the machine mode may have changed. `kind`: int, gate, far,
// iret, interrupt, exception or cr3; null: unknown. `vector`: -1 except for int, interrupt and
// exception. `number`: of a system call.
struct Entrance {
  const char* kind = nullptr;
  int vector = -1;
  uint64_t number = 0;
  bool operator<(const Entrance& other) const {
    return std::tie(kind, vector, number) < std::tie(other.kind, other.vector, other.number);
  }
};

class Observer {
 public:
  static constexpr uint64_t kNever = ~uint64_t(0);
  // Appends lines to the file of the observer.
  using Write = std::function<void(const std::string&)>;

  virtual ~Observer() = default;

  // The file has been created. `counted`: the events that the run writes, in their order. An
  // observer whose file can be long writes its lines during the run; text() returns the last ones.
  virtual void open(const std::vector<uint32_t>& /*counted*/, Write) {}
  // The guest is ready, or a guest with its own media is reset. No other call comes before this
  // one, except open(), text() and sees_each().
  virtual void start() = 0;
  // Whether the observer needs the calls of at(), branch() and decoded(). A run with such an
  // observer takes the model off its fast path.
  virtual bool sees_each() const { return false; }

  // --- what the processor does

  // The model's state may have changed: its ring, address space or machine mode. The code goes on
  // at `here`, and `stack` is the stack pointer without its segment.
  virtual void arrive(const Entrance& how, Position here, p5::Linear stack) = 0;
  // An INT, a gate, SYSCALL, or another far instruction follows; `next` is the place after it.
  virtual void before_far(Position /*next*/, uint32_t /*eax*/) {}
  // An interrupt or exception is delivered in the present state. `back`: where the code continues
  // after a return, except for Entry::Soft.
  virtual void delivered(p5::Entry, uint8_t /*vector*/, Position /*back*/) {}
  // The far instruction calls a gate, or it is SYSCALL.
  virtual void gate() {}
  // A far transfer that is not a delivery has taken place.
  virtual void moved() {}

  // --- time

  // The clock after which reached() must be called.
  virtual uint64_t deadline() const { return kNever; }
  // The clock is after the deadline; the next deadline is later.
  virtual void reached(uint64_t /*now*/) {}

  // --- joint counts (joint.hh)

  // The value of the observer's dimensions now, and the members of a line that show a value. It may
  // change in each function of this class that says what the processor does, in reached() and
  // move().
  virtual uint64_t value() const { return 0; }
  virtual void members(uint64_t /*value*/, base::JsonLine* /*line*/) const {}
  // All observers have seen what the processor does, so the values of others may have changed.
  virtual void join() {}
  // join() follows, and what was counted until now belongs to the values before it.
  virtual void leave() {}

  // --- each instruction

  // Call this before each instruction. Returns whether the code left the range.
  bool at(p5::Linear linear, p5::Linear stack) {
    if (__builtin_expect(linear - first_ < bytes_, 1)) return false;
    move(linear, stack);
    return true;
  }
  // A near branch of class `cls` has taken place. `next`: its target is the next instruction.
  virtual void branch(p5::ClassId /*cls*/, p5::Linear /*stack*/, bool /*next*/) {}
  // Code in a physical page has changed or is decoded for the first time.
  virtual void decoded(uint32_t /*physical*/) {}

  // --- brackets

  // A bracket begins or ends, while its marker is written. Brackets can be nested. stop() ends the
  // brackets that are still open.
  virtual void begin(uint32_t phase) = 0;
  virtual void end() = 0;
  virtual void stop() = 0;

  // --- results

  // Compares the sums over all values with the growth of the model's counts. Returns the first
  // difference in words, or an empty text.
  virtual std::string differs() const = 0;
  // Returns the file, or what follows the lines that the observer has written itself.
  virtual std::string text(const std::vector<uint32_t>& counted) const = 0;

 protected:
  // The code leaves the range of `bytes_` bytes from `first_` on, in which at() does nothing. With
  // 0 bytes, every instruction does. move() may set the next range.
  virtual void move(p5::Linear /*linear*/, p5::Linear /*stack*/) {}
  p5::Linear first_ = 0, bytes_ = 0;
};

// What an observer can use.
struct Machine {
  p5::Pentium& model;
  Guest& guest;
  measure::MissClasses* classes;  // null: the run does not classify misses
  // Returns the observer of the run with this name. All of them exist when start() is called.
  std::function<Observer*(const std::string&)> observer;
  uint64_t clock_hz = 0;
};
using Make = std::function<std::unique_ptr<Observer>(const Machine&)>;

// If the run has the observer, read() reads its further keys, beside run.NAME; `settings` keeps the
// first error.
struct Kind {
  const char* name;
  Make (*read)(base::Settings& settings);

  bool operator<(const Kind& other) const { return std::strcmp(name, other.name) < 0; }
};

// One static object of this class registers the observer T. An observer with keys has read() of its
// own: `Registered<T> registered(NAME, T::read)`.
template <class T>
struct Registered {
  explicit Registered(const char* name, Make (*read)(base::Settings&) = make) {
    base::enter(Kind{name, read});
  }

 private:
  static Make make(base::Settings&) {
    return [](const Machine& machine) { return std::make_unique<T>(machine.model); };
  }
};

}  // namespace observe
