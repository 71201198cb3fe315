// SPDX-License-Identifier: MIT
#include <doctest/doctest.h>

#include "tests/engine/device_bench.hh"

TEST_CASE("alarm: a machine has none unless its file says so") {
  CHECK(DeviceBench("none", 0).devices.present().empty());
}

TEST_CASE("alarm: it rings after its time, once, and is counted") {
  DeviceBench bench("none", 0, "alarm.present = on\nalarm.irq = 9\n");
  bench.connect();
  REQUIRE(bench.pc.isa.size() == 1);
  CHECK(bench.pc.isa[0].irq == 9);
  device::Ports& port = *bench.pc.isa_ports[0];
  base::Agenda& agenda = bench.devices.present()[0]->agenda();
  bench.pc.time = base::kSecond;
  port.write(0, 250, 2);
  CHECK(agenda.next() == base::kSecond + 250 * base::kMicrosecond);
  CHECK(port.read(0, 1) == 0);
  agenda.run(agenda.next());
  CHECK(bench.pc.lines[0].on);
  CHECK(bench.pc.counts["alarm.rings"] == 1);
  CHECK(port.read(0, 1) == 1);
  CHECK_FALSE(bench.pc.lines[0].on);
  CHECK(port.read(0, 1) == 0);
}
