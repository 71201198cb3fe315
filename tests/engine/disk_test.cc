// SPDX-License-Identifier: MIT
// Does the disk drive behave according to its data sheet? The tests check geometry, arm, rotation,
// buffer and write cache.
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <random>

#include "disk_bench.hh"

using namespace device::scsi;

namespace {

double ms(Time time) { return double(time) / double(kMillisecond); }

// Waits until the drive has completed its earlier work. The wait ends at the index mark of a later
// rotation.
void settle(DriveBench* bench) {
  const Time turn = bench->drive.geometry().revolution();
  bench->run_until((bench->now / turn + 10) * turn);
}

}  // namespace

TEST_CASE("disk: zones, heads and skew give the places of sectors") {
  const DriveBench bench;
  const Geometry& geometry = bench.drive.geometry();
  CHECK(geometry.sectors() == 500 * 4 * 120 + 500 * 4 * 100);
  CHECK(geometry.cylinders() == 1000);
  // The skew is 1 ms of a rotation of 8.33 ms. On a track of 120 sectors this is 14.4 sectors,
  // rounded up to 15. On a track of 100 sectors it is 12 sectors.
  Place place = geometry.place(0);
  CHECK((place.cylinder == 0 && place.head == 0 && place.slot == 0 && place.left == 120));
  place = geometry.place(120);
  CHECK((place.cylinder == 0 && place.head == 1 && place.slot == 15));
  place = geometry.place(4 * 120 + 3);
  CHECK((place.cylinder == 1 && place.head == 0 && place.slot == 4 * 15 + 3 && place.left == 117));
  place = geometry.place(500 * 4 * 120);
  CHECK((place.cylinder == 500 && place.sectors == 100 && place.slot == 0));
  place = geometry.place(geometry.sectors() - 1);
  CHECK((place.cylinder == 999 && place.head == 3 && place.left == 1));
}

TEST_CASE("disk: every sector has its own place") {
  const Geometry geometry({{3, 10}, {2, 7}}, 3, kSecond, kSecond / 20, kSecond / 9);
  std::vector<std::vector<bool>> seen(5 * 3, std::vector<bool>(10));
  for (uint64_t sector = 0; sector < geometry.sectors(); sector++) {
    const Place place = geometry.place(sector);
    CHECK(place.slot < place.sectors);
    auto slot = seen[place.cylinder * 3 + place.head].begin() + place.slot;
    CHECK(!*slot);
    *slot = true;
  }
}

TEST_CASE("disk: the seek curve contains the published times") {
  std::string problem;
  const uint32_t n = 3510;
  const SeekCurve curve(n, n / 3, 6 * kMillisecond / 10, 8 * kMillisecond, 17 * kMillisecond,
                        &problem);
  CHECK(problem.empty());
  CHECK(ms(curve.time(1)) == doctest::Approx(0.6));
  CHECK(ms(curve.time(n - 1)) == doctest::Approx(17));
  // The test measures the mean time over random pairs of cylinders. It does not calculate the mean
  // from the curve.
  std::mt19937 random(1);
  double sum = 0;
  const int draws = 200000;
  for (int i = 0; i < draws;) {
    const uint32_t a = random() % n, b = random() % n;
    if (a == b) continue;
    sum += ms(curve.time(a > b ? a - b : b - a));
    i++;
  }
  CHECK(sum / draws == doctest::Approx(8).epsilon(0.01));
  for (uint32_t d = 2; d < n; d++) CHECK(curve.time(d) >= curve.time(d - 1));
  const SeekCurve none(n, n / 3, 6 * kMillisecond, 7 * kMillisecond, 40 * kMillisecond, &problem);
  CHECK(!problem.empty());
}

TEST_CASE("disk: a rotation is 8.333 ms at 7200 rpm") {
  DriveConfig config = round_drive();
  config.read_ahead = false;
  config.command = 0;
  DriveBench bench(config);
  // The first sector passes at each index mark. A request that has just missed this sector waits
  // for one rotation.
  bench.run_until(bench.drive.geometry().revolution() * 20 + 1);
  Spent spent;
  bench.read(0, 1, &spent);
  CHECK(spent.seek == 0);
  CHECK(ms(spent.rotation) == doctest::Approx(8.3333).epsilon(0.0001));
  CHECK(ms(spent.transfer) == doctest::Approx(8.3333 / 120).epsilon(0.0001));
}

TEST_CASE("disk: random reads take an average seek and half a rotation") {
  DriveConfig config = round_drive();
  config.read_ahead = false;
  DriveBench bench(config);
  std::mt19937 random(7);
  double seek = 0, rotation = 0;
  const int reads = 4000;
  for (int i = 0; i < reads; i++) {
    Spent spent;
    bench.read(random() % (bench.drive.sectors() - 16), 16, &spent);
    seek += ms(spent.seek) / reads;
    rotation += ms(spent.rotation) / reads;
  }
  // The outer zone has longer tracks, so it has more sectors for the same number of cylinders.
  CHECK(seek == doctest::Approx(8).epsilon(0.02));
  CHECK(rotation == doctest::Approx(8.3333 / 2).epsilon(0.02));
}

TEST_CASE("disk: sequential reads come at the rate of the media") {
  DriveBench bench;
  bench.read(0, 128);
  const Time begin = bench.now;
  for (uint64_t i = 1; i < 100; i++) bench.read(i * 128, 128);
  const double sectors = 99 * 128;
  // To read a cylinder, the drive needs 4 rotations, and 4 times the time of a skew (15 sectors).
  const double rate = 4 * 120 / (4 * 120 + 4 * 15.0) * 120 / 8.3333;
  CHECK(sectors / ms(bench.now - begin) == doctest::Approx(rate).epsilon(0.01));
}

TEST_CASE("disk: without read-ahead each sequential read waits for a rotation") {
  DriveConfig config = round_drive();
  config.read_ahead = false;
  DriveBench bench(config);
  bench.read(0, 8);
  const Time begin = bench.now;
  for (uint64_t i = 1; i < 10; i++) bench.read(i * 8, 8);
  CHECK(ms(bench.now - begin) / 9 == doctest::Approx(8.3333 * (1 + 8 / 120.0)).epsilon(0.01));
}

TEST_CASE("disk: an ideal mechanism takes no time, and the data are the same") {
  DriveConfig config = round_drive();
  config.at_once = true;
  config.command = 0;
  DriveBench bench(config);
  for (const uint64_t first : {0, 400000, 8, 123456}) {
    const Time begin = bench.now;
    Spent spent;
    CHECK(bench.write(first, 16, 0x3C) - begin == 16 * kBusSector);
    CHECK(bench.on_media(first + 15, 0x3C));
    const Time written = bench.now;
    bench.read(first, 16, &spent);
    CHECK(bench.now - written == 16 * kBusSector);
    CHECK(spent.seek + spent.rotation + spent.transfer == 0);
  }
}

TEST_CASE("disk: data in the buffer comes at the rate of the bus") {
  DriveBench bench;
  bench.read(0, 64);
  settle(&bench);  // time to read ahead: 1024 / 4 sectors
  const Time begin = bench.now;
  Spent spent;
  bench.read(64, 128, &spent);
  CHECK(bench.now - begin == round_drive().command + 128 * kBusSector);
  CHECK(spent.seek + spent.rotation + spent.transfer == 0);
  // A segment has a limited length, so it loses its oldest sectors.
  settle(&bench);
  bench.read(100000, 8, &spent);
  CHECK(spent.seek > 0);
}

TEST_CASE("disk: a write is complete when its data is on the media") {
  DriveBench bench;
  settle(&bench);
  const Time begin = bench.now;
  bench.write(3 * 120, 8);
  CHECK(bench.now - begin > round_drive().head_switch + bench.drive.geometry().revolution() / 15);
  CHECK(bench.on_media(3 * 120 + 7, 0xA5));
  // The first sector of the next sequential write has already passed the head, so this write waits
  // for one rotation.
  const Time after = bench.now;
  bench.write(3 * 120 + 8, 8);
  CHECK(ms(bench.now - after) == doctest::Approx(8.3333 * (1 + 8 / 120.0)).epsilon(0.001));
}

TEST_CASE("disk: with a write cache a write is complete when its data has arrived") {
  DriveConfig config = round_drive();
  config.write_cache = true;
  DriveBench bench(config);
  settle(&bench);
  const Time begin = bench.now;
  for (uint64_t i = 0; i < 8; i++) {
    const Time sent = bench.now;
    bench.write(240 + i * 8, 8);
    CHECK(bench.now - sent == 8 * kBusSector);
  }
  uint8_t bytes[kSector];
  bench.drive.fetch(240 + 63, bytes);
  CHECK(bytes[0] == 0xA5);  // a read returns the new data
  CHECK(!bench.on_media(240 + 63, 0xA5));
  bench.flush();
  CHECK(bench.on_media(240 + 63, 0xA5));
  // The two writes follow each other directly, without a lost rotation.
  CHECK(ms(bench.now - begin) < 2 * 8.3333 + 2);
}

TEST_CASE("disk: a full write cache waits for the media") {
  DriveConfig config = round_drive();
  config.write_cache = true;
  config.buffer = 256;
  DriveBench bench(config);
  const Time begin = bench.now;
  for (uint64_t i = 0; i < 64; i++) bench.write((i * 7919 % 1000) * 440, 64);
  // 64 sectors take 3.3 ms on the bus. 60 of the 64 writes have waited for a seek and half a
  // rotation.
  CHECK(ms(bench.now - begin) > 60 * 10);
  bench.flush();
  for (uint64_t i = 0; i < 64; i++) CHECK(bench.on_media((i * 7919 % 1000) * 440 + 63, 0xA5));
}

TEST_CASE("disk: a power cut leaves the sectors that are written") {
  for (const bool cache : {false, true}) {
    DriveConfig config = round_drive();
    config.write_cache = cache;
    DriveBench bench(config);
    settle(&bench);
    Time done = 0;
    const RequestPtr request = bench.begin_write(1000, 16, 0x5A, &done);
    const Time cut = request->ends.empty() ? bench.now : request->ends[9];
    REQUIRE(!request->ends.empty());
    bench.run_until(cut);
    bench.drive.cut_power(cut);
    for (uint32_t i = 0; i < 16; i++) CHECK(bench.on_media(1000 + i, 0x5A) == (i <= 9));
    CHECK((done != 0) == cache);
  }
}

TEST_CASE("disk: a power cut loses data that is only in the cache") {
  DriveConfig config = round_drive();
  config.write_cache = true;
  DriveBench bench(config);
  bench.write(0, 8);
  bench.write(200000, 8);
  bench.drive.cut_power(bench.now);
  CHECK(!bench.on_media(200000, 0xA5));
}

TEST_CASE("disk: a read after a write returns the new data, in the buffer or not") {
  DriveBench bench;
  bench.read(0, 64);  // the drive then reads ahead
  settle(&bench);
  bench.write(100, 4);
  Spent spent;
  bench.read(96, 16, &spent);
  CHECK(spent.rotation > 0);  // the segment is no longer there
}

TEST_CASE(
    "disk: the nearest request is first, unless a tag requests order or the head of the queue") {
  const std::map<Tag, std::vector<int>> orders = {{Tag::Simple, {0, 4, 2, 1, 3}},
                                                  {Tag::Ordered, {0, 2, 1, 3, 4}},
                                                  {Tag::HeadOfQueue, {0, 3, 1, 2, 4}}};
  for (const auto& [tag, expected] : orders) {
    DriveBench bench;
    std::vector<int> order;
    std::vector<RequestPtr> requests;
    const uint64_t at[] = {0, 200000, 20000, 210000, 1000};
    for (int i = 0; i < 5; i++) {
      auto request = std::make_shared<Request>();
      request->first = at[i];
      request->count = 1;
      if (i == 3) request->tag = tag;
      request->ready = [&order, i](Time) { order.push_back(i); };
      bench.drive.start(request, 0);
      requests.push_back(request);
    }
    bench.run_until(kSecond);
    CHECK(order == expected);
  }
}

TEST_CASE("disk: a hit in the buffer does not overtake an ordered request") {
  for (const bool itself : {false, true}) {
    DriveBench bench;
    bench.read(0, 16);
    std::vector<int> order;
    const auto begin = [&](int number, uint64_t first, Tag tag) {
      auto request = std::make_shared<Request>();
      request->first = first;
      request->count = 1;
      request->tag = tag;
      request->ready = [&order, number](Time) { order.push_back(number); };
      bench.drive.start(request, bench.now);
      return request;
    };
    const auto first = begin(0, 200000, Tag::Simple);
    const auto second = begin(1, itself ? 8 : 100000, Tag::Ordered);
    const auto third = begin(2, 4, Tag::Simple);
    bench.run_until(bench.now + kSecond);
    CHECK(order == std::vector<int>{0, 1, 2});
  }
}

TEST_CASE("disk: the same requests take the same time") {
  const auto all = [] {
    DriveBench bench;
    std::mt19937 random(3);
    std::vector<Time> times;
    for (int i = 0; i < 300; i++) {
      const uint64_t first = random() % (bench.drive.sectors() - 64);
      times.push_back(i % 3 ? bench.read(first, 1 + i % 64) : bench.write(first, 1 + i % 64));
    }
    return times;
  };
  CHECK(all() == all());
}

TEST_CASE("medium: an image of extents") {
  const std::string path = "/tmp/p5-medium-test";
  const auto write = [&](const std::vector<uint8_t>& bytes) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    std::fwrite(bytes.data(), 1, bytes.size(), file);
    std::fclose(file);
  };
  std::vector<uint8_t> image = {'P', '5', 'D', 'I', 'S', 'K', '1', '\n', 5, 0, 0, 0,
                                0,   0,   0,   0,   1,   0,   0,   0,    0, 0, 0, 0};
  image.resize(image.size() + kSector, 0x77);
  write(image);
  Medium medium(64);
  std::string error;
  REQUIRE(medium.load(path, &error));
  uint8_t bytes[kSector];
  medium.read(5, bytes);
  CHECK(bytes[511] == 0x77);
  medium.read(6, bytes);
  CHECK(bytes[0] == 0);
  REQUIRE(medium.save(path, 4, 4));
  std::FILE* file = std::fopen(path.c_str(), "rb");
  std::vector<uint8_t> saved(5 * kSector);
  CHECK(std::fread(saved.data(), 1, saved.size(), file) == 4 * kSector);
  std::fclose(file);
  CHECK((saved[kSector] == 0x77 && saved[0] == 0 && saved[2 * kSector] == 0));
  // A file that is not a valid image gives an error.
  for (size_t length : {size_t(3), size_t(20), image.size() - 1}) {
    write({image.begin(), image.begin() + int64_t(length)});
    CHECK(!Medium(64).load(path, &error));
  }
  image[8] = 64;
  write(image);
  CHECK(!Medium(64).load(path, &error));
  image[15] = 0xFF;
  write(image);
  CHECK(!Medium(64).load(path, &error));
  std::remove(path.c_str());
}
