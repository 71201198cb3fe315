// SPDX-License-Identifier: MIT
// What is one step of a script (script.hh), and how does the parameter file describe it?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agenda.hh"
#include "pattern.hh"
#include "settings.hh"

namespace session {

struct Step {
  enum class Kind : uint8_t { Wait, Keys, Pause, Insert, Begin, End };
  // The codes of keys that are pressed together (Console::key), the first one first.
  using Chord = std::vector<std::string>;

  Kind kind = Kind::Pause;
  Pattern wanted;                    // Wait
  base::Time within = base::kNever;  // Wait: the longest time of the step
  std::vector<Chord> chords;         // Keys
  base::Time pause = 0;              // Pause
  unsigned drive = 0;                // Insert: 0 is A, 1 is B
  std::string path;                  // Insert
  uint32_t phase = 0;                // Begin, End
  std::string title;                 // for messages; empty: the text of --until

  // Reads the keys run.step.0.*, run.step.1.* and so on; `settings` keeps the first error.
  static std::vector<Step> read_all(base::Settings& settings);
};

}  // namespace session
