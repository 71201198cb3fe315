// SPDX-License-Identifier: MIT
// How does the file server answer a call? The server implements NFS version 2 (RFC 1094) and
// version 1 of the mount protocol (RFC 1094, appendix A) over ONC RPC (RFC 5531). All files are in
// memory. This class does not use the network: it receives calls and returns answers. Each answer
// contains the time at which the answer is ready.
//
// The server exports two trees. These trees model the two servers of lai96 section 8.2. Below
// "/async" every answer is ready at once. This is the behaviour of Linux 1.2.8, where the server
// writes to the disk later. Below "/sync" the answer to a change is ready when the data is on the
// disk. NFS requires this behaviour, and SunOS 4.1.4 shows this behaviour.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "devices/ne2000/frame.hh"

namespace device::ne2000 {

class NfsServer {
 public:
  // The time of one disk write: a random access on lai96's disks (14 ms, section 7.1). The number
  // of disk writes for a change is an estimate that follows ousterhout90 section 9. A change of a
  // block causes at most three disk writes. A change of a block writes the data and the i-node. If
  // the file has more than 12 blocks of 8 KB (FFS), the change also writes the indirect block. The
  // creation or removal of a file writes the directory and the i-node.
  static constexpr Time kDiskWrite = 14 * kMillisecond;
  static constexpr uint32_t kDirectBytes = 12 * 8192;
  static constexpr uint64_t kCapacity = 64 << 20;  // bytes of all files
  static constexpr size_t kFiles = 1 << 16;

  struct Reply {
    std::string bytes;
    Time ready;
  };

  // `disk_write`: the time of one disk write.
  explicit NfsServer(Time disk_write = kDiskWrite);

  // Returns the answer to one call of a client. Returns nothing if the bytes are not a call, or if
  // they repeat a call that is still in progress.
  std::optional<Reply> call(Time now, uint64_t client, const uint8_t* bytes, size_t count);

  uint64_t calls() const { return calls_; }
  uint64_t updates() const { return updates_; }  // number of calls with a change
  uint64_t writes() const { return writes_; }    // number of disk writes that an answer waited for

 private:
  struct File {
    uint32_t type, mode, uid = 0, gid = 0, links = 1;
    Time accessed, modified, changed;
    bool sync;
    std::string data;                       // content of a file, or target of a symbolic link
    std::map<std::string, uint32_t> names;  // entries of a directory
    uint32_t parent = 0;
  };
  struct Known {  // a call with its answer, in case the client repeats the call
    uint64_t client;
    uint32_t xid;
    Reply reply;
  };
  struct Wanted {  // attributes that a client wants to set
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
  void look_up(uint32_t number, In& in, Out& out);
  static Wanted wanted(In& in);
  bool resize(File& file, uint64_t size);
  Status set_attributes(File& file, const Wanted& asked);
  void attributes(uint32_t number, Out& out);
  void update(bool sync, uint32_t disk_writes);

  const Time disk_write_;
  std::map<uint32_t, File> files_;
  uint32_t next_ = 1;
  uint64_t held_ = 0;  // bytes of all files
  std::deque<Known> known_;
  Time now_ = 0, ready_ = 0, disk_free_ = 0;
  uint64_t calls_ = 0, updates_ = 0, writes_ = 0;
};

}  // namespace device::ne2000
