// SPDX-License-Identifier: MIT
// Which processor does the engine have? Without P5_X86_64, the processor is a Pentium. With
// P5_X86_64, it is an x86-64 processor. p5/isa.hh says what follows for the model.
#pragma once

namespace base {

#ifdef P5_X86_64
constexpr bool kX86_64 = true;
#else
constexpr bool kX86_64 = false;
#endif

}  // namespace base
