// SPDX-License-Identifier: MIT
// What the files in engine/ declare (p5/keys.toml, devices/NAME/device.toml), as the build has
// translated it: keys with type and range, rules between keys, whether a machine has a device.
// One check of the parameter file by them comes before anything is read from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "settings.hh"

namespace p5 {

using base::Settings;

// The values of declared keys in a rule. Each was found to have its type before.
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

// One key. `pattern`: of texts, a regular expression; `choices`: separated by commas, of a key that
// takes one of several words; `fallback`: its value where the file has none, or null.
struct DeclaredKey {
  enum Form : uint8_t { kInteger, kReal, kFlag, kText, kRanges };

  const char* name;
  Form form;
  double low, high;  // of numbers; both ends are allowed
  const char* choices;
  const char* pattern;
  const char* fallback;
  const char* expected;  // completes "expected ..."
  bool geometry;         // geometries beside the machine's own may differ in it
};

// What has to hold between keys; if it does not, `key` is the wrong one.
struct DeclaredRule {
  const char* key;
  bool (*holds)(const Values& values);
  std::string (*expected)(const Values& values);
};

// What a folder declares; declared.hh has one for each.
struct Declaration {
  const DeclaredKey* keys;
  size_t key_count;
  const DeclaredRule* rules;
  size_t rule_count;
  bool (*present)(const Values& values);  // null: every machine has it
};

// Checks all keys and rules of a part; the first error is kept in `settings`. Keys that have a
// default and are not in the file get it.
void check(Settings& settings, const Declaration& declared);

// Whether the machine has a part; its keys have been checked.
bool present(Settings& settings, const Declaration& declared);

// Whether geometries beside the machine's own may differ in a key.
bool is_geometry(const Declaration& declared, const std::string& key);

// "0xa0000-0xfffff,0x2000000-0xffffffff"; false: not of this form, or an end before its beginning.
bool parse_ranges(const std::string& text, std::vector<std::pair<uint32_t, uint32_t>>* ranges);

// Functions of rules.
inline bool power_of_two(int64_t number) { return number > 0 && !(number & (number - 1)); }
int64_t beats(const std::string& burst);  // 4 of "3-2-2-2"
std::string shown(int64_t number);
std::string shown(double number);  // three digits

}  // namespace p5
