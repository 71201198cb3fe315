// SPDX-License-Identifier: MIT
// How do stations share the wire, and how does the path to the remote host change frames? The tests
// check times, waits, collisions and faults. The numbers come from IEEE 802.3.
#include <map>

#include "devices/ne2000/path.hh"
#include "net_bench.hh"

using namespace device::ne2000;

namespace {

struct End : Station {
  struct Sent {
    Time at;
    uint32_t collisions;
    bool aborted;
  };
  void sent(Time now, uint32_t collisions, bool aborted) override {
    done.push_back({now, collisions, aborted});
    if (then) then(now);
  }
  void incoming(Time first, Time last, const FramePtr& frame) override {
    came.push_back({first, last, frame->size()});
  }
  bool has_room(const Frame&) const override { return came.size() < rooms; }
  struct Came {
    Time first, last;
    size_t bytes;
  };
  std::vector<Sent> done;
  std::vector<Came> came;
  std::function<void(Time)> then;
  size_t rooms = 100'000;  // frames that the station can take
};

struct Segment2 {
  explicit Segment2(WireConfig config = {}) : wire(config, agenda, log) {
    wire.attach(0, &a);
    wire.attach(1, &b);
  }
  void run() {
    while (agenda.next() != kNever) agenda.run(agenda.next());
  }
  static FramePtr frame(size_t bytes) { return std::make_shared<Frame>(bytes); }
  Agenda agenda;
  NetLog log;
  End a, b;
  Wire wire;
};

constexpr Time kBit = 100'000, kGap = 96 * kBit;

}  // namespace

TEST_CASE("wire: a frame of n bytes takes (8 + n + 4) * 8 bits of 100 ns") {
  for (const size_t bytes : {60, 61, 64, 100, 512, 1000, 1513, 1514}) {
    Segment2 s;
    s.wire.send(0, s.frame(bytes), 7 * kMicrosecond);
    s.run();
    REQUIRE(s.a.done.size() == 1);
    const Time time = (8 + bytes + 4) * 8 * kBit;
    CHECK(s.a.done[0].at == 7 * kMicrosecond + time);
    CHECK(s.b.came[0].first == 7 * kMicrosecond);
    CHECK(s.b.came[0].last == 7 * kMicrosecond + time);
    CHECK(s.log.wire_busy == time);
  }
  // The known times of the smallest and the largest frame are 57.6 and 1220.8 us. With the gap they
  // are 67.2 and 1230.4 us.
  Segment2 s;
  CHECK(s.wire.frame_time(60) == 57'600'000);
  CHECK(s.wire.frame_time(1514) == 1'220'800'000);
}

TEST_CASE("wire: a gap separates the frames of one station: 14881 small frames per second") {
  Segment2 s;
  int left = 14881;
  s.a.then = [&](Time now) {
    if (--left) s.wire.send(0, s.frame(60), now);
  };
  s.wire.send(0, s.frame(60), 0);
  s.run();
  CHECK(s.a.done.size() == 14881);
  CHECK(s.a.done.back().at == 14881 * (57'600'000 + kGap) - kGap);
  CHECK(s.a.done.back().at + kGap > kSecond);
  CHECK(s.a.done.back().at + kGap - kSecond < 67 * kMicrosecond);
}

TEST_CASE("wire: a station waits for the end of the current frame and the gap") {
  Segment2 s;
  s.wire.send(0, s.frame(1514), 0);
  s.agenda.at(500 * kMicrosecond, [&](Time now) { s.wire.send(1, s.frame(60), now); });
  s.run();
  CHECK(s.a.came[0].first == 1'220'800'000 + kGap);
  CHECK(s.log.collisions == 0);
  // The same rule holds in the gap.
  Segment2 t;
  t.wire.send(0, t.frame(60), 0);
  t.agenda.at(57'600'000 + kGap / 2, [&](Time now) { t.wire.send(1, t.frame(60), now); });
  t.run();
  CHECK(t.a.came[0].first == 57'600'000 + kGap);
}

TEST_CASE("wire: two stations that waited for the same time collide, and then one sends first") {
  std::map<uint32_t, int> winners;
  for (uint64_t seed = 0; seed < 200; seed++) {
    Segment2 s({10'000'000, true, seed});
    s.wire.send(0, s.frame(100), 0);
    s.agenda.at(10, [&](Time now) { s.wire.send(1, s.frame(200), now); });
    s.a.then = [&](Time now) {
      if (s.a.done.size() == 1) s.wire.send(0, s.frame(300), now);
    };
    s.run();
    REQUIRE(s.a.done.size() == 2);
    REQUIRE(s.b.done.size() == 1);
    CHECK(s.log.collisions >= 1);
    CHECK(s.b.done[0].collisions >= 1);
    // A collision takes preamble and jam. A gap and whole slots of 51.2 us follow.
    const Time collided = s.wire.frame_time(100) + kGap, over = collided + 96 * kBit;
    const Time first = std::min(s.b.came[1].first, s.a.came[0].first);
    const Time behind = first - over;
    if (s.log.collisions == 1) CHECK((behind == kGap || behind == 512 * kBit));
    winners[s.b.came[1].first < s.a.came[0].first]++;
    // The frames do not overlap.
    const Time second = std::max(s.b.came[1].first, s.a.came[0].first);
    CHECK(second >= first + kGap);
  }
  CHECK(winners[0] > 60);
  CHECK(winners[1] > 60);
}

TEST_CASE("wire: with collisions off the station that has waited longer sends first") {
  Segment2 s({10'000'000, false, 0});
  s.wire.send(0, s.frame(100), 0);
  s.agenda.at(10, [&](Time now) { s.wire.send(1, s.frame(200), now); });
  s.a.then = [&](Time now) {
    if (s.a.done.size() == 1) s.wire.send(0, s.frame(300), now);
  };
  s.run();
  CHECK(s.log.collisions == 0);
  CHECK(s.a.came[0].first == s.wire.frame_time(100) + kGap);
  CHECK(s.b.came[1].first == s.a.came[0].last + kGap);
}

TEST_CASE("wire: an ideal wire takes no time, and a frame waits for room at the other station") {
  WireConfig config;
  config.at_once = true;
  config.collisions = false;
  Segment2 s(config);
  s.b.rooms = 2;
  int left = 5;
  s.a.then = [&](Time now) {
    if (--left) s.wire.send(0, s.frame(1514), now);
  };
  s.wire.send(0, s.frame(1514), 7);
  s.wire.send(1, s.frame(60), 7);
  s.run();
  CHECK((s.b.came.size() == 2 && s.a.came.size() == 1));
  CHECK((s.b.came[1].first == 7 && s.b.came[1].last == 7 && s.a.done[1].at == 7));
  s.b.rooms = 4;
  s.wire.go_on(9);
  s.run();
  CHECK((s.b.came.size() == 4 && s.b.came[3].last == 9));
  s.b.rooms = 9;
  s.wire.go_on(9);
  s.run();
  CHECK(s.b.came.size() == 5);
  CHECK((s.log.collisions == 0 && s.log.wire_busy == 0 && s.log.seen.size() == 6));
}

TEST_CASE("wire: after 16 collisions a station drops the frame") {
  // Two stations begin at the same time. Each seed gives other waiting times.
  uint32_t most = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    Segment2 s({10'000'000, true, seed});
    s.wire.send(0, s.frame(60), 0);
    s.wire.send(1, s.frame(60), 0);
    s.run();
    CHECK(s.a.done.size() == 1);
    CHECK(s.b.done.size() == 1);
    most = std::max({most, s.a.done[0].collisions, s.b.done[0].collisions});
    CHECK((s.a.done[0].aborted == (s.a.done[0].collisions == kAttempts)));
  }
  CHECK(most >= 4);  // 2 * 4 * 8 = 64: a few of 3000 frames have four
}

TEST_CASE("path: frames come in order and after the latency") {
  Agenda agenda;
  std::vector<std::pair<Time, size_t>> came;
  Path path(
      {3 * kMillisecond, 0, 0, 0, 1}, 0, agenda,
      [&](Time now, const FramePtr& frame) { came.push_back({now, frame->size()}); },
      [](Fault) { CHECK(false); });
  for (size_t i = 0; i < 100; i++) path.send(std::make_shared<Frame>(i), Time(i));
  agenda.run(kSecond);
  REQUIRE(came.size() == 100);
  for (size_t i = 0; i < 100; i++)
    CHECK(came[i] == std::pair<Time, size_t>(3 * kMillisecond + i, i));
}

TEST_CASE("path: the seed determines lost, doubled and late frames") {
  const auto drive = [](uint64_t seed, double loss, double twice, double late, uint64_t* faults) {
    Agenda agenda;
    std::vector<size_t> came;
    Path path(
        {0, loss, twice, late, seed}, 0, agenda,
        [&](Time, const FramePtr& frame) { came.push_back(frame->size()); },
        [&](Fault fault) { faults[int(fault)]++; });
    for (size_t i = 0; i < 10000; i++) path.send(std::make_shared<Frame>(i), Time(i));
    agenda.run(kSecond);
    return came;
  };
  uint64_t once[3] = {}, again[3] = {}, other[3] = {};
  const auto first = drive(1, 0.1, 0.05, 0.02, once);
  CHECK(first == drive(1, 0.1, 0.05, 0.02, again));
  CHECK(first != drive(2, 0.1, 0.05, 0.02, other));
  CHECK(double(once[0]) == doctest::Approx(1000).epsilon(0.1));
  CHECK(double(once[1]) == doctest::Approx(10000 * 0.9 * 0.98 * 0.05).epsilon(0.15));
  CHECK(double(once[2]) == doctest::Approx(10000 * 0.9 * 0.02).epsilon(0.25));
  CHECK(first.size() == 10000 - once[0] + once[1]);
  // A late frame arrives directly after the next frame that was not lost.
  uint64_t late = 0;
  for (size_t i = 1; i < first.size(); i++) late += first[i] < first[i - 1];
  CHECK(late == once[2]);
  // The choice of lost frames does not depend on other faults.
  uint64_t alone[3] = {};
  auto kept = drive(1, 0.1, 0, 0, alone);
  CHECK(alone[0] == once[0]);
  auto all = first;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  CHECK(all == kept);
}

TEST_CASE("path: a late frame without a following frame comes after 20 ms") {
  Agenda agenda;
  std::vector<Time> came;
  Path path(
      {0, 0, 0, 0.9, 3}, 0, agenda, [&](Time now, const FramePtr&) { came.push_back(now); },
      [](Fault) {});
  path.send(std::make_shared<Frame>(60), kMillisecond);
  agenda.run(kSecond);
  REQUIRE(came.size() == 1);
  CHECK(came[0] == 21 * kMillisecond);
}
