// SPDX-License-Identifier: MIT
// One object contains the parts of the chip that work together on each access. Fetch and DataPath
// are bases of this object. Fetch and DataPath therefore find the other parts at fixed offsets, and
// need not load a pointer.
#pragma once

#include "p5/caches.hh"
#include "p5/config.hh"
#include "p5/core.hh"
#include "p5/data_path.hh"
#include "p5/fetch.hh"
#include "p5/fetch_ahead.hh"
#include "p5/pipes.hh"
#include "p5/prediction.hh"
#include "p5/timing.hh"
#include "p5/translation.hh"
#include "p5/x87.hh"

namespace p5 {

// Fetch and DataPath exist only as bases of a Chip, because their chip() casts `this` to Chip.
struct Chip : Fetch, DataPath {
  Chip(const Config& config, const TimingTable& timing, Platform& platform)
      : Fetch(config),
        DataPath(config),
        core(config, timing, platform),
        caches(core),
        translation(core, caches),
        pipes(config),
        prediction(core, pipes),
        x87(core),
        ahead(core, caches) {
    caches.memory.waiting = &ahead;
  }

  Fetch& fetch() { return *this; }
  const Fetch& fetch() const { return *this; }
  DataPath& data_path() { return *this; }

  Core core;
  Caches caches;
  Translation translation;
  Pipes pipes;
  Prediction prediction;
  X87 x87;
  FetchAhead ahead;
};

inline Chip& Fetch::chip() { return static_cast<Chip&>(*this); }
inline Chip& DataPath::chip() { return static_cast<Chip&>(*this); }

}  // namespace p5
