// SPDX-License-Identifier: MIT
// How does a run follow a guest that p5lab has built? The boot ROM loads its image. The ready
// marker of the guest is the ready point: observations begin there, and a script beside the
// program. The program ends the run.
#pragma once

#include <string>

#include "session/session.hh"

namespace session {

class ImageSession : public Session {
 public:
  using Session::Session;

  void begin() override;
  bool watches_programs() const override { return true; }
  void guest_reset() override;
  void guest_halted() override {}  // the limit ends the run

 private:
  MarkerResult load() override;
  bool marked_ready() override;
  void ending(uint32_t status) override;
  void take_job(bool is_copy) override;
  void script_ended() override { driver_.drop(); }  // the program ends the run
  void time_is_up(const std::string& reached) override;
  void stands(const std::string& why) override { end_.fail(why + time_.text()); }

  bool loaded_ = false;
};

}  // namespace session
