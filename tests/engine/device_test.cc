// SPDX-License-Identifier: MIT
// How do devices plug in? The tests check the list of kinds, the declarations of a device, and its
// job.
#include "devices/device.hh"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_bench.hh"
#include "scratch.hh"

using namespace device;

namespace {

std::vector<base::events::Part> parts() {
  std::vector<base::events::Part> parts;
  for (const Kind& kind : base::registry<Kind>()) parts.push_back(kind.part);
  return parts;
}

}  // namespace

TEST_CASE("devices: all folders are registered, in the order of their device.toml") {
  const std::vector<base::events::Part> found = parts();
  CHECK(std::is_sorted(found.begin(), found.end()));
  for (const base::events::Part part : {base::events::Part::Scsi, base::events::Part::Ne2000}) {
    CHECK(std::count(found.begin(), found.end(), part) == 1);
  }
}

TEST_CASE("devices: a machine has the devices that its settings declare") {
  DeviceBench none("none", 0), disks("none", 2), both("ne2000", 1);
  CHECK(none.devices.present().empty());
  CHECK(disks.devices.present().size() == 1);
  CHECK(both.devices.present().size() == 2);
}

TEST_CASE("devices: disks are PCI functions, the network card is on ISA") {
  DeviceBench bench("ne2000", 3);
  bench.connect();
  REQUIRE(bench.pc.pci.size() == 1);
  CHECK(bench.pc.pci[0].vendor == 0x104B);
  CHECK(bench.pc.pci[0].ports == 4);
  CHECK(bench.pc.pci[0].widths == kByte);
  REQUIRE(bench.pc.isa.size() == 1);
  CHECK(bench.pc.isa[0].first == 0x300);
  CHECK(bench.pc.isa[0].last == 0x31F);
  CHECK(bench.pc.isa[0].irq == 3);
  CHECK(bench.pc.isa[0].wide_first == 0x310);
  CHECK(bench.pc.isa[0].wide_last == 0x317);
}

TEST_CASE("devices: options of a job need the device") {
  CHECK(DeviceBench("none", 0).job("run.pcap = a\n") ==
        "job.conf:1: run.pcap: expected a machine with a network card");
  CHECK(DeviceBench("ne2000", 0).job("run.pcap = a\n") == "");
  const std::string cut = "run.power_cut_us = 5\nrun.power_cut_image = a\n";
  CHECK(DeviceBench("none", 0).job(cut) ==
        "job.conf:1: run.power_cut_us: expected a machine with disks");
  CHECK(DeviceBench("none", 1).job(cut) == "");
}

TEST_CASE("devices: the capture of the wire begins when the guest is ready") {
  DeviceBench bench("ne2000", 0);
  bench.connect();
  CHECK(bench.job("run.pcap = wire.pcap\n") == "");
  CHECK(bench.pc.created.empty());
  bench.devices.ready();
  CHECK(bench.pc.created == std::vector<std::string>{"wire.pcap"});
}

TEST_CASE("devices: the power is cut at its time after the guest is ready") {
  DeviceBench bench("none", 1);
  bench.connect();
  const Scratch image;
  CHECK(bench.job("run.power_cut_us = 2500000\nrun.power_cut_image = " + image.path() + "\n") ==
        "");
  bench.pc.time = base::kSecond;
  bench.devices.ready();
  base::Agenda& agenda = bench.devices.present()[0]->agenda();
  CHECK(agenda.next() == base::kSecond * 7 / 2);
  CHECK_THROWS_WITH_AS(agenda.run(agenda.next()),
                       "end: power cut 2.500000 s after the guest was ready", std::runtime_error);
}
