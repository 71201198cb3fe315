// SPDX-License-Identifier: MIT
// The disks of a machine, as the flat parameter file has them (engine/base/settings.hh).
#pragma once

#include <string>

#include "drive.hh"
#include "settings.hh"

namespace disk {

struct Config {
  uint32_t count = 0, adapters = 1;
  bool tagged_queueing = false;
  DriveConfig drive;
  std::string vendor, product;
  std::string image;    // content of the first disk; empty: blank, as the others
  Time adapter = 0;     // the host adapter's own work on a request
  Time select = 0;      // arbitration, selection, message and command on the SCSI bus
  Time reselect = 0;    // arbitration, reselection, messages and status
  Time bus_sector = 0;  // a sector on the SCSI bus

  // Checks all keys and reads them; the first error is kept in `settings`.
  static Config read(base::Settings& settings);
};

}  // namespace disk
