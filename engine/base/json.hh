// SPDX-License-Identifier: MIT
// How does the engine write JSON? The engine appends the text piece by piece. It does not build a
// tree of values, because the event stream contains tens of thousands of numbers.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace base {

// Returns the text as a JSON string in quotes. Quotes, backslashes and control characters are
// escaped.
std::string quoted(const std::string& text);

// Returns the number as 0x and at least eight hexadecimal digits.
std::string hex(uint64_t value);

inline void append(std::string* text, uint64_t number) {
  char digits[20];
  text->append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

// Appends ["name",...].
template <class Names>
void append_names(std::string* text, const Names& names) {
  const char* before = "[";
  for (const auto& name : names) {
    text->append(before).append(quoted(name));
    before = ",";
  }
  if (*before == '[') *text += '[';
  *text += ']';
}

// One JSON object on one line. The members of the object are in the order of the calls.
class JsonLine {
 public:
  // The first member names the kind of line.
  explicit JsonLine(const char* type) { member("type", type); }
  JsonLine(const char* key, const char* value) { member(key, value); }

  JsonLine& member(const char* key, const std::string& value) {
    begin(key);
    text_ += quoted(value);
    return *this;
  }
  JsonLine& member(const char* key, uint64_t number) {
    begin(key);
    append(&text_, number);
    return *this;
  }
  // `json` must be valid JSON. The text is copied unchanged.
  JsonLine& raw(const char* key, const std::string& json) {
    begin(key);
    text_ += json;
    return *this;
  }
  // Appends [number,...].
  template <class Numbers>
  JsonLine& numbers(const char* key, const Numbers& numbers) {
    begin(key);
    text_ += '[';
    for (const uint64_t number : numbers) {
      if (text_.back() != '[') text_ += ',';
      append(&text_, number);
    }
    text_ += ']';
    return *this;
  }
  template <class Names>
  JsonLine& names(const char* key, const Names& names) {
    begin(key);
    append_names(&text_, names);
    return *this;
  }

  // The members so far, without the brace that closes the object.
  const std::string& open() const { return text_; }
  // The whole line with its newline.
  std::string line() const { return text_ + "}\n"; }

 private:
  void begin(const char* key) {
    text_.append(text_.empty() ? "{\"" : ",\"").append(key).append("\":");
  }

  std::string text_;
};

}  // namespace base
