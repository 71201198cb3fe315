// SPDX-License-Identifier: MIT
// Which data and status does a disk return for a SCSI command? [SCSI-2, X3.131-1994]
#pragma once

#include <string>

#include "devices/scsi/drive.hh"

namespace device::scsi {

enum Status : uint8_t { kGood = 0x00, kCheckCondition = 0x02 };

// A decoded command: the data and the parameters that the bus transfers.
struct Command {
  enum Kind { Reply, Read, Write, Flush } kind = Reply;
  uint64_t first = 0;
  uint32_t count = 0;
  std::vector<uint8_t> reply;  // to the initiator
  uint32_t parameters = 0;     // parameter bytes from the host that the target ignores
  Status status = kGood;
};

class Target {
 public:
  Target(Drive& drive, std::string vendor, std::string product, bool tagged_queueing)
      : drive_(drive),
        vendor_(std::move(vendor)),
        product_(std::move(product)),
        tagged_queueing_(tagged_queueing) {}

  Drive& drive() { return drive_; }

  // Decodes a command descriptor block. If the status is a check condition, take_sense() returns
  // the reason.
  Command decode(const uint8_t* cdb, uint32_t length, uint32_t lun);

  // Returns the sense data of the last check condition, and clears the sense data.
  std::vector<uint8_t> take_sense();

 private:
  Command inquiry(const uint8_t* cdb, uint32_t lun) const;
  Command mode_sense(const uint8_t* cdb, bool long_form);
  Command access(uint64_t first, uint32_t count, Command::Kind kind);
  Command capacity() const;
  Command check(uint8_t key, uint8_t code);

  Drive& drive_;
  std::string vendor_, product_;
  bool tagged_queueing_;
  uint8_t sense_key_ = 0, sense_code_ = 0;
};

}  // namespace device::scsi
