// SPDX-License-Identifier: LGPL-2.1-or-later
// The SCSI host adapters of the machine, and their disks (engine/devices/scsi), as devices of
// Bochs.
#pragma once

#include <cstdint>
#include <string>

namespace p5 {

// So much later the run ends, and nothing is left but what is on the media: the first partition of
// the first disk goes to the file `image`.
void cut_power_in(uint64_t microseconds, const std::string& image);

}  // namespace p5
