// SPDX-License-Identifier: MIT
// Does the file server of the remote host answer calls as a client expects, byte for byte?
#include <doctest/doctest.h>

#include <random>
#include <string>

#include "devices/ne2000/nfs_server.hh"

using device::ne2000::kMillisecond;
using device::ne2000::NfsServer;
using device::ne2000::Time;

namespace {

void put(std::string& to, uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(char(word >> shift));
}

void put(std::string& to, const std::string& text) {
  put(to, uint32_t(text.size()));
  to += text;
  to.resize((to.size() + 3) & ~size_t(3), '\0');
}

uint32_t word(const std::string& from, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; i++) value = value << 8 | uint8_t(from.at(at * 4 + i));
  return value;
}

constexpr uint32_t kSetattr = 2, kCreate = 9, kRemove = 10, kSymlink = 13, kMkdir = 14, kRmdir = 15,
                   kReaddir = 16, kNoSpace = 28;

// A client that sends each call once.
struct Client {
  NfsServer server;
  Time now = 0, ready = 0;
  uint32_t xid = 0;

  std::string message(uint32_t program, uint32_t procedure, const std::string& arguments) {
    std::string bytes;
    for (const uint32_t value :
         {++xid, 0u, 2u, program, program == 100003 ? 2u : 1u, procedure, 1u}) {
      put(bytes, value);
    }
    put(bytes, std::string(20, '\0'));  // AUTH_UNIX
    put(bytes, 0);
    put(bytes, 0);
    return bytes + arguments;
  }

  std::optional<NfsServer::Reply> send(const std::string& bytes) {
    return server.call(now, 1, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }

  // Returns the results of a call. In a reply, they follow the fixed head.
  std::string ask(uint32_t program, uint32_t procedure, const std::string& arguments) {
    const auto reply = send(message(program, procedure, arguments));
    REQUIRE(reply);
    CHECK(word(reply->bytes, 0) == xid);
    CHECK(word(reply->bytes, 1) == 1);
    CHECK(word(reply->bytes, 5) == 0);  // accepted
    ready = reply->ready;
    return reply->bytes.substr(24);
  }

  std::string mount(const std::string& path) {
    std::string arguments;
    put(arguments, path);
    const std::string result = ask(100005, 1, arguments);
    return word(result, 0) == 0 ? result.substr(4, 32) : "";
  }

  std::string nfs(uint32_t procedure, const std::string& arguments) {
    return ask(100003, procedure, arguments);
  }

  std::string named(const std::string& directory, const std::string& name) {
    std::string arguments = directory;
    put(arguments, name);
    return arguments;
  }

  // Returns the handle of a new file or directory.
  std::string make(uint32_t procedure, const std::string& directory, const std::string& name) {
    std::string arguments = named(directory, name);
    put(arguments, 0640);
    for (int i = 0; i < 7; i++) put(arguments, ~0u);
    const std::string result = nfs(procedure, arguments);
    CHECK(word(result, 0) == 0);
    return result.substr(4, 32);
  }

  uint32_t write(const std::string& file, uint32_t offset, const std::string& data) {
    std::string arguments = file;
    put(arguments, offset);
    put(arguments, offset);
    put(arguments, uint32_t(data.size()));
    put(arguments, data);
    return word(nfs(8, arguments), 0);
  }

  uint32_t resize(const std::string& file, uint32_t size) {
    std::string arguments = file;
    for (const uint32_t value : {~0u, ~0u, ~0u, size, ~0u, ~0u, ~0u, ~0u}) put(arguments, value);
    return word(nfs(kSetattr, arguments), 0);
  }

  // Returns the number of free blocks of 8 KB.
  uint32_t free_blocks(const std::string& root) { return word(nfs(17, root), 4); }

  std::string read(const std::string& file, uint32_t offset, uint32_t count) {
    std::string arguments = file;
    for (const uint32_t value : {offset, count, count}) put(arguments, value);
    const std::string result = nfs(6, arguments);
    CHECK(word(result, 0) == 0);
    return result.substr(19 * 4, word(result, 18));
  }
};

}  // namespace

TEST_CASE("nfs: a read returns the written data, and the tree contains it") {
  Client client;
  const std::string root = client.mount("/async");
  REQUIRE(root.size() == 32);
  CHECK(client.mount("/other").empty());
  const std::string directory = client.make(kMkdir, root, "d");
  const std::string file = client.make(kCreate, directory, "f");
  CHECK(client.write(file, 0, std::string(8192, 'a')) == 0);
  CHECK(client.write(file, 8190, "xyz") == 0);
  CHECK(client.read(file, 8188, 100) == "aaxyz");
  CHECK(client.read(file, 9000, 100).empty());
  const std::string found = client.nfs(4, client.named(directory, "f"));
  CHECK(word(found, 0) == 0);
  CHECK(found.substr(4, 32) == file);
  CHECK(word(found, 9) == 1);                                         // a file
  CHECK(word(found, 10) == 0100640);                                  // its mode
  CHECK(word(found, 14) == 8193);                                     // its size
  CHECK(word(client.nfs(kRmdir, client.named(root, "d")), 0) == 66);  // not empty
  CHECK(word(client.nfs(kRemove, client.named(directory, "f")), 0) == 0);
  CHECK(word(client.nfs(1, file), 0) == 70);  // stale
  CHECK(word(client.nfs(kRmdir, client.named(root, "d")), 0) == 0);
  CHECK(client.server.updates() == 6);
}

TEST_CASE("nfs: a directory that is too large for one answer comes in several answers") {
  Client client;
  const std::string root = client.mount("/async");
  for (int i = 0; i < 100; i++) client.make(kCreate, root, "file" + std::to_string(i));
  uint32_t cookie = 0, names = 0, calls = 0;
  for (bool end = false; !end; calls++) {
    std::string arguments = root;
    put(arguments, cookie);
    put(arguments, 1024);
    const std::string result = client.nfs(kReaddir, arguments);
    CHECK(result.size() <= 1024 + 8);
    size_t at = 1;
    for (; word(result, at) == 1; names++) {
      at += 3 + (word(result, at + 2) + 3) / 4;
      cookie = word(result, at);
      at++;
    }
    end = word(result, at + 1) == 1;
  }
  CHECK(names == 102);
  CHECK(calls > 2);
}

TEST_CASE("nfs: a change waits for the disk of a synchronous server") {
  Client client;
  for (const std::string tree : {"/async", "/sync"}) {
    client.now += device::ne2000::kSecond;
    const Time disk = tree == "/sync" ? NfsServer::kDiskWrite : 0;
    const std::string root = client.mount(tree);
    CHECK(client.ready == client.now);
    const std::string file = client.make(kCreate, root, "f");
    CHECK(client.ready == client.now + 2 * disk);
    CHECK(client.write(file, 0, "data") == 0);
    CHECK(client.ready == client.now + 4 * disk);  // one disk executes one write after another
    client.now += device::ne2000::kSecond;
    CHECK(client.write(file, NfsServer::kDirectBytes, "data") == 0);
    CHECK(client.ready == client.now + 3 * disk);
    CHECK(client.read(file, 0, 4) == "data");
    CHECK(client.ready == client.now);
  }
}

TEST_CASE("nfs: a disk that takes no time delays no change, and its writes count") {
  Client client;
  const std::string file = client.make(kCreate, client.mount("/sync"), "f");
  REQUIRE(client.ready > client.now);
  Client other{NfsServer(0)};
  const std::string same = other.make(kCreate, other.mount("/sync"), "f");
  CHECK(other.ready == other.now);
  CHECK((same == file && other.server.writes() == client.server.writes()));
}

TEST_CASE("nfs: a call that arrives twice is executed once") {
  Client client;
  const std::string root = client.mount("/sync");
  std::string arguments = client.named(root, "f");
  for (int i = 0; i < 8; i++) put(arguments, ~0u);
  const std::string call = client.message(100003, kMkdir, arguments);
  const auto first = client.send(call);
  REQUIRE(first);
  CHECK(word(first->bytes, 6) == 0);
  CHECK_FALSE(client.send(call));  // the first copy is in progress
  client.now = first->ready;
  const auto again = client.send(call);
  REQUIRE(again);
  CHECK(again->bytes == first->bytes);
  CHECK(again->ready == client.now);
  CHECK(client.server.updates() == 1);
}

TEST_CASE("nfs: a write without space is refused, and freed space can be used again") {
  Client client;
  const std::string root = client.mount("/async");
  const std::string big = client.make(kCreate, root, "big"),
                    small = client.make(kCreate, root, "small");
  const uint32_t capacity = NfsServer::kCapacity;
  CHECK(client.free_blocks(root) == capacity / 8192);
  CHECK(client.resize(big, capacity + 1) == kNoSpace);
  CHECK(client.resize(big, capacity - 8192) == 0);
  CHECK(client.read(big, capacity - 8192 - 3, 100) == std::string(3, '\0'));
  CHECK(client.free_blocks(root) == 1);
  CHECK(client.write(small, 1, std::string(8192, 'x')) == kNoSpace);
  CHECK(client.read(small, 0, 1).empty());  // nothing was written
  CHECK(client.write(small, 0, std::string(8192, 'x')) == 0);
  std::string link = client.named(root, "link");
  put(link, "target");
  for (int i = 0; i < 8; i++) put(link, ~0u);
  CHECK(word(client.nfs(kSymlink, link), 0) == kNoSpace);
  CHECK(client.free_blocks(root) == 0);
  CHECK(client.write(small, 4000, std::string(4000, 'y')) == 0);  // overwrites existing data
  CHECK(word(client.nfs(kRemove, client.named(root, "big")), 0) == 0);
  CHECK(client.free_blocks(root) == capacity / 8192 - 1);
  CHECK(word(client.nfs(kSymlink, link), 0) == 0);
}

TEST_CASE("nfs: a call that is cut short has no effect") {
  Client client;
  const std::string root = client.mount("/async");
  const std::string call = client.message(100003, kCreate, client.named(root, "f"));
  const auto reply = client.send(call);
  REQUIRE(reply);
  CHECK(word(reply->bytes, 5) == 4);                            // GARBAGE_ARGS
  CHECK(word(client.nfs(4, client.named(root, "f")), 0) == 2);  // no such file
  CHECK(client.server.updates() == 0);
}

TEST_CASE("nfs: malformed calls are refused and have no effect") {
  Client client;
  const std::string root = client.mount("/async");
  const std::string file = client.make(kCreate, root, "f");
  CHECK(client.write(file, 0x7fffffff, "x") == 27);
  CHECK(client.write(root, 0, "x") == 21);
  CHECK(client.write(file, NfsServer::kCapacity, "x") == 28);
  std::mt19937 random(1);
  for (int i = 0; i < 20000; i++) {
    std::string call = client.message(i % 7 ? 100003 : 100005, random() % 20, root);
    for (uint32_t words = random() % 20; words > 0; words--)
      put(call, random() % 3 ? random() % 40 : random());
    for (uint32_t flips = random() % 4; flips > 0; flips--)
      call[random() % call.size()] ^= char(1 << random() % 8);
    call.resize(call.size() - random() % 5);
    client.send(call);
    client.now += kMillisecond;
  }
  CHECK(client.mount("/async") == root);
  CHECK(word(client.nfs(17, root), 0) == 0);
}
