// SPDX-License-Identifier: MIT
// What does the file of a saved process contain? A header, and the content of each region of the
// process's memory. session/saved_state.cc writes the file, and restore/restore.cc maps it.
#pragma once

#include <cstdint>

namespace restore {

constexpr uint64_t kMagic = 0x0031474D49423550;  // "P5BIMG1"
constexpr uint64_t kPage = 4096;
constexpr uint32_t kMostRegions = 4096;
constexpr int kSignals = 64;

struct Region {
  uint64_t begin, end;  // addresses
  uint64_t offset;      // in the file; 0: the region has no content
  uint64_t protection;  // PROT_READ, PROT_WRITE, PROT_EXEC
};

// The registers that a function must not change, and the place at which the process continues.
struct Registers {
  uint64_t rbx, rbp, r12, r13, r14, r15, rsp, rip;
  uint32_t mxcsr, x87_control;
};

// The kernel's form of struct sigaction on x86-64.
struct Action {
  uint64_t handler, flags, restorer, mask;
};

struct Header {
  uint64_t magic;
  Registers registers;
  uint64_t fs;               // address of the thread-local data
  uint64_t stack;            // address of the lowest byte of the stack's region
  Action actions[kSignals];  // of signal 1, 2 and so on
  uint64_t regions;
  Region region[kMostRegions];
};

}  // namespace restore
