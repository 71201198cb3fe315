// SPDX-License-Identifier: LGPL-2.1-or-later
// The SCSI host adapters of the machine, and their disks (engine/disk), as devices of Bochs.
#pragma once

#include <cstdint>

namespace p5 {

// Virtual time at which nothing is left but what is on the media, in microseconds from now.
void cut_power_in(uint64_t microseconds);

}  // namespace p5
