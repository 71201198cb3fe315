// SPDX-License-Identifier: MIT
// What does the engine's parameter file say? It has `key = value` lines, `#` comments and keys with
// dots. The command line tool writes it from the descriptions of machine and run. Every key must be
// known, and every known key must be present, so a misspelled key never turns into a default.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace base {

class Settings {
 public:
  // Reads the file. False: `*error` is "<path>:<line>: what is wrong".
  bool load(const std::string& path, std::string* error);

  // Reads a text (for tests). Messages show `name` in place of the path.
  bool parse(const std::string& text, const std::string& name, std::string* error);

  // Each returns the value of a key and marks the key as used. If the key is missing or its value
  // has the wrong form, error() keeps the message, and the result is zero or empty.
  std::string text(const std::string& key);
  uint64_t number(const std::string& key);  // decimal or 0x hexadecimal
  double real(const std::string& key);
  bool flag(const std::string& key);  // on|off|true|false
  bool has(const std::string& key) const { return entries_.count(key) != 0; }

  // Changes the value of a key that exists. False: there is no such key.
  bool replace(const std::string& key, const std::string& value);

  // Adds a key with its default value if the file does not have the key.
  void fall_back(const std::string& key, const std::string& value) {
    entries_.insert({key, {value, 0, false}});
  }

  // Returns the first key that is missing in one of the two or has different values. Keys in
  // `except` and defaults are not compared. Empty: there is no difference.
  std::string difference(const Settings& other, const std::set<std::string>& except) const;

  // The first error so far; empty: there is none. finish() also reports keys that nobody has used.
  const std::string& error() const { return error_; }
  const std::string& finish();

  // Reports a wrong value as "<path>:<line>: <key>: <what>". Only the first error is kept.
  void fail(const std::string& key, const std::string& what);

 private:
  struct Entry {
    std::string value;
    int line = 0;  // 0: not in the file
    bool used = false;
  };
  const Entry* take(const std::string& key);

  std::string name_;
  std::map<std::string, Entry> entries_;
  std::string error_;
};

}  // namespace base
