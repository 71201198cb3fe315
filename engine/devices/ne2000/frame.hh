// SPDX-License-Identifier: MIT
// What is a frame, and which parameters decide its time on the wire? engine/base/agenda.hh defines
// the unit of time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/agenda.hh"

namespace device::ne2000 {

using base::Agenda;
using base::kMicrosecond;
using base::kMillisecond;
using base::kNever;
using base::kSecond;
using base::Time;

// A frame contains addresses, type and data. The wire adds the preamble and the frame check
// sequence.
using Frame = std::vector<uint8_t>;
using FramePtr = std::shared_ptr<const Frame>;

// Parameters of Ethernet at 10 Mbit/s (IEEE 802.3, 4.4.2).
constexpr uint32_t kPreamble = 8, kCheck = 4;         // bytes; with the start frame delimiter
constexpr uint32_t kMinFrame = 60, kMaxFrame = 1514;  // without the check sequence
constexpr uint32_t kGapBits = 96;                     // interFrameGap
constexpr uint32_t kSlotBits = 512;                   // slotTime
constexpr uint32_t kJamBits = 32;                     // jamSize
constexpr uint32_t kAttempts = 16, kBackoff = 10;     // attemptLimit, backoffLimit

}  // namespace device::ne2000
