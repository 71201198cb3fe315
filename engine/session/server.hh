// SPDX-License-Identifier: MIT
// How do many runs share one boot? A booted engine forks a child for each run directory that a
// client requests.
#pragma once

namespace session {

// Serves requests from the socket on standard input. It does not return in this process.
//
// A request is one packet: the path of a run directory, with two file descriptors. The first is the
// pipe for the answers. The child only keeps the second open (the lock on its directory). The
// answer is "pid N\n" when the child has started, and "status N\n" when it has ended; N is the
// status of wait(2).
//
// serve() returns in each child, with the run directory as its working directory. Each file below
// the old working directory that was open for writing continues there as a copy. The copy reads as
// if this run alone had written it from the start. Processes share no file offset. The child dies
// with its server. After the last request the server ends with status 0.
void serve();

}  // namespace session
