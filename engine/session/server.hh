// SPDX-License-Identifier: MIT
// How do many runs share one boot? A booted engine forks a child for each run directory that a
// client requests.
#pragma once

namespace session {

// Serves requests from the socket on standard input. serve() does not return in the server's
// process.
//
// A request is one packet with the path of a run directory and two file descriptors. The first file
// descriptor is the pipe for the answers. The second file descriptor is the lock on the run
// directory, and the child only keeps it open. When the child has started, the answer is "pid N\n".
// When the child has ended, the answer is "status N\n"; N is the status of wait(2).
//
// serve() returns in each child, with the run directory as its working directory. Files below the
// old working directory that were open for writing continue as copies in the run directory. A copy
// has the same content as if this run had written the file from the start. The processes share no
// file offset. If the server ends, the kernel kills the child. After the last request the server
// ends with status 0.
void serve();

}  // namespace session
