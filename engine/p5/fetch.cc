// SPDX-License-Identifier: MIT
#include "fetch.hh"

#include <utility>

namespace p5 {
namespace {

constexpr uint32_t kUncachedFetch = 8;  // INTEL-DM 16: an uncached code read brings 8 bytes

}  // namespace

Fetch::Fetch(Core& core, Caches& caches, Translation& translation, Pipes& pipes,
             Prediction& prediction)
    : line_(core.machine.l1i.line),
      core_(core),
      caches_(caches),
      translation_(translation),
      pipes_(pipes),
      prediction_(prediction) {}

void Fetch::fetch_line(Linear linear) {
  if (linear >> 12 != page_) {
    attributes_ = translation_.code(linear);
    page_ = linear >> 12;
    frame_ = core_.platform.code_physical(linear) & ~0xFFFu;
  }
  const uint32_t physical = frame_ | uint32_t(linear & 0xFFF);
  core_.count(CodeReads);
  if (!caches_.cacheable(physical)) {
    if (core_.observer) core_.observer->uncached_read(CodeMisses);
    core_.count(CodeMisses);
    core_.count(UncachedReads);
    use_window(linear, kUncachedFetch);
    pipes_.enter_new_code(core_);
    return core_.wait(caches_.memory.uncached(core_.clock), StallFetch);
  }
  use_window(linear, line_);
  pipes_.enter_known_code();
  ready_ = line_complete_;
  const Fill fill = caches_.fill_state(attributes_);
  if (caches_.l1i.quick_read(physical)) return;
  if (core_.observer) core_.observer->code(physical, fill);
  const CacheAccess access = caches_.l1i.access(physical, false, fill);
  if (core_.observer) core_.observer->used_code(physical);
  if (access.hit) return;
  pipes_.enter_new_code(core_);
  core_.count(CodeMisses);
  if (fill == Fill::None) {
    use_window(linear, kUncachedFetch);
    return caches_.read_noncacheable(physical, StallFetch);
  }
  caches_.take_from_l1d(physical);  // as a code miss does [INTEL-DM 3]
  const Memory::Line line = caches_.read_line(physical);
  core_.wait(line.first, StallFetch);
  first_qword_ = linear >> 3;
  line_complete_ = line.complete;
  const bool look = rule(Rule::BtbFalseHit) && prediction_.may_hold(window_, window_bytes_);
  ready_ = look ? kNever : line_complete_;
}

void Fetch::hold(bool on) {
  if (on)
    held_ready_ = std::exchange(ready_, kNever);
  else
    ready_ = held_ready_;
}

}  // namespace p5
