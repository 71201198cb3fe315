// SPDX-License-Identifier: MIT
// Port 7, TCP and UDP: returns all data at once (RFC 862). Nagle's algorithm is off, so data
// smaller than a segment does not wait for the acknowledgement of the previous data. The guest may
// delay this acknowledgement.
#include "devices/ne2000/service.hh"
#include "devices/ne2000/tcp.hh"

namespace device::ne2000 {
namespace {

constexpr uint16_t kPort = 7;

class Stream : public Connection {
 public:
  explicit Stream(Remote& host) : Connection(host) {}
  void opened() override { no_delay(); }
  void received(const uint8_t* bytes, size_t count) override { send(bytes, count); }
};

class Echo : public Service {
 public:
  explicit Echo(Remote& host) {
    host.listen(kPort, [&host] { return std::make_unique<Stream>(host); });
    host.bind_udp(kPort, [&host](const Endpoint& from, const uint8_t* bytes, size_t count) {
      host.send_udp(kPort, from, bytes, count);
    });
  }
};

}  // namespace

std::unique_ptr<Service> make_echo(Remote& host) { return std::make_unique<Echo>(host); }

}  // namespace device::ne2000
