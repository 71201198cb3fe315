// SPDX-License-Identifier: MIT
#include "p5/fetch.hh"

#include "p5/chip.hh"

namespace p5 {
namespace {

constexpr uint32_t kUncachedFetch = 8;  // INTEL-DM 16: an uncached code read brings 8 bytes

}  // namespace

// The functions below end with the call of another one, and few have other calls. So the frequent
// ones save no registers.

void Fetch::fetch_line(Linear linear) {
  if (!ahead_) {
    if (linear >> 12 != page_) enter_page(linear);
    quick_page_ = page_;
    return fetch_in_page<false>(linear);
  }
  quick_page_ = kNoPage;
  if (linear >> 12 != page_ || chip().ahead.waits() || !rule(Rule::AheadArrives))
    return leave_window(linear);
  fetch_in_page<true>(linear);
}

// The line is in another page, or a request waits for the bus.
[[gnu::noinline]] void Fetch::leave_window(Linear linear) {
  if (window_bytes_ && linear == window_ + window_bytes_)
    chip().ahead.need();
  else if (chip().ahead.waits() || !rule(Rule::AheadArrives))
    chip().ahead.abandon();
  if (linear >> 12 != page_) enter_page(linear);
  fetch_in_page<true>(linear);
}

template <bool kAhead>
[[gnu::noinline]] void Fetch::fetch_in_page(Linear linear) {
  const uint32_t physical = frame_ | uint32_t(linear & 0xFFF);
  chip().core.count(CodeReads);
  if (!chip().caches.cacheable(physical)) return fetch_uncached(linear);
  use_window(linear, line_);
  chip().pipes.enter_known_code();
  ready_ = line_complete_;
  if (kAhead && chip().ahead.comes(physical & ~(line_ - 1))) return enter_ahead(linear, physical);
  if (!chip().caches.l1i.quick_read(physical)) return fetch_slow<kAhead>(linear, physical);
  if (kAhead) request_next();
}

[[gnu::noinline]] void Fetch::enter_page(Linear linear) {
  attributes_ = chip().translation.code(linear);
  page_ = linear >> 12;
  frame_ = chip().core.platform.code_physical(linear) & ~0xFFFu;
}

[[gnu::noinline]] void Fetch::fetch_uncached(Linear linear) {
  Core& core = chip().core;
  if (core.observer) core.observer->uncached_read(CodeMisses);
  core.count(CodeMisses);
  core.count(UncachedReads);
  use_window(linear, kUncachedFetch);
  chip().pipes.enter_new_code(core);
  core.wait(chip().caches.memory.uncached(core.clock), StallFetch, CpiUncached);
}

// The prefetcher has read the line of the window. L1I holds it, unless somebody has written to it.
[[gnu::noinline]] void Fetch::enter_ahead(Linear linear, uint32_t physical) {
  FetchAhead::Arrival arrival;
  if (!chip().ahead.take(&arrival)) return fetch_slow<true>(linear, physical);
  request_next();
  chip().pipes.enter_new_code(chip().core);
  chip().caches.wait_for_line(arrival.clock.first, StallFetch, CpiCodeL2, CpiCodeDram,
                              arrival.grant);
  enter_new_line(window_ >> 3, arrival.clock);
}

// The code at `linear` is not in the last-used line of its set in L1I.
template <bool kAhead>
[[gnu::noinline]] void Fetch::fetch_slow(Linear linear, uint32_t physical) {
  Core& core = chip().core;
  Caches& caches = chip().caches;
  const Fill fill = caches.fill_state(attributes_);
  if (core.observer) core.observer->code(physical, fill);
  const CacheAccess access = caches.l1i.access(physical, false, fill);
  if (core.observer) core.observer->used_code(physical);
  if (kAhead) caches.l1i.part(physical);
  if (access.hit) {
    if (kAhead) request_next();
    return;
  }
  chip().pipes.enter_new_code(core);
  core.count(CodeMisses);
  if (fill == Fill::None) {
    use_window(linear, kUncachedFetch);
    return caches.read_noncacheable(physical, StallFetch);
  }
  caches.take_from_l1d(physical);  // a code miss removes the line from L1D [INTEL-DM 3]
  const Memory::Line found = caches.read_line(physical, Caches::Line::Code);
  if (kAhead) request_next();
  caches.wait_for_line(found.first, StallFetch, CpiCodeL2, CpiCodeDram);
  enter_new_line(linear >> 3, found);
}

// The line of the window is new in L1I.
inline void Fetch::enter_new_line(Linear first_qword, const Memory::Line& line) {
  first_qword_ = first_qword;
  line_complete_ = line.complete;
  const bool look = rule(Rule::BtbFalseHit) && chip().prediction.may_hold(window_, window_bytes_);
  ready_ = look ? kNever : line_complete_;
}

// Execution enters the window, so the prefetcher reads the line behind it.
inline void Fetch::request_next() {
  if (chip().caches.fill_state(attributes_) == Fill::None) return;
  const bool in_page = (window_ + line_) >> 12 == page_ || !rule(Rule::AheadPage);
  const bool reads = in_page && rule(Rule::AheadNext);
  count_ahead(chip().core, window_, reads);
  if (rule(Rule::AheadNext) && rule(Rule::AheadPage) && rule(Rule::AheadArrives))
    quick_page_ = page_;
  if (!reads) return;
  const uint32_t physical = (frame_ | uint32_t(window_ & 0xFFF)) + line_;
  if (!chip().caches.l1i.quick_read(physical)) return request_absent(physical);
  chip().caches.l1i.pair(physical - line_);
}

[[gnu::noinline]] void Fetch::request_absent(uint32_t physical) {
  if (!rule(Rule::AheadPage) && !chip().caches.cacheable(physical)) return;
  if (chip().ahead.request(physical, chip().caches.fill_state(attributes_))) quick_page_ = kNoPage;
}

void Fetch::abandon() {
  read_ahead_ = quick_page_ = kNoPage;
  chip().ahead.abandon();
}

void Fetch::settle() {
  line_complete_ = ready_ = 0;
  chip().ahead.settle();
}

}  // namespace p5
