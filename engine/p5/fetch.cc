// SPDX-License-Identifier: MIT
#include "p5/fetch.hh"

#include "p5/chip.hh"

namespace p5 {
namespace {

constexpr uint32_t kUncachedFetch = 8;  // INTEL-DM 16: an uncached code read brings 8 bytes

}  // namespace

void Fetch::fetch_line(Linear linear) {
  Core& core = chip().core;
  Caches& caches = chip().caches;
  Pipes& pipes = chip().pipes;
  if (linear >> 12 != page_) {
    attributes_ = chip().translation.code(linear);
    page_ = linear >> 12;
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
  const Fill fill = caches.fill_state(attributes_);
  if (caches.l1i.quick_read(physical)) return;
  if (core.observer) core.observer->code(physical, fill);
  const CacheAccess access = caches.l1i.access(physical, false, fill);
  if (core.observer) core.observer->used_code(physical);
  if (access.hit) return;
  pipes.enter_new_code(core);
  core.count(CodeMisses);
  if (fill == Fill::None) {
    use_window(linear, kUncachedFetch);
    return caches.read_noncacheable(physical, StallFetch);
  }
  caches.take_from_l1d(physical);  // a code miss removes the line from L1D [INTEL-DM 3]
  const Memory::Line line = caches.read_line(physical, Caches::Line::Code);
  caches.wait_for_line(line.first, StallFetch, CpiCodeL2, CpiCodeDram);
  first_qword_ = linear >> 3;
  line_complete_ = line.complete;
  const bool look = rule(Rule::BtbFalseHit) && chip().prediction.may_hold(window_, window_bytes_);
  ready_ = look ? kNever : line_complete_;
}

}  // namespace p5
