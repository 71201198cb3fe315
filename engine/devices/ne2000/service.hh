// SPDX-License-Identifier: MIT
// What is a service of the remote host? A service is a server or a client on the remote host that
// exchanges data with the guest. Each service is a file in services/ and an entry in
// services/table.cc. docs/concepts/network.md describes the protocols of the services.
//
// A passive service listens from the start. An active service starts when the guest sends the line
// `run NAME key=value ...` to the control service. When an active service has ended, the service
// sends its answer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/ne2000/remote.hh"

namespace device::ne2000 {

// The key=value words of a `run` line. problem() returns one line that describes the first wrong or
// unused word.
class Arguments {
 public:
  // Returns false if a word is not key=value, or if a key occurs twice.
  bool parse(const std::vector<std::string>& words);

  uint64_t number(const std::string& key, uint64_t otherwise);
  std::string text(const std::string& key, const std::string& otherwise);
  // Returns the first error, or an empty text. Call problem() after all keys have been read.
  std::string problem();

 private:
  std::map<std::string, std::string> words_;
  std::string problem_;
};

// The amount and the check sequence of the data that a service has received since the command
// `reset`. `stats` reports these numbers.
struct Received {
  uint64_t bytes = 0, pieces = 0;  // pieces: number of connections or datagrams
  uint32_t check = 0;              // crc32() over all bytes, in the order of arrival

  void add(const uint8_t* data, size_t count);
  std::string line(const std::string& name) const;  // "NAME bytes=N pieces=N crc=HEX\n"
};

class Service {
 public:
  // Receives the lines of the answer. Each line ends with a newline. The service calls this
  // function once, at any later time.
  using Answer = std::function<void(const std::string& lines)>;

  virtual ~Service() = default;
  virtual void reset() {}
  virtual std::string stats() const { return ""; }  // lines for `stats`
  // Starts an active service. If the result is an error, nothing has started. If the result is an
  // empty text, the service has started and calls `answer` later. A passive service returns no
  // value.
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
  // Executes one line of the control port. `answer` receives lines. The last line is a single ".".
  void command(const std::string& line, const Service::Answer& answer);

 private:
  std::vector<std::pair<std::string, std::unique_ptr<Service>>> services_;
};

}  // namespace device::ne2000
