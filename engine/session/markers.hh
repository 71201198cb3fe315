// SPDX-License-Identifier: MIT
// What does the engine answer to each marker of the guest?
#pragma once

#include <cstdint>
#include <string>

#include "session/job.hh"
#include "session/marker.hh"
#include "session/measurement.hh"
#include "session/output.hh"
#include "session/run_end.hh"

namespace session {

class Markers {
 public:
  // What a run does at the markers that change its course. It depends on what boots.
  class Course {
   public:
    virtual ~Course() = default;
    // The boot ROM wants the files of the guest.
    virtual MarkerResult load() = 0;
    // The guest says that it is ready. Returns false if the run takes no notice.
    virtual bool marked_ready() = 0;
    // The guest is about to end the run with this exit status.
    virtual void ending(uint32_t status) = 0;
  };

  // `output`: the file for the text of the guest's programs. All arguments must exist longer than
  // this object.
  Markers(Course& course, const Job& job, Measurement& measurement, RunEnd& end, Output& output,
          p5::Pentium& model, Emulator& emulator)
      : course_(course),
        job_(job),
        measurement_(measurement),
        end_(end),
        output_(output),
        model_(model),
        emulator_(emulator) {}

  MarkerResult operator()(const MarkerCall& call);

 private:
  [[noreturn]] void abort(uint32_t code);
  MarkerResult read_counter(uint32_t number) const;
  void program_output(uint32_t bytes, uint32_t count);
  MarkerResult with_buffer(const MarkerCall& call);

  Course& course_;
  const Job& job_;
  Measurement& measurement_;
  RunEnd& end_;
  Output& output_;
  p5::Pentium& model_;
  Emulator& emulator_;
};

}  // namespace session
