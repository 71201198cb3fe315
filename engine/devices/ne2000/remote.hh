// SPDX-License-Identifier: MIT
// How does the host at the other end of the wire behave? The remote host has a network card, a
// processor and the TCP/IP stack lwIP. These three parts work in virtual time. A process has only
// one remote host, because lwIP's state is global.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "devices/ne2000/dp8390.hh"
#include "devices/ne2000/path.hh"
#include "devices/ne2000/wire.hh"

struct netif;
struct pbuf;

namespace device::ne2000 {

// IPv4 addresses and port numbers are in the host's byte order: 10.0.0.2 is 0x0A000002.
constexpr uint32_t kGuestAddress = 0x0A000002, kRemoteAddress = 0x0A000001;
constexpr uint32_t kNetMask = 0xFFFFFF00;
// These two MAC addresses are locally administered.
constexpr Address kGuestMac = {0x02, 0x50, 0x35, 0x00, 0x00, 0x02};
constexpr Address kRemoteMac = {0x02, 0x50, 0x35, 0x00, 0x00, 0x01};

struct RemoteConfig {
  PathConfig path;
  Time packet = 0, kilobyte = 0;  // processor time for each packet and for each KB
  bool at_once = false;           // services take no time either, such as the disk of NFS
};

class Connection;
class Services;
struct Endpoint {
  uint32_t address = 0;
  uint16_t port = 0;
};

// Observes the remote host.
class RemoteWitness {
 public:
  virtual ~RemoteWitness() = default;
  virtual void remote_busy(Time from, Time until) = 0;  // the host's processor works
  virtual void fault(Fault fault) = 0;                  // on the path to or from the host
  // An assertion of lwIP has failed, or a service cannot start. This call must not return.
  virtual void fail(const std::string& what) = 0;
};

class Remote : public Station {
 public:
  Remote(const RemoteConfig& config, Wire& wire, uint32_t station, Agenda& agenda,
         RemoteWitness& witness);
  ~Remote() override;

  // --- for services; tcp.hh describes connections

  Time now() const { return now_; }
  bool at_once() const { return config_.at_once; }  // the host takes no time
  void at(Time when, std::function<void()> action);
  // The host's processor works for this time. Data that a service sends after this call leaves the
  // host when this work has ended.
  void work(Time duration);
  uint32_t random() { return random_.bits(); }

  using Accept = std::function<std::unique_ptr<Connection>()>;
  void listen(uint16_t port, Accept accept);
  // Opens a connection from any free port. The host owns the connection until the connection ends.
  Connection& connect(const Endpoint& to, std::unique_ptr<Connection> connection);

  using Datagram = std::function<void(const Endpoint& from, const uint8_t* bytes, size_t count)>;
  void bind_udp(uint16_t port, Datagram take);
  // Sends a datagram from a bound port. Returns false if the datagram is larger than UDP allows, or
  // if too many packets wait for an address that does not answer.
  bool send_udp(uint16_t port, const Endpoint& to, const uint8_t* bytes, size_t count);

  // --- for the wire

  void sent(Time now, uint32_t collisions, bool aborted) override;
  void incoming(Time first, Time last, const FramePtr& frame) override;
  // Sends a frame after all frames that already wait for the wire.
  void to_wire(Time now, const FramePtr& frame);

 private:
  friend class Connection;
  friend struct Stack;
  struct Udp;

  void enter(Time now, const std::function<void()>& action);
  void arrived(Time now, const FramePtr& frame);
  void deliver(const Frame& frame);
  void output(const pbuf* packet);
  void schedule();
  Time cost(size_t bytes) const;
  void bury(Connection* connection);

  RemoteConfig config_;
  Wire& wire_;
  uint32_t station_;
  Agenda& agenda_;
  RemoteWitness& witness_;
  Random random_;
  Path in_, out_;
  std::deque<FramePtr> queue_;  // frames for the wire; if `sending_`, the first is on the wire
  bool sending_ = false;
  Time now_ = 0, free_ = 0;  // free_: time from which the processor is idle
  Time due_ = kNever;        // next time of lwIP's own timers
  uint32_t depth_ = 0;       // nested calls into the stack
  std::unique_ptr<netif> netif_;
  std::vector<std::unique_ptr<Connection>> connections_, over_;
  std::vector<std::unique_ptr<Accept>> listeners_;
  std::vector<std::unique_ptr<Udp>> ports_;
  std::unique_ptr<Services> services_;
};

}  // namespace device::ne2000
