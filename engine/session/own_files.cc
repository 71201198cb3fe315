// SPDX-License-Identifier: MIT
#include "session/own_files.hh"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "session/copy.hh"
#include "session/ending.hh"

namespace session {
namespace {

int checked(int descriptor, const std::string& name) {
  if (descriptor < 0) die(kNoOutput, name);
  return descriptor;
}

void replace(int descriptor, int by, off_t offset) {
  lseek(by, offset, SEEK_SET);
  if (by == descriptor) return;
  dup2(by, descriptor);
  close(by);
}

// Copies the content of a file, from its beginning, to a file in the current directory. Returns the
// descriptor of the copy.
int copy_of(const std::string& from, const std::string& name) {
  const int content = checked(open(from.c_str(), O_RDONLY | O_CLOEXEC), name);
  const int own = checked(open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), name);
  if (!copy_content(content, own)) die(kNoOutput, name);
  close(content);
  return own;
}

}  // namespace

void die(int status, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), std::strerror(errno));
  std::fflush(nullptr);
  _exit(status);
}

std::vector<OpenFile> open_files() {
  std::vector<OpenFile> files;
  DIR* directory = opendir("/proc/self/fd");
  if (!directory) die(kNoOutput, "/proc/self/fd");
  while (const dirent* entry = readdir(directory)) {
    const int descriptor = std::atoi(entry->d_name);
    struct stat status;
    if (entry->d_name[0] == '.' || descriptor == dirfd(directory)) continue;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) continue;
    char target[PATH_MAX];
    const ssize_t length =
        readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), target, sizeof target);
    if (length <= 0) continue;
    files.push_back({descriptor, fcntl(descriptor, F_GETFL), std::string(target, size_t(length))});
  }
  closedir(directory);
  return files;
}

void take_files(const std::string& below, const std::vector<std::string>& closed) {
  std::map<std::string, int> taken;  // files open for writing: path, descriptor
  for (const OpenFile& file : open_files()) {
    const bool written = (file.flags & O_ACCMODE) != O_RDONLY;
    const bool inside = file.path.compare(0, below.size(), below) == 0;
    if (written && !inside) continue;  // not a file of this run, but the lock
    const std::string now = "/proc/self/fd/" + std::to_string(file.descriptor);
    const off_t offset = lseek(file.descriptor, 0, SEEK_CUR);
    if (!written) {
      replace(file.descriptor, checked(open(now.c_str(), file.flags | O_CLOEXEC), file.path),
              offset);
      continue;
    }
    const std::string name = file.path.substr(below.size());
    const auto [known, first] = taken.insert({name, file.descriptor});
    if (!first) {  // standard output and error are the same file
      dup2(known->second, file.descriptor);
      continue;
    }
    replace(file.descriptor, copy_of(now, name), offset);
  }
  for (const std::string& name : closed) {
    if (!taken.count(name)) close(copy_of(below + name, name));
  }
}

void reopen(const OpenFile& file, const std::string& path, off_t offset) {
  replace(file.descriptor, checked(open(path.c_str(), file.flags | O_CLOEXEC), path), offset);
}

}  // namespace session
