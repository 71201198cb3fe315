// SPDX-License-Identifier: MIT
// Which processor does the model have? Without P5_X86_64, the processor is a Pentium. With
// P5_X86_64, the processor is an x86-64 processor with the memory hierarchy of that Pentium
// [AMD64]. The caches and TLBs then have the same geometry, and their events are counted. By
// default each instruction takes one clock. With nominal clocks (Config::flat is false),
// instructions go through the Pentium's pipes (docs/concepts/nominal-clocks.md).
#pragma once

#include <cstdint>

namespace p5 {

// Bochs includes insn.hh, and must see the same processor. Bochs defines BX_SUPPORT_X86_64 as 0
// or 1.
#if defined(P5_X86_64) || (defined(BX_SUPPORT_X86_64) && BX_SUPPORT_X86_64)
constexpr bool kX86_64 = true;
using Linear = uint64_t;  // a linear address
using Space = uint64_t;   // an address space: the value of CR3
using PageEntry = uint64_t;
#else
constexpr bool kX86_64 = false;
using Linear = uint32_t;
using Space = uint32_t;
using PageEntry = uint32_t;
#endif

// The number of general registers.
constexpr unsigned kRegisters = kX86_64 ? 16 : 8;

// Page tables [INTEL-DM 11, AMD64 5.3]. kPageLevels is the number of levels. kTableBits is the
// number of index bits of each level. The number of a large page is the linear address >>
// kLargePageShift. A large page has 4 MB, or 2 MB on x86-64.
constexpr unsigned kPageLevels = kX86_64 ? 4 : 2;
constexpr unsigned kTableBits = kX86_64 ? 9 : 10;
constexpr unsigned kLargePageShift = 12 + kTableBits;

}  // namespace p5
