// SPDX-License-Identifier: MIT
// How do many runs share one boot? A booted engine forks a child for each run directory that a
// client requests.
#pragma once

#include <string>
#include <vector>

namespace session {

// Serves requests from the socket on standard input. serve() does not return in the server's
// process.
//
// A request is one packet with the path of a run directory and two file descriptors. The first file
// descriptor is the pipe for the answers. The second file descriptor is the lock on the run
// directory. The child keeps this descriptor open and does not use it in any other way. When the
// child has started, the answer is "pid N\n". When the child has ended, the answer is "status N\n";
// N is the status of wait(2).
//
// serve() returns in each child, with the run directory as its working directory. The server may
// have opened files for writing below the server's own working directory. The child writes to a
// copy of each of these files in the run directory. At first, a copy contains everything that the
// server has written to the file. `closed` contains the names of further files of the server, which
// need not be open. The child gets a copy of each of them. The processes share no file offset. If
// the server ends, the kernel kills the child. After the last request the server ends with status
// 0.
void serve(const std::vector<std::string>& closed);

}  // namespace session
