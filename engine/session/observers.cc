// SPDX-License-Identifier: MIT
#include "session/observers.hh"

#include <algorithm>
#include <utility>

namespace session {

Observers::Observers(p5::Pentium& model, const RunConfig& config, observe::Guest& guest)
    : model_(model), config_(config), guest_(guest) {
  if (!config.shadows.empty()) {
    use(std::make_unique<measure::Shadows>(config.shadows, config.fast_paths));
  }
  if (config.classes) {
    classes_ = std::make_unique<measure::MissClasses>(config.machine);
    listen(classes_.get());
  }
}

void Observers::listen(measure::AccessListener* listener) {
  const std::vector<p5::Config> own{config_.machine};
  use(std::make_unique<measure::Shadows>(own, false, listener));
}

// Replaces the shadows. Null removes them.
void Observers::use(std::unique_ptr<measure::Shadows> shadows) {
  model_.observe(shadows.get());
  shadows_ = std::move(shadows);
}

void Observers::open(const Observation& wanted, const Interval& interval,
                     const std::vector<uint32_t>& counted) {
  wanted_ = &wanted;
  if (!wanted.accesses.empty()) accesses_.create(wanted.accesses);
  const auto find = [this](const std::string& name) {
    const auto is_it = [&](const auto& one) { return one->name == name; };
    return (*std::find_if(plugged_.begin(), plugged_.end(), is_it))->observer.get();
  };
  for (const Observation::Observed& one : wanted.observed) {
    Plugged& plugged = *plugged_.emplace_back(std::make_unique<Plugged>());
    plugged.file.create(one.file);
    plugged.name = one.name;
    plugged.observer = one.make({model_, guest_, classes_.get(), find, config_.machine.clock_hz()});
    plugged.observer->open(counted, [&plugged](const std::string& s) { plugged.file.write(s); });
  }
  if (!wanted.issues.empty()) issued_.create(wanted.issues);
  if (wanted.vectors.empty() && wanted.sample.empty()) return;
  blocks_ = std::make_unique<measure::Blocks>(model_);
  if (!wanted.vectors.empty()) {
    vectors_.create(wanted.vectors);
    blocks_->write_vectors(vectors_.file(), wanted.vector_interval);
    if (wanted.vector_events) blocks_->count_events(interval);
  }
  if (!wanted.sample.empty()) blocks_->sample(wanted.sample, wanted.warm_up, interval);
}

void Observers::start() {
  if (wanted_->cpi) model_.explain_clocks();
  if (!started_.all().empty()) return;
  std::vector<observe::Observer*> all;
  for (const auto& one : plugged_) {
    one->observer->start();
    all.push_back(one->observer.get());
  }
  started_ = observe::Group(all);
  if (!started_.each().empty()) model_.watch_each(true);
}

void Observers::ready(const std::vector<uint32_t>& counted) {
  start();
  if (issued_ && !issues_) {
    issues_ =
        std::make_unique<measure::Issues>(model_, counted, issued_.file(), wanted_->issue_limit);
  }
}

void Observers::begin(uint32_t phase, const Brackets& brackets) {
  for (observe::Observer* one : started_.all()) one->begin(phase);
  if (issues_) issues_->measure(true);
  measure_blocks(brackets);
  if (accesses_) trace_accesses(brackets);
}

void Observers::end(const Brackets& brackets) {
  for (observe::Observer* one : started_.all()) one->end();
  if (issues_) issues_->measure(brackets.inside());
  measure_blocks(brackets);
}

// Measures basic blocks inside every bracket that is not empty.
void Observers::measure_blocks(const Brackets& brackets) {
  if (blocks_) blocks_->measure(brackets.inside());
}

// Traces the accesses from the first bracket that is not empty until the trace reaches its limit.
void Observers::trace_accesses(const Brackets& brackets) {
  if (!access_trace_ && brackets.measures()) {
    access_trace_ = std::make_unique<measure::AccessTrace>(
        accesses_.file(), config_.machine.l1d.line, wanted_->access_limit);
    listen(access_trace_.get());
  } else if (access_trace_ && access_trace_->full()) {
    end_access_trace();
  }
}

void Observers::end_access_trace() {
  if (!shadows_) return;
  shadows_->settle();
  use(nullptr);
}

void Observers::finish(const std::vector<uint32_t>& counted) {
  if (blocks_) blocks_->finish();
  if (vectors_) vectors_.finish();
  if (issued_) issued_.finish();
  for (const auto& one : plugged_) {
    if (!started_.all().empty()) one->observer->stop();
    one->file.write(one->observer->text(counted));
    one->file.finish();
  }
  if (accesses_) {
    end_access_trace();
    accesses_.finish();
  }
}

std::string Observers::differs() const {
  for (const observe::Observer* one : started_.all()) {
    const std::string difference = one->differs();
    if (!difference.empty()) return difference;
  }
  return "";
}

}  // namespace session
