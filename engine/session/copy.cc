// SPDX-License-Identifier: MIT
#include "session/copy.hh"

#include <unistd.h>

#include <cerrno>

namespace session {
namespace {

bool write_all(int to, const char* bytes, ssize_t length) {
  while (length > 0) {
    const ssize_t written = write(to, bytes, size_t(length));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    if (written == 0) return errno = ENOSPC, false;
    bytes += written;
    length -= written;
  }
  return true;
}

}  // namespace

bool copy_content(int from, int to) {
  char buffer[1 << 14];
  for (;;) {
    const ssize_t length = read(from, buffer, sizeof buffer);
    if (length == 0) return true;
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 || !write_all(to, buffer, length)) return false;
  }
}

}  // namespace session
