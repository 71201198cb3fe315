// SPDX-License-Identifier: MIT
// The network of a machine: card, wire and remote host, as the flat parameter file has them.
#pragma once

#include <memory>
#include <string>

#include "ne2000.hh"
#include "remote.hh"
#include "settings.hh"
#include "wire.hh"

namespace net {

struct Config {
  bool card = false;  // net.card: "ne2000"; otherwise there is no network at all
  WireConfig wire;
  RemoteConfig remote;

  // Reads all keys net.*; errors are kept in `settings`.
  static Config read(base::Settings& settings);
};

// What is told of it while it goes on.
class Observer : public Witness, public CardWitness, public RemoteWitness {};

class Network {
 public:
  static constexpr uint32_t kCard = 0, kHost = 1;  // stations of the wire

  Network(const Config& config, Agenda& agenda, Pc& pc, Observer& observer);

  Ne2000& card() { return card_; }
  Remote& remote() { return remote_; }

 private:
  Wire wire_;
  Ne2000 card_;
  Remote remote_;
};

}  // namespace net
