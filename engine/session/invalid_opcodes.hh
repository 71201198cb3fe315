// SPDX-License-Identifier: MIT
// Which invalid opcodes has the guest executed? Programs probe processors with them, and monitors
// of the time use them as calls, so they end a run only if the guest ends its program for one.
#pragma once

#include <cstdint>
#include <string>

#include "session/emulator.hh"

namespace session {

class InvalidOpcodes {
 public:
  InvalidOpcodes(p5::Pentium& model, Emulator& emulator) : model_(model), emulator_(emulator) {}

  // The guest gets the exception of an invalid opcode, and may handle it.
  void add(p5::Linear linear);

  uint64_t count() const { return count_; }
  const std::string& first() const { return first_; }  // its bytes and its address
  // The place of the last one, for a message.
  std::string last() const;
  // The end of a message about a run; empty if there was none.
  std::string about() const;

 private:
  p5::Pentium& model_;
  Emulator& emulator_;
  uint64_t count_ = 0;
  std::string first_;
  p5::Linear linear_ = 0, cr3_ = 0;  // of the last one
  unsigned ring_ = 0;
};

// Bytes as hexadecimal digits, with a space after each.
std::string digits(const uint8_t* bytes, unsigned count);

}  // namespace session
