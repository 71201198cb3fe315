// SPDX-License-Identifier: MIT
// A capture of the wire, as tcpdump and Wireshark read it: the classic file format of libpcap, with
// nanoseconds, link type Ethernet.
#pragma once

#include <cstdio>

#include "frame.hh"

namespace net {

void write_capture_header(std::FILE* file);

// One frame; `first` is when its first bit was on the wire. Virtual time 0 is 1 January 1995,
// 00:00, as on the guest's clock (engine/bochs/bochsrc.in).
void write_capture(std::FILE* file, Time first, const Frame& frame);

}  // namespace net
