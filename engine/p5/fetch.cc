// SPDX-License-Identifier: MIT
#include "p5/fetch.hh"

#include "p5/chip.hh"

namespace p5 {
namespace {

constexpr uint32_t kUncachedFetch = 8;  // INTEL-DM 16: an uncached code read brings 8 bytes

}  // namespace

template <bool kAhead>
inline void Fetch::fetch_line_as(Linear linear) {
  Core& core = chip().core;
  Caches& caches = chip().caches;
  Pipes& pipes = chip().pipes;
  const bool goes_on = kAhead && window_bytes_ && linear == window_ + window_bytes_;
  if (kAhead && !goes_on) chip().ahead.abandon();
  if (linear >> 12 != page_) {
    attributes_ = chip().translation.code(linear);
    page_ = linear >> 12;
    if (!kAhead) quick_page_ = page_;
    frame_ = core.platform.code_physical(linear) & ~0xFFFu;
  }
  const uint32_t physical = frame_ | uint32_t(linear & 0xFFF);
  core.count(CodeReads);
  if (!caches.cacheable(physical)) {
    if (core.observer) core.observer->uncached_read(CodeMisses);
    core.count(CodeMisses);
    core.count(UncachedReads);
    use_window(linear, kUncachedFetch);
    pipes.enter_new_code(core);
    return core.wait(caches.memory.uncached(core.clock), StallFetch, CpiUncached);
  }
  use_window(linear, line_);
  pipes.enter_known_code();
  ready_ = line_complete_;
  [[maybe_unused]] const uint64_t begins = core.clock;
  const Fill fill = caches.fill_state(attributes_);
  if (kAhead) {
    const uint32_t line = physical & ~(line_ - 1);
    FetchAhead::Arrival arrival;
    if (goes_on) chip().ahead.need(line);
    if (chip().ahead.take(line, &arrival)) {
      request_next(begins, fill);
      pipes.enter_new_code(core);
      caches.wait_for_line(arrival.clock.first, StallFetch, CpiCodeL2, CpiCodeDram, arrival.grant);
      return enter_new_line(window_ >> 3, arrival.clock);
    }
  }
  if (caches.l1i.quick_read(physical)) {
    if (kAhead) request_next(begins, fill);
    return;
  }
  if (core.observer) core.observer->code(physical, fill);
  const CacheAccess access = caches.l1i.access(physical, false, fill);
  if (core.observer) core.observer->used_code(physical);
  if (access.hit) {
    if (kAhead) request_next(begins, fill);
    return;
  }
  pipes.enter_new_code(core);
  core.count(CodeMisses);
  if (fill == Fill::None) {
    use_window(linear, kUncachedFetch);
    return caches.read_noncacheable(physical, StallFetch);
  }
  caches.take_from_l1d(physical);  // a code miss removes the line from L1D [INTEL-DM 3]
  const Memory::Line found = caches.read_line(physical, Caches::Line::Code);
  if (kAhead) request_next(begins, fill);
  caches.wait_for_line(found.first, StallFetch, CpiCodeL2, CpiCodeDram);
  enter_new_line(linear >> 3, found);
}

void Fetch::fetch_line(Linear linear) {
  if (__builtin_expect(ahead_, 0)) return fetch_line_as<true>(linear);
  fetch_line_as<false>(linear);
}

// The line of the window is new in L1I.
inline void Fetch::enter_new_line(Linear first_qword, const Memory::Line& line) {
  first_qword_ = first_qword;
  line_complete_ = line.complete;
  const bool look = rule(Rule::BtbFalseHit) && chip().prediction.may_hold(window_, window_bytes_);
  ready_ = look ? kNever : line_complete_;
}

// Execution entered the window at clock `from`, so the prefetcher reads the line behind it.
void Fetch::request_next(uint64_t from, Fill fill) {
  if (fill == Fill::None) return;
  const Linear next = window_ + line_;
  const bool in_page = next >> 12 == page_ || !rule(Rule::AheadPage);
  const bool reads = in_page && rule(Rule::AheadNext);
  count_ahead(chip().core, window_, reads);
  if (!reads) return;
  const uint32_t physical = (frame_ | uint32_t(window_ & 0xFFF)) + line_;
  if (chip().caches.cacheable(physical)) chip().ahead.request(physical, fill, from);
}

void Fetch::abandon() {
  read_ahead_ = kNoPage;
  chip().ahead.abandon();
}

void Fetch::settle() {
  line_complete_ = ready_ = 0;
  chip().ahead.settle();
}

}  // namespace p5
