// SPDX-License-Identifier: MIT
// How does an observer plug into the engine? An observer divides the counts of a run, for example
// by machine mode. It is a folder engine/observe/NAME with a class that derives from Observer, and
// one line that registers the class (Registered). No other file of the engine names it: a run with
// the key run.NAME, the path of a file, gets the observer, and the file gets its counts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "p5/pentium.hh"

namespace observe {

class Observer {
 public:
  virtual ~Observer() = default;

  // The guest is ready, or a guest with its own media is reset. No other call comes before this
  // one, except text().
  virtual void start() = 0;
  // The model's state may have changed: its ring, address space or machine mode.
  virtual void arrive() = 0;
  // An interrupt or exception is delivered in the present state.
  virtual void delivered(p5::Entry, uint8_t /*vector*/) {}

  // A bracket begins or ends, while its marker is written. Brackets can be nested. stop() ends the
  // brackets that are still open.
  virtual void begin(uint32_t phase) = 0;
  virtual void end() = 0;
  virtual void stop() = 0;

  // Compares the sums over all values with the growth of the model's counts. Returns the first
  // difference in words, or an empty text.
  virtual std::string differs() const = 0;
  // Returns the file. `counted`: the events that the run writes, in their order.
  virtual std::string text(const std::vector<uint32_t>& counted) const = 0;
};

struct Kind {
  const char* name;
  std::unique_ptr<Observer> (*make)(p5::Pentium& model);
};

void enter(const Kind& kind);
// All kinds, by name.
const std::vector<Kind>& kinds();

// One static object of this class registers the observer T.
template <class T>
struct Registered {
  explicit Registered(const char* name) {
    enter({name, [](p5::Pentium& model) -> std::unique_ptr<Observer> {
             return std::make_unique<T>(model);
           }});
  }
};

}  // namespace observe
