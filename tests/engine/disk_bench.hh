// SPDX-License-Identifier: MIT
// A drive with round numbers and an adapter with its own memory, for the tests of the disks.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "devices/scsi/multimaster.hh"

namespace device::scsi {

// A drive with 7200 rpm and 1000 cylinders of 4 tracks. Its two zones have 120 and 100 sectors per
// track.
inline DriveConfig round_drive() {
  DriveConfig config;
  config.zones = {{500, 120}, {500, 100}};
  config.heads = 4;
  config.revolution = 60 * kSecond / 7200;
  config.track_skew = config.cylinder_skew = kMillisecond;
  config.read_seek = {kMillisecond, 8 * kMillisecond, 16 * kMillisecond};
  config.write_seek = config.read_seek;
  config.knee = 300;
  config.head_switch = kMillisecond / 2;
  config.command = kMillisecond / 2;
  config.buffer = 1024;
  config.segments = 4;
  return config;
}

constexpr Time kBusSector = 512 * kMicrosecond / 10;  // at 10 MB/s

// Sends one request after the other. Returns the end time of each request.
struct DriveBench {
  Agenda agenda;
  std::string problem;
  Drive drive;
  Time now = 0;

  explicit DriveBench(const DriveConfig& config = round_drive())
      : drive(config, agenda, &problem) {}

  void run_until(Time until) {
    agenda.run(until);
    now = until;
  }

  // Returns the time at which all data of a read have come over the bus.
  Time read(uint64_t first, uint32_t count, Spent* spent = nullptr) {
    auto request = std::make_shared<Request>();
    request->first = first;
    request->count = count;
    request->bus_sector = kBusSector;
    Time done = 0;
    request->ready = [&](Time when) { done = when + kBusSector * request->count; };
    drive.start(request, now);
    while (!done) agenda.run(agenda.next());
    agenda.run(done);
    now = done;
    drive.taken(*request, now);
    if (spent) *spent = request->spent;
    return done;
  }

  RequestPtr begin_write(uint64_t first, uint32_t count, uint8_t fill, Time* done) {
    auto request = std::make_shared<Request>();
    request->write = true;
    request->first = first;
    request->count = count;
    request->data.assign(size_t(count) * kSector, fill);
    for (uint32_t i = 0; i < count; i++) request->buffered.push_back(now + kBusSector * (i + 1));
    request->ready = [done](Time when) { *done = when; };
    drive.start(request, now);
    return request;
  }

  Time write(uint64_t first, uint32_t count, uint8_t fill = 0xA5) {
    Time done = 0;
    begin_write(first, count, fill, &done);
    while (!done) agenda.run(agenda.next());
    now = done;
    return done;
  }

  Time flush() {
    Time done = 0;
    drive.flush(now, [&](Time when) { done = when; });
    while (!done) agenda.run(agenda.next());
    return now = done;
  }

  bool on_media(uint64_t sector, uint8_t fill) {
    uint8_t bytes[kSector];
    drive.medium().read(sector, bytes);
    for (const uint8_t byte : bytes) {
      if (byte != fill) return false;
    }
    return true;
  }
};

}  // namespace device::scsi
