// SPDX-License-Identifier: MIT
#include "observe/misses/misses.hh"

#include <utility>

#include "../../../workloads/lib/marker_numbers.h"
#include "base/json.hh"

namespace observe {
namespace {

const Registered<Misses> registered("misses", Misses::read);

}  // namespace

Make Misses::read(base::Settings& settings) {
  const uint64_t limit = settings.number("run.miss_limit");
  if (!settings.has("run.attribution")) {
    settings.fail("run.misses", "expected run.attribution in the same run");
  }
  return [limit](const Machine& machine) { return std::make_unique<Misses>(machine, limit); };
}

Misses::Misses(const Machine& machine, uint64_t limit)
    : model_(machine.model), classes_(machine.classes), machine_(machine), limit_(limit) {}

void Misses::open(const std::vector<uint32_t>&, Write write) {
  write_ = std::move(write);
  write_(base::JsonLine("header").member("schema_version", 1).line());
}

void Misses::start() {
  if (!classes_) return;
  functions_ = &static_cast<Attribution*>(machine_.observer("attribution"))->functions();
  classes_->trace(this);
}

// An instruction begins.
void Misses::move(p5::Linear linear, p5::Linear) {
  write_pending();
  began_ = model_.clock();
  classes_->at(uint32_t(linear), began_);
}

void Misses::missed(const MissClasses::Miss& miss) {
  if (open_.empty() || open_.back().phase == P5_PHASE_EMPTY) return;
  uint64_t& written = written_[open_.back().phase];
  if (written == limit_) {
    open_.back().beyond++;
    return;
  }
  written++;
  pending_.push_back(miss);
}

// The current instruction has ended.
void Misses::write_pending() {
  if (classes_) model_.observer()->settle();
  if (pending_.empty()) return;
  const uint64_t waited = model_.clock() - began_;
  for (const MissClasses::Miss& miss : pending_) write(miss, waited);
  pending_.clear();
}

void Misses::write(const MissClasses::Miss& miss, uint64_t waited) {
  const uint32_t here = site(miss.user);
  const std::string loaded = past(miss.loaded), lost = past(miss.lost);
  base::JsonLine line("miss");
  line.member("tsc", began_).member("clocks", waited).member("site", here);
  line.member("event", MissClasses::name(miss.kind)).member("cause", MissClasses::name(miss.cls));
  line.member("address", miss.address).member("use", MissClasses::name(miss.user.use));
  line.raw("loaded", loaded);
  if (miss.lost.user) line.member("by", MissClasses::name(classes_->user(miss.lost.user).use));
  write_(line.raw("lost", lost).line());
}

// Returns [site,clock,address], or null without an access.
std::string Misses::past(const MissClasses::Past& past) {
  if (!past.user) return "null";
  std::string text = "[";
  base::append(&text, site(classes_->user(past.user)));
  base::append(&(text += ','), past.clock);
  base::append(&(text += ','), past.address);
  return text + ']';
}

// Returns the number of the function and instruction. Writes them before their first use.
uint32_t Misses::site(const MissClasses::User& user) {
  const auto [known, first] =
      sites_.insert({{user.function, user.instruction}, uint32_t(sites_.size())});
  if (first) {
    const Functions::Function& function = (*functions_)[user.function];
    base::JsonLine line("site");
    line.member("id", known->second).member("function", function.name);
    line.member("module", function.module).member("instruction", user.instruction);
    write_(line.line());
  }
  return known->second;
}

void Misses::begin(uint32_t phase) {
  write_pending();
  open_.push_back({phase, 0});
  began_ = model_.clock();  // the instruction of the marker began before the bracket
  bracket("begin");
}

void Misses::end() {
  write_pending();
  bracket("leave");
  open_.pop_back();
}

void Misses::stop() {
  while (!open_.empty()) end();
}

// Writes the beginning or the end of a bracket that is not empty.
void Misses::bracket(const char* type) {
  const auto [phase, beyond] = open_.back();
  if (phase == P5_PHASE_EMPTY) return;
  base::JsonLine line(type);
  line.member("phase", phase).member("tsc", model_.clock());
  write_(line.member("beyond", beyond).line());
}

std::string Misses::differs() const {
  return classes_ ? "" : "a trace of misses needs run.attribution_misses from the boot on";
}

std::string Misses::text(const std::vector<uint32_t>&) const {
  return base::JsonLine("end").line();
}

}  // namespace observe
