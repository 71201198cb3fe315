// SPDX-License-Identifier: MIT
// What does the network of a machine contain? The network contains a card, a wire and a remote
// host. The keys net.* of the parameter file configure the network.
#pragma once

#include <memory>
#include <string>

#include "base/settings.hh"
#include "devices/ne2000/ne2000.hh"
#include "devices/ne2000/remote.hh"
#include "devices/ne2000/wire.hh"

namespace device::ne2000 {

struct Config {
  bool card = false;  // net.card is "ne2000"; otherwise there is no network
  WireConfig wire;
  RemoteConfig remote;

  // Reads all keys net.*; `settings` keeps the first error.
  static Config read(base::Settings& settings);
  // Wire and remote host take no time (ideal.network).
  void answer_at_once();
};

// Observes wire, card and remote host.
class NetworkWitness : public Witness, public CardWitness, public RemoteWitness {};

class Network {
 public:
  static constexpr uint32_t kCard = 0, kHost = 1;  // stations of the wire

  Network(const Config& config, Agenda& agenda, Pc& pc, NetworkWitness& witness);

  Ne2000& card() { return card_; }
  Remote& remote() { return remote_; }

 private:
  Wire wire_;
  Ne2000 card_;
  Remote remote_;
};

}  // namespace device::ne2000
