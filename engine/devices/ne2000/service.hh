// SPDX-License-Identifier: MIT
// What is a service of the remote host? It is the part of a program there that the guest talks to.
// Each service is a file in services/ and an entry in services/table.cc; docs/concepts/network.md
// describes their protocols.
//
// A passive service listens from the start. An active service starts when the guest sends the
// control service a `run NAME key=value ...` line, and answers when it has ended.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "remote.hh"

namespace net {

// The key=value words of a `run` line. problem() describes the first wrong or unused word in one
// line.
class Arguments {
 public:
  // False: a word is not key=value, or a key occurs twice.
  bool parse(const std::vector<std::string>& words);

  uint64_t number(const std::string& key, uint64_t otherwise);
  std::string text(const std::string& key, const std::string& otherwise);
  // The first error; empty: there is none. Call it after all keys have been read.
  std::string problem();

 private:
  std::map<std::string, std::string> words_;
  std::string problem_;
};

// What a service has received since `reset`, as `stats` reports it.
struct Received {
  uint64_t bytes = 0, pieces = 0;  // pieces: number of connections or datagrams
  uint32_t check = 0;              // crc32() over all bytes, in the order of arrival

  void add(const uint8_t* data, size_t count);
  std::string line(const std::string& name) const;  // "NAME bytes=N pieces=N crc=HEX\n"
};

class Service {
 public:
  // Receives the answer's lines, each with its newline. It is called once, at any later time.
  using Answer = std::function<void(const std::string& lines)>;

  virtual ~Service() = default;
  virtual void reset() {}
  virtual std::string stats() const { return ""; }  // lines for `stats`
  // Starts an active service. Returns an error, and then nothing has started; or an empty text, and
  // `answer` is called later. No value: the service is passive.
  virtual std::optional<std::string> run(Arguments&, const Answer&) { return std::nullopt; }
};

using Make = std::unique_ptr<Service> (*)(Remote& host);

// All services with their names, in the order of their creation.
const std::vector<std::pair<const char*, Make>>& services();

// The services of one host. This class itself is the control service on port 7000.
class Services {
 public:
  explicit Services(Remote& host);
  void reset();
  std::string stats() const;
  // Executes one line of the control port. `answer` gets lines; the last one is a single ".".
  void command(const std::string& line, const Service::Answer& answer);

 private:
  std::vector<std::pair<std::string, std::unique_ptr<Service>>> services_;
};

}  // namespace net
