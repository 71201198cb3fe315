// SPDX-License-Identifier: MIT
// Boot once, run many: a booted engine forks a child for every run directory that is requested.
#pragma once

namespace session {

// Serves requests from the socket that is standard input; does not return in this process.
//
// A request is one packet, the path of a run directory, with two file descriptors: the pipe to
// answer on, and one that the child only keeps open (the lock on its directory). The answer is
// "pid N\n" when the child has started and "status N\n" when it has ended, N as of wait(2).
//
// Returns in each child, whose working directory is the run directory. Every file below the old
// working directory that was open for writing is continued there as a copy, so that it reads as
// if this run alone had written it from the start; no file offset is shared with anyone.
// The child dies with its server. At the end of requests the server ends with status 0.
void serve();

}  // namespace session
