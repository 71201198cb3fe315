// SPDX-License-Identifier: MIT
#include <charconv>
#include <cstdio>
#include <sstream>

#include "devices/ne2000/check.hh"
#include "devices/ne2000/service.hh"
#include "devices/ne2000/tcp.hh"

namespace device::ne2000 {
namespace {

constexpr uint16_t kControl = 7000;
constexpr size_t kLongestLine = 4096;

// A connection on which the guest sends commands. Each command is one line. The answers have the
// same order as the commands.
class Control : public Connection {
 public:
  Control(Remote& host, Services& services) : Connection(host), services_(services) {}

  void received(const uint8_t* bytes, size_t count) override {
    line_.append(reinterpret_cast<const char*>(bytes), count);
    if (line_.size() > kLongestLine && line_.find('\n') == std::string::npos) return abort();
    next();
  }
  void finished() override {
    over_ = true;
    if (!asked_) close();
  }
  void gone(bool) override { alive_.reset(); }

 private:
  void next() {
    while (alive_ && !asked_) {
      const size_t end = line_.find('\n');
      if (end == std::string::npos) return;
      std::string line = line_.substr(0, end);
      line_.erase(0, end + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      asked_ = true;
      // The connection may have ended when the answer is ready.
      services_.command(line,
                        [this, alive = std::weak_ptr<char>(alive_)](const std::string& lines) {
                          if (alive.expired()) return;
                          asked_ = false;
                          send(lines);
                          if (over_ && line_.find('\n') == std::string::npos) return close();
                          host_.at(host_.now(), [this, alive] {
                            if (!alive.expired()) next();
                          });
                        });
    }
  }

  Services& services_;
  std::string line_;
  bool over_ = false;   // the guest will send no more commands
  bool asked_ = false;  // a command waits for its answer
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

}  // namespace

bool Arguments::parse(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) return false;
    if (!words_.emplace(word.substr(0, equals), word.substr(equals + 1)).second) return false;
  }
  return true;
}

uint64_t Arguments::number(const std::string& key, uint64_t otherwise) {
  const auto found = words_.extract(key);
  if (!found) return otherwise;
  const std::string& text = found.mapped();
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if ((error != std::errc() || end != text.data() + text.size()) && problem_.empty()) {
    problem_ = key + ": expected a number";
  }
  return value;
}

std::string Arguments::text(const std::string& key, const std::string& otherwise) {
  const auto found = words_.extract(key);
  return found ? found.mapped() : otherwise;
}

std::string Arguments::problem() {
  if (problem_.empty() && !words_.empty()) problem_ = words_.begin()->first + ": unknown";
  return problem_;
}

void Received::add(const uint8_t* data, size_t count) {
  bytes += count;
  check = crc32(check, data, count);
}

std::string Received::line(const std::string& name) const {
  char text[80];
  std::snprintf(text, sizeof text, " bytes=%llu pieces=%llu crc=%08x\n",
                static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(pieces),
                check);
  return name + text;
}

Services::Services(Remote& host) {
  for (const auto& [name, make] : device::ne2000::services())
    services_.emplace_back(name, make(host));
  host.listen(kControl, [this, &host] { return std::make_unique<Control>(host, *this); });
}

void Services::reset() {
  for (auto& [name, service] : services_) service->reset();
}

std::string Services::stats() const {
  std::string lines;
  for (const auto& [name, service] : services_) lines += service->stats();
  return lines;
}

void Services::command(const std::string& line, const Service::Answer& answer) {
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  const auto wrong = [&](const std::string& what) { answer("error " + what + "\n.\n"); };
  if (words == std::vector<std::string>{"stats"}) return answer(stats() + ".\n");
  if (words == std::vector<std::string>{"reset"}) {
    reset();
    return answer(".\n");
  }
  if (words.size() < 2 || words[0] != "run") {
    return wrong("expected `stats`, `reset` or `run SERVICE key=value ...`");
  }
  for (auto& [name, service] : services_) {
    if (name != words[1]) continue;
    Arguments arguments;
    if (!arguments.parse({words.begin() + 2, words.end()})) return wrong("expected key=value");
    const auto end = [answer](const std::string& lines) { answer(lines + ".\n"); };
    const auto problem = service->run(arguments, end);
    if (!problem) return wrong(name + ": cannot be run");
    if (!problem->empty()) wrong(*problem);
    return;
  }
  wrong(words[1] + ": no such service");
}

}  // namespace device::ne2000
