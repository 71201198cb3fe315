// SPDX-License-Identifier: MIT
// The engine's parameter file: `key = value` lines, `#` comments, keys with dots. It is written
// by the command line tool from the machine and run descriptions; every key must be known and
// every known key present, so a misspelling cannot pass as a default.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace base {

class Settings {
 public:
  // Reads the file; false with `*error` = "<path>:<line>: what is wrong".
  bool load(const std::string& path, std::string* error);

  // From text (tests); `name` stands for the path in messages.
  bool parse(const std::string& text, const std::string& name, std::string* error);

  // Each takes a key once and for all: a missing key or a value of the wrong form is remembered
  // as the first error() and yields the zero of its type.
  std::string text(const std::string& key);
  uint64_t number(const std::string& key);  // decimal or 0x hexadecimal
  double real(const std::string& key);
  bool flag(const std::string& key);  // on|off|true|false
  bool has(const std::string& key) const { return entries_.count(key) != 0; }

  // Gives a key that is there another value; false: it is not there.
  bool replace(const std::string& key, const std::string& value);

  // Gives a key that is not there a value.
  void fall_back(const std::string& key, const std::string& value) {
    entries_.insert({key, {value, 0, false}});
  }

  // The first key, apart from `except` and those that fell back, that the two do not have with the
  // same value; empty: none.
  std::string difference(const Settings& other, const std::set<std::string>& except) const;

  // The first error so far, empty when none; `finish` adds keys that nobody took.
  const std::string& error() const { return error_; }
  const std::string& finish();

  // Reports a value that was read but makes no sense: "<path>:<line>: <key>: <what>".
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
