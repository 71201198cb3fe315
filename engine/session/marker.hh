// SPDX-License-Identifier: MIT
// How does a program in the guest call the engine? A marker is CPUID with the leaf kMarkerLeaf in
// EAX and an operation in ECX. workloads/lib/marker.h contains the guest's side, and
// docs/reference/marker-protocol.md describes the protocol for other programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "session/guest_buffer.hh"

namespace session {

constexpr uint32_t kMarkerLeaf = 0x50354C42;  // CPUID leaf "P5LB"
constexpr uint32_t kMarkerEbx = 0x616C3570;   // "p5la", the answer to detect
constexpr uint32_t kMarkerVersion = 1;

enum MarkerOp : uint32_t {
  kDetect,
  kReady,
  kBegin,
  kEnd,
  kAbort,
  kExit,
  kReadCounter,
  kJob,
  kOutput,
  kBootLoad,
  kProgram,
  kText,
  kJobText,
  kName
};

struct MarkerCall {
  uint32_t op, arg0, arg1, arg2;  // ECX, EDX, ESI, EBX
  bool real_mode;
  Place source, target;  // DS:(E)SI and ES:(E)DI
};

// The registers with the engine's answer.
struct MarkerResult {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// Returns the twelve bytes of a text at `offset`, in EBX, ECX and EDX. Zeros follow the end of the
// text.
MarkerResult twelve_bytes(const std::string& text, size_t offset, uint32_t eax);

}  // namespace session
