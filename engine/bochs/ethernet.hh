// SPDX-License-Identifier: LGPL-2.1-or-later
// The network of the machine (engine/devices/ne2000): its card as a device of Bochs on the ISA bus.
#pragma once

#include <cstdio>

namespace p5 {

void add_network();  // if the machine has a card

// From here on each frame of the wire goes to `file`.
void capture_wire(std::FILE* file);

}  // namespace p5
