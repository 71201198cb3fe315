// SPDX-License-Identifier: MIT
// Does the network card behave as a driver expects at its ports?
#include "net_bench.hh"

using namespace device::ne2000;

namespace {

// Sends a frame for the guest from the other station, directly onto the wire.
void from_wire(NetBench* bench, const Frame& frame) {
  bench->network.remote().to_wire(bench->now, std::make_shared<Frame>(frame));
}

Frame to_guest(size_t bytes, uint8_t fill = 0x5A) {
  Frame frame(bytes, fill);
  std::copy(kGuestMac.begin(), kGuestMac.end(), frame.begin());
  std::copy(kRemoteMac.begin(), kRemoteMac.end(), frame.begin() + 6);
  frame[12] = 0x88, frame[13] = 0xB5;  // an experimental type, which the host ignores
  return frame;
}

Frame to_host(size_t bytes, uint8_t fill = 0xA5) {
  Frame frame = to_guest(bytes, fill);
  std::swap_ranges(frame.begin(), frame.begin() + 6, frame.begin() + 6);
  return frame;
}

constexpr Time kGapTime = 9'600'000;

}  // namespace

TEST_CASE("card: the PROM has each byte of the address twice, and the signature") {
  NetBench bench;
  bench.start();
  const Frame prom = bench.read_memory(0, 32);
  for (size_t i = 0; i < 6; i++) {
    CHECK(prom[2 * i] == kGuestMac[i]);
    CHECK(prom[2 * i + 1] == kGuestMac[i]);
  }
  CHECK((prom[28] == 0x57 && prom[29] == 0x57 && prom[30] == 0x57 && prom[31] == 0x57));
}

TEST_CASE("card: remote DMA accesses the memory in words, and wraps at the end of the ring") {
  NetBench bench;
  bench.start();
  Frame bytes(512);
  for (size_t i = 0; i < bytes.size(); i++) bytes[i] = uint8_t(i * 7);
  bench.write_memory(0x4C00, bytes);
  CHECK(bench.read_memory(0x4C00, 512) == bytes);
  CHECK((bench.in(0x7) & 0x40));  // done
  CHECK(!bench.line);             // and no interrupt
  // After the last page of the ring, the card continues with the first page of the ring.
  const Frame last(256, 1), first(256, 2);
  bench.write_memory(0x7F00, last);
  bench.write_memory(0x4C00, first);
  Frame both = last;
  both.insert(both.end(), first.begin(), first.end());
  CHECK(bench.read_memory(0x7F00, 512) == both);
  // The card has no memory beyond 8000h. It transfers only the number of bytes that the driver has
  // set.
  bench.write_memory(0x9000, last);
  CHECK(bench.read_memory(0x9000, 2) == Frame(2, 0xFF));
  bench.read_memory(0x4C00, 2);
  CHECK(bench.network.card().read(Ne2000::kData, 2) == 0xFFFF);
}

TEST_CASE("card: a frame is sent at once, and the interrupt comes after its last bit") {
  for (const size_t size : {60, 100, 1514}) {
    NetBench bench;
    bench.start();
    bench.run_until(kMillisecond);
    bench.load(to_host(size));
    bench.go(size);
    CHECK((bench.in(0) & 0x04));
    bench.run_until(kMillisecond + (8 + size + 4) * 8 * 100'000 - 1);
    CHECK(!bench.line);
    CHECK((bench.in(0) & 0x04));
    bench.run_until(bench.now + 1);
    CHECK(bench.line);
    CHECK(!(bench.in(0) & 0x04));
    CHECK((bench.in(0x7) & 0x02));
    CHECK(bench.in(0x4) == 0x01);
    bench.out(0x7, 0x02);
    CHECK(!bench.line);
    REQUIRE(bench.log.seen.size() == 1);
    CHECK(bench.log.seen[0].first == kMillisecond);
    CHECK(bench.log.seen[0].frame == to_host(size));
  }
}

TEST_CASE("card: a masked interrupt comes when it is unmasked") {
  NetBench bench;
  bench.start();
  bench.out(0xF, 0);
  bench.send(to_host(60));
  bench.load(to_host(60));
  bench.go(60);
  bench.run_until(bench.now + kMillisecond);
  CHECK(!bench.line);
  bench.out(0xF, 0x02);
  CHECK(bench.line);
}

TEST_CASE("card: a stopped card does not send, and a frame without bytes is an underrun") {
  NetBench bench;
  bench.start();
  bench.out(0x0, 0x21);
  bench.go(60);
  bench.out(0x0, 0x25);
  bench.run_until(bench.now + kMillisecond);
  bench.start();
  bench.go(0);
  CHECK((bench.in(0x7) & 0x08));
  CHECK(bench.in(0x4) == 0x20);
  CHECK(bench.log.seen.size() <= 1);
}

TEST_CASE("card: in loopback no frame reaches the wire") {
  NetBench bench;
  bench.start();
  bench.out(0xD, 0x02);
  bench.send(to_host(60));
  CHECK(bench.log.seen.empty());
}

TEST_CASE("card: frames of all sizes are stored in the ring, with an interrupt at the last bit") {
  NetBench bench;
  bench.start();
  for (size_t size = 60; size <= 1514; size += size < 260 || size > 1260 ? 1 : 13) {
    const Time begin = bench.now;
    from_wire(&bench, to_guest(size, uint8_t(size)));
    bench.run_until(bench.now + 2 * kMillisecond);
    CHECK(bench.interrupted_at == begin + (8 + size + 4) * 8 * 100'000);
    const auto frames = bench.take();
    REQUIRE(frames.size() == 1);
    CHECK(frames[0] == to_guest(size, uint8_t(size)));
  }
  CHECK(bench.log.misses == 0);
}

TEST_CASE("card: it still receives after a driver selects a page without the start bit") {
  NetBench bench;
  bench.start();
  bench.out(0x0, 0x60);
  from_wire(&bench, to_guest(60));
  bench.run_until(kMillisecond);
  bench.out(0x0, 0x20);
  from_wire(&bench, to_guest(61));
  bench.run_until(2 * kMillisecond);
  CHECK(bench.take().size() == 2);
}

TEST_CASE("card: it receives its own address, and others only if enabled") {
  const auto takes = [](uint8_t receive, const Frame& frame, uint8_t groups = 0) {
    NetBench bench;
    bench.start(receive);
    bench.out(0x0, 0x62);
    for (uint32_t i = 8; i < 16; i++) bench.out(i, groups);
    bench.out(0x0, 0x22);
    from_wire(&bench, frame);
    bench.run_until(kMillisecond);
    return bench.take().size();
  };
  Frame other = to_guest(60), all = other, group = other;
  other[5] ^= 1;
  std::fill(all.begin(), all.begin() + 6, 0xFF);
  group[0] |= 1;
  CHECK(takes(0x00, to_guest(60)) == 1);
  CHECK(takes(0x00, other) == 0);
  CHECK(takes(0x10, other) == 1);
  CHECK(takes(0x00, all) == 0);
  CHECK(takes(0x04, all) == 1);
  CHECK(takes(0x04, group, 0xFF) == 0);
  CHECK(takes(0x08, group, 0xFF) == 1);
  CHECK(takes(0x08, group, 0x00) == 0);
  CHECK(takes(0x00, to_guest(59)) == 0);  // a runt
  CHECK(takes(0x02, to_guest(59)) == 1);
}

TEST_CASE("card: the multicast filter is the hash that drivers calculate") {
  // ether_crc(address) >> 26, most significant bit first: 01-00-5E-00-00-01 is bit 31 of the filter
  // in Linux (make_mc_bits).
  const Address group = {0x01, 0x00, 0x5E, 0x00, 0x00, 0x01};
  uint32_t sum = ~0u;
  for (const uint8_t byte : group) {
    for (int bit = 0; bit < 8; bit++) {
      const uint32_t carry = (sum >> 31) ^ (byte >> bit & 1);
      sum = sum << 1 ^ (carry ? 0x04C11DB7 : 0);
    }
  }
  const uint32_t hash = sum >> 26;
  for (uint32_t bit = 0; bit < 64; bit++) {
    NetBench bench;
    bench.start(0x08);
    bench.out(0x0, 0x62);
    for (uint32_t i = 0; i < 8; i++) bench.out(8 + i, i == bit >> 3 ? 1u << (bit & 7) : 0);
    bench.out(0x0, 0x22);
    Frame frame = to_guest(60);
    std::copy(group.begin(), group.end(), frame.begin());
    from_wire(&bench, frame);
    bench.run_until(kMillisecond);
    CHECK(bench.take().size() == (bit == hash));
  }
}

TEST_CASE("card: it drops a frame that needs a page which is not free") {
  NetBench bench;
  bench.start();
  // The ring has 51 free pages (the 52nd page is the boundary). A frame of 1514 bytes needs 6
  // pages, so 8 frames fit and 3 pages remain.
  for (int i = 0; i < 8; i++) {
    from_wire(&bench, to_guest(1514, uint8_t(i)));
    bench.run_until(bench.now + 2 * kMillisecond);
    bench.out(0x7, 0x01);
  }
  CHECK(bench.log.misses == 0);
  const Time begin = bench.now;
  from_wire(&bench, to_guest(1514, 0x99));
  bench.run_until(begin + 2 * kMillisecond);
  // The third page ends at byte 3 * 256 - 4 of the frame, after a preamble of eight bytes.
  CHECK(bench.interrupted_at == begin + (8 + 3 * 256 - 4) * 8 * 100'000);
  CHECK((bench.in(0x7) & 0x91) == 0x90);  // overflow and reset state, nothing received
  CHECK(bench.log.misses == 1);
  CHECK(bench.in(0xF) == 1);
  CHECK(bench.in(0xF) == 0);  // reading clears it
  CHECK((bench.in(0xC) & 0x10));
  // A small frame still fits: 64 bytes with header need one page.
  bench.out(0x7, 0x10);
  from_wire(&bench, to_guest(60, 0x77));
  bench.run_until(bench.now + 2 * kMillisecond);
  const auto frames = bench.take();
  REQUIRE(frames.size() == 9);
  for (int i = 0; i < 8; i++) CHECK(frames[size_t(i)] == to_guest(1514, uint8_t(i)));
  CHECK(frames[8] == to_guest(60, 0x77));
  CHECK(!(bench.in(0x7) & 0x80));  // packets have been removed
  // There is room again.
  from_wire(&bench, to_guest(1514));
  bench.run_until(bench.now + 2 * kMillisecond);
  CHECK(bench.take().size() == 1);
}

TEST_CASE("card: it counts missed frames up to 192, with an interrupt at 128") {
  NetBench bench;
  bench.start();
  for (int i = 0; i < 51 + 200; i++) {
    from_wire(&bench, to_guest(60));
    bench.run_until(bench.now + 100 * kMicrosecond);
    CHECK(bool(bench.in(0x7) & 0x20) == (i >= 51 + 127));
  }
  CHECK(bench.log.misses == 200);
  CHECK(bench.in(0xF) == 192);
  CHECK(bench.take().size() == 51);
}

TEST_CASE(
    "card: a stopped card does not receive, and a reset ends reception but not transmission") {
  NetBench bench;
  bench.start();
  bench.out(0x0, 0x21);
  from_wire(&bench, to_guest(60));
  bench.run_until(bench.now + kMillisecond);
  bench.start();
  CHECK(bench.take().empty());
  from_wire(&bench, to_guest(1514));
  bench.run_until(bench.now + 500 * kMicrosecond);
  bench.start();
  bench.run_until(bench.now + 2 * kMillisecond);
  CHECK(bench.take().empty());
  bench.load(to_host(1514));
  bench.go(1514);
  bench.run_until(bench.now + 500 * kMicrosecond);
  bench.start();
  bench.load(to_host(60));
  bench.go(60);
  CHECK((bench.in(0) & 0x04));
  bench.run_until(bench.now + 2 * kMillisecond);
  CHECK(!(bench.in(0) & 0x04));
  REQUIRE(bench.log.seen.size() == 4);
  CHECK(bench.log.seen[2].frame.size() == 1514);
  CHECK(bench.log.seen[3].frame.size() == 60);
  CHECK(bench.log.seen[3].first == bench.log.seen[2].first + 1'220'800'000 + kGapTime);
}

TEST_CASE("card: the card reports the number of collisions to the driver") {
  bool seen = false;
  for (uint64_t seed = 0; seed < 20; seed++) {
    Config config = quick_network();
    config.wire.seed = seed;
    NetBench bench(config);
    bench.start();
    from_wire(&bench, to_guest(1514));
    bench.load(to_host(60));
    bench.go(60);  // waits for the end of the frame, like the next frame from the host
    from_wire(&bench, to_guest(60));
    bench.run_until(10 * kMillisecond);
    CHECK(bench.log.collisions > 0);
    CHECK((bench.in(0x4) & 0x0F) == 0x05);
    CHECK(bench.in(0x5) == bench.log.collisions);
    CHECK(bench.take().size() == 2);
    seen |= bench.log.collisions > 1;
  }
  CHECK(seen);
}

TEST_CASE("card: the 'send packet' command reads the next packet of the ring") {
  NetBench bench;
  bench.start();
  from_wire(&bench, to_guest(100));
  bench.run_until(kMillisecond);
  bench.out(0x3, NetBench::kFirstPage);  // as drivers with this command do
  bench.out(0x0, 0x1A);
  CHECK((bench.in(0x8) | bench.in(0x9) << 8) == NetBench::kFirstPage * 256);
  CHECK(bench.network.card().read(Ne2000::kData, 2) ==
        (0x01u | unsigned(NetBench::kFirstPage + 1) << 8));
  CHECK(bench.network.card().read(Ne2000::kData, 2) == 104);
}

TEST_CASE("card: it works after any sequence of port accesses") {
  std::mt19937 random(5);
  NetBench bench;
  for (int round = 0; round < 200; round++) {
    if (round % 3 == 0) bench.start(uint8_t(random()));
    for (int i = 0; i < 300; i++) {
      const uint32_t port = random() % 32, bytes = 1u << random() % 3;
      if (random() % 2)
        bench.network.card().read(port, bytes);
      else
        bench.network.card().write(port, random(), bytes, bench.now);
      if (random() % 16 == 0) from_wire(&bench, to_guest(60 + random() % 1455));
      bench.run_until(bench.now + random() % (100 * kMicrosecond));
    }
    bench.run_until(bench.now + 200 * kMillisecond);
  }
  // The card still works.
  bench.run_until(bench.now + 10 * kSecond);
  bench.start();
  const uint64_t before = bench.log.seen.size();
  bench.send(to_host(60));
  CHECK(bench.log.seen.size() == before + 1);
}
