// SPDX-License-Identifier: MIT
// Under which names do the disks use virtual time and the agenda of engine/base?
#pragma once

#include "base/agenda.hh"

namespace device::scsi {

using base::Agenda;
using base::kMicrosecond;
using base::kMillisecond;
using base::kNever;
using base::kSecond;
using base::Time;

}  // namespace device::scsi
