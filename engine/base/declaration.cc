// SPDX-License-Identifier: MIT
#include "base/declaration.hh"

#include <regex.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace base {
namespace {

bool is_number(const DeclaredKey& key, const std::string& text) {
  if (text.empty() || text[0] == '-') return false;
  char* end = nullptr;
  errno = 0;
  const double value = key.form == DeclaredKey::kInteger
                           ? double(std::strtoull(text.c_str(), &end, 0))
                           : std::strtod(text.c_str(), &end);
  return !errno && !*end && value >= key.low && value <= key.high;
}

bool is_choice(const std::string& choices, const std::string& text) {
  return ("," + choices + ",").find("," + text + ",") != std::string::npos &&
         text.find(',') == std::string::npos;
}

bool is_on(const std::string& text) { return text == "true" || text == "on"; }

// Each pattern is compiled only once, because a run may check the settings of many geometries.
bool matches(const std::string& text, const std::string& pattern) {
  static std::map<std::string, regex_t> compiled;
  const auto [found, is_new] = compiled.try_emplace(pattern);
  if (is_new && regcomp(&found->second, ("^(" + pattern + ")$").c_str(), REG_EXTENDED | REG_NOSUB))
    std::abort();  // p5lab checks the patterns when it reads the declarations
  return regexec(&found->second, text.c_str(), 0, nullptr, 0) == 0;
}

bool fits(const DeclaredKey& key, const std::string& text) {
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  switch (key.form) {
    case DeclaredKey::kInteger:
    case DeclaredKey::kReal:
      return is_number(key, text);
    case DeclaredKey::kFlag:
      return is_choice("on,off,true,false", text);
    case DeclaredKey::kRanges:
      return parse_ranges(text, &ranges);
    default:
      if (*key.choices) return is_choice(key.choices, text);
      return !*key.pattern || matches(text, key.pattern);
  }
}

}  // namespace

void check(Settings& settings, const Declaration& declared) {
  for (size_t i = 0; i < declared.key_count; i++) {
    const DeclaredKey& key = declared.keys[i];
    if (key.fallback) settings.fall_back(key.name, key.fallback);
    const std::string text = settings.text(key.name);
    if (settings.has(key.name) && !fits(key, text)) {
      settings.fail(key.name, std::string("expected ") + key.expected + "; found `" + text + "`");
    }
  }
}

bool present(Settings& settings, const Declaration& declared) {
  const auto has_default = [&](const DeclaredKey& key) {
    if (key.form == DeclaredKey::kFlag) return settings.flag(key.name) == is_on(key.fallback);
    return settings.text(key.name) == key.fallback;
  };
  bool is_decided = false;
  for (size_t i = 0; i < declared.key_count; i++) {
    const DeclaredKey& key = declared.keys[i];
    if (key.decides && !has_default(key)) return true;
    is_decided |= key.decides;
  }
  return !is_decided;
}

bool is_geometry(const Declaration& declared, const std::string& name) {
  return std::any_of(declared.keys, declared.keys + declared.key_count,
                     [&](const DeclaredKey& key) { return key.geometry && name == key.name; });
}

bool parse_ranges(const std::string& text, std::vector<std::pair<uint32_t, uint32_t>>* ranges) {
  for (size_t at = 0; at < text.size();) {
    unsigned first, last;
    int used = 0;
    if (std::sscanf(text.c_str() + at, " %x-%x%n", &first, &last, &used) != 2 || first > last) {
      return false;
    }
    ranges->push_back({first, last});
    at += size_t(used);
    if (at < text.size() && text[at++] != ',') return false;
  }
  return true;
}

}  // namespace base
