// SPDX-License-Identifier: LGPL-2.1-or-later
// Which functions do the files of the glue share?
#pragma once

#include <cstdint>

#include "events.hh"
#include "session.hh"

namespace glue {

// The only run of this process.
session::Session& run();

// Counts an event of a device in the current ring and address space.
void count_event(p5::Event event, uint64_t number);

// Declares that a card on the ISA bus supports 16-bit accesses at these ports.
void wide_ports(uint16_t first, uint16_t last);

// Sets each device's timer to the next action of its agenda (devices.cc).
void run_agendas();

}  // namespace glue
