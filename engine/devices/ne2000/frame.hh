// SPDX-License-Identifier: MIT
// What is a frame, and how long does it take on the wire? Times are those of engine/base/agenda.hh.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "agenda.hh"

namespace net {

using base::Agenda;
using base::kMicrosecond;
using base::kMillisecond;
using base::kNever;
using base::kSecond;
using base::Time;

// Addresses, type and data. The wire adds preamble and frame check sequence.
using Frame = std::vector<uint8_t>;
using FramePtr = std::shared_ptr<const Frame>;

// IEEE 802.3, 4.4.2: parameters of 10 Mbit/s.
constexpr uint32_t kPreamble = 8, kCheck = 4;         // bytes; with the start frame delimiter
constexpr uint32_t kMinFrame = 60, kMaxFrame = 1514;  // without the check sequence
constexpr uint32_t kGapBits = 96;                     // interFrameGap
constexpr uint32_t kSlotBits = 512;                   // slotTime
constexpr uint32_t kJamBits = 32;                     // jamSize
constexpr uint32_t kAttempts = 16, kBackoff = 10;     // attemptLimit, backoffLimit

}  // namespace net
