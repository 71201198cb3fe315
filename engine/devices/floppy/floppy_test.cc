// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "devices/floppy/floppies.hh"
#include "tests/engine/device_bench.hh"

namespace {

using base::kMicrosecond;
using base::kMillisecond;
using base::Time;
using device::FloppyPlace;

constexpr Time kByte = 16 * kMicrosecond, kTurn = 200 * kMillisecond;  // 500 kbit/s, 300 rpm
constexpr uint32_t kIndex = 146, kSector = 574, kPitch = 682;          // bytes of 1.44 MB

struct Bench : DeviceBench {
  explicit Bench(const std::string& more = "") : DeviceBench("none", 0, kDrive + more) {
    connect();
    REQUIRE(pc.floppies);
  }
  static constexpr const char* kDrive = "floppy.timing = drive\n";

  // The end of sector `number` in the revolution that begins at `index`.
  static Time end(uint32_t number, Time index) {
    return index + (kIndex + (number - 1) * kPitch + kSector) * kByte;
  }
  Time pass(uint32_t cylinder, uint32_t sector, Time now, uint32_t count = 1) {
    return pc.floppies->pass(0, {cylinder, sector, 18}, count, now);
  }
};

}  // namespace

TEST_CASE("floppy: the emulator's own times are the default") {
  DeviceBench bench("none", 0);
  CHECK(bench.devices.present().empty());
}

TEST_CASE("floppy: a sector passes once in a revolution, and the next one follows") {
  Bench bench;
  const Time index = 5 * kTurn;
  CHECK(bench.pass(0, 1, index) == Bench::end(1, index));
  CHECK(bench.pass(0, 2, Bench::end(1, index)) == Bench::end(2, index));
  CHECK(bench.pass(0, 1, index, 18) == Bench::end(18, index));
  CHECK(Bench::end(18, index) < index + kTurn);
  // The command comes after the begin of the sector.
  const Time late = index + (kIndex + 1) * kByte;
  CHECK(bench.pass(0, 1, late) == Bench::end(1, index + kTurn));
  CHECK(bench.pass(0, 18, index) == Bench::end(18, index));
}

TEST_CASE("floppy: 720 KB has half the rate, and a strange format fills the track") {
  Bench bench;
  CHECK(bench.pc.floppies->pass(0, {0, 1, 9}, 1, kTurn) == kTurn + (146 + 574) * 2 * kByte);
  for (const uint32_t sectors : {8u, 9u, 10u, 15u, 18u, 21u, 36u}) {
    INFO(sectors);
    const device::floppy::Track track = device::floppy::Track::of(sectors);
    CHECK(track.start(sectors) + track.data() <= track.revolution);
    CHECK(track.start(sectors) + 2 * track.pitch() > track.revolution);
  }
}

TEST_CASE("floppy: a seek takes its steps, and the head settles before it reads") {
  Bench bench("floppy.step_ms = 4\nfloppy.settle_ms = 20\n");
  device::FloppyTimes& drive = *bench.pc.floppies;
  const Time start = 3 * kTurn;
  CHECK(drive.seek(0, 10, 3 * kMillisecond, start) == start + 40 * kMillisecond);  // the drive's
  CHECK(drive.seek(0, 20, 8 * kMillisecond, start) == start + 80 * kMillisecond);  // the guest's
  CHECK(drive.seek(0, 20, 8 * kMillisecond, start) == start);
  const Time settled = start + 100 * kMillisecond;
  // 97.6 ms after the index, sector 9 begins next.
  CHECK(bench.pass(20, 10, start) == Bench::end(10, start));
  CHECK(bench.pass(20, 1, start) == Bench::end(1, start + kTurn));
  Time read = 0;
  const uint32_t next = drive.next_id(0, {20, 1, 18}, start, &read);
  CHECK(next == 10);  // sector 9 began before the head had settled
  CHECK(read > settled);
  CHECK(read == start + (kIndex + 9 * kPitch + 22) * kByte);
}

TEST_CASE("floppy: a read on another cylinder moves the arm itself") {
  Bench bench;
  const Time start = 3 * kTurn;
  bench.pc.floppies->seek(0, 0, 6 * kMillisecond, start);
  // Two steps of 3 ms and 15 ms: 21 ms, within sector 2.
  CHECK(bench.pass(2, 3, start) == Bench::end(3, start));
  CHECK(bench.pass(2, 2, Bench::end(3, start)) == Bench::end(2, start + kTurn));
  // The other drive has an arm of its own.
  CHECK(bench.pc.floppies->pass(1, {0, 1, 18}, 1, start) == Bench::end(1, start));
}

TEST_CASE("floppy: a motor needs time until the disk turns") {
  Bench bench;
  bench.pc.floppies->motors(1, 0);
  CHECK(bench.pass(0, 1, 0) == Bench::end(1, 3 * kTurn));  // 500 ms
  bench.pc.floppies->motors(1, 400 * kMillisecond);        // still on
  CHECK(bench.pass(0, 1, 400 * kMillisecond) == Bench::end(1, 3 * kTurn));
  bench.pc.floppies->motors(0, 5 * kTurn);
  bench.pc.floppies->motors(3, 10 * kTurn);
  CHECK(bench.pass(0, 1, 10 * kTurn) == Bench::end(1, 13 * kTurn));
}
