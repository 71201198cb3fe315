// SPDX-License-Identifier: MIT
// Port 9, TCP and UDP: counts the received data and discards it (RFC 863).
#include "devices/ne2000/service.hh"
#include "devices/ne2000/tcp.hh"

namespace device::ne2000 {
namespace {

constexpr uint16_t kPort = 9;

class Stream : public Connection {
 public:
  Stream(Remote& host, Received* total) : Connection(host), total_(total) {}
  void opened() override { total_->pieces++; }
  void received(const uint8_t* bytes, size_t count) override { total_->add(bytes, count); }

 private:
  Received* total_;
};

class Sink : public Service {
 public:
  explicit Sink(Remote& host) {
    host.listen(kPort, [this, &host] { return std::make_unique<Stream>(host, &tcp_); });
    host.bind_udp(kPort, [this](const Endpoint&, const uint8_t* bytes, size_t count) {
      udp_.pieces++;
      udp_.add(bytes, count);
    });
  }
  void reset() override { tcp_ = udp_ = Received(); }
  std::string stats() const override { return tcp_.line("sink.tcp") + udp_.line("sink.udp"); }

 private:
  Received tcp_, udp_;
};

}  // namespace

std::unique_ptr<Service> make_sink(Remote& host) { return std::make_unique<Sink>(host); }

}  // namespace device::ne2000
