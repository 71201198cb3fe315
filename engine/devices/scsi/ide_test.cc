// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "devices/scsi/ide_disk.hh"
#include "tests/engine/device_bench.hh"
#include "tests/engine/disk_bench.hh"

namespace {

using base::kMicrosecond;
using base::kMillisecond;
using base::kSecond;
using base::Time;

// The drive of DeviceBench: 7200 rpm, 120 sectors on the outer tracks, a controller of 500 us.
constexpr Time kTurn = 60 * kSecond / 7200, kSector = kTurn / 120, kCommand = 500 * kMicrosecond;
// Within a sector, for times are rounded to picoseconds.
bool near(Time found, Time expected) {
  return found + kMicrosecond > expected && found < expected + kMicrosecond;
}

struct Bench : DeviceBench {
  explicit Bench(const std::string& more = "") : DeviceBench("none", 0, kDrive + more) {
    connect();
    REQUIRE(pc.disks);
  }
  static constexpr const char* kDrive = "ide.timing = drive\n";

  Time read(uint64_t first, uint32_t count, Time now) {
    pc.disks->read(0, first, count, now);
    return pc.disks->buffered(0, first + count);
  }
};

}  // namespace

TEST_CASE("ide: the emulator's own times are the default") {
  DeviceBench bench("none", 0);
  CHECK(bench.devices.present().empty());
}

TEST_CASE("ide: the sectors of a read arrive as they pass the head") {
  Bench bench;
  const Time start = 10 * kTurn;  // sector 0 begins at the index
  bench.pc.disks->read(0, 0, 8, start);
  const Time begun = start + kTurn;  // the controller's time is over after the begin of sector 0
  CHECK(near(bench.pc.disks->buffered(0, 1), begun + kSector));
  CHECK(near(bench.pc.disks->buffered(0, 8), begun + 8 * kSector));
}

TEST_CASE("ide: the drive reads ahead, and a later read finds the sectors in the buffer") {
  Bench bench;
  const Time end = bench.read(0, 8, 10 * kTurn);
  bench.pc.disks->taken(0, end);
  const Time later = end + 2 * kTurn;
  CHECK(bench.read(8, 8, later) <= later);
  // Another place needs a seek and a rotation.
  CHECK(bench.read(200'000, 1, later) > later + kCommand + kMillisecond);
}

TEST_CASE("ide: a write ends when its last sector is on the platters") {
  Bench bench;
  device::DiskTimes& disk = *bench.pc.disks;
  const Time start = 10 * kTurn;
  CHECK(disk.written(0, 4, 1, false, start) == start);  // into the buffer
  CHECK(disk.written(0, 5, 1, false, start + kMicrosecond) == start + kMicrosecond);
  const Time end = disk.written(0, 6, 1, true, start + 2 * kMicrosecond);
  CHECK(near(end, start + kTurn + 7 * kSector));
  CHECK(disk.ready(0) == end);
  CHECK(disk.ready(1) == 0);
  // The same sector again: the head has passed it, so a whole revolution follows. A host that does
  // not wait for the end of a write changes nothing.
  CHECK(near(disk.written(0, 6, 1, true, start + 3 * kMicrosecond), end + kTurn));
  Bench other;
  CHECK(near(other.pc.disks->written(0, 4, 3, true, start + 2 * kMicrosecond), end));
  const Time read = other.read(4, 1, start + 3 * kMicrosecond);
  CHECK(read > end);
}

TEST_CASE("ide: a write cache takes a write at once, and a read then waits for the arm") {
  device::scsi::DriveConfig config = device::scsi::round_drive();
  config.write_cache = true;
  std::string problem;
  device::scsi::IdeDisk one(config, &problem);
  REQUIRE(problem == "");
  const Time start = 10 * kTurn;
  CHECK(one.written(100'000, 4, true, start) == start);
  one.read(0, 1, start);
  CHECK(one.buffered(1) > start + kCommand);
}

TEST_CASE("ide: the disks have arms of their own") {
  Bench bench;
  const Time start = 10 * kTurn, alone = bench.read(0, 1, start);
  Bench both;
  both.pc.disks->read(1, 150'000, 1, start);
  CHECK(both.read(0, 1, start) == alone);
}

TEST_CASE("ide: an image that is larger than the drive ends the run") {
  Bench bench;
  CHECK_THROWS_WITH(bench.pc.disks->read(0, 440'000, 1, 0),
                    "fail: the image of an IDE disk is larger than the drive round: sector 440000, "
                    "and the drive has 440000; set disk.model to a larger drive");
}
