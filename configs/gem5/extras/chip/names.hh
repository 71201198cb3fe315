// SPDX-License-Identifier: MIT
// Stands before each file of the engine that gem5's build compiles. The engine is compiled twice,
// with and without P5_X86_64, so its two namespaces get different names. The headers of the C++
// library come first, because they contain these words, too.
#pragma once

#include "base/library.hh"

#ifdef P5_X86_64
#define p5 p5_of_x86_64
#define base base_of_x86_64
#define P5LAB_PROCESSOR x86_64
#else
#define p5 p5_of_pentium
#define base base_of_pentium
#define P5LAB_PROCESSOR pentium
#endif
