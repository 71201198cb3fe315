// SPDX-License-Identifier: MIT
#include "devices/scsi/ide_disk.hh"

#include <algorithm>
#include <utility>

namespace device::scsi {

void IdeDisk::start(const RequestPtr& request, Time now) {
  const Time begin = std::max(now, ready_);
  agenda_.run(begin);
  drive_.start(request, begin);
}

void IdeDisk::read(uint64_t first, uint32_t count, Time now) {
  reading_ = std::make_shared<Request>();
  reading_->first = first;
  reading_->count = count;
  reading_->ready = [](Time) {};
  start(reading_, now);
  while (reading_->buffered.empty()) agenda_.run(agenda_.next());
}

Time IdeDisk::buffered(uint64_t end) const {
  if (!reading_ || end <= reading_->first) return 0;
  const uint64_t sectors = std::min<uint64_t>(end - reading_->first, reading_->buffered.size());
  return *std::max_element(reading_->buffered.begin(),
                           reading_->buffered.begin() + int64_t(sectors));
}

void IdeDisk::taken(Time now) {
  if (!reading_) return;
  agenda_.run(now);
  drive_.taken(*reading_, now);
  reading_ = nullptr;
}

Time IdeDisk::written(uint64_t first, uint32_t count, bool last, Time now) {
  // A write that the host has given up has another place.
  if (!writing_ || writing_->first + writing_->count != first) {
    writing_ = std::make_shared<Request>();
    writing_->write = true;
    writing_->first = first;
  }
  writing_->count += count;
  writing_->buffered.insert(writing_->buffered.end(), count, now);
  if (!last) return now;
  const RequestPtr request = std::exchange(writing_, nullptr);
  Time end = base::kNever;
  request->ready = [&end](Time then) { end = then; };
  start(request, now);
  while (end == base::kNever) agenda_.run(agenda_.next());
  return ready_ = end;
}

IdeDisks::IdeDisks(const DriveConfig& config, std::string name, device::Pc& pc)
    : name_(std::move(name)), pc_(pc) {
  std::string problem;
  for (auto& disk : disks_) disk = std::make_unique<IdeDisk>(config, &problem);
  if (!problem.empty()) pc.fail("IDE disk: " + problem);
}

void IdeDisks::read(uint32_t disk, uint64_t first, uint32_t count, Time now) {
  check(disk, first + count);
  disks_[disk]->read(first, count, now);
}

Time IdeDisks::written(uint32_t disk, uint64_t first, uint32_t count, bool last, Time now) {
  check(disk, first + count);
  return disks_[disk]->written(first, count, last, now);
}

void IdeDisks::check(uint32_t disk, uint64_t end) {
  const uint64_t sectors = disks_[disk]->sectors();
  if (end <= sectors) return;
  pc_.fail("the image of an IDE disk is larger than the drive " + name_ + ": sector " +
           std::to_string(end - 1) + ", and the drive has " + std::to_string(sectors) +
           "; set disk.model to a larger drive");
}

}  // namespace device::scsi
