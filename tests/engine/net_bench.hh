// SPDX-License-Identifier: MIT
// How do tests use the network without a processor? The test itself does the work of a card driver.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "devices/ne2000/check.hh"
#include "devices/ne2000/network.hh"

struct NetLog : device::ne2000::NetworkWitness {
  struct Seen {
    device::ne2000::Time first;
    device::ne2000::Frame frame;
    uint32_t station;
  };
  void busy(device::ne2000::Time from, device::ne2000::Time until) override {
    wire_busy += until - from;
  }
  void collision(device::ne2000::Time) override { collisions++; }
  void frame(device::ne2000::Time first, const device::ne2000::Frame& frame,
             uint32_t station) override {
    seen.push_back({first, frame, station});
  }
  void received(size_t bytes) override { received_bytes += bytes; }
  void missed() override { misses++; }
  void fault(device::ne2000::Fault fault) override { faults[int(fault)]++; }
  void remote_busy(device::ne2000::Time from, device::ne2000::Time until) override {
    host_busy += until - from;
  }
  void fail(const std::string& what) override { throw std::runtime_error(what); }

  std::vector<Seen> seen;
  device::ne2000::Time wire_busy = 0, host_busy = 0;
  uint64_t collisions = 0, received_bytes = 0, misses = 0, faults[3] = {};
};

inline device::ne2000::Config quick_network() {
  device::ne2000::Config config;
  config.card = true;
  return config;  // 10 Mbit/s, collisions, no latency, and a host without processing time
}

class NetBench : public device::ne2000::Pc {
 public:
  static constexpr uint8_t kTransmitPage = 0x40, kFirstPage = 0x4C, kLastPage = 0x80;

  explicit NetBench(const device::ne2000::Config& config = quick_network())
      : network(config, agenda, *this, log) {}

  void interrupt(bool on) override {
    line = on;
    if (on) interrupted_at = now;
  }

  // Runs all actions that are due until `when`, each action at its own time.
  void run_until(device::ne2000::Time when) {
    while (agenda.next() <= when) step();
    now = when;
  }
  void step() {
    now = agenda.next();
    agenda.run(now);
  }

  uint8_t in(uint32_t port) { return uint8_t(network.card().read(port, 1)); }
  void out(uint32_t port, uint32_t value) {
    network.card().write(port, value, 1, now);
    agenda.run(now);
  }

  // Sets up the card like a driver: transfers of 16 bits, a ring that starts at kFirstPage, and all
  // interrupts except remote DMA.
  void start(uint8_t receive = 0x04) {
    in(device::ne2000::Ne2000::kReset);
    out(0x0, 0x21);
    out(0xE, 0x49);
    out(0xA, 0), out(0xB, 0);
    out(0xC, 0x20), out(0xD, 0x02);
    out(0x4, kTransmitPage);
    out(0x1, kFirstPage), out(0x3, kLastPage - 1), out(0x2, kLastPage);
    out(0x7, 0xFF), out(0xF, 0x3F);
    out(0x0, 0x61);
    for (uint32_t i = 0; i < 6; i++) out(1 + i, device::ne2000::kGuestMac[i]);
    out(0x7, kFirstPage);
    out(0x0, 0x22);
    out(0xD, 0), out(0xC, receive);
    next_page = kFirstPage;
  }

  void write_memory(uint32_t address, const device::ne2000::Frame& bytes) {
    remote_dma(address, uint32_t(bytes.size() + 1) & ~1u, 0x12);
    for (size_t i = 0; i < bytes.size(); i += 2) {
      const uint32_t high = i + 1 < bytes.size() ? bytes[i + 1] : 0;
      network.card().write(device::ne2000::Ne2000::kData, bytes[i] | high << 8, 2, now);
    }
  }
  device::ne2000::Frame read_memory(uint32_t address, uint32_t count) {
    remote_dma(address, (count + 1) & ~1u, 0x0A);
    device::ne2000::Frame bytes;
    while (bytes.size() < count) {
      const uint32_t word = network.card().read(device::ne2000::Ne2000::kData, 2);
      bytes.push_back(uint8_t(word));
      bytes.push_back(uint8_t(word >> 8));
    }
    bytes.resize(count);
    return bytes;
  }

  void load(const device::ne2000::Frame& frame) { write_memory(kTransmitPage * 256u, frame); }
  void go(size_t bytes) {
    out(0x5, uint32_t(bytes & 0xFF)), out(0x6, uint32_t(bytes >> 8));
    out(0x0, 0x26);
  }
  // Waits until the card reports that the frame is sent.
  void send(const device::ne2000::Frame& frame) {
    load(frame);
    go(frame.size());
    while (in(0) & 0x04) step();
    out(0x7, 0x02);
  }

  // Returns the frames of the ring, oldest first. Checks each frame and frees the frame's pages.
  std::vector<device::ne2000::Frame> take() {
    std::vector<device::ne2000::Frame> frames;
    for (;;) {
      out(0x0, 0x62);
      const uint8_t current = in(0x7);
      out(0x0, 0x22);
      if (current == next_page) return frames;
      const device::ne2000::Frame header = read_memory(next_page * 256u, 4);
      const uint32_t length = header[2] | header[3] << 8;
      CHECK((header[0] & 0xDF) == 0x01);
      device::ne2000::Frame frame = read_memory(next_page * 256u + 4, length);
      uint32_t check = 0;
      for (int i = 0; i < 4; i++) check |= uint32_t(frame[frame.size() - 4 + i]) << 8 * i;
      frame.resize(frame.size() - 4);
      CHECK(check == device::ne2000::crc32(0, frame.data(), frame.size()));
      frames.push_back(frame);
      next_page = header[1];
      out(0x3, next_page == kFirstPage ? kLastPage - 1 : next_page - 1);
      out(0x7, 0x01);
    }
  }

  device::ne2000::Agenda agenda;
  device::ne2000::Time now = 0;
  NetLog log;
  device::ne2000::Network network;
  bool line = false;
  device::ne2000::Time interrupted_at = 0;
  uint8_t next_page = kFirstPage;

 private:
  void remote_dma(uint32_t address, uint32_t count, uint8_t command) {
    out(0x0, 0x22);
    out(0xA, count & 0xFF), out(0xB, count >> 8);
    out(0x8, address & 0xFF), out(0x9, address >> 8);
    out(0x0, command);
  }
};

// --- hand-made packets

inline void put16(device::ne2000::Frame* frame, uint32_t value) {
  frame->push_back(uint8_t(value >> 8));
  frame->push_back(uint8_t(value));
}
inline void put32(device::ne2000::Frame* frame, uint32_t value) {
  put16(frame, value >> 16);
  put16(frame, value);
}
inline uint32_t get16(const device::ne2000::Frame& frame, size_t at) {
  return frame[at] << 8 | frame[at + 1];
}

inline uint16_t internet_sum(const uint8_t* bytes, size_t count, uint32_t sum = 0) {
  for (size_t i = 0; i < count; i++) sum += i & 1 ? bytes[i] : bytes[i] << 8;
  while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
  return uint16_t(~sum);
}

inline device::ne2000::Frame ethernet(const device::ne2000::Address& to, uint16_t type,
                                      const device::ne2000::Frame& data) {
  device::ne2000::Frame frame(to.begin(), to.end());
  frame.insert(frame.end(), device::ne2000::kGuestMac.begin(), device::ne2000::kGuestMac.end());
  put16(&frame, type);
  frame.insert(frame.end(), data.begin(), data.end());
  if (frame.size() < device::ne2000::kMinFrame) frame.resize(device::ne2000::kMinFrame);
  return frame;
}

inline device::ne2000::Frame arp_request() {
  device::ne2000::Frame data = {0, 1, 8, 0, 6, 4, 0, 1};
  data.insert(data.end(), device::ne2000::kGuestMac.begin(), device::ne2000::kGuestMac.end());
  put32(&data, device::ne2000::kGuestAddress);
  data.resize(data.size() + 6);
  put32(&data, device::ne2000::kRemoteAddress);
  return ethernet({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, 0x0806, data);
}

inline device::ne2000::Frame ip_packet(uint8_t protocol, const device::ne2000::Frame& data) {
  device::ne2000::Frame packet = {0x45, 0};
  put16(&packet, uint32_t(20 + data.size()));
  packet.insert(packet.end(), {0, 1, 0x40, 0, 64, protocol, 0, 0});
  put32(&packet, device::ne2000::kGuestAddress);
  put32(&packet, device::ne2000::kRemoteAddress);
  const uint16_t sum = internet_sum(packet.data(), packet.size());
  packet[10] = uint8_t(sum >> 8), packet[11] = uint8_t(sum);
  packet.insert(packet.end(), data.begin(), data.end());
  return ethernet(device::ne2000::kRemoteMac, 0x0800, packet);
}

// Computes the checksum with the pseudo header and stores it at `at` in `data`.
inline device::ne2000::Frame summed(uint8_t protocol, device::ne2000::Frame data, size_t at) {
  device::ne2000::Frame pseudo;
  put32(&pseudo, device::ne2000::kGuestAddress);
  put32(&pseudo, device::ne2000::kRemoteAddress);
  put16(&pseudo, protocol);
  put16(&pseudo, uint32_t(data.size()));
  pseudo.insert(pseudo.end(), data.begin(), data.end());
  const uint16_t sum = internet_sum(pseudo.data(), pseudo.size());
  data[at] = uint8_t(sum >> 8), data[at + 1] = uint8_t(sum);
  return ip_packet(protocol, data);
}

inline device::ne2000::Frame udp(uint16_t from, uint16_t to, const std::string& text) {
  device::ne2000::Frame data;
  put16(&data, from), put16(&data, to);
  put16(&data, uint32_t(8 + text.size())), put16(&data, 0);
  data.insert(data.end(), text.begin(), text.end());
  return summed(17, data, 6);
}

struct Segment {
  uint16_t from = 1234, to = 0;
  uint32_t sequence = 0, acknowledged = 0;
  uint8_t flags = 0;
  std::string text;
};
inline device::ne2000::Frame tcp(const Segment& segment) {
  device::ne2000::Frame data;
  put16(&data, segment.from), put16(&data, segment.to);
  put32(&data, segment.sequence), put32(&data, segment.acknowledged);
  data.insert(data.end(), {0x50, segment.flags, 0x40, 0, 0, 0, 0, 0});
  data.insert(data.end(), segment.text.begin(), segment.text.end());
  return summed(6, data, 16);
}
