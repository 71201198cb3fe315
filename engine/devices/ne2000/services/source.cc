// SPDX-License-Identifier: MIT
// Port 19, TCP: the guest's first line contains the number of requested bytes, in decimal. The
// service sends these bytes and closes the connection. The value of byte number i is the XOR of the
// three low bytes of the number i.
#include <algorithm>
#include <charconv>
#include <string>

#include "devices/ne2000/service.hh"
#include "devices/ne2000/tcp.hh"

namespace device::ne2000 {
namespace {

constexpr uint16_t kPort = 19;
constexpr size_t kPiece = 1 << 14, kLongestLine = 20;

class Stream : public Connection {
 public:
  explicit Stream(Remote& host) : Connection(host) {}

  void received(const uint8_t* bytes, size_t count) override {
    if (asked_) return;
    line_.append(reinterpret_cast<const char*>(bytes), count);
    const size_t end = line_.find('\n');
    if (end == std::string::npos) {
      if (line_.size() > kLongestLine) abort();
      return;
    }
    const char* first = line_.data();
    const auto [behind, error] = std::from_chars(first, first + end, wanted_);
    if (error != std::errc() || behind == first) return abort();
    asked_ = true;
    room();
  }

  // The guest has closed its half of the connection. If the guest has already requested bytes, the
  // service still sends these bytes.
  void finished() override {
    if (!asked_) close();
  }

  void room() override {
    if (!asked_) return;
    while (given_ < wanted_ && unsent() < kPiece) {
      std::string piece(size_t(std::min<uint64_t>(kPiece, wanted_ - given_)), '\0');
      for (char& byte : piece) {
        byte = char(given_ ^ given_ >> 8 ^ given_ >> 16);
        given_++;
      }
      send(piece);
    }
    if (given_ == wanted_) close();
  }

 private:
  std::string line_;
  bool asked_ = false;
  uint64_t wanted_ = 0, given_ = 0;
};

class Source : public Service {
 public:
  explicit Source(Remote& host) {
    host.listen(kPort, [&host] { return std::make_unique<Stream>(host); });
  }
};

}  // namespace

std::unique_ptr<Service> make_source(Remote& host) { return std::make_unique<Source>(host); }

}  // namespace device::ne2000
