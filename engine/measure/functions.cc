// SPDX-License-Identifier: MIT
#include "measure/functions.hh"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <sstream>

namespace measure {

bool Functions::parse(const std::string& text, const std::string& name, std::string* error) {
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); number++) {
    std::istringstream words(line);
    std::string kind, symbol;
    uint64_t first = 0, second = 0;
    words >> kind >> std::hex;
    const auto wrong = [&](const char* what) {
      *error = name + ":" + std::to_string(number) + ": " + what;
      return false;
    };
    if (kind == "module") {
      if (!std::getline(words >> std::ws, symbol)) return wrong("expected `module NAME`");
      modules_.emplace_back();
      modules_.back().unknown = uint32_t(functions_.size());
      functions_.push_back({"[" + symbol + "+unknown]", symbol});
      continue;
    }
    if (modules_.empty()) return wrong("expected a module first");
    Module& module = modules_.back();
    if (!(words >> first >> second)) return wrong("expected two numbers in hexadecimal");
    if (kind == "fixed") {
      module.first = p5::Linear(first);
      module.bytes = p5::Linear(second);
      fixed_.push_back(uint32_t(modules_.size() - 1));
    } else if (kind == "page") {
      by_content_.insert({second, uint32_t(pages_.size())});
      pages_.push_back({uint32_t(modules_.size() - 1), p5::Linear(first)});
    } else if (kind == "function" || kind == "start") {
      if (!second || !std::getline(words >> std::ws, symbol)) {
        return wrong("expected an address, a length and a name");
      }
      const auto next = module.ranges.upper_bound(p5::Linear(first));
      if ((next != module.ranges.end() && next->first < first + second) ||
          (next != module.ranges.begin() && std::prev(next)->second.end > first)) {
        return wrong("expected functions that do not overlap");
      }
      module.ranges[p5::Linear(first)] = {p5::Linear(first + second), uint32_t(functions_.size())};
      functions_.push_back({symbol, functions_[module.unknown].module, kind == "start"});
    } else {
      return wrong("expected module, fixed, page, function or start");
    }
  }
  return true;
}

bool Functions::at(p5::Linear linear, Place* place) const {
  for (const uint32_t number : fixed_) {
    const Module& module = modules_[number];
    if (linear - module.first >= module.bytes) continue;
    *place = look_up(module, linear);
    return true;
  }
  return false;
}

uint32_t Functions::page(const uint8_t* content) const {
  const auto found = by_content_.find(digest(content));
  return found == by_content_.end() ? 0 : found->second;
}

Functions::Place Functions::in(uint32_t page, p5::Linear linear) const {
  const p5::Linear start = linear & ~p5::Linear(kPageBytes - 1);
  if (page == 0) return {kUnknown, start, kPageBytes};
  const p5::Linear linked = pages_[page].linear;
  const Place whole = look_up(modules_[pages_[page].module], linked + (linear - start));
  // The part of the function in this page, and the address of the page.
  const p5::Linear first = std::max(whole.first, linked);
  const p5::Linear end = std::min(whole.first + whole.bytes - linked, p5::Linear(kPageBytes));
  return {whole.function, start + (first - linked), end - (first - linked)};
}

Functions::Place Functions::look_up(const Module& module, p5::Linear linear) const {
  const auto next = module.ranges.upper_bound(linear);
  const p5::Linear end = next == module.ranges.end() ? ~p5::Linear(0) : next->first;
  if (next == module.ranges.begin()) return {module.unknown, 0, end};
  const auto& [first, range] = *std::prev(next);
  if (linear < range.end) return {range.function, first, range.end - first};
  return {module.unknown, range.end, end - range.end};
}

uint64_t Functions::digest(const uint8_t* content) {
  uint64_t digest = 0;
  for (uint32_t at = 0; at < kPageBytes; at += 8) {
    uint64_t word;
    std::memcpy(&word, content + at, sizeof word);
    digest = ((digest << 5 | digest >> 59) ^ word) * 0x9E3779B97F4A7C15u;
  }
  return digest;
}

}  // namespace measure
