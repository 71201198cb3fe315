// SPDX-License-Identifier: MIT
// A service of the remote host: what a program there does for the guest. One file each in
// services/, entered in the table of services/table.cc; docs/concepts/network.md says what each one
// speaks.
//
// A passive service listens from the start. An active one begins something when the guest asks the
// control service for it (`run NAME key=value ...`) and answers when it is over.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "remote.hh"

namespace net {

// The key=value words of a `run` line. What is wrong with them, or left over, is one line.
class Arguments {
 public:
  // False: a word is not key=value, or a key is there twice.
  bool parse(const std::vector<std::string>& words);

  uint64_t number(const std::string& key, uint64_t otherwise);
  std::string text(const std::string& key, const std::string& otherwise);
  // The first thing that is wrong, after all keys have been asked for; empty: nothing.
  std::string problem();

 private:
  std::map<std::string, std::string> words_;
  std::string problem_;
};

// What a service has received since `reset`, as `stats` tells it.
struct Received {
  uint64_t bytes = 0, pieces = 0;  // pieces: connections or datagrams
  uint32_t check = 0;              // crc32() of all bytes, in the order of arrival

  void add(const uint8_t* data, size_t count);
  std::string line(const std::string& name) const;  // "NAME bytes=N pieces=N crc=HEX\n"
};

class Service {
 public:
  // Takes the answer's lines, each with its newline. It is called once, at any later time.
  using Answer = std::function<void(const std::string& lines)>;

  virtual ~Service() = default;
  virtual void reset() {}
  virtual std::string stats() const { return ""; }  // lines
  // What is wrong with the arguments, and nothing was begun; empty: nothing is, and `answer` will
  // be called. Without a value: it is a passive one.
  virtual std::optional<std::string> run(Arguments&, const Answer&) { return std::nullopt; }
};

using Make = std::unique_ptr<Service> (*)(Remote& host);

// All services, by name; made in this order.
const std::vector<std::pair<const char*, Make>>& services();

// The services of one host. It is the first of them itself: port 7000 for commands.
class Services {
 public:
  explicit Services(Remote& host);
  void reset();
  std::string stats() const;
  // One line of the control port; `answer` gets lines, the last of which is "." alone.
  void command(const std::string& line, const Service::Answer& answer);

 private:
  std::vector<std::pair<std::string, std::unique_ptr<Service>>> services_;
};

}  // namespace net
