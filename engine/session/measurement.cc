// SPDX-License-Identifier: MIT
#include "session/measurement.hh"

#include "base/declared.hh"
#include "session/counted.hh"

namespace session {

Measurement::Measurement(p5::Pentium& model, const RunConfig& config, const Observation& wanted,
                         base::Settings& boot, observe::Guest& guest)
    : model_(model),
      config_(config),
      wanted_(wanted),
      boot_(boot),
      guest_(guest),
      observers_(model, config, guest) {}

void Measurement::open_events() {
  const auto has = [this](base::events::Part part) {
    return base::present(boot_, base::declaration(part));
  };
  events_ = std::make_unique<EventStream>(
      model_, counted_events(has, wanted_.cpi, config_.cmov, config_.nominal), config_.shadow_names,
      observers_.shadows());
  events_->open(config_.events, config_.machine.clock_hz());
}

void Measurement::open() {
  observers_.open(
      wanted_, [this](const char* op, uint32_t number) { events_->marker("interval", op, number); },
      events_->counted());
}

std::string Measurement::start() {
  observers_.start();
  return begin(kBoot);
}

void Measurement::ready(const RegionPlace& region) {
  observers_.ready(events_->counted());
  if (region.name.empty()) return;
  region_ = std::make_unique<Region>(region, guest_);
  model_.watch_each(true);  // the engine must see each instruction
}

std::string Measurement::begin(uint32_t phase) {
  const std::string problem = brackets_.begin(phase);
  if (!problem.empty()) return problem;
  events_->marker("marker", "begin", phase);
  observers_.begin(phase, brackets_);
  return "";
}

std::string Measurement::end(uint32_t phase) {
  std::string problem;
  if (region_ && phase == kWhole) problem = cross(region_->program_ended());
  if (problem.empty()) problem = brackets_.end(phase);
  if (!problem.empty()) return problem;
  events_->marker("marker", "end", phase);
  brackets_.close();
  observers_.end(brackets_);
  return "";
}

std::string Measurement::cross(Region::Step step) {
  if (step == Region::Step::None || !region_->measures()) return "";
  return step == Region::Step::Enter ? begin(kRegion) : end(kRegion);
}

std::string Measurement::exit() const {
  const std::string problem = brackets_.exit(), differs = observers_.differs();
  return problem.empty() ? differs : problem;
}

bool Measurement::name_phase(uint32_t phase, const std::string& name) {
  bool is_new = false;
  if (!names_.add(phase, name, &is_new)) return false;
  if (is_new) events_->note("phase-name", name, phase);
  return true;
}

bool Measurement::total(uint32_t number, uint64_t* count) const {
  if (number >= events_->counted().size()) return false;
  *count = model_.counters().total(p5::Event(events_->counted()[number]));
  return true;
}

void Measurement::finish(const std::string& status, const std::string& reason,
                         uint32_t guest_status) {
  observers_.finish(events_->counted());
  if (region_) {
    events_->note("region-calls", region_->name(), region_->calls());
    events_->note("region-measured", region_->name(), region_->measured());
  }
  events_->end(status, reason, guest_status);
}

}  // namespace session
