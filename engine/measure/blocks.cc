// SPDX-License-Identifier: LGPL-2.1-or-later
#include "measure/blocks.hh"

#include <cinttypes>
#include <sstream>
#include <utility>

namespace measure {

bool Blocks::parse(const std::string& text, std::vector<Interval>* intervals) {
  std::istringstream words(text);
  uint64_t last = 0;
  for (std::string word; words >> word;) {
    Interval one{};
    char rest;
    if (std::sscanf(word.c_str(), "%" SCNu32 ":%" SCNu64 ":%" SCNu64 ":%" SCNu64 "%c", &one.number,
                    &one.begin, &one.end, &one.weight, &rest) != 4 ||
        one.begin < last || one.end <= one.begin || one.weight == 0) {
      return false;
    }
    last = one.end;
    intervals->push_back(one);
  }
  return !intervals->empty();
}

void Blocks::sample(std::vector<Interval> intervals, uint64_t warm_up, Snapshot snapshot) {
  intervals_ = std::move(intervals);
  warm_up_ = warm_up;
  snapshot_ = std::move(snapshot);
}

void Blocks::measure(bool on) {
  count();
  measuring_ = on;
  if (!on || mode_ != Mode::Detailed || inside_) return;
  if (!intervals_.empty()) begin_gap();
  if (file_ && snapshot_) begin_snapshot(0);
}

void Blocks::add(uint64_t instructions) {
  if (!instructions) return;
  const Key key{space_, start_};
  Recent& recent = recent_[Hash()(key) % kRecent];
  if (!(recent.key == key)) {
    const auto found = ids_.emplace(key, uint32_t(ids_.size() + 1)).first;
    recent = {key, found->second};
    counts_.resize(ids_.size());
  }
  counts_[recent.id - 1] += instructions;
}

void Blocks::at_switch() {
  if (file_) {
    write_interval();
    while (switch_ <= total_) switch_ += length_;
    if (!inside_) return;
    snapshot_("end", number_);
    return begin_snapshot(number_ + 1);
  }
  while (total_ >= switch_) {
    if (inside_)
      end_interval();
    else if (mode_ == Mode::Resting)
      warm_up();
    else
      begin_interval();
  }
}

void Blocks::begin_snapshot(uint32_t number) {
  inside_ = true;
  number_ = number;
  snapshot_("begin", number);
}

void Blocks::begin_interval() {
  model_.set_warming(false);
  mode_ = Mode::Detailed;
  begin_snapshot(intervals_[next_].number);
  cycles_ = model_.counters().total(p5::CyclesBusy);
  instructions_ = model_.counters().total(p5::Instructions);
  switch_ = intervals_[next_].end;
}

void Blocks::end_interval() {
  const Interval& interval = intervals_[next_++];
  const uint64_t cycles = model_.counters().total(p5::CyclesBusy) - cycles_;
  const uint64_t instructions = model_.counters().total(p5::Instructions) - instructions_;
  snapshot_("end", interval.number);
  inside_ = false;
  weights_ += interval.weight;
  weighted_ += interval.weight * ((cycles << kFraction) / instructions);
  clocks_each_ = weighted_ / weights_;
  begin_gap();
}

// Prepares the gap before the next interval. If the next interval begins here, there is no gap.
void Blocks::begin_gap() {
  if (!clocks_each_) {  // before the first interval: count from reset
    clocks_each_ = (model_.counters().total(p5::CyclesBusy) << kFraction) /
                   model_.counters().total(p5::Instructions);
  }
  const uint64_t begin = next_ < intervals_.size() ? intervals_[next_].begin : kNever;
  if (begin <= total_) return begin_interval();
  gap_ = 0;
  gap_clock_ = model_.clock();
  if (begin <= total_ + warm_up_) return warm_up();
  mode_ = Mode::Resting;
  model_.pause(true);
  switch_ = begin - warm_up_;
}

void Blocks::warm_up() {
  if (mode_ == Mode::Resting) model_.pause(false);
  mode_ = Mode::Warming;
  model_.set_warming(true);
  switch_ = next_ < intervals_.size() ? intervals_[next_].begin : kNever;
}

void Blocks::write_interval() {
  const char* begin = "T";
  for (size_t i = 0; i < counts_.size(); i++) {
    if (!counts_[i]) continue;
    std::fprintf(file_, "%s:%zu:%" PRIu64, begin, i + 1, counts_[i]);
    begin = " ";
    counts_[i] = 0;
  }
  if (*begin == ' ') std::fputc('\n', file_);
}

void Blocks::finish() {
  if (inside_) snapshot_("end", number_);
  if (file_ && total_ + length_ > switch_) write_interval();
}

}  // namespace measure
