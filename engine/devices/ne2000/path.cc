// SPDX-License-Identifier: MIT
#include "devices/ne2000/path.hh"

#include <utility>

namespace device::ne2000 {

void Path::send(const FramePtr& frame, Time now) {
  // Each frame uses three random numbers, so a fault of one frame does not change the faults of the
  // next frame.
  const bool lost = random_.chance(config_.loss);
  const bool doubled = random_.chance(config_.duplicate);
  const bool late = random_.chance(config_.reorder);
  if (lost) return report_(Fault::Lost);
  if (late && !held_) {
    held_ = frame;
    const uint64_t hold = ++holds_;
    report_(Fault::Late);
    agenda_.at(now + kOvertaken, [this, hold](Time then) {
      if (hold == holds_) let_go(then);
    });
    return;
  }
  pass(frame, now);
  if (doubled) {
    report_(Fault::Doubled);
    pass(frame, now);
  }
  let_go(now);
}

void Path::let_go(Time now) {
  if (!held_) return;
  pass(std::exchange(held_, nullptr), now);
  holds_++;
}

void Path::pass(const FramePtr& frame, Time now) {
  if (!config_.latency) return deliver_(now, frame);
  agenda_.at(now + config_.latency, [this, frame](Time then) { deliver_(then, frame); });
}

}  // namespace device::ne2000
