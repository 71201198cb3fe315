// SPDX-License-Identifier: MIT
#include "server.hh"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "copy.hh"
#include "ending.hh"

namespace session {
namespace {

constexpr int kRequests = STDIN_FILENO;

[[noreturn]] void die(int status, const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), std::strerror(errno));
  std::fflush(nullptr);
  _exit(status);
}

struct Request {
  std::string directory;
  int answer = -1, keep = -1;
};

// Receives the next request. Returns false if there are no more requests.
bool receive(Request* request) {
  char path[PATH_MAX];
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))];
  iovec part{path, sizeof path};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t length;
  do length = recvmsg(kRequests, &message, 0);
  while (length < 0 && errno == EINTR);
  if (length <= 0) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(2 * sizeof(int))) {
    errno = EPROTO;
    die(kBadInput, "request without its two file descriptors");
  }
  int descriptors[2];
  std::memcpy(descriptors, CMSG_DATA(header), sizeof descriptors);
  *request = {std::string(path, size_t(length)), descriptors[0], descriptors[1]};
  return true;
}

void say(int pipe, const char* what, int number) {
  // The client may have ended, so the result of the write is ignored.
  dprintf(pipe, "%s %d\n", what, number);
}

struct OpenFile {
  int descriptor, flags;
  std::string path;
};

// Returns the open regular files of this process.
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

int checked(int descriptor, const std::string& name) {
  if (descriptor < 0) die(kNoOutput, name);
  return descriptor;
}

void replace(int descriptor, int by, off_t offset) {
  lseek(by, offset, SEEK_SET);
  dup2(by, descriptor);
  close(by);
}

// Copies the open files of the server's directory to the current directory. Opens each copy with a
// separate file offset.
void take_files(const std::string& below) {
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
    const int content = checked(open(now.c_str(), O_RDONLY | O_CLOEXEC), name);
    const int own = checked(open(name.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), name);
    if (!copy_content(content, own)) die(kNoOutput, name);
    close(content);
    replace(file.descriptor, own, offset);
  }
}

void become(const Request& request, pid_t server) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server) _exit(0);
  close(request.answer);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, kRequests);
  close(nothing);
  char below[PATH_MAX];
  if (!getcwd(below, sizeof below)) die(kNoOutput, "working directory");
  if (chdir(request.directory.c_str()) != 0) die(kNoOutput, request.directory);
  take_files(std::string(below) + "/");
}

struct Child {
  pid_t pid;
  int answer, ended;  // `ended` becomes readable when the child ends
};

}  // namespace

void serve() {
  signal(SIGPIPE, SIG_IGN);
  const pid_t server = getpid();
  std::vector<Child> children;
  for (;;) {
    std::vector<pollfd> waits{{kRequests, POLLIN, 0}};
    for (const Child& child : children) waits.push_back({child.ended, POLLIN, 0});
    if (poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) die(kNoOutput, "poll");
    for (size_t i = children.size(); i-- > 0;) {
      int status = 0;
      if (!waits[i + 1].revents || waitpid(children[i].pid, &status, WNOHANG) <= 0) continue;
      say(children[i].answer, "status", status);
      close(children[i].answer);
      close(children[i].ended);
      children.erase(children.begin() + long(i));
    }
    if (!waits[0].revents) continue;
    Request request;
    if (!receive(&request)) _exit(0);
    std::fflush(nullptr);  // otherwise the child would write the buffers again
    const pid_t pid = fork();
    if (pid < 0) die(kNoOutput, "fork");
    if (pid == 0) {
      for (const Child& child : children) close(child.answer), close(child.ended);
      return become(request, server);
    }
    say(request.answer, "pid", pid);
    close(request.keep);
    children.push_back({pid, request.answer, int(syscall(SYS_pidfd_open, pid, 0))});
    if (children.back().ended < 0) die(kNoOutput, "pidfd_open");
  }
}

}  // namespace session
