// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ethernet.hh"

#include <memory>

#include "bochs.h"
#include "iodev/iodev.h"
#include "network.hh"
#include "pc_system.h"
#include "pcap.hh"
#include "run.hh"

namespace {

// As NE2000s came from the factory.
constexpr Bit32u kPort = 0x300;
constexpr unsigned kIrq = 3;
constexpr unsigned kAnyWidth = 1 | 2 | 4;  // bytes of an access

class Ethernet : public net::Pc, public net::Observer {
 public:
  Ethernet(const net::Config& config, uint64_t clock_hz)
      : hz_(clock_hz), network_(config, agenda_, *this, *this) {
    timer_ = bx_pc_system.register_timer_ticks(this, timer, 1, false, false, "p5 network");
    DEV_register_irq(kIrq, "NE2000");
    const Bit32u last = kPort + net::Ne2000::kPorts - 1;
    DEV_register_ioread_handler_range(this, read_handler, kPort, last, "NE2000", kAnyWidth);
    DEV_register_iowrite_handler_range(this, write_handler, kPort, last, "NE2000", kAnyWidth);
    p5::wide_ports(kPort + net::Ne2000::kData, kPort + net::Ne2000::kReset - 1);
    go_on();
  }

  void capture(std::FILE* file) {
    capture_ = file;
    net::write_capture_header(file);
  }

  void interrupt(bool on) override {
    if (on)
      DEV_pic_raise_irq(kIrq);
    else
      DEV_pic_lower_irq(kIrq);
  }

  void busy(net::Time from, net::Time until) override {
    count(p5::Event::NetBusy, clocks(until) - clocks(from));
  }
  void collision(net::Time) override { count(p5::Event::NetCollisions, 1); }
  void frame(net::Time first, const net::Frame& frame, uint32_t station) override {
    if (capture_) net::write_capture(capture_, first, frame);
    if (station != net::Network::kCard) return;
    count(p5::Event::NetFramesSent, 1);
    count(p5::Event::NetBytesSent, frame.size());
  }
  void received(size_t bytes) override {
    count(p5::Event::NetFramesReceived, 1);
    count(p5::Event::NetBytesReceived, bytes);
  }
  void missed() override { count(p5::Event::NetMissed, 1); }
  void fault(net::Fault fault) override {
    count(fault == net::Fault::Lost      ? p5::Event::NetLost
          : fault == net::Fault::Doubled ? p5::Event::NetDoubled
                                         : p5::Event::NetLate,
          1);
  }
  void remote_busy(net::Time from, net::Time until) override {
    count(p5::Event::NetRemoteBusy, clocks(until) - clocks(from));
  }
  void fail(const std::string& what) override { p5::Run::instance().fail(what); }

 private:
  using wide = unsigned __int128;

  net::Time now() const { return net::Time(wide(bx_pc_system.time_ticks()) * net::kSecond / hz_); }
  uint64_t clocks(net::Time time) const { return uint64_t(wide(time) * hz_ / net::kSecond); }

  // What is due, and when to be called for the next.
  void go_on() {
    agenda_.run(now());
    const net::Time next = agenda_.next();
    if (next == net::kNever) return bx_pc_system.deactivate_timer(timer_);
    const Bit64u ticks = Bit64u((wide(next) * hz_ + net::kSecond - 1) / net::kSecond);
    bx_pc_system.activate_timer_ticks(timer_, ticks - bx_pc_system.time_ticks(), false);
  }

  static void timer(void* self) { static_cast<Ethernet*>(self)->go_on(); }

  static Bit32u read_handler(void* self, Bit32u address, unsigned bytes) {
    return static_cast<Ethernet*>(self)->network_.card().read(address - kPort, bytes);
  }
  static void write_handler(void* self, Bit32u address, Bit32u value, unsigned bytes) {
    Ethernet* own = static_cast<Ethernet*>(self);
    own->network_.card().write(address - kPort, value, bytes, own->now());
    own->go_on();
  }

  static void count(p5::Event event, uint64_t number) { p5::count_event(event, number); }

  uint64_t hz_;
  net::Agenda agenda_;
  net::Network network_;
  std::FILE* capture_ = nullptr;
  int timer_ = 0;
};

std::unique_ptr<Ethernet> ethernet;

}  // namespace

void p5::add_network() {
  const net::Config& config = Run::instance().network();
  if (config.card) ethernet = std::make_unique<Ethernet>(config, Run::instance().clock_hz());
}

void p5::capture_wire(std::FILE* file) { ethernet->capture(file); }
