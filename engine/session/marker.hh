// SPDX-License-Identifier: MIT
// How does a program in the guest call the engine? A marker is CPUID with the leaf kMarkerLeaf in
// EAX and an operation in ECX. workloads/lib/marker.h contains the guest's side, and
// docs/reference/marker-protocol.md describes the protocol for other programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../workloads/lib/marker_numbers.h"
#include "session/guest_buffer.hh"

namespace session {

constexpr uint32_t kMarkerLeaf = P5_MARKER_LEAF;  // of CPUID
constexpr uint32_t kMarkerEbx = P5_MARKER_MAGIC;  // the answer to detect
constexpr uint32_t kMarkerVersion = P5_MARKER_ABI;

enum MarkerOp : uint32_t {
  kDetect = P5_OP_DETECT,
  kReady = P5_OP_READY,
  kBegin = P5_OP_BEGIN,
  kEnd = P5_OP_END,
  kAbort = P5_OP_ABORT,
  kExit = P5_OP_EXIT,
  kReadCounter = P5_OP_READ_COUNTER,
  kJob = P5_OP_JOB,
  kOutput = P5_OP_OUTPUT,
  kBootLoad = P5_OP_BOOTROM,
  kProgram = P5_OP_PROGRAM,
  kText = P5_OP_TEXT,
  kJobText = P5_OP_JOB_TEXT,
  kName = P5_OP_NAME
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

// The twelve bytes of a text at `offset`, and this EAX.
MarkerResult twelve_bytes(const std::string& text, size_t offset, uint32_t eax);

}  // namespace session
