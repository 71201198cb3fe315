// SPDX-License-Identifier: MIT
// Is the parameter file right? The build translates the declarations in engine/ (p5/keys.toml,
// devices/NAME/device.toml) into tables. The tables contain the keys with type and range, the rules
// between keys, and the condition under which a machine has a device. The function check() compares
// the whole file with these tables, before any part of the engine reads a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hh"

namespace base {

// A rule reads the values of declared keys through this class. The types of the values are already
// checked.
class Values {
 public:
  explicit Values(Settings& settings) : settings_(settings) {}

  int64_t integer(const char* key) const { return int64_t(settings_.number(key)); }
  double real(const char* key) const { return settings_.real(key); }
  bool flag(const char* key) const { return settings_.flag(key); }
  std::string text(const char* key) const { return settings_.text(key); }

 private:
  Settings& settings_;
};

// One key. `pattern` is a regular expression for a text. `choices` lists the allowed words,
// separated by commas. `fallback` is the default. If `fallback` is null, the file must contain the
// key.
struct DeclaredKey {
  enum Form : uint8_t { kInteger, kReal, kFlag, kText, kRanges };

  const char* name;
  Form form;
  double low, high;  // range of a number; both ends are allowed
  const char* choices;
  const char* pattern;
  const char* fallback;
  const char* expected;  // completes "expected ..."
  bool geometry;         // a shadow may have another value
};

// A relation that must hold between keys. If the relation does not hold, the error names `key`.
struct DeclaredRule {
  const char* key;
  bool (*holds)(const Values& values);
  std::string (*expected)(const Values& values);
};

// The declarations of one folder. The generated file declared.hh contains one object for each
// folder.
struct Declaration {
  const DeclaredKey* keys;
  size_t key_count;
  const DeclaredRule* rules;
  size_t rule_count;
  bool (*present)(const Values& values);  // null: every machine has the part
};

// Checks all keys and rules of a part. `settings` keeps the first error. If a key with a default is
// missing in the file, the key gets this default.
void check(Settings& settings, const Declaration& declared);

// Whether the machine has the part. Call this function after check().
bool present(Settings& settings, const Declaration& declared);

// Whether the value of this key in a shadow may differ from the machine's value.
bool is_geometry(const Declaration& declared, const std::string& key);

// Reads a list of ranges, such as "0xa0000-0xfffff,0x2000000-0xffffffff". Returns false if the form
// is wrong, or if a range ends below its first address.
bool parse_ranges(const std::string& text, std::vector<std::pair<uint32_t, uint32_t>>* ranges);

// Functions that rules use.
inline bool power_of_two(int64_t number) { return number > 0 && !(number & (number - 1)); }
int64_t beats(const std::string& burst);  // number of transfers: 4 for "3-2-2-2"
std::string shown(int64_t number);
std::string shown(double number);  // three significant digits

}  // namespace base
