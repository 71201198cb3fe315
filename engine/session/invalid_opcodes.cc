// SPDX-License-Identifier: MIT
#include "session/invalid_opcodes.hh"

#include <algorithm>

#include "base/json.hh"

namespace session {
namespace {

constexpr unsigned kPage = 4096, kShownBytes = 8;

}  // namespace

std::string digits(const uint8_t* bytes, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; i++) text += base::hex(bytes[i]).substr(8) + " ";
  return text;
}

void InvalidOpcodes::add(p5::Linear linear) {
  linear_ = linear;
  ring_ = model_.state().ring;
  cr3_ = model_.state().cr3;
  if (count_++) return;
  uint32_t physical = 0;
  if (!emulator_.code(linear, false, &physical)) return;
  const uint8_t* bytes = emulator_.page(physical);
  const unsigned count = std::min(kShownBytes, kPage - physical % kPage);
  first_ = (bytes ? digits(bytes, count) : "") + "at " + base::hex(linear);
}

std::string InvalidOpcodes::last() const {
  return "invalid opcode (#UD) at " + base::hex(linear_) + ", ring " + std::to_string(ring_) +
         ", CR3 " + base::hex(cr3_);
}

std::string InvalidOpcodes::about() const {
  if (count_ == 0) return "";
  return "; the guest executed " + std::to_string(count_) +
         " invalid opcodes, the first: " + first_;
}

}  // namespace session
