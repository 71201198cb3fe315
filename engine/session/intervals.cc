// SPDX-License-Identifier: MIT
#include "session/intervals.hh"

#include "base/events.hh"
#include "base/json.hh"
#include "observe/names.hh"

namespace session {

using base::JsonLine;

void Intervals::open(const std::string& path, uint64_t clock_hz) {
  file_.create(path);
  JsonLine header("header");
  header.member("schema_version", 1).member("clock_hz", clock_hz).member("length", length_);
  file_.write(header.names("events", observe::event_names(counted_)).line());
}

void Intervals::begin() {
  if (next_ != ~uint64_t(0)) return;
  write();
  start_ = model_.clock();
  next_ = start_ + length_;
}

void Intervals::look(uint64_t now) {
  if (now <= next_) return;
  write();
  next_ = start_ + ((now - start_) / length_ + 1) * length_;
}

void Intervals::finish() {
  if (next_ != ~uint64_t(0)) write();
  file_.write(JsonLine("end").line());
  file_.finish();
}

// Writes the counts since reset, by ring. The rings with counts come in the order of their number.
void Intervals::write() {
  // Not counters(): it ends the current pair, so that the run's own stack would change.
  model_.settle();
  const p5::Counters& counters = model_.banks();
  std::string text;
  for (uint32_t ring = 0; ring < 4; ring++) {
    std::string counts;
    uint64_t sum = 0;
    for (const uint32_t event : counted_) {
      const uint64_t count = counters.total(p5::Event(event), 1u << ring);
      sum += count;
      counts += counts.empty() ? '[' : ',';
      base::append(&counts, count);
    }
    if (!sum) continue;
    text.append(text.empty() ? "[" : ",[").append(std::to_string(ring)).append(",");
    text.append(counts).append("]]");
  }
  JsonLine line("counts");
  file_.write(line.member("tsc", model_.clock()).raw("rings", "[" + text + "]").line());
}

}  // namespace session
