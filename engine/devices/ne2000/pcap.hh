// SPDX-License-Identifier: MIT
// How is the wire captured for tcpdump and Wireshark? The file has the classic format of libpcap,
// with nanoseconds and link type Ethernet.
#pragma once

#include <cstdio>

#include "devices/ne2000/frame.hh"

namespace device::ne2000 {

void write_capture_header(std::FILE* file);

// Writes one frame; `first` is the time of its first bit. Virtual time 0 is 1 January 1995, 00:00,
// as on the guest's clock (engine/bochs/bochsrc.in).
void write_capture(std::FILE* file, Time first, const Frame& frame);

}  // namespace device::ne2000
