// SPDX-License-Identifier: MIT
#include "devices/ne2000/nfs_server.hh"

#include <algorithm>

namespace device::ne2000 {
namespace {

constexpr uint32_t kNfs = 100003, kMount = 100005;  // programs (RFC 1094, 2.1 and A.1)
constexpr uint32_t kHandle = 32, kNameMax = 255, kPathMax = 1024, kDataMax = 8192;
constexpr uint32_t kRegular = 1, kDirectory = 2, kLink = 5;             // ftype
constexpr uint32_t kTypeBits[] = {0, 0100000, 0040000, 0, 0, 0120000};  // mode bits by ftype
constexpr uint32_t kUnset = 0xffffffff;   // a field of sattr that does not change
constexpr uint32_t kEpoch = 800'000'000;  // 9 May 1995: the time at power-up
enum {
  kOk = 0,
  kNoEntry = 2,
  kIo = 5,
  kExists = 17,
  kNotDirectory = 20,
  kIsDirectory = 21,
  kTooLarge = 27,
  kNoSpace = 28,
  kNameTooLong = 63,
  kNotEmpty = 66,
  kStale = 70
};
enum {
  kGetattr = 1,
  kSetattr = 2,
  kLookup = 4,
  kReadlink = 5,
  kRead = 6,
  kWrite = 8,
  kCreate = 9,
  kRemove = 10,
  kRename = 11,
  kHardLink = 12,
  kSymlink = 13,
  kMkdir = 14,
  kRmdir = 15,
  kReaddir = 16,
  kStatfs = 17
};
constexpr size_t kKnown = 256;

}  // namespace

// Reads XDR (RFC 4506). If data is missing, a read returns 0 or an empty text, and all later calls
// of bad() return true.
class NfsServer::In {
 public:
  In(const uint8_t* bytes, size_t count) : at_(bytes), end_(bytes + count) {}
  bool bad() const { return bad_; }

  uint32_t word() {
    if (end_ - at_ < 4) return fail();
    const uint32_t value = uint32_t(at_[0]) << 24 | at_[1] << 16 | at_[2] << 8 | at_[3];
    at_ += 4;
    return value;
  }
  std::string fixed(uint32_t count) {
    const uint32_t padded = (count + 3) & ~3u;
    if (uint64_t(end_ - at_) < padded || padded < count) return fail(), std::string();
    std::string value(reinterpret_cast<const char*>(at_), count);
    at_ += padded;
    return value;
  }
  std::string text(uint32_t limit) {
    const uint32_t count = word();
    if (count > limit) return fail(), std::string();
    return fixed(count);
  }
  uint32_t handle() {
    In inner(at_, size_t(end_ - at_));
    const uint32_t number = inner.word();
    fixed(kHandle);
    return number;
  }

 private:
  uint32_t fail() {
    bad_ = true;
    at_ = end_;
    return 0;
  }

  const uint8_t *at_, *end_;
  bool bad_ = false;
};

class NfsServer::Out {
 public:
  void word(uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(char(value >> shift));
  }
  void text(const std::string& value) {
    word(uint32_t(value.size()));
    bytes += value;
    bytes.resize((bytes.size() + 3) & ~size_t(3), '\0');
  }
  void handle(uint32_t number) {
    word(number);
    bytes.append(kHandle - 4, '\0');
  }
  void time(Time when) {
    word(kEpoch + uint32_t(when / kSecond));
    word(uint32_t(when % kSecond / kMicrosecond));
  }

  std::string bytes;
};

NfsServer::NfsServer(Time disk_write) : disk_write_(disk_write) {
  const uint32_t root = add(kDirectory, 0777, false, 0);
  for (const bool sync : {false, true}) {
    const uint32_t tree = add(kDirectory, 0777, sync, root);
    files_.at(root).names[sync ? "sync" : "async"] = tree;
  }
}

uint32_t NfsServer::add(uint32_t type, uint32_t mode, bool sync, uint32_t parent) {
  File file{};
  file.type = type, file.mode = mode & 07777;
  file.sync = sync, file.parent = parent;
  file.links = type == kDirectory ? 2 : 1;
  file.accessed = file.modified = file.changed = now_;
  files_.emplace(next_, std::move(file));
  return next_++;
}

NfsServer::File* NfsServer::find(uint32_t number) {
  const auto found = files_.find(number);
  return found == files_.end() ? nullptr : &found->second;
}

// Removes one name of a file. The removal of the last name removes the file.
void NfsServer::drop(uint32_t number) {
  File& file = files_.at(number);
  if (file.type != kDirectory && --file.links > 0) return;
  held_ -= file.data.size();
  files_.erase(number);
}

// Counts a change. On a synchronous server the answer waits for these disk writes, which happen one
// after another.
void NfsServer::update(bool sync, uint32_t disk_writes) {
  updates_++;
  if (!sync) return;
  writes_ += disk_writes;
  disk_free_ = std::max(disk_free_, now_) + disk_writes * disk_write_;
  ready_ = disk_free_;
}

std::optional<NfsServer::Reply> NfsServer::call(Time now, uint64_t client, const uint8_t* bytes,
                                                size_t count) {
  In in(bytes, count);
  const uint32_t xid = in.word(), type = in.word(), rpc = in.word();
  const uint32_t program = in.word(), version = in.word(), procedure = in.word();
  for (int part = 0; part < 2; part++) {  // credential and verifier are ignored
    in.word();
    in.text(400);
  }
  if (in.bad() || type != 0 || rpc != 2) return std::nullopt;
  for (const Known& known : known_) {
    if (known.client != client || known.xid != xid) continue;
    if (known.reply.ready > now) return std::nullopt;
    return Reply{known.reply.bytes, now};
  }
  now_ = ready_ = now;
  calls_++;
  Out out, result;
  for (const uint32_t word : {xid, 1u, 0u, 0u, 0u}) out.word(word);  // accepted, no verifier
  if ((program != kNfs && program != kMount) || version != (program == kNfs ? 2u : 1u)) {
    out.word(program == kNfs || program == kMount ? 2 : 1);  // PROG_MISMATCH, PROG_UNAVAIL
    if (program == kNfs || program == kMount)
      out.word(program == kNfs ? 2 : 1), out.word(program == kNfs ? 2 : 1);
  } else {
    bool known = true;
    if (program == kMount) {
      known = procedure <= 5;
      mount(procedure, in, result);
    } else {
      known = procedure == 0 || nfs(procedure, in, result);
    }
    out.word(!known ? 3 : in.bad() ? 4 : 0);  // PROC_UNAVAIL, GARBAGE_ARGS, SUCCESS
    if (known && !in.bad()) out.bytes += result.bytes;
  }
  known_.push_back({client, xid, {out.bytes, ready_}});
  if (known_.size() > kKnown) known_.pop_front();
  return known_.back().reply;
}

void NfsServer::mount(uint32_t procedure, In& in, Out& out) {
  if (procedure == 1) {  // MNT
    const std::string path = in.text(kPathMax);
    const File& root = files_.at(1);
    const auto found = root.names.find(path.empty() ? path : path.substr(1));
    out.word(found == root.names.end() ? uint32_t(kNoEntry) : uint32_t(kOk));
    if (found != root.names.end()) out.handle(found->second);
  } else if (procedure == 2 || procedure == 5) {  // DUMP, EXPORT: empty lists
    out.word(0);
  } else if (procedure == 3) {  // UMNT
    in.text(kPathMax);
  }
}

void NfsServer::attributes(uint32_t number, Out& out) {
  const File& file = files_.at(number);
  const uint32_t size = file.type == kDirectory ? 512 : uint32_t(file.data.size());
  out.word(file.type);
  out.word(kTypeBits[file.type] | file.mode);
  for (const uint32_t word :
       {file.links, file.uid, file.gid, size, 8192u, 0u, (size + 511) / 512}) {
    out.word(word);
  }
  out.word(file.sync);  // fsid
  out.word(number);
  for (const Time when : {file.accessed, file.modified, file.changed}) out.time(when);
}

NfsServer::Wanted NfsServer::wanted(In& in) {
  const Wanted asked{in.word(), in.word(), in.word(), in.word()};
  for (int word = 0; word < 4; word++) in.word();  // ignores the times: the server sets its own
  return asked;
}

// Changes the size of a file. Returns false, and changes nothing, if the server has no room.
bool NfsServer::resize(File& file, uint64_t size) {
  const uint64_t others = held_ - file.data.size();
  if (others + size > kCapacity) return false;
  file.data.resize(size_t(size), '\0');
  held_ = others + size;
  return true;
}

NfsServer::Status NfsServer::set_attributes(File& file, const Wanted& asked) {
  if (asked.size != kUnset && file.type == kRegular) {
    if (!resize(file, asked.size)) return kNoSpace;
    file.modified = now_;
  }
  if (asked.mode != kUnset) file.mode = asked.mode & 07777;
  if (asked.uid != kUnset) file.uid = asked.uid;
  if (asked.gid != kUnset) file.gid = asked.gid;
  file.changed = now_;
  return kOk;
}

NfsServer::Status NfsServer::write(File& file, uint32_t offset, const std::string& data) {
  if (file.type != kRegular) return kIsDirectory;
  const uint64_t end = uint64_t(offset) + data.size();
  if (end > 0x7fffffff) return kTooLarge;
  if (end > file.data.size() && !resize(file, end)) return kNoSpace;
  file.data.replace(offset, data.size(), data);
  file.modified = file.changed = now_;
  update(file.sync, end > kDirectBytes ? 3 : 2);
  return kOk;
}

NfsServer::Status NfsServer::remove(File& directory, const std::string& name, bool is_directory) {
  const auto found = directory.names.find(name);
  if (found == directory.names.end()) return kNoEntry;
  const File& file = files_.at(found->second);
  if (is_directory && file.type != kDirectory) return kNotDirectory;
  if (!is_directory && file.type == kDirectory) return kIsDirectory;
  if (is_directory && !file.names.empty()) return kNotEmpty;
  if (is_directory) directory.links--;
  drop(found->second);
  directory.names.erase(found);
  return kOk;
}

NfsServer::Status NfsServer::rename(File& from, const std::string& name, File& to,
                                    const std::string& other) {
  const auto found = from.names.find(name);
  if (found == from.names.end()) return kNoEntry;
  const uint32_t number = found->second;
  File& moved = files_.at(number);
  if (const auto old = to.names.find(other); old != to.names.end()) {
    if (old->second == number) return kOk;
    const File& replaced = files_.at(old->second);
    const Status status = remove(to, other, replaced.type == kDirectory);
    if (status != kOk) return status;
  }
  if (moved.type == kDirectory) from.links--, to.links++;
  from.names.erase(name);
  to.names[other] = number;
  return kOk;
}

// Executes the procedures that add a name to a directory or remove a name.
NfsServer::Status NfsServer::change_names(uint32_t procedure, In& in, Out& out) {
  const uint32_t linked = procedure == kHardLink ? in.handle() : 0;
  const uint32_t number = in.handle();
  const std::string name = in.text(kNameMax);
  File* directory = find(number);
  if (in.bad()) return kIo;
  if (!directory) return kStale;
  if (directory->type != kDirectory) return kNotDirectory;
  const bool sync = directory->sync, there = directory->names.count(name) > 0;
  Status status = kOk;
  if (procedure == kRemove || procedure == kRmdir) {
    status = remove(*directory, name, procedure == kRmdir);
  } else if (procedure == kRename) {
    const uint32_t into = in.handle();
    File* other = find(into);
    const std::string target = in.text(kNameMax);
    if (in.bad()) return kIo;
    if (!other || other->sync != sync) return kStale;
    if (other->type != kDirectory) return kNotDirectory;
    status = target.empty() ? Status(kNoEntry) : rename(*directory, name, *other, target);
    if (status == kOk) files_.at(other->names.at(target)).parent = into;
    other->modified = other->changed = now_;
  } else if (name.empty() || name == "." || name == "..") {
    return kExists;
  } else if (procedure == kCreate && there) {  // an existing file only gets a new size
    const uint32_t file = directory->names.at(name);
    const Wanted asked = wanted(in);
    if (in.bad()) return kIo;
    if (files_.at(file).type != kRegular) return kExists;
    status = set_attributes(files_.at(file), asked);
    out.handle(file);
    attributes(file, out);
  } else if (there) {
    return kExists;
  } else if (files_.size() >= kFiles) {
    return kNoSpace;
  } else if (procedure == kHardLink) {
    File* file = find(linked);
    if (!file) return kStale;
    if (file->type == kDirectory) return kIsDirectory;
    file->links++;
    directory->names[name] = linked;
  } else {
    const uint32_t type = procedure == kMkdir     ? kDirectory
                          : procedure == kSymlink ? kLink
                                                  : kRegular;
    const std::string target = procedure == kSymlink ? in.text(kPathMax) : std::string();
    const Wanted asked = wanted(in);
    if (in.bad()) return kIo;
    if (held_ + target.size() > kCapacity) return kNoSpace;
    const uint32_t file = add(type, 0777, sync, number);
    files_.at(file).data = target;
    held_ += target.size();
    status = set_attributes(files_.at(file), asked);
    if (status != kOk) {
      files_.erase(file);
      return status;
    }
    directory->names[name] = file;
    if (type == kDirectory) directory->links++;
    if (procedure != kSymlink) {
      out.handle(file);
      attributes(file, out);
    }
  }
  if (status != kOk) return status;
  directory->modified = directory->changed = now_;
  update(sync, 2);
  return kOk;
}

// A cookie is a position in the sorted list of names. If a name is added or removed between two
// calls, the cookie can point to a different name. Many servers of the time had this
// property.
void NfsServer::read_directory(uint32_t number, In& in, Out& out) {
  const uint32_t cookie = in.word();
  const uint32_t room = std::min(in.word(), kDataMax);
  const File* directory = find(number);
  if (!directory || directory->type != kDirectory) {
    out.word(directory ? kNotDirectory : kStale);
    return;
  }
  std::vector<std::pair<std::string, uint32_t>> entries = {
      {".", number}, {"..", directory->parent ? directory->parent : number}};
  entries.insert(entries.end(), directory->names.begin(), directory->names.end());
  out.word(kOk);
  const size_t before = out.bytes.size();
  uint32_t next = cookie;
  for (; next < entries.size(); next++) {
    const auto& [name, file] = entries[next];
    if (out.bytes.size() - before + name.size() + 28 > room) break;
    out.word(1);
    out.word(file);
    out.text(name);
    out.word(next + 1);
  }
  out.word(0);
  out.word(next >= entries.size());
}

// LOOKUP: finds a name in a directory.
void NfsServer::look_up(uint32_t number, In& in, Out& out) {
  const File* file = find(number);
  const std::string name = in.text(kNameMax);
  const auto found = file->names.find(name);
  const bool self = name == "." || name == "..";
  if (file->type != kDirectory || (!self && found == file->names.end())) {
    out.word(file->type != kDirectory ? kNotDirectory : kNoEntry);
    return;
  }
  const uint32_t other = name == "." ? number : name == ".." ? file->parent : found->second;
  out.word(kOk);
  out.handle(other ? other : number);
  attributes(other ? other : number, out);
}

// Executes one procedure of NFS. Returns false if the procedure does not exist.
bool NfsServer::nfs(uint32_t procedure, In& in, Out& out) {
  if (procedure >= kCreate && procedure <= kRmdir) {
    Out result;
    const Status status = change_names(procedure, in, result);
    out.word(status);
    if (status == kOk) out.bytes += result.bytes;
    return true;
  }
  if (procedure > kStatfs || procedure == 3 || procedure == 7) return false;
  const uint32_t number = in.handle();
  File* file = find(number);
  if (procedure == kReaddir) {
    read_directory(number, in, out);
    return true;
  }
  if (!file) {
    out.word(kStale);
    return true;
  }
  const auto answer = [&](Status status) {
    out.word(status);
    if (status == kOk) attributes(number, out);
  };
  switch (procedure) {
    case kGetattr:
      answer(kOk);
      break;
    case kSetattr: {
      const Wanted asked = wanted(in);
      const Status status = in.bad() ? Status(kIo) : set_attributes(*file, asked);
      if (status == kOk) update(file->sync, 1);
      answer(status);
      break;
    }
    case kLookup:
      look_up(number, in, out);
      break;
    case kReadlink:
      out.word(file->type == kLink ? uint32_t(kOk) : uint32_t(kIo));
      if (file->type == kLink) out.text(file->data);
      break;
    case kRead: {
      const uint32_t offset = in.word(), count = std::min(in.word(), kDataMax);
      in.word();
      if (file->type == kDirectory) {
        out.word(kIsDirectory);
        break;
      }
      file->accessed = now_;
      answer(kOk);
      out.text(offset < file->data.size() ? file->data.substr(offset, count) : std::string());
      break;
    }
    case kWrite: {
      in.word();
      const uint32_t offset = in.word();
      in.word();
      const std::string data = in.text(kDataMax);
      answer(in.bad() ? Status(kIo) : write(*file, offset, data));
      break;
    }
    default:  // STATFS: transfer size, block size, blocks, free, free for all
      for (const uint32_t word :
           {uint32_t(kOk), kDataMax, 8192u, uint32_t(kCapacity >> 13),
            uint32_t((kCapacity - held_) >> 13), uint32_t((kCapacity - held_) >> 13)}) {
        out.word(word);
      }
  }
  return true;
}

}  // namespace device::ne2000
