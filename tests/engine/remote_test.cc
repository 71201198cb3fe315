// SPDX-License-Identifier: MIT
// How does the remote host answer packets? The tests check the host's protocols, services and
// times, and its handling of malformed packets.

#include "devices/ne2000/service.hh"
#include "devices/ne2000/tcp.hh"
#include "full_set.hh"
#include "net_bench.hh"

using namespace device::ne2000;

namespace {

constexpr uint8_t kFin = 0x01, kSyn = 0x02, kRst = 0x04, kAck = 0x10;

uint32_t get32(const Frame& frame, size_t at) {
  return get16(frame, at) << 16 | get16(frame, at + 2);
}

// A TCP client for a connection that has no loss, no reordering and no windows. The host must
// answer at once.
class Client {
 public:
  Client(NetBench* bench, uint16_t port, uint16_t own = 2000)
      : bench_(bench), own_(own), port_(port) {
    put(kSyn, "");
    sequence_++;
    put(kAck, "");
  }
  void put(uint8_t flags, const std::string& text) {
    bench_->send(tcp({own_, port_, sequence_, expected_, flags, text}));
    sequence_ += uint32_t(text.size());
    listen();
  }
  void say(const std::string& text) { put(kAck, text); }
  void close() {
    put(kFin | kAck, "");
    sequence_++;
  }
  // Receives data until `time` has passed, and acknowledges the data.
  void listen(Time time = 5 * kMillisecond) {
    const Time until = bench_->now + time;
    for (;;) {
      bool data = false;
      for (const Frame& frame : bench_->take()) data |= take(frame);
      if (data) {
        bench_->send(tcp({own_, port_, sequence_, expected_, kAck, ""}));
      } else if (bench_->now < until) {
        bench_->run_until(std::min(until, std::max(bench_->now, bench_->agenda.next())));
      } else {
        return;
      }
    }
  }

  std::string text;  // all received data
  uint8_t flags = 0;
  uint32_t acknowledged = 0;

 private:
  bool take(const Frame& frame) {
    if (get16(frame, 12) != 0x0800 || frame[23] != 6 || get16(frame, 36) != own_) return false;
    CHECK(internet_sum(frame.data() + 14, 20) == 0);
    const uint32_t sequence = get32(frame, 38), start = 34u + (frame[46] >> 4) * 4u;
    const uint32_t end = 14 + get16(frame, 16);
    Frame pseudo(frame.begin() + 26, frame.begin() + 34);
    put16(&pseudo, 6), put16(&pseudo, end - 34);
    pseudo.insert(pseudo.end(), frame.begin() + 34, frame.begin() + end);
    CHECK(internet_sum(pseudo.data(), pseudo.size()) == 0);
    flags |= frame[47];
    acknowledged = get32(frame, 42);
    if (frame[47] & kSyn) expected_ = sequence + 1;
    const bool news = end > start || frame[47] & kFin;
    if (sequence != expected_) return news;
    text.append(frame.begin() + start, frame.begin() + end);
    expected_ += end - start;
    if (frame[47] & kFin) expected_++;
    return news;
  }

  NetBench* bench_;
  uint16_t own_, port_;
  uint32_t sequence_ = 1000, expected_ = 0;
};

// A bench that has already sent an ARP request, so the remote host has the address of the bench.
struct Host : NetBench {
  explicit Host(const Config& config = quick_network()) : NetBench(config) {
    start();
    send(arp_request());
    run_until(now + kMillisecond);
    const auto frames = take();
    REQUIRE(frames.size() == 1);
    answer = frames[0];
  }
  // Returns the answers to one frame.
  std::vector<Frame> ask(const Frame& frame) {
    send(frame);
    run_until(now + 5 * kMillisecond);
    return take();
  }
  // An ARP request still gets its answer.
  bool lives() {
    start();
    for (int tries = 0; tries < 3; tries++) {
      for (const Frame& frame : ask(arp_request())) {
        if (frame == answer) return true;
      }
    }
    return false;
  }
  Frame answer;
};

std::string command(Host* host, const std::string& line, uint16_t port) {
  Client client(host, 7000, port);
  client.say(line + "\n");
  client.close();
  return client.text;
}

}  // namespace

TEST_CASE("remote: it sends no frame before the guest sends") {
  NetBench bench;
  bench.start();
  bench.run_until(100 * kSecond);
  CHECK(bench.log.seen.empty());
  CHECK(bench.log.host_busy == 0);
}

TEST_CASE("remote: it answers to its address") {
  Host host;
  Frame expected = {0, 1, 8, 0, 6, 4, 0, 2};
  expected.insert(expected.end(), kRemoteMac.begin(), kRemoteMac.end());
  put32(&expected, kRemoteAddress);
  expected.insert(expected.end(), kGuestMac.begin(), kGuestMac.end());
  put32(&expected, kGuestAddress);
  CHECK(Frame(host.answer.begin() + 14, host.answer.begin() + 42) == expected);
  CHECK(host.answer.size() == kMinFrame);
}

TEST_CASE("remote: the processor's time is the sum over packets and bytes in both directions") {
  Config config = quick_network();
  config.remote.packet = 100 * kMicrosecond;
  config.remote.kilobyte = 1024 * kMicrosecond;  // 1 us a byte
  config.remote.path.latency = 10 * kMicrosecond;
  Host host(config);
  const Time busy = host.log.host_busy;
  const Frame question = udp(5000, 7, std::string(1000, 'x'));  // 1042 bytes
  host.send(question);
  const Time gone = host.now;
  host.run_until(host.now + 100 * kMillisecond);
  const auto& seen = host.log.seen;
  REQUIRE(seen.back().station == Network::kHost);
  CHECK(seen.back().frame.size() == 1042);
  CHECK(seen.back().first == gone + 2 * 10 * kMicrosecond + 2 * (100 + 1042) * kMicrosecond);
  CHECK(host.log.host_busy - busy == 2 * (100 + 1042) * kMicrosecond);
}

TEST_CASE("remote: ping") {
  Host host;
  Frame echo = {8, 0, 0, 0, 0x12, 0x34, 0, 1};
  for (int i = 0; i < 500; i++) echo.push_back(uint8_t(i));
  const uint16_t sum = internet_sum(echo.data(), echo.size());
  echo[2] = uint8_t(sum >> 8), echo[3] = uint8_t(sum);
  const auto answers = host.ask(ip_packet(1, echo));
  REQUIRE(answers.size() == 1);
  CHECK(answers[0][34] == 0);
  CHECK(std::equal(echo.begin() + 4, echo.end(), answers[0].begin() + 38));
  CHECK(internet_sum(answers[0].data() + 34, echo.size()) == 0);
}

TEST_CASE("remote: UDP echo and sink") {
  Host host;
  const std::string text(1472, 'u');
  const auto answers = host.ask(udp(5000, 7, text));
  REQUIRE(answers.size() == 1);
  CHECK(get16(answers[0], 34) == 7);
  CHECK(get16(answers[0], 36) == 5000);
  CHECK(std::string(answers[0].begin() + 42, answers[0].end()) == text);
  for (int i = 0; i < 10; i++) CHECK(host.ask(udp(5000, 9, text)).empty());
  CHECK(command(&host, "stats", 2001).find("sink.udp bytes=14720 pieces=10 crc=") !=
        std::string::npos);
}

TEST_CASE("remote: TCP echo until the connection closes") {
  Host host;
  Client client(&host, 7);
  CHECK((client.flags & kSyn));
  std::string all;
  for (int i = 0; i < 40; i++) {
    const std::string text(size_t(37 * i + 1), char('a' + i % 26));
    all += text;
    client.say(text);
  }
  CHECK(client.text == all);
  CHECK(!(client.flags & kFin));
  client.close();
  client.listen();
  CHECK((client.flags & kFin));
  CHECK(!(client.flags & kRst));
}

TEST_CASE("remote: the answers of TCP echo do not wait for an acknowledgement") {
  Host host;
  const auto opened = host.ask(tcp({3000, 7, 1000, 0, kSyn, ""}));
  REQUIRE(opened.size() == 1);
  const uint32_t first = get32(opened[0], 38) + 1;
  host.ask(tcp({3000, 7, 1001, first, kAck, ""}));
  for (uint32_t i = 0; i < 3; i++) {
    size_t came = 0;
    for (const Frame& frame : host.ask(tcp({3000, 7, 1001 + i, first, kAck, "x"}))) {
      came += get16(frame, 16) == 41 && get32(frame, 38) == first + i && frame[54] == 'x';
    }
    CHECK(came == 1);
  }
}

TEST_CASE("remote: the source sends the requested bytes and closes") {
  // A host that needs no processing time can send repeatedly during many collisions. Therefore this
  // test has no collisions.
  Config config = quick_network();
  config.wire.collisions = false;
  Host host(config);
  Client client(&host, 19);
  client.say("100");
  client.say("000\n");
  client.listen(kSecond);
  REQUIRE(client.text.size() == 100000);
  bool same = true;
  for (uint32_t i = 0; i < 100000; i++) {
    same &= uint8_t(client.text[i]) == uint8_t(i ^ i >> 8 ^ i >> 16);
  }
  CHECK(same);
  CHECK((client.flags & kFin));
  Client wrong(&host, 19, 2001);
  wrong.say("many\n");
  CHECK((wrong.flags & kRst));
}

TEST_CASE("remote: an ideal network answers at once, and loses no frame in the card's ring") {
  Config config = quick_network();
  config.remote.packet = config.remote.kilobyte = kMillisecond;
  config.remote.path.latency = kMillisecond;
  config.answer_at_once();
  Host host(config);
  const Time begin = host.now;
  host.send(udp(1234, 7, "hello"));
  CHECK((host.now == begin && host.line));
  CHECK(host.take().size() == 1);
  Client client(&host, 19);
  client.say("100000\n");
  client.listen(kSecond);
  CHECK(client.text.size() == 100000);
  CHECK((client.flags & kFin));
  CHECK((host.log.misses == 0 && host.log.wire_busy == 0 && host.log.host_busy == 0));
}

TEST_CASE("remote: control answers commands in their order") {
  Host host;
  Client sink(&host, 9, 3000);
  sink.say("hello");
  sink.say(std::string(1000, 'z'));
  const std::string sum = "hello" + std::string(1000, 'z');
  char line[80];
  std::snprintf(line, sizeof line, "sink.tcp bytes=1005 pieces=1 crc=%08x\n",
                crc32(0, reinterpret_cast<const uint8_t*>(sum.data()), sum.size()));
  CHECK(command(&host, "stats", 3001).find(line) != std::string::npos);
  CHECK(command(&host, "reset\nstats\nnothing\nrun echo\nrun gopher x=1\nrun echo x", 3002) ==
        ".\n"
        "sink.tcp bytes=0 pieces=0 crc=00000000\n"
        "sink.udp bytes=0 pieces=0 crc=00000000\n"
        "nfs calls=0 updates=0 disk_writes=0\n.\n"
        "error expected `stats`, `reset` or `run SERVICE key=value ...`\n.\n"
        "error echo: cannot be run\n.\n"
        "error gopher: no such service\n.\n"
        "error expected key=value\n.\n");
  Client endless(&host, 7000, 3003);
  for (int i = 0; i < 5; i++) endless.say(std::string(1400, 'x'));
  CHECK((endless.flags & kRst));
}

TEST_CASE("remote: arguments of an active service") {
  Arguments arguments;
  CHECK(arguments.parse({"n=12", "path=/a=b", "odd=1x", "more=2"}));
  CHECK(arguments.number("n", 3) == 12);
  CHECK(arguments.number("m", 3) == 3);
  CHECK(arguments.text("path", "") == "/a=b");
  CHECK(arguments.number("odd", 0) == 1);
  CHECK(arguments.problem() == "odd: expected a number");
  Arguments left;
  CHECK(left.parse({"n=1"}));
  CHECK(left.problem() == "n: unknown");
  Arguments no;
  CHECK(!no.parse({"n"}));
  CHECK(!no.parse({"=n"}));
  CHECK(!Arguments().parse({"n=1", "n=2"}));
}

TEST_CASE("remote: a service connects to the guest, and notices a refusal") {
  struct Caller : Connection {
    Caller(Remote& host, std::string* log) : Connection(host), log_(log) {}
    void opened() override {
      *log_ += "opened ";
      send("hello");
    }
    void received(const uint8_t* bytes, size_t count) override {
      log_->append(reinterpret_cast<const char*>(bytes), count);
    }
    void gone(bool failed) override { *log_ += failed ? "failed" : "closed"; }
    std::string* log_;
  };
  Host host;
  Remote& remote = host.network.remote();
  std::string log;
  remote.at(host.now,
            [&] { remote.connect({kGuestAddress, 80}, std::make_unique<Caller>(remote, &log)); });
  host.run_until(host.now + kMillisecond);
  const auto frames = host.take();
  REQUIRE(frames.size() == 1);
  CHECK(get16(frames[0], 36) == 80);
  CHECK((frames[0][47] == kSyn));
  // The guest refuses the connection in the same way as a host that has no server.
  host.send(
      tcp({80, uint16_t(get16(frames[0], 34)), 0, get32(frames[0], 38) + 1, kRst | kAck, ""}));
  host.run_until(host.now + kMillisecond);
  CHECK(log == "failed");
}

TEST_CASE("remote: it still answers after malformed frames") {
  std::mt19937 random(17);
  Config config = quick_network();
  config.wire.collisions = false;
  Host host(config);
  std::vector<Frame> good = {arp_request(), udp(5000, 7, "hello"),
                             udp(1, 2049, std::string(90, 'x')),
                             udp(5000, 9, std::string(1400, 'y'))};
  Frame ping = {8, 0, 0, 0, 1, 2, 3, 4, 5, 6};
  good.push_back(ip_packet(1, ping));
  for (const uint16_t port : {7, 9, 19, 7000, 2049, 81}) {
    for (const uint8_t flags : {kSyn, kAck, uint8_t(kSyn | kAck), kFin, kRst, uint8_t(0x3F)}) {
      good.push_back(tcp({uint16_t(1000 + flags), port, uint32_t(random()), uint32_t(random()),
                          flags, random() % 2 ? "stats\n" : ""}));
    }
  }
  // A conversation that the test disturbs.
  Client client(&host, 7);
  const uint32_t count = random_cases(3000, 100'000);
  for (uint32_t i = 0; i < count; i++) {
    Frame frame = good[random() % good.size()];
    const bool sums = random() % 2;  // correct checksums, so that the host reads the contents
    for (uint32_t changes = random() % 6; changes; changes--) {
      const size_t at =
          random() % 4 ? random() % std::min<size_t>(frame.size(), 70) : random() % frame.size();
      if (random() % 3 || at < 6)
        frame[at] = uint8_t(random());
      else
        frame[at] ^= uint8_t(1u << random() % 8);
    }
    if (random() % 8) std::copy(kRemoteMac.begin(), kRemoteMac.end(), frame.begin());
    if (random() % 10 == 0) frame.resize(random() % 1600 + 14);
    if (sums && frame.size() >= 34 && get16(frame, 12) == 0x0800) {
      const size_t header = (frame[14] & 15) * 4u;
      const size_t end = std::min<size_t>(frame.size(), 14 + get16(frame, 16));
      frame[24] = frame[25] = 0;
      if (14 + header <= frame.size() && header >= 20) {
        const uint16_t sum = internet_sum(frame.data() + 14, header);
        frame[24] = uint8_t(sum >> 8), frame[25] = uint8_t(sum);
        const size_t inner = 14 + header, field = frame[23] == 6 ? inner + 16 : inner + 6;
        if ((frame[23] == 6 || frame[23] == 17) && field + 2 <= end) {
          frame[field] = frame[field + 1] = 0;
          uint32_t pseudo = uint32_t(frame[23]) + uint32_t(end - inner);
          for (size_t at = 26; at < 34; at += 2) pseudo += get16(frame, at);
          const uint16_t check = internet_sum(frame.data() + inner, end - inner, pseudo);
          frame[field] = uint8_t(check >> 8), frame[field + 1] = uint8_t(check);
        }
      }
    }
    host.network.card();
    // The test uses the host's end of the wire, because this is faster. card_test.cc tests the
    // card.
    host.network.remote().incoming(host.now, host.now, std::make_shared<Frame>(frame));
    host.run_until(host.now + random() % (200 * kMicrosecond));
    if (i % 64 == 0) {
      host.take();
      host.start();
    }
    if (i % 1000 == 999) CHECK(host.lives());
  }
  host.run_until(host.now + 300 * kSecond);  // the host drops all waiting packets
  CHECK(host.lives());
  CHECK(command(&host, "reset", 4000) == ".\n");
  const auto answers = host.ask(udp(5000, 7, "hello"));
  CHECK(answers.size() == 1);
}
