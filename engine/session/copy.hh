// SPDX-License-Identifier: MIT
// How does the engine copy the content of an open file?
#pragma once

namespace session {

// Copies the rest of the file `from` to the file `to`. Returns false if reading or writing fails;
// errno contains the reason. A full disk writes only a part of a block and sets no errno, so the
// function then writes the other part, which gives the reason.
bool copy_content(int from, int to);

}  // namespace session
