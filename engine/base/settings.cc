// SPDX-License-Identifier: MIT
#include "base/settings.hh"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

namespace base {
namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

bool Settings::load(const std::string& path, std::string* error) {
  std::ifstream file(path);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    *error = path + ": cannot be read: " + std::strerror(errno);
    return false;
  }
  return parse(text.str(), path, error);
}

bool Settings::parse(const std::string& text, const std::string& name, std::string* error) {
  name_ = name;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); number++) {
    const std::string body = trimmed(line);
    if (body.empty() || body[0] == '#') continue;
    const size_t equals = body.find('=');
    const std::string where = name + ":" + std::to_string(number) + ": ";
    if (equals == std::string::npos) {
      *error = where + "expected `key = value`";
      return false;
    }
    const std::string key = trimmed(body.substr(0, equals));
    if (!entries_.insert({key, {trimmed(body.substr(equals + 1)), number, false}}).second) {
      *error = where + key + ": given twice";
      return false;
    }
  }
  return true;
}

const Settings::Entry* Settings::take(const std::string& key) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    if (error_.empty()) error_ = name_ + ": " + key + ": missing";
    return nullptr;
  }
  found->second.used = true;
  return &found->second;
}

void Settings::fail(const std::string& key, const std::string& what) {
  if (!error_.empty()) return;
  const auto found = entries_.find(key);
  const bool written = found != entries_.end() && found->second.line;
  const std::string line = written ? ":" + std::to_string(found->second.line) : "";
  error_ = name_ + line + ": " + key + ": " + what;
}

std::string Settings::text(const std::string& key) {
  const Entry* entry = take(key);
  return entry ? entry->value : "";
}

uint64_t Settings::number(const std::string& key) {
  const Entry* entry = take(key);
  if (!entry) return 0;
  char* end = nullptr;
  errno = 0;
  const uint64_t value = std::strtoull(entry->value.c_str(), &end, 0);
  if (errno || entry->value.empty() || entry->value[0] == '-' || *end) {
    fail(key, "`" + entry->value + "` is not a whole number");
  }
  return value;
}

double Settings::real(const std::string& key) {
  const Entry* entry = take(key);
  if (!entry) return 0;
  char* end = nullptr;
  const double value = std::strtod(entry->value.c_str(), &end);
  if (entry->value.empty() || *end || !(value >= 0)) {
    fail(key, "`" + entry->value + "` is not a number");
  }
  return value;
}

bool Settings::flag(const std::string& key) {
  const Entry* entry = take(key);
  if (!entry) return false;
  if (entry->value == "on" || entry->value == "true") return true;
  if (entry->value != "off" && entry->value != "false") {
    fail(key, "`" + entry->value + "` is neither on nor off");
  }
  return false;
}

bool Settings::replace(const std::string& key, const std::string& value) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return false;
  found->second.value = value;
  return true;
}

std::string Settings::difference(const Settings& other) const {
  for (const Settings* side : {this, &other}) {
    const auto& there = side == this ? other.entries_ : entries_;
    for (const auto& [key, entry] : side->entries_) {
      const auto found = there.find(key);
      if (entry.line && (found == there.end() || found->second.value != entry.value)) {
        return key;
      }
    }
  }
  return "";
}

const std::string& Settings::finish() {
  for (const auto& [key, entry] : entries_) {
    if (!entry.used) fail(key, "unknown key");
  }
  return error_;
}

}  // namespace base
