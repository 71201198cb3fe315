// SPDX-License-Identifier: LGPL-2.1-or-later
// What the files of the glue share.
#pragma once

#include <cstdint>

#include "events.hh"
#include "session.hh"

namespace glue {

// The one run of this process.
session::Session& run();

// Counts an event of a device in the ring and address space that runs now.
void count_event(p5::Event event, uint64_t number);

// A card on ISA answers at these ports with 16 bits.
void wide_ports(uint16_t first, uint16_t last);

// Sets the timers of the devices for what is in their agendas (devices.cc).
void run_agendas();

}  // namespace glue
