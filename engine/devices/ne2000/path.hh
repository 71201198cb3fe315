// SPDX-License-Identifier: MIT
// What happens to frames between the wire and the remote host, in one direction? The path delays
// each frame. The path also loses, doubles or reorders some frames. A seed selects these frames. A
// lost frame disappears. A doubled frame arrives twice. A reordered frame arrives after the next
// frame, or after a delay if no frame follows.
#pragma once

#include <functional>

#include "devices/ne2000/frame.hh"
#include "devices/ne2000/random.hh"

namespace device::ne2000 {

struct PathConfig {
  Time latency = 0;
  double loss = 0, duplicate = 0, reorder = 0;  // probabilities for each frame
  uint64_t seed = 0;
};

enum class Fault { Lost, Doubled, Late };

class Path {
 public:
  using Deliver = std::function<void(Time, const FramePtr&)>;
  static constexpr Time kOvertaken = 20 * kMillisecond;  // longest delay of a reordered frame

  using Report = std::function<void(Fault)>;

  Path(const PathConfig& config, uint32_t stream, Agenda& agenda, Deliver deliver, Report report)
      : config_(config),
        agenda_(agenda),
        deliver_(std::move(deliver)),
        report_(std::move(report)),
        random_(config.seed, stream) {}

  void send(const FramePtr& frame, Time now);

 private:
  void pass(const FramePtr& frame, Time now);
  void let_go(Time now);

  PathConfig config_;
  Agenda& agenda_;
  Deliver deliver_;
  Report report_;
  Random random_;
  FramePtr held_;
  uint64_t holds_ = 0;
};

}  // namespace device::ne2000
