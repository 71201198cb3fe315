// SPDX-License-Identifier: MIT
// `run http port= requests= seed= concurrency= pause_ms=`: the client of workloads/net/web.c. The
// client replays the trace of workloads/lib/webtrace.h with the given number of concurrent
// requests, and checks every byte of every document. If a connection is refused or ends without an
// answer, the client tries again 10 ms later.
#include <cstdio>

#include "../../../../workloads/lib/webtrace.h"
#include "devices/ne2000/service.hh"
#include "devices/ne2000/tcp.hh"

namespace device::ne2000 {
namespace {

constexpr Time kAgain = 10 * kMillisecond;

class Fetch;

struct Replay {
  Remote& host;
  Endpoint server;
  web_trace trace;
  Time pause, began;
  Service::Answer answer;
  uint32_t next = 0, served = 0, wrong = 0, refused = 0;
  uint64_t bytes = 0;

  void step(const std::shared_ptr<Replay>& self);
  void ask(const std::shared_ptr<Replay>& self, uint32_t document);
  void end();
};

class Fetch : public Connection {
 public:
  Fetch(std::shared_ptr<Replay> replay, uint32_t document)
      : Connection(replay->host), replay_(std::move(replay)), document_(document) {}

  void opened() override {
    char path[WEB_PATH];
    web_path(path, document_);
    send("GET /" + std::string(path) + " HTTP/1.0\r\n\r\n");
  }

  void received(const uint8_t* bytes, size_t count) override {
    if (in_body_) return body(bytes, count);
    header_.append(reinterpret_cast<const char*>(bytes), count);
    const size_t end = header_.find("\r\n\r\n");
    if (end == std::string::npos) return;
    right_ = header_.compare(0, 7, "HTTP/1.") == 0 && header_.compare(8, 5, " 200 ") == 0;
    in_body_ = true;
    const std::string rest = header_.substr(end + 4);
    body(reinterpret_cast<const uint8_t*>(rest.data()), rest.size());
  }

  void gone(bool) override {
    const auto replay = replay_;
    const uint32_t document = document_;
    if (header_.empty()) {
      replay->refused++;
      replay->host.at(replay->host.now() + kAgain,
                      [replay, document] { replay->ask(replay, document); });
      return;
    }
    const bool whole = right_ && in_body_ && at_ == replay->trace.size[document];
    ++(whole ? replay->served : replay->wrong);
    replay->bytes += at_;
    replay->host.at(replay->host.now() + replay->pause, [replay] { replay->step(replay); });
  }

 private:
  void body(const uint8_t* bytes, size_t count) {
    for (size_t i = 0; i < count; i++, at_++) {
      right_ =
          right_ && at_ < replay_->trace.size[document_] && bytes[i] == web_byte(document_, at_);
    }
  }

  std::shared_ptr<Replay> replay_;
  uint32_t document_, at_ = 0;
  bool in_body_ = false, right_ = false;
  std::string header_;
};

void Replay::ask(const std::shared_ptr<Replay>& self, uint32_t document) {
  host.connect(server, std::make_unique<Fetch>(self, document));
}

void Replay::step(const std::shared_ptr<Replay>& self) {
  if (next < trace.requests) return ask(self, trace.document[next++]);
  if (served + wrong == trace.requests && answer) end();
}

void Replay::end() {
  char line[160];
  std::snprintf(line, sizeof line,
                "http served=%u wrong=%u refused=%u bytes=%llu microseconds=%llu\n", served, wrong,
                refused, static_cast<unsigned long long>(bytes),
                static_cast<unsigned long long>((host.now() - began) / kMicrosecond));
  const auto reply = std::move(answer);
  answer = nullptr;
  reply(line);
}

class Http : public Service {
 public:
  explicit Http(Remote& host) : host_(host) {}

  std::optional<std::string> run(Arguments& arguments, const Answer& answer) override {
    const uint64_t port = arguments.number("port", WEB_PORT);
    const uint64_t requests = arguments.number("requests", 1024),
                   seed = arguments.number("seed", 0);
    const uint64_t concurrency = arguments.number("concurrency", 32);
    const uint64_t pause = arguments.number("pause_ms", 0);
    std::string problem = arguments.problem();
    if (problem.empty() && (requests < 1 || requests > WEB_REQUESTS_MAX)) {
      problem = "requests: expected 1 to " + std::to_string(WEB_REQUESTS_MAX);
    }
    if (problem.empty() &&
        (concurrency < 1 || concurrency > 1024 || pause > 60'000 || port > 65535)) {
      problem = "concurrency, pause_ms or port: too large, or 0";
    }
    if (!problem.empty()) return problem;
    auto replay = std::make_shared<Replay>(Replay{
        host_, {kGuestAddress, uint16_t(port)}, {}, pause * kMillisecond, host_.now(), answer});
    web_trace_new(&replay->trace, uint32_t(requests), uint32_t(seed));
    for (uint64_t i = 0; i < concurrency && i < requests; i++) replay->step(replay);
    return "";
  }

 private:
  Remote& host_;
};

}  // namespace

std::unique_ptr<Service> make_http(Remote& host) { return std::make_unique<Http>(host); }

}  // namespace device::ne2000
