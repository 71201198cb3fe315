// SPDX-License-Identifier: MIT
// Port 2049, UDP: the file server of engine/devices/ne2000/nfs_server.hh. The mount protocol of the
// file server uses the same port.
#include "devices/ne2000/nfs_server.hh"
#include "devices/ne2000/service.hh"

namespace device::ne2000 {
namespace {

constexpr uint16_t kPort = 2049;

class Nfs : public Service {
 public:
  explicit Nfs(Remote& host) : server_(host.at_once() ? 0 : NfsServer::kDiskWrite) {
    host.bind_udp(kPort, [this, &host](const Endpoint& from, const uint8_t* bytes, size_t count) {
      const uint64_t client = uint64_t(from.address) << 16 | from.port;
      const auto reply = server_.call(host.now(), client, bytes, count);
      if (!reply) return;
      if (reply->ready <= host.now()) return send(host, from, reply->bytes);
      host.at(reply->ready, [&host, from, bytes = reply->bytes] { send(host, from, bytes); });
    });
  }

  std::string stats() const override {
    return "nfs calls=" + std::to_string(server_.calls()) +
           " updates=" + std::to_string(server_.updates()) +
           " disk_writes=" + std::to_string(server_.writes()) + "\n";
  }

 private:
  static void send(Remote& host, const Endpoint& to, const std::string& bytes) {
    host.send_udp(kPort, to, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }

  NfsServer server_;
};

}  // namespace

std::unique_ptr<Service> make_nfs(Remote& host) { return std::make_unique<Nfs>(host); }

}  // namespace device::ne2000
