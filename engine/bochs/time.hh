// SPDX-License-Identifier: LGPL-2.1-or-later
// How does time pass? Bochs's ticks are the model's clocks (instrument.h).
#pragma once

#include <cstdint>

namespace bochs {

// Begins with the clock of the model.
void start_time();

// Lets time pass in which the processor executes nothing. Devices go on.
void let_pass(uint64_t clocks);

// Asks the session when it wants to look at the run.
void ask_for_next_look();

}  // namespace bochs
