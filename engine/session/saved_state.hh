// SPDX-License-Identifier: MIT
// How is a ready system kept in files, so that another process can continue its run? All memory of
// the engine is saved: the emulated machine, the model, and what the run has counted. So nothing
// can be forgotten, and the events that follow are the same bytes. p5lab packs the files into one.
#pragma once

#include <string>
#include <vector>

namespace session {

// Creates `directory` and saves this process in it: its memory as the file `image`
// (restore/saved_image.hh), and copies of its files (own_files.hh). Returns false.
//
// Returns true in a process that the program p5restore has made of these files. They must be in
// its working directory, which is that of its run.
bool save_state(const std::string& directory, const std::vector<std::string>& closed);

}  // namespace session
