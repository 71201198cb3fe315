// SPDX-License-Identifier: MIT
// Has the parameter file the right form? The build translates the declarations in engine/
// (p5/keys.toml, devices/NAME/device.toml) into tables: the keys with type and range, and which of
// them decide whether a machine has a device. The function check() compares the whole file with
// these tables, before any part of the engine reads a value. The rules between keys have been
// checked by p5lab, which wrote the file (src/p5lab/describe/declarations.py).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.hh"

namespace base {

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
  bool decides;          // a machine has the part if this key does not have its default
};

// The declarations of one folder. The generated file declared.hh contains one object for each
// folder.
struct Declaration {
  const DeclaredKey* keys;
  size_t key_count;
};

// Checks all keys of a part. `settings` keeps the first error. If a key with a default is
// missing in the file, the key gets this default.
void check(Settings& settings, const Declaration& declared);

// Whether the machine has the part: every machine, if no key decides. Call this after check().
bool present(Settings& settings, const Declaration& declared);

// Whether the value of this key in a shadow may differ from the machine's value.
bool is_geometry(const Declaration& declared, const std::string& key);

// Reads a list of ranges, such as "0xa0000-0xfffff,0x2000000-0xffffffff". Returns false if the form
// is wrong, or if a range ends below its first address.
bool parse_ranges(const std::string& text, std::vector<std::pair<uint32_t, uint32_t>>* ranges);

}  // namespace base
