// SPDX-License-Identifier: MIT
// Which disks does a machine have? The keys disk.* of the parameter file (engine/base/settings.hh)
// describe the disks.
#pragma once

#include <string>

#include "base/settings.hh"
#include "devices/scsi/drive.hh"

namespace device::scsi {

struct Config {
  uint32_t count = 0, adapters = 1;
  bool tagged_queueing = false;
  DriveConfig drive;
  bool ide = false;  // the IDE disks of the PC take the times of the drive
  std::string model, vendor, product;
  std::string image;    // content of the first disk; empty: all disks are blank
  Time adapter = 0;     // time of the host adapter for a request
  Time select = 0;      // arbitration, selection, message and command on the SCSI bus
  Time reselect = 0;    // arbitration, reselection, messages and status
  Time bus_sector = 0;  // time of one sector on the SCSI bus

  // Checks and reads all keys; `settings` keeps the first error.
  static Config read(base::Settings& settings);
  // Disks, SCSI bus and host adapters take no time (ideal.disk).
  void answer_at_once();
};

}  // namespace device::scsi
