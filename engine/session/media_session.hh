// SPDX-License-Identifier: MIT
// How does a run follow a guest that boots from the user's own media? Most programs of such a guest
// do not call the engine, so a script or a person drives the guest from reset, and the run is
// observed from reset. The script or a limit ends the run.
#pragma once

#include <string>
#include <vector>

#include "session/session.hh"

namespace session {

class MediaSession : public Session {
 public:
  using Session::Session;

  void begin() override;
  bool watches_programs() const override { return false; }
  void guest_reset() override;
  void guest_halted() override;

 private:
  // The script says when such a guest is ready. The boot ROM loads nothing.
  MarkerResult load() override { return {}; }
  bool marked_ready() override { return false; }
  void ending(uint32_t) override {}
  void take_job(bool is_copy) override;
  std::vector<std::string> changed_files() const override;
  void script_ended() override { end_.exit(0, driver_.reached()); }
  void time_is_up(const std::string& reached) override { end_.exit(0, reached); }
  void stands(const std::string& why) override;
  void keep(bool is_ok) override;

  const MediaBoot& boot() const { return std::get<MediaBoot>(conf_.config().boot); }
  // All steps of the script.
  std::vector<Step> steps() const;

  uint64_t resets_ = 0;
};

}  // namespace session
