// SPDX-License-Identifier: MIT
// What do the two files of a run say? boot.conf has the machine and what it boots. job.conf has
// what the run does then. Runs that share a boot have equal boot.conf files, and each reads its own
// job.conf whole.
#pragma once

#include <string>
#include <vector>

#include "base/settings.hh"
#include "devices/device.hh"
#include "p5/timing.hh"
#include "session/job.hh"
#include "session/observation.hh"
#include "session/run_config.hh"

namespace session {

class Conf {
 public:
  // Reads both files in the working directory. An error ends the process with one line and status
  // kBadInput.
  Conf();

  base::Settings& boot() { return boot_; }
  const RunConfig& config() const { return config_; }
  const p5::TimingTable& timing() const { return timing_; }
  const Job& job() const { return job_; }
  const Observation& observation() const { return observation_; }
  device::Devices& devices() { return devices_; }

  // Programs get no command line from now on, because runs with other jobs can share this time.
  void hide_job() { job_.command.clear(); }
  // Reads job.conf again.
  void read_job();
  // The guest is ready. Returns true if this process is now a copy of another one, which continues
  // in the directory of its own run and has read its job. `changed`: names of files that the copy
  // needs, beside the open ones.
  bool share(const std::vector<std::string>& changed);

 private:
  void read_boot();
  void check_boot() const;

  base::Settings boot_;
  RunConfig config_;
  device::Devices devices_;
  p5::TimingTable timing_;
  Job job_;
  Observation observation_;
};

}  // namespace session
