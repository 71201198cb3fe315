// SPDX-License-Identifier: MIT
// How do tests run devices without the emulator? This PC records the actions of the devices.
#pragma once

#include <doctest/doctest.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/declared.hh"
#include "devices/device.hh"

struct FakeLine : device::Line {
  void set(bool level) override { on = level; }
  bool on = false;
};

class FakePc : public device::Pc {
 public:
  device::Line& plug(const device::IsaCard& card, device::Ports& ports) override {
    isa.push_back(card);
    isa_ports.push_back(&ports);
    return lines.emplace_back();
  }
  device::Line& plug(const device::PciCard& card, device::Ports&) override {
    pci.push_back(card);
    return lines.emplace_back();
  }
  void plug(device::FloppyTimes& times) override { floppies = &times; }
  void plug(device::DiskTimes& times) override { disks = &times; }
  void read_memory(uint32_t, uint8_t* bytes, uint32_t count) override {
    std::memset(bytes, 0, count);
  }
  void write_memory(uint32_t, const uint8_t*, uint32_t) override {}
  base::Time now() const override { return time; }
  const base::Clock& clock() const override { return clock_; }
  void count(base::events::Event event, uint64_t number) override {
    counts[base::events::event_name(event)] += number;
  }
  std::FILE* create(const std::string& path) override {
    created.push_back(path);
    return nothing_;
  }
  void fail(const std::string& reason) override { throw std::runtime_error("fail: " + reason); }
  void cannot_write(const std::string& path) override {
    throw std::runtime_error("cannot write: " + path);
  }
  void end(const std::string& reason) override { throw std::runtime_error("end: " + reason); }
  ~FakePc() override { std::fclose(nothing_); }

  base::Time time = 0;
  std::vector<device::IsaCard> isa;
  std::vector<device::Ports*> isa_ports;
  std::vector<device::PciCard> pci;
  std::deque<FakeLine> lines;
  device::FloppyTimes* floppies = nullptr;
  device::DiskTimes* disks = nullptr;
  std::map<std::string, uint64_t> counts;
  std::vector<std::string> created;

 private:
  const base::Clock clock_{90'000'000};
  std::FILE* nothing_ = std::fopen("/dev/null", "w");
};

struct DeviceBench {
  // Makes a machine with the network card `card` and with `disks` disks. `more` are lines of the
  // parameter file.
  DeviceBench(const std::string& card, int disks, const std::string& more = "") {
    base::Settings settings;
    std::string error;
    const std::string text =
        "net.card = " + card + "\ndisk.count = " + std::to_string(disks) + "\n" + kKeys + more;
    REQUIRE(settings.parse(text, "boot.conf", &error));
    devices.read(settings);
    // A test program may contain only one of the two devices, but the settings contain the keys of
    // both devices. So these calls check the keys of both.
    base::check(settings, base::declared::scsi);
    base::check(settings, base::declared::ne2000);
    REQUIRE(settings.finish() == "");
  }

  void connect() {
    for (device::Device* device : devices.present()) device->connect(pc);
  }
  // Reads the options of a job. Returns the error, or an empty text.
  std::string job(const std::string& text) {
    base::Settings settings;
    std::string error;
    REQUIRE(settings.parse(text, "job.conf", &error));
    devices.read_job(settings);
    return settings.finish();
  }

  static constexpr const char* kKeys = R"(
net.bit_rate = 10000000
net.collisions = on
net.latency_us = 0
net.loss = 0
net.duplicate = 0
net.reorder = 0
net.remote.cpu_us_per_packet = 100
net.remote.cpu_us_per_kb = 50
disk.adapters = 1
disk.tagged_queueing = off
disk.model = round
disk.vendor = NOBODY
disk.product = ROUND
disk.zones = 500x120,500x100
disk.heads = 4
disk.rpm = 7200
disk.track_skew_ms = 1
disk.cylinder_skew_ms = 1
disk.read_seek_single_ms = 1
disk.read_seek_average_ms = 8
disk.read_seek_full_ms = 16
disk.write_seek_single_ms = 1
disk.write_seek_average_ms = 8
disk.write_seek_full_ms = 16
disk.seek_knee = 300
disk.head_switch_ms = 0.5
disk.command_us = 500
disk.buffer = 524288
disk.segments = 4
disk.read_ahead = on
disk.write_cache = off
disk.adapter_us = 200
disk.select_us = 100
disk.reselect_us = 50
disk.bus_mb_s = 10
)";

  FakePc pc;  // outlives the devices
  device::Devices devices = device::Devices::all();
};
