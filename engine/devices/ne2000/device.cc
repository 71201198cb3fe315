// SPDX-License-Identifier: MIT
// How do the network card, the wire and the remote host connect to the machine as one device?
#include "devices/device.hh"

#include <cstdio>
#include <memory>
#include <string>

#include "devices/ne2000/network.hh"
#include "devices/ne2000/pcap.hh"

namespace device::ne2000 {
namespace {

using base::events::Event;

// The factory setting of an NE2000.
constexpr uint16_t kPort = 0x300;
constexpr uint8_t kIrq = 3;

// Counts the events that the network reports, and captures the frames.
class Counts : public NetworkWitness {
 public:
  explicit Counts(device::Pc& pc) : pc_(pc) {}

  void capture(std::FILE* file) {
    capture_ = file;
    write_capture_header(file);
  }

  void busy(Time from, Time until) override { pc_.count(Event::NetBusy, clocks(from, until)); }
  void collision(Time) override { pc_.count(Event::NetCollisions, 1); }
  void frame(Time first, const Frame& frame, uint32_t station) override {
    if (capture_) write_capture(capture_, first, frame);
    if (station != Network::kCard) return;
    pc_.count(Event::NetFramesSent, 1);
    pc_.count(Event::NetBytesSent, frame.size());
  }
  void received(size_t bytes) override {
    pc_.count(Event::NetFramesReceived, 1);
    pc_.count(Event::NetBytesReceived, bytes);
  }
  void missed() override { pc_.count(Event::NetMissed, 1); }
  void fault(Fault fault) override {
    pc_.count(fault == Fault::Lost      ? Event::NetLost
              : fault == Fault::Doubled ? Event::NetDoubled
                                        : Event::NetLate,
              1);
  }
  void remote_busy(Time from, Time until) override {
    pc_.count(Event::NetRemoteBusy, clocks(from, until));
  }
  void fail(const std::string& what) override { pc_.fail(what); }

 private:
  uint64_t clocks(Time from, Time until) const {
    return pc_.clock().clocks(until) - pc_.clock().clocks(from);
  }

  device::Pc& pc_;
  std::FILE* capture_ = nullptr;
};

// The card, plugged into a slot.
class Slot : public device::Ports, public Pc {
 public:
  Slot(const Config& config, Agenda& agenda, device::Pc& pc)
      : pc_(pc),
        counts_(pc),
        network_(config, agenda, *this, counts_),
        line_(pc.plug({"NE2000", kPort, kPort + Ne2000::kPorts - 1, device::kAnyWidth, kIrq,
                       kPort + Ne2000::kData, kPort + Ne2000::kReset - 1},
                      *this)) {}

  Counts& counts() { return counts_; }

  uint32_t read(uint32_t port, uint32_t bytes) override {
    return network_.card().read(port, bytes);
  }
  void write(uint32_t port, uint32_t value, uint32_t bytes) override {
    network_.card().write(port, value, bytes, pc_.now());
  }
  void interrupt(bool on) override { line_.set(on); }

 private:
  device::Pc& pc_;
  Counts counts_;
  Network network_;
  device::Line& line_;
};

class Ethernet : public device::Device {
 public:
  void read(base::Settings& settings) override { config_ = Config::read(settings); }

  void read_job(base::Settings& settings) override {
    capture_.clear();
    if (!settings.has("run.pcap")) return;
    capture_ = settings.text("run.pcap");
    if (!present()) settings.fail("run.pcap", "expected a machine with a network card");
  }

  void connect(device::Pc& pc) override {
    pc_ = &pc;
    slot_ = std::make_unique<Slot>(config_, agenda_, pc);
  }

  // If the run has a capture file, this call starts the capture of each frame on the wire.
  void ready() override {
    if (!capture_.empty()) slot_->counts().capture(pc_->create(capture_));
  }

 private:
  Config config_;
  device::Pc* pc_ = nullptr;
  std::unique_ptr<Slot> slot_;
  std::string capture_;  // path of the capture; empty: no capture
};

const device::Registered<Ethernet> registered(base::events::Part::Ne2000);

}  // namespace
}  // namespace device::ne2000
