// SPDX-License-Identifier: MIT
#include "network.hh"

#include <cmath>

namespace net {
namespace {

double chance(base::Settings& settings, const std::string& key) {
  const double value = settings.real(key);
  if (!(value >= 0 && value <= 0.9)) settings.fail(key, "expected a probability of 0 to 0.9");
  return value;
}

Time microseconds(base::Settings& settings, const std::string& key) {
  const double value = settings.real(key);
  if (!(value >= 0 && value <= 1e7)) settings.fail(key, "expected 0 to 10000000");
  return Time(std::llround(std::fmin(std::fmax(value, 0), 1e7) * double(kMicrosecond)));
}

}  // namespace

Config Config::read(base::Settings& settings) {
  Config c;
  const std::string card = settings.text("net.card");
  if (card != "none" && card != "ne2000") {
    settings.fail("net.card", "`" + card + "` is neither none nor ne2000");
  }
  c.card = card == "ne2000";
  c.wire.bit_rate = settings.number("net.bit_rate");
  if (c.wire.bit_rate < 1'000'000 || c.wire.bit_rate > 1'000'000'000) {
    settings.fail("net.bit_rate", "expected 1000000 to 1000000000");
    c.wire.bit_rate = 1'000'000;
  }
  c.wire.collisions = settings.flag("net.collisions");
  PathConfig& path = c.remote.path;
  path.latency = microseconds(settings, "net.latency_us");
  path.loss = chance(settings, "net.loss");
  path.duplicate = chance(settings, "net.duplicate");
  path.reorder = chance(settings, "net.reorder");
  c.remote.packet = microseconds(settings, "net.remote.cpu_us_per_packet");
  c.remote.kilobyte = microseconds(settings, "net.remote.cpu_us_per_kb");
  // The run's, not the machine's.
  if (settings.has("net.seed")) c.wire.seed = path.seed = settings.number("net.seed");
  return c;
}

Network::Network(const Config& config, Agenda& agenda, Pc& pc, Observer& observer)
    : wire_(config.wire, agenda, observer),
      card_(kGuestMac, wire_, kCard, agenda, pc, observer),
      remote_(config.remote, wire_, kHost, agenda, observer) {
  wire_.attach(kCard, &card_.station());
  wire_.attach(kHost, &remote_);
}

}  // namespace net
