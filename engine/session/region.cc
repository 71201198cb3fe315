// SPDX-License-Identifier: MIT
#include "session/region.hh"

#include <fstream>
#include <sstream>
#include <utility>

namespace session {

RegionPlace RegionPlace::read(base::Settings& settings) {
  RegionPlace place;
  if (!settings.has("run.region")) return place;
  const std::string path = settings.text("run.region");
  std::ifstream file(path);
  std::string line, form;
  if (!std::getline(file, line)) {
    settings.fail("run.region", path + " cannot be read");
    return place;
  }
  std::istringstream words(line);
  uint64_t entry = 0;
  words >> form >> std::hex >> entry >> place.page;
  if (!std::getline(words >> std::ws, place.name) || (form != "fixed" && form != "moved")) {
    settings.fail("run.region", path + ": expected `fixed|moved ADDRESS DIGEST NAME`");
  }
  place.entry = p5::Linear(entry);
  place.fixed = form == "fixed";
  return place;
}

Region::Step Region::enter(const p5::State& state, p5::Linear linear, p5::Linear stack,
                           p5::Linear thread) {
  if (known_ && state.cr3 != space_) return Step::None;
  uint32_t physical = 0;
  if (!guest_.code(linear, true, &physical)) return Step::None;
  const uint8_t* page = guest_.page(physical & ~uint32_t(kOffset));
  if (!page || measure::Functions::digest(page) != place_.page) return Step::None;
  known_ = open_ = true;
  space_ = state.cr3;
  stack_ = stack;
  thread_ = thread;
  calls_++;
  return Step::Enter;
}

Region::Step Region::leave(const p5::State& state, p5::Linear thread) {
  if (state.cr3 != space_ || thread != thread_) return Step::None;
  open_ = false;
  return Step::Leave;
}

Region::Step Region::program_ended() {
  return std::exchange(open_, false) ? Step::Leave : Step::None;
}

}  // namespace session
