// SPDX-License-Identifier: MIT
// What is one step of a script (script.hh), and how does the parameter file describe it?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/agenda.hh"
#include "base/settings.hh"
#include "session/pattern.hh"

namespace session {

struct Step {
  enum class Kind : uint8_t { Wait, Keys, Pause, Insert, Begin, End, Ready, Move, Click };
  // The codes of keys that are pressed together (Console::key), the first one first.
  using Chord = std::vector<std::string>;

  static constexpr int kButtons = 3;         // both buttons of the mouse
  static constexpr int kFarthest = 100'000;  // counts

  Kind kind = Kind::Pause;
  Pattern wanted;                    // Wait
  base::Time within = base::kNever;  // Wait: the longest time of the step
  std::vector<Chord> chords;         // Keys
  base::Time pause = 0;              // Pause
  unsigned drive = 0;                // Insert: 0 is A, 1 is B
  std::string path;                  // Insert
  uint32_t phase = 0;                // Begin, End
  int right = 0, down = 0;           // Move: counts of the mouse
  unsigned holding = 0;              // Move: the buttons that are down (Console::mouse)
  std::vector<unsigned> clicks;      // Click: the buttons of each click
  std::string title;                 // for messages; empty: the text of --until

  // Reads the keys run.step.N.*, from N = `first` on; `settings` keeps the first error.
  static std::vector<Step> read_all(base::Settings& settings, size_t first = 0);
};

}  // namespace session
