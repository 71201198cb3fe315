// SPDX-License-Identifier: MIT
// How do a script and a person drive the guest, and what follows from each step? A script
// (script.hh) does the steps of boot.conf and job.conf. A person adds steps (viewer.hh).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "session/run_end.hh"
#include "session/screens.hh"
#include "session/script.hh"
#include "session/viewer.hh"
#include "session/virtual_time.hh"

namespace session {

class Driver {
 public:
  // What else a run does at a step, and when its script has ended.
  struct Follows {
    std::function<void()> ready;  // the ready point
    std::function<void()> ended;
  };

  // All arguments must exist longer than this object.
  Driver(Emulator& emulator, Screens& screens, Measurement& measurement, RunEnd& end,
         const InvalidOpcodes& invalid, const VirtualTime& time, Follows follows);

  // A script begins now. `serial`: the file with the guest's text, in which steps search.
  void begin(std::vector<Step> steps, const std::string& serial);
  // A person drives the machine through the socket on standard input. The script never ends.
  void let_person_drive();
  // Replaces all steps that follow the ready point.
  void replace(std::vector<Step> steps);

  // Whether a script or a person drives the guest now.
  bool drives() const { return script_ != nullptr; }
  // Returns the clock after which look() must be called.
  uint64_t next_look() const;
  // Does what is due, and ends the run if the script or the person does.
  void look(uint64_t now);
  // The guest can do nothing more. Does the steps that need nothing from it. The run fails if there
  // are others; `why` is the end of the message.
  void run_out(const std::string& why);
  // The time of the run is up. Ends the run if a step is not done; `reached` is the limit.
  void late(const std::string& reached);
  // What the script of a guest with its own media has reached: the reason of its end.
  std::string reached() const;
  // The script has ended, and the run goes on.
  void drop() { script_.reset(); }

 private:
  void follow(Script::State state);
  void done(const Step& step);
  // Keeps the screen of the step that is not done. Returns the beginning of a message about it.
  std::string not_done();
  void keep(const Step& step, const char* how);

  Emulator& emulator_;
  Screens& screens_;
  Measurement& measurement_;
  RunEnd& end_;
  const InvalidOpcodes& invalid_;
  const VirtualTime& time_;
  const Follows follows_;
  std::unique_ptr<Script> script_;  // null: the limit or the program ends the run
  std::unique_ptr<Viewer> viewer_;  // null: nobody drives the machine
};

}  // namespace session
