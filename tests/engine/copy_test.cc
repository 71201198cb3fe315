// SPDX-License-Identifier: MIT
// Does a copy (engine/session/copy.hh) contain everything, and what is the reason of a failure?
#include "session/copy.hh"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

#include "scratch.hh"

using session::copy_content;

namespace {

// Limits the size of the files that this process writes. A write beyond the limit behaves like a
// write to a full disk: it writes the part before the limit, and only the next write fails.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit now = before_;
    now.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~SizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_;
  void (*handler_)(int);
};

struct Files {
  explicit Files(const std::string& text) : source(text) {
    from = open(source.path().c_str(), O_RDONLY);
    to = open(target.path().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    REQUIRE(from >= 0);
    REQUIRE(to >= 0);
  }
  ~Files() { close(from), close(to); }

  Scratch source, target;
  int from, to;
};

}  // namespace

TEST_CASE("copy: a copy contains the rest of the file") {
  std::string text;
  for (int i = 0; i < 10'000; i++) text += std::to_string(i) + "\n";  // several blocks
  Files files(text);
  lseek(files.from, 7, SEEK_SET);
  CHECK(copy_content(files.from, files.to));
  CHECK(files.target.content() == text.substr(7));
}

TEST_CASE("copy: errno has the reason if only a part of a block fits") {
  Files files(std::string(1000, 'x'));
  errno = 0;
  bool copied;
  {
    const SizeLimit limit(600);
    copied = copy_content(files.from, files.to);
  }
  CHECK(!copied);
  CHECK(errno == EFBIG);
  CHECK(files.target.content() == std::string(600, 'x'));
}

TEST_CASE("copy: errno has the reason if the device is full") {
  Files files("some text");
  const int full = open("/dev/full", O_WRONLY);
  CHECK(!copy_content(files.from, full));
  CHECK(errno == ENOSPC);
  close(full);
}

TEST_CASE("copy: a file that cannot be read is an error") {
  Files files("some text");
  CHECK(!copy_content(files.to, files.to));
  CHECK(errno == EBADF);
}
