// SPDX-License-Identifier: MIT
#include "session/conf.hh"

#include "session/ending.hh"
#include "session/saved_state.hh"
#include "session/server.hh"

namespace session {
namespace {

const char *const kBootConf = "boot.conf", *const kJobConf = "job.conf";

base::Settings load(const char* path) {
  base::Settings settings;
  std::string error;
  if (!settings.load(path, &error)) reject(error);
  return settings;
}

}  // namespace

Conf::Conf() : boot_(load(kBootConf)), devices_(device::Devices::all()) {
  read_boot();
  read_job();
}

void Conf::read_boot() {
  config_ = RunConfig::read(boot_);
  devices_.read(boot_);
  // A guest with its own media is observed from reset, and all its runs in the same way.
  if (std::holds_alternative<MediaBoot>(config_.boot))
    observation_ = Observation::read(boot_, config_);
  if (!boot_.finish().empty()) reject(boot_.error());
  std::string error;
  if (config_.machine.flat)
    timing_ = p5::TimingTable::flat();
  else if (!timing_.load(config_.timing_table, &error))
    reject(error);
}

void Conf::read_job() {
  base::Settings settings = load(kJobConf);
  const auto* media = std::get_if<MediaBoot>(&config_.boot);
  job_ = Job::read(settings, media ? media->steps.size() : 0);
  devices_.read_job(settings);
  if (!media) observation_ = Observation::read(settings, config_);
  if (!settings.finish().empty()) reject(settings.error());
}

bool Conf::share(const std::vector<std::string>& changed) {
  if (job_.serve) {
    serve(changed);
    check_boot();
  } else if (job_.save_state.empty() || !save_state(job_.save_state, changed)) {
    return false;
  }
  read_job();
  return true;
}

// Compares the boot of this process with the one that its run expects.
void Conf::check_boot() const {
  const std::string other = load(kBootConf).difference(boot_);
  if (!other.empty())
    reject(std::string(kBootConf) + ": " + other +
           ": differs from the value of the booted machine");
}

}  // namespace session
