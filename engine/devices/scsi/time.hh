// SPDX-License-Identifier: MIT
// Virtual time and the agenda of engine/base, by the names that the disks use.
#pragma once

#include "agenda.hh"

namespace disk {

using base::Agenda;
using base::kMicrosecond;
using base::kMillisecond;
using base::kNever;
using base::kSecond;
using base::Time;

}  // namespace disk
