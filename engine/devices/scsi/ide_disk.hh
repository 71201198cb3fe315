// SPDX-License-Identifier: MIT
// How long does an IDE disk take until a sector is in its buffer or on its platters? Behind its
// interface, the disk is a drive of configs/disks. The emulator holds its content, and the
// processor moves the data through ports.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "devices/device.hh"
#include "devices/scsi/drive.hh"

namespace device::scsi {

class IdeDisk {
 public:
  // If the configuration is impossible, `problem` receives the reason.
  IdeDisk(const DriveConfig& config, std::string* problem) : drive_(config, agenda_, problem) {}

  uint64_t sectors() const { return drive_.sectors(); }

  // The end of the last write. The drive takes no command before.
  Time ready() const { return ready_; }

  // The drive begins to read `count` sectors.
  void read(uint64_t first, uint32_t count, Time now);
  // Returns the time at which the sectors of the read before `end` are in the buffer.
  Time buffered(uint64_t end) const;
  // The host has all data of the read.
  void taken(Time now);

  // The host has written a block of `count` sectors to the buffer. Returns the time at which the
  // drive takes the next block. With `last`, the write has no further block, and the result is the
  // time at which the drive reports its end.
  Time written(uint64_t first, uint32_t count, bool last, Time now);

 private:
  void start(const RequestPtr& request, Time now);

  // Runs ahead of the machine until the drive has begun or ended a request. The drive serves one
  // request at a time, so no other request can come before that.
  Agenda agenda_;
  Drive drive_;
  RequestPtr reading_, writing_;
  Time ready_ = 0;
};

class IdeDisks : public device::DiskTimes {
 public:
  static constexpr uint32_t kDisks = 4;  // two interfaces with two disks

  // `pc` ends the run if an image is larger than the drive.
  IdeDisks(const DriveConfig& config, std::string name, device::Pc& pc);

  Time ready(uint32_t disk) override { return disks_[disk]->ready(); }
  void read(uint32_t disk, uint64_t first, uint32_t count, Time now) override;
  Time buffered(uint32_t disk, uint64_t end) override { return disks_[disk]->buffered(end); }
  void taken(uint32_t disk, Time now) override { disks_[disk]->taken(now); }
  Time written(uint32_t disk, uint64_t first, uint32_t count, bool last, Time now) override;

 private:
  void check(uint32_t disk, uint64_t end);

  const std::string name_;
  device::Pc& pc_;
  std::unique_ptr<IdeDisk> disks_[kDisks];
};

}  // namespace device::scsi
