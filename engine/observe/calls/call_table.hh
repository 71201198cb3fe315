// SPDX-License-Identifier: MIT
// What must the observer of calls know about a system's calls? calls.toml in this folder declares
// where each interrupt passes the number of its function, and which calls do not return. p5lab
// writes these facts as one text into the parameter file.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "p5/isa.hh"

namespace observe {

// The causes of a call. A gate is a call gate, or SYSCALL on x86-64.
enum class CallKind : uint8_t { Int, Gate, Hardware, Exception };

// Identifies the calls that share one row of counts.
struct CallKey {
  CallKind kind;
  uint8_t vector;     // of a gate: 0
  uint32_t function;  // kNoFunction: the interrupt has no functions

  bool operator<(const CallKey& o) const {
    return std::tie(kind, vector, function) < std::tie(o.kind, o.vector, o.function);
  }
};
constexpr uint32_t kNoFunction = ~0u;

class CallTable {
 public:
  enum Property : uint8_t {
    kEnds = 1,   // the call ends its program
    kMoves = 2,  // the call replaces its address space
  };

  // Reads words of the forms "INT:REGISTER", "INT/FUNCTION:ends", "INT/FUNCTION:moves" and
  // "INT@ADDRESS". INT is the vector or the word "gate", and REGISTER is ah, ax or eax. All numbers
  // are hexadecimal. "INT@ADDRESS": the call ends when control goes to this linear address. After
  // an error, returns false and sets `*error`.
  bool parse(const std::string& text, std::string* error);

  // Returns the key of a call with this value in EAX.
  CallKey key(CallKind kind, uint8_t vector, uint32_t eax) const;
  // Returns the Property bits of a call.
  uint8_t properties(const CallKey& key) const;
  // Returns the address at which a call ends without a return, or kNoAddress.
  p5::Linear ends_at(const CallKey& key) const;

  static constexpr p5::Linear kNoAddress = ~p5::Linear(0);

 private:
  enum class Register : uint8_t { None, Ah, Ax, Eax };
  static constexpr unsigned kGate = 256;  // place of the gates after all vectors

  static unsigned place(CallKind kind, uint8_t vector) {
    return kind == CallKind::Gate ? kGate : vector;
  }
  bool read(const std::string& word);
  bool read_register(unsigned of, const std::string& name);

  std::array<Register, kGate + 1> registers_{};
  std::map<std::pair<unsigned, uint32_t>, uint8_t> properties_;
  std::map<unsigned, p5::Linear> ends_at_;
};

}  // namespace observe
