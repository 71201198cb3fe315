// SPDX-License-Identifier: MIT
// What happens to frames between the wire and the remote host, in one direction? They get a delay
// and, chosen by a seed, the faults of a network. A lost frame disappears and a doubled one arrives
// twice. A reordered frame arrives after the next one, or after a while if no frame follows.
#pragma once

#include <functional>

#include "frame.hh"
#include "random.hh"

namespace net {

struct PathConfig {
  Time latency = 0;
  double loss = 0, duplicate = 0, reorder = 0;  // probabilities for each frame
  uint64_t seed = 0;
};

enum class Fault { Lost, Doubled, Late };

class Path {
 public:
  using Deliver = std::function<void(Time, const FramePtr&)>;
  static constexpr Time kOvertaken =
      20 * kMillisecond;  // no later is a frame that waits for another

  using Tell = std::function<void(Fault)>;

  Path(const PathConfig& config, uint32_t stream, Agenda& agenda, Deliver deliver, Tell tell)
      : config_(config),
        agenda_(agenda),
        deliver_(std::move(deliver)),
        tell_(std::move(tell)),
        random_(config.seed, stream) {}

  void send(const FramePtr& frame, Time now);

 private:
  void pass(const FramePtr& frame, Time now);
  void let_go(Time now);

  PathConfig config_;
  Agenda& agenda_;
  Deliver deliver_;
  Tell tell_;
  Random random_;
  FramePtr held_;
  uint64_t holds_ = 0;
};

}  // namespace net
