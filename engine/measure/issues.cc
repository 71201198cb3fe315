// SPDX-License-Identifier: MIT
#include "measure/issues.hh"

#include <cinttypes>
#include <string>
#include <utility>

#include "base/json.hh"

namespace measure {

Issues::Issues(p5::Pentium& model, std::vector<uint32_t> counted, std::FILE* file, uint64_t limit)
    : model_(model),
      counted_(std::move(counted)),
      file_(file),
      left_(limit),
      seen_(counted_.size()) {
  model_.watch_each(true);
  std::vector<std::string> names;
  for (const uint32_t event : counted_) names.push_back(p5::event_name(event));
  base::JsonLine header("header");
  std::fputs(header.member("schema_version", 1).names("events", names).line().c_str(), file_);
}

void Issues::measure(bool on) {
  on_ = on;
  pending_ = false;
  model_.settle();
  for (size_t i = 0; i < counted_.size(); i++) grown(i);
}

void Issues::at(p5::Linear linear) {
  if (!on_ || !left_) return;
  if (pending_) write();
  pending_ = true;
  linear_ = linear;
  clock_ = model_.clock();
}

void Issues::write() {
  left_--;
  model_.settle();
  std::fprintf(file_, "[%" PRIu64 ",%" PRIu64, uint64_t(linear_), clock_);
  for (size_t i = 0; i < counted_.size(); i++) {
    if (const uint64_t some = grown(i)) std::fprintf(file_, ",%zu,%" PRId64, i, int64_t(some));
  }
  std::fputs("]\n", file_);
}

uint64_t Issues::grown(size_t i) {
  const uint64_t now = model_.banks().total(p5::Event(counted_[i]));
  return now - std::exchange(seen_[i], now);
}

}  // namespace measure
