// SPDX-License-Identifier: MIT
#include "session/server.hh"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "session/ending.hh"
#include "session/own_files.hh"

namespace session {
namespace {

constexpr int kRequests = STDIN_FILENO;

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

void become(const Request& request, pid_t server, const std::vector<std::string>& closed) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != server) _exit(0);
  close(request.answer);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, kRequests);
  close(nothing);
  char below[PATH_MAX];
  if (!getcwd(below, sizeof below)) die(kNoOutput, "working directory");
  if (chdir(request.directory.c_str()) != 0) die(kNoOutput, request.directory);
  take_files(std::string(below) + "/", closed);
}

struct Child {
  pid_t pid;
  int answer, ended;  // `ended` becomes readable when the child ends
};

}  // namespace

void serve(const std::vector<std::string>& closed) {
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
      return become(request, server, closed);
    }
    say(request.answer, "pid", pid);
    close(request.keep);
    children.push_back({pid, request.answer, int(syscall(SYS_pidfd_open, pid, 0))});
    if (children.back().ended < 0) die(kNoOutput, "pidfd_open");
  }
}

}  // namespace session
