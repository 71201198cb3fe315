// SPDX-License-Identifier: MIT
#include "observe/intervals/intervals.hh"

#include "base/events.hh"
#include "base/json.hh"
#include "observe/names.hh"

namespace observe {
namespace {

using base::JsonLine;

const Registered<Intervals> registered("intervals", Intervals::read);

}  // namespace

Make Intervals::read(base::Settings& settings) {
  const uint64_t length = settings.number("run.interval");
  if (length == 0) settings.fail("run.interval", "expected at least 1");
  return [length](const Machine& machine) {
    return std::make_unique<Intervals>(machine.model, length, machine.clock_hz);
  };
}

void Intervals::open(const std::vector<uint32_t>& counted, Write write) {
  counted_ = counted;
  write_ = std::move(write);
  JsonLine header("header");
  header.member("schema_version", 1).member("clock_hz", clock_hz_).member("length", length_);
  write_(header.names("events", event_names(counted_)).line());
}

void Intervals::start() {
  take_counts();
  start_ = model_.clock();
  deadline_ = start_ + length_;
}

void Intervals::reached(uint64_t now) {
  write_counts();
  take_counts();
  number_++;
  deadline_ = start_ + ((now - start_) / length_ + 1) * length_;
}

std::string Intervals::text(const std::vector<uint32_t>&) const { return JsonLine("end").line(); }

void Intervals::stop() {
  write_counts();
  take_counts();
  write_counts();
}

void Intervals::take_counts() {
  // Not counters(): it ends the current pair, so that the run's own stack would change.
  model_.settle();
  const p5::Counters& counters = model_.banks();
  for (uint32_t ring = 0; ring < kRings; ring++)
    for (const uint32_t event : counted_)
      counts_[ring][event] = counters.total(p5::Event(event), 1u << ring);
  clock_ = model_.clock();
  late_.read();
}

void Intervals::explain(p5::Event component) {
  auto& counts = counts_[model_.bank().ring];
  counts[p5::CpiSingleOther]--;
  counts[component]++;
}

void Intervals::write_counts() {
  std::string text;
  for (uint32_t ring = 0; ring < kRings; ring++) {
    std::string counts;
    uint64_t sum = 0;
    for (const uint32_t event : counted_) {
      const uint64_t count = counts_[ring][event];
      sum += count;
      counts += counts.empty() ? '[' : ',';
      base::append(&counts, count);
    }
    if (!sum) continue;
    text.append(text.empty() ? "[" : ",[").append(std::to_string(ring)).append(",");
    text.append(counts).append("]]");
  }
  JsonLine line("counts");
  write_(line.member("tsc", clock_).raw("rings", "[" + text + "]").line());
}

}  // namespace observe
