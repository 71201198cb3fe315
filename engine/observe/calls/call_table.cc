// SPDX-License-Identifier: MIT
#include "observe/calls/call_table.hh"

#include <charconv>
#include <sstream>

namespace observe {
namespace {

bool hexadecimal(const std::string& text, uint32_t* number) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, *number, 16);
  return !text.empty() && stopped == end && error == std::errc();
}

}  // namespace

bool CallTable::parse(const std::string& text, std::string* error) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (read(word)) continue;
    *error =
        "expected INT:REGISTER, INT/FUNCTION:ends, INT/FUNCTION:moves or INT@ADDRESS, found `" +
        word + "`";
    return false;
  }
  return true;
}

bool CallTable::read(const std::string& word) {
  const size_t mark = word.find_first_of(":/@");
  if (mark == std::string::npos) return false;
  const std::string name = word.substr(0, mark), rest = word.substr(mark + 1);
  uint32_t of = kGate, number = 0;
  if (name != "gate" && (!hexadecimal(name, &of) || of >= kGate)) return false;
  if (word[mark] == ':') return read_register(of, rest);
  if (word[mark] == '@') {
    if (!hexadecimal(rest, &number)) return false;
    ends_at_[of] = number;
    return true;
  }
  const size_t colon = rest.find(':');
  if (colon == std::string::npos || !hexadecimal(rest.substr(0, colon), &number)) return false;
  const std::string property = rest.substr(colon + 1);
  if (property != "ends" && property != "moves") return false;
  properties_[{of, number}] |= property == "ends" ? kEnds : kMoves;
  return true;
}

bool CallTable::read_register(unsigned of, const std::string& name) {
  static const std::map<std::string, Register> known = {
      {"ah", Register::Ah}, {"ax", Register::Ax}, {"eax", Register::Eax}};
  const auto found = known.find(name);
  if (found == known.end()) return false;
  registers_[of] = found->second;
  return true;
}

CallKey CallTable::key(CallKind kind, uint8_t vector, uint32_t eax) const {
  CallKey key{kind, vector, kNoFunction};
  if (kind != CallKind::Int && kind != CallKind::Gate) return key;
  switch (registers_[place(kind, vector)]) {
    case Register::Ah:
      key.function = eax >> 8 & 0xFF;
      break;
    case Register::Ax:
      key.function = eax & 0xFFFF;
      break;
    case Register::Eax:
      key.function = eax;
      break;
    case Register::None:
      break;
  }
  return key;
}

uint8_t CallTable::properties(const CallKey& key) const {
  if (key.kind != CallKind::Int && key.kind != CallKind::Gate) return 0;
  const auto found = properties_.find({place(key.kind, key.vector), key.function});
  return found == properties_.end() ? 0 : found->second;
}

p5::Linear CallTable::ends_at(const CallKey& key) const {
  if (key.kind != CallKind::Int) return kNoAddress;
  const auto found = ends_at_.find(key.vector);
  return found == ends_at_.end() ? kNoAddress : found->second;
}

}  // namespace observe
