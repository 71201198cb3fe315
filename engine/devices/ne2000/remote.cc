// SPDX-License-Identifier: MIT
#include "devices/ne2000/remote.hh"

#include <algorithm>
#include <utility>

#include "devices/ne2000/service.hh"
#include "devices/ne2000/tcp.hh"
#include "lwip/etharp.h"
#include "lwip/init.h"
#include "lwip/netif.h"
#include "lwip/pbuf.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/tcp.h"
#include "lwip/timeouts.h"
#include "lwip/udp.h"
#include "netif/ethernet.h"

namespace device::ne2000 {

namespace {

Remote* host;  // a global, because lwIP's callbacks have no argument for it

constexpr uint32_t kKilobyte = 1024;

ip4_addr_t address(uint32_t number) { return {lwip_htonl(number)}; }
Endpoint endpoint(const ip_addr_t* address, uint16_t port) {
  return {lwip_ntohl(ip4_addr_get_u32(ip_2_ip4(address))), port};
}

}  // namespace

struct Remote::Udp {
  udp_pcb* pcb;
  Datagram take;
};

// lwIP's callbacks.
struct Stack {
  static Time now() { return host->now_; }
  static uint32_t random() { return host->random_.bits(); }
  static void fail(const std::string& what) { host->witness_.fail(what); }

  static err_t output(netif*, pbuf* packet) {
    host->output(packet);
    return ERR_OK;
  }

  // The interface sends no announcement when it starts, because the wire must be idle until the
  // guest sends.
  static err_t start(netif* interface) {
    std::copy(kRemoteMac.begin(), kRemoteMac.end(), interface->hwaddr);
    interface->hwaddr_len = ETH_HWADDR_LEN;
    interface->mtu = kMaxFrame - SIZEOF_ETH_HDR;
    interface->name[0] = 'e';
    interface->name[1] = 'n';
    interface->output = etharp_output;
    interface->linkoutput = output;
    interface->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET;
    return ERR_OK;
  }

  // --- TCP

  static void own(Connection* connection, tcp_pcb* pcb) {
    connection->pcb_ = pcb;
    tcp_arg(pcb, connection);
    tcp_recv(pcb, received);
    tcp_sent(pcb, acknowledged);
    tcp_err(pcb, failed);
    tcp_poll(pcb, poll, 2);
  }

  static void disown(tcp_pcb* pcb) {
    tcp_arg(pcb, nullptr);
    tcp_recv(pcb, nullptr);
    tcp_sent(pcb, nullptr);
    tcp_err(pcb, nullptr);
    tcp_poll(pcb, nullptr, 0);
  }

  static err_t result(Connection* connection) { return connection->aborted_ ? ERR_ABRT : ERR_OK; }

  static err_t accepted(void* accept, tcp_pcb* pcb, err_t error) {
    if (error != ERR_OK || !pcb) return ERR_VAL;
    std::unique_ptr<Connection> made = (*static_cast<Remote::Accept*>(accept))();
    Connection* connection = made.get();
    host->connections_.push_back(std::move(made));
    own(connection, pcb);
    connection->opened();
    return result(connection);
  }

  static err_t connected(void* argument, tcp_pcb*, err_t) {
    Connection* connection = static_cast<Connection*>(argument);
    connection->opened();
    connection->push();
    return result(connection);
  }

  static err_t received(void* argument, tcp_pcb* pcb, pbuf* packet, err_t) {
    Connection* connection = static_cast<Connection*>(argument);
    if (!packet) {
      connection->finished();
      return result(connection);
    }
    tcp_recved(pcb, packet->tot_len);
    for (const pbuf* part = packet; part && !connection->ended_ && !connection->closing_;
         part = part->next) {
      connection->received(static_cast<const uint8_t*>(part->payload), part->len);
    }
    pbuf_free(packet);
    return result(connection);
  }

  static err_t acknowledged(void* argument, tcp_pcb*, u16_t) {
    Connection* connection = static_cast<Connection*>(argument);
    connection->push();
    if (!connection->ended_) connection->room();
    return result(connection);
  }

  static err_t poll(void* argument, tcp_pcb*) {
    Connection* connection = static_cast<Connection*>(argument);
    if (connection) connection->push();
    return connection ? result(connection) : err_t(ERR_OK);
  }

  static void failed(void* argument, err_t) {
    Connection* connection = static_cast<Connection*>(argument);
    connection->pcb_ = nullptr;  // lwIP has freed it
    connection->end(true);
  }

  static void datagram(void* port, udp_pcb*, pbuf* packet, const ip_addr_t* from, u16_t number) {
    std::vector<uint8_t> bytes(packet->tot_len);
    pbuf_copy_partial(packet, bytes.data(), packet->tot_len, 0);
    pbuf_free(packet);
    static_cast<Remote::Udp*>(port)->take(endpoint(from, number), bytes.data(), bytes.size());
  }
};

Remote::Remote(const RemoteConfig& config, Wire& wire, uint32_t station, Agenda& agenda,
               RemoteWitness& witness)
    : config_(config),
      wire_(wire),
      station_(station),
      agenda_(agenda),
      witness_(witness),
      random_(config.path.seed, 1),
      in_(
          config.path, 2, agenda, [this](Time now, const FramePtr& frame) { arrived(now, frame); },
          [this](Fault fault) { witness_.fault(fault); }),
      out_(
          config.path, 3, agenda, [this](Time now, const FramePtr& frame) { to_wire(now, frame); },
          [this](Fault fault) { witness_.fault(fault); }),
      netif_(std::make_unique<netif>()) {
  static bool initialized = false;
  host = this;
  if (initialized)
    sys_restart_timeouts();  // for tests: time restarts with each new host
  else
    lwip_init();
  initialized = true;
  const ip4_addr_t own = address(kRemoteAddress), mask = address(kNetMask), none = address(0);
  netif_add(netif_.get(), &own, &mask, &none, nullptr, Stack::start, ethernet_input);
  netif_set_default(netif_.get());
  netif_set_up(netif_.get());
  netif_->flags |= NETIF_FLAG_LINK_UP;
  services_ = std::make_unique<Services>(*this);
  enter(0, [] {});
}

// lwIP's lists are global and exist longer than this object, so the destructor empties them.
Remote::~Remote() {
  netif_set_down(netif_.get());
  while (tcp_active_pcbs) {
    Stack::disown(tcp_active_pcbs);
    tcp_abort(tcp_active_pcbs);
  }
  while (tcp_tw_pcbs) tcp_abort(tcp_tw_pcbs);
  while (tcp_listen_pcbs.pcbs) tcp_close(tcp_listen_pcbs.pcbs);
  for (const auto& port : ports_) udp_remove(port->pcb);
  netif_remove(netif_.get());
  host = nullptr;
}

// --- time ---------------------------------------------------------------------------------------

// The host uses the TCP/IP stack only inside this function.
void Remote::enter(Time now, const std::function<void()>& action) {
  now_ = now;
  depth_++;
  action();
  if (--depth_) return;
  over_.clear();
  schedule();
}

// Schedules the next call of lwIP's timers. lwIP gives the time until this call in milliseconds.
void Remote::schedule() {
  const uint32_t sleep = sys_timeouts_sleeptime();
  if (sleep == SYS_TIMEOUTS_SLEEPTIME_INFINITE) return;
  const Time when = (now_ / kMillisecond + std::max(sleep, 1u)) * kMillisecond;
  if (when >= due_) return;
  due_ = when;
  agenda_.at(when, [this](Time then) {
    if (due_ != then) return;  // lwIP has requested an earlier time since then
    due_ = kNever;
    enter(then, [] { sys_check_timeouts(); });
  });
}

void Remote::at(Time when, std::function<void()> action) {
  agenda_.at(std::max(when, now_),
             [this, action = std::move(action)](Time then) { enter(then, action); });
}

void Remote::work(Time duration) {
  const Time from = std::max(free_, now_);
  free_ = from + duration;
  if (duration) witness_.remote_busy(from, free_);
}

Time Remote::cost(size_t bytes) const {
  return config_.packet + Time((unsigned __int128)bytes * config_.kilobyte / kKilobyte);
}

// --- frames -------------------------------------------------------------------------------------

void Remote::incoming(Time, Time last, const FramePtr& frame) {
  agenda_.at(last, [this, frame](Time then) { in_.send(frame, then); });
}

// The card accepts a frame if two conditions hold. The frame is for this host or for all hosts, and
// Ethernet allows the frame's length.
void Remote::arrived(Time now, const FramePtr& frame) {
  if (frame->size() < kMinFrame || frame->size() > kMaxFrame) return;
  const bool own = std::equal(kRemoteMac.begin(), kRemoteMac.end(), frame->begin());
  if (!own && !((*frame)[0] & 1)) return;
  now_ = now;
  work(cost(frame->size()));
  agenda_.at(free_, [this, frame](Time then) { enter(then, [&] { deliver(*frame); }); });
}

void Remote::deliver(const Frame& frame) {
  pbuf* packet = pbuf_alloc(PBUF_RAW, u16_t(frame.size()), PBUF_RAM);
  if (!packet) return;
  pbuf_take(packet, frame.data(), u16_t(frame.size()));
  if (netif_->input(packet, netif_.get()) != ERR_OK) pbuf_free(packet);
}

void Remote::output(const pbuf* packet) {
  auto frame = std::make_shared<Frame>(packet->tot_len);
  pbuf_copy_partial(packet, frame->data(), packet->tot_len, 0);
  if (frame->size() < kMinFrame) frame->resize(kMinFrame);
  work(cost(frame->size()));
  agenda_.at(free_, [this, frame](Time then) { out_.send(frame, then); });
}

void Remote::to_wire(Time now, const FramePtr& frame) {
  queue_.push_back(frame);
  if (sending_) return;
  sending_ = true;
  wire_.send(station_, frame, now);
}

void Remote::sent(Time now, uint32_t, bool) {
  queue_.pop_front();
  sending_ = !queue_.empty();
  if (sending_) wire_.send(station_, queue_.front(), now);
}

// --- UDP ----------------------------------------------------------------------------------------

void Remote::bind_udp(uint16_t port, Datagram take) {
  ports_.push_back(std::make_unique<Udp>(Udp{udp_new(), std::move(take)}));
  Udp* made = ports_.back().get();
  if (!made->pcb || udp_bind(made->pcb, IP_ADDR_ANY, port) != ERR_OK) {
    return witness_.fail("remote host: UDP port " + std::to_string(port) + " is taken");
  }
  udp_recv(made->pcb, Stack::datagram, made);
}

bool Remote::send_udp(uint16_t port, const Endpoint& to, const uint8_t* bytes, size_t count) {
  constexpr size_t kMax = 65535 - 20 - 8;  // RFC 791, RFC 768
  const auto found = std::find_if(ports_.begin(), ports_.end(),
                                  [port](const auto& one) { return one->pcb->local_port == port; });
  if (found == ports_.end() || count > kMax) return false;
  pbuf* packet = pbuf_alloc(PBUF_TRANSPORT, u16_t(count), PBUF_RAM);
  if (!packet) return false;
  pbuf_take(packet, bytes, u16_t(count));
  const ip_addr_t there = address(to.address);
  const err_t error = udp_sendto((*found)->pcb, packet, &there, to.port);
  pbuf_free(packet);
  return error == ERR_OK;
}

// --- TCP ----------------------------------------------------------------------------------------

void Remote::listen(uint16_t port, Accept accept) {
  tcp_pcb* pcb = tcp_new();
  if (!pcb || tcp_bind(pcb, IP_ADDR_ANY, port) != ERR_OK) {
    return witness_.fail("remote host: TCP port " + std::to_string(port) + " is taken");
  }
  pcb = tcp_listen(pcb);
  listeners_.push_back(std::make_unique<Accept>(std::move(accept)));
  tcp_arg(pcb, listeners_.back().get());
  tcp_accept(pcb, Stack::accepted);
}

Connection& Remote::connect(const Endpoint& to, std::unique_ptr<Connection> connection) {
  Connection& made = *connection;
  connections_.push_back(std::move(connection));
  tcp_pcb* pcb = tcp_new();
  const ip_addr_t there = address(to.address);
  if (pcb) Stack::own(&made, pcb);
  if (!pcb || tcp_connect(pcb, &there, to.port, Stack::connected) != ERR_OK) {
    at(now_, [&made] { made.abort(); });
  }
  return made;
}

void Remote::bury(Connection* connection) {
  const auto found = std::find_if(connections_.begin(), connections_.end(),
                                  [&](const auto& one) { return one.get() == connection; });
  over_.push_back(std::move(*found));
  connections_.erase(found);
}

void Connection::send(const void* bytes, size_t count) {
  if (ended_ || closing_) return;
  waiting_.append(static_cast<const char*>(bytes), count);
  push();
}

// Passes to TCP all data that TCP accepts now.
void Connection::push() {
  if (ended_ || !pcb_) return;
  const bool open = pcb_->state == ESTABLISHED || pcb_->state == CLOSE_WAIT;
  if (!open) return;
  while (unsent()) {
    const size_t count = std::min<size_t>(unsent(), tcp_sndbuf(pcb_));
    if (!count) break;
    const uint8_t more = count < unsent() ? TCP_WRITE_FLAG_MORE : 0;
    if (tcp_write(pcb_, waiting_.data() + taken_, u16_t(count), TCP_WRITE_FLAG_COPY | more) !=
        ERR_OK) {
      break;  // TCP's queue is full; an acknowledgement makes room
    }
    taken_ += count;
  }
  if (!unsent()) {
    waiting_.clear();
    taken_ = 0;
  }
  tcp_output(pcb_);
  if (!closing_ || unsent()) return;
  // TCP closes the connection by itself and no longer needs this object. TCP may free the control
  // block at once.
  tcp_pcb* pcb = pcb_;
  Stack::disown(pcb);
  if (tcp_close(pcb) != ERR_OK) return Stack::own(this, pcb);  // poll() tries again
  pcb_ = nullptr;
  end(false);
}

void Connection::close() {
  closing_ = true;
  push();
}

void Connection::abort() {
  if (ended_) return;
  tcp_pcb* pcb = std::exchange(pcb_, nullptr);
  if (pcb) {
    Stack::disown(pcb);
    tcp_abort(pcb);
  }
  aborted_ = true;
  end(true);
}

void Connection::end(bool failed) {
  if (ended_) return;
  ended_ = true;
  gone(failed);
  host_.bury(this);
}

void Connection::no_delay() {
  if (pcb_) tcp_nagle_disable(pcb_);
}

Endpoint Connection::peer() const {
  return pcb_ ? endpoint(&pcb_->remote_ip, pcb_->remote_port) : Endpoint();
}

}  // namespace device::ne2000

extern "C" {

u32_t sys_now(void) { return u32_t(device::ne2000::Stack::now() / device::ne2000::kMillisecond); }

uint32_t p5net_random(void) { return device::ne2000::Stack::random(); }

void p5net_assert(const char* what, const char* file, int line) {
  device::ne2000::Stack::fail(std::string("remote host: ") + file + ":" + std::to_string(line) +
                              ": " + what);
  std::abort();
}

}  // extern "C"
