// SPDX-License-Identifier: MIT
// A file server: NFS version 2 (RFC 1094) and the mount protocol version 1 (its appendix A) by ONC
// RPC (RFC 5531), files in memory. It knows no network: calls come in, answers go out, each with
// the time at which it is ready.
//
// Two trees are exported, of the two servers of lai96 section 8.2: from "/async" every answer is
// ready at once, as of Linux 1.2.8, whose server writes to its disk later; from "/sync" an answer
// to a call that changes something is ready when the disk has it, as NFS asks for and SunOS 4.1.4
// does it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frame.hh"

namespace net {

class NfsServer {
 public:
  // A disk write is as long as a random access to lai96's disks (14 ms, section 7.1). How many a
  // change takes: an estimate after ousterhout90 section 9, up to three a block. Data and i-node of
  // a written block, the indirect block too where the file has one (behind 12 blocks of 8 KB, FFS);
  // directory and i-node of what is made or removed.
  static constexpr Time kDiskWrite = 14 * kMillisecond;
  static constexpr uint32_t kDirectBytes = 12 * 8192;
  static constexpr uint64_t kCapacity = 64 << 20;  // bytes of all files
  static constexpr size_t kFiles = 1 << 16;

  struct Reply {
    std::string bytes;
    Time ready;
  };

  NfsServer();

  // The answer to one call of a client; none to what is no call, and to one that is being worked
  // on.
  std::optional<Reply> call(Time now, uint64_t client, const uint8_t* bytes, size_t count);

  uint64_t calls() const { return calls_; }
  uint64_t updates() const { return updates_; }  // calls that changed something
  uint64_t writes() const { return writes_; }    // of the disk that somebody waited for

 private:
  struct File {
    uint32_t type, mode, uid = 0, gid = 0, links = 1;
    Time accessed, modified, changed;
    bool sync;
    std::string data;                       // of a file, or the target of a symbolic link
    std::map<std::string, uint32_t> names;  // of a directory
    uint32_t parent = 0;
  };
  struct Known {  // calls and their answers, for those that are sent twice
    uint64_t client;
    uint32_t xid;
    Reply reply;
  };
  struct Wanted {  // of a file's attributes
    uint32_t mode, uid, gid, size;
  };
  class In;
  class Out;
  using Status = uint32_t;

  uint32_t add(uint32_t type, uint32_t mode, bool sync, uint32_t parent);
  File* find(uint32_t number);
  void drop(uint32_t number);
  void mount(uint32_t procedure, In& in, Out& out);
  bool nfs(uint32_t procedure, In& in, Out& out);
  Status change_names(uint32_t procedure, In& in, Out& out);
  Status remove(File& directory, const std::string& name, bool is_directory);
  Status rename(File& from, const std::string& name, File& to, const std::string& other);
  Status write(File& file, uint32_t offset, const std::string& data);
  void read_directory(uint32_t number, In& in, Out& out);
  static Wanted wanted(In& in);
  bool resize(File& file, uint64_t size);
  Status set_attributes(File& file, const Wanted& asked);
  void attributes(uint32_t number, Out& out);
  void update(bool sync, uint32_t disk_writes);

  std::map<uint32_t, File> files_;
  uint32_t next_ = 1;
  uint64_t held_ = 0;  // bytes of all files
  std::deque<Known> known_;
  Time now_ = 0, ready_ = 0, disk_free_ = 0;
  uint64_t calls_ = 0, updates_ = 0, writes_ = 0;
};

}  // namespace net
