// SPDX-License-Identifier: MIT
#include "devices/ne2000/network.hh"

#include <cmath>

#include "base/declared.hh"

namespace device::ne2000 {
namespace {

Time microseconds(base::Settings& settings, const std::string& key) {
  return Time(std::llround(settings.real(key) * double(kMicrosecond)));
}

}  // namespace

Config Config::read(base::Settings& settings) {
  Config c;
  base::check(settings, base::declared::ne2000);
  if (!settings.error().empty()) return c;
  c.card = base::present(settings, base::declared::ne2000);
  c.wire.bit_rate = settings.number("net.bit_rate");
  c.wire.collisions = settings.flag("net.collisions");
  PathConfig& path = c.remote.path;
  path.latency = microseconds(settings, "net.latency_us");
  path.loss = settings.real("net.loss");
  path.duplicate = settings.real("net.duplicate");
  path.reorder = settings.real("net.reorder");
  c.remote.packet = microseconds(settings, "net.remote.cpu_us_per_packet");
  c.remote.kilobyte = microseconds(settings, "net.remote.cpu_us_per_kb");
  if (settings.flag("ideal.network")) c.answer_at_once();
  // The seed belongs to the run, not to the machine.
  if (settings.has("net.seed")) c.wire.seed = path.seed = settings.number("net.seed");
  return c;
}

void Config::answer_at_once() {
  wire.at_once = remote.at_once = true;
  wire.collisions = false;
  remote.path.latency = remote.packet = remote.kilobyte = 0;
}

Network::Network(const Config& config, Agenda& agenda, Pc& pc, NetworkWitness& witness)
    : wire_(config.wire, agenda, witness),
      card_(kGuestMac, wire_, kCard, agenda, pc, witness),
      remote_(config.remote, wire_, kHost, agenda, witness) {
  wire_.attach(kCard, &card_.station());
  wire_.attach(kHost, &remote_);
}

}  // namespace device::ne2000
