// SPDX-License-Identifier: MIT
// What does the engine's parameter file contain? The file contains lines of the form `key = value`,
// and comments that begin with `#`. Keys may contain dots. The command-line tool writes the file
// from the descriptions of the machine and the run. An unknown key is an error. A missing key
// without a default is also an error.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace base {

class Settings {
 public:
  // Reads the file. After an error, returns false and sets `*error` to "<path>:<line>: what is
  // wrong".
  bool load(const std::string& path, std::string* error);

  // Reads a text (for tests). Messages show `name` in place of the path.
  bool parse(const std::string& text, const std::string& name, std::string* error);

  // Each of these functions returns the value of a key and marks the key as used. If the key is
  // missing or its value has the wrong form, the function keeps a message for error(), and returns
  // zero or an empty text.
  std::string text(const std::string& key);
  uint64_t number(const std::string& key);  // decimal or 0x hexadecimal
  double real(const std::string& key);
  bool flag(const std::string& key);  // on|off|true|false
  bool has(const std::string& key) const { return entries_.count(key) != 0; }

  // Changes the value of a key. Returns false if the key does not exist.
  bool replace(const std::string& key, const std::string& value);

  // Adds a key with its default value if the file does not have the key.
  void fall_back(const std::string& key, const std::string& value) {
    entries_.insert({key, {value, 0, false}});
  }

  // Compares this file with the file of `other`. Returns the first key that is missing in one file,
  // or that has different values in the two files. Returns an empty text if there is no difference.
  // Ignores the keys that neither file sets.
  std::string difference(const Settings& other) const;

  // error() returns the first error so far, or an empty text. finish() also reports keys that no
  // part of the engine has used.
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
