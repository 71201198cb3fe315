// SPDX-License-Identifier: MIT
// `run sftp port= direction=put|get bytes= buffer=`: the client of workloads/net/sftp.c, for one
// file. A request has 32 characters: the number of bytes, then spaces. The bytes follow in the
// given direction. Then both sides close. A put sends the data that workloads/lib/data.h makes from
// key 0, in pieces of `buffer` bytes.
#include <algorithm>
#include <cstdio>

#include "devices/ne2000/check.hh"
#include "devices/ne2000/service.hh"
#include "devices/ne2000/tcp.hh"

namespace device::ne2000 {
namespace {

constexpr size_t kRequest = 32, kAhead = 1 << 16;
constexpr uint32_t kStep = 2246822519u;  // difference from one word to the next, as in data.h

uint8_t contents(uint64_t at) {
  const uint64_t sector = at / 512, word = at % 512 / 4;
  const uint32_t value = 2654435761u + uint32_t(word ? word : 128 + sector) * kStep;
  return uint8_t((word ? value : ~value) >> at % 4 * 8);
}

class Transfer : public Connection {
 public:
  Transfer(Remote& host, bool put, uint64_t bytes, uint64_t buffer, Service::Answer answer)
      : Connection(host), put_(put), bytes_(bytes), buffer_(buffer), answer_(std::move(answer)) {}

  void opened() override {
    std::string request = std::to_string(bytes_);
    request.resize(kRequest, ' ');
    send(request);
    began_ = host_.now();
    room();
  }

  void room() override {
    if (!put_ || closed_) return;
    while (moved_.bytes < bytes_ && unsent() < kAhead) {
      std::string piece(size_t(std::min(buffer_, bytes_ - moved_.bytes)), '\0');
      uint64_t at = moved_.bytes;
      for (char& byte : piece) byte = char(contents(at++));
      moved_.add(reinterpret_cast<const uint8_t*>(piece.data()), piece.size());
      send(piece);
    }
    if (moved_.bytes < bytes_) return;
    closed_ = true;
    close();
  }

  void received(const uint8_t* bytes, size_t count) override {
    if (!put_) moved_.add(bytes, count);
  }

  void gone(bool failed) override {
    if (failed || moved_.bytes != bytes_) return answer_("error sftp: the connection failed\n");
    moved_.pieces = 1;
    const std::string line = moved_.line("sftp");
    answer_(line.substr(0, line.size() - 1) +
            " microseconds=" + std::to_string((host_.now() - began_) / kMicrosecond) + "\n");
  }

 private:
  bool put_, closed_ = false;
  uint64_t bytes_, buffer_;
  Service::Answer answer_;
  Received moved_;
  Time began_ = 0;
};

class Sftp : public Service {
 public:
  explicit Sftp(Remote& host) : host_(host) {}

  std::optional<std::string> run(Arguments& arguments, const Answer& answer) override {
    const uint64_t port = arguments.number("port", 2100),
                   bytes = arguments.number("bytes", 1 << 20);
    const uint64_t buffer = arguments.number("buffer", 8192);
    const std::string direction = arguments.text("direction", "put");
    std::string problem = arguments.problem();
    if (problem.empty() && direction != "put" && direction != "get") {
      problem = "direction: expected put or get";
    }
    if (problem.empty() && (port > 65535 || buffer < 1 || buffer > 1 << 20 || bytes > 1 << 30)) {
      problem = "port, buffer or bytes: too large, or 0";
    }
    if (!problem.empty()) return problem;
    host_.connect({kGuestAddress, uint16_t(port)},
                  std::make_unique<Transfer>(host_, direction == "put", bytes, buffer, answer));
    return "";
  }

 private:
  Remote& host_;
};

}  // namespace

std::unique_ptr<Service> make_sftp(Remote& host) { return std::make_unique<Sftp>(host); }

}  // namespace device::ne2000
