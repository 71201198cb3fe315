// SPDX-License-Identifier: MIT
#include "session/observation.hh"

namespace session {

using base::Settings;
using p5::kX86_64;

Observation Observation::read(Settings& settings, const RunConfig& boot) {
  Observation o;
  o.read_accesses(settings, boot);
  o.read_blocks(settings, boot);
  o.read_observers(settings, boot);
  return o;
}

void Observation::read_accesses(Settings& settings, const RunConfig& boot) {
  if (!settings.has("run.accesses")) return;
  accesses = settings.text("run.accesses");
  access_limit = settings.number("run.access_limit");
  if (kX86_64) settings.fail("run.accesses", "expected not x86-64");
  if (!boot.shadows.empty() || boot.classes) {
    settings.fail("run.accesses", "expected no shadows and no classes of misses in the same run");
  }
  if (boot.machine.l1d.line < 32)
    settings.fail("l1d.line", "expected 32 or more with run.accesses");
}

void Observation::read_blocks(Settings& settings, const RunConfig& boot) {
  if (settings.has("run.vectors")) {
    vectors = settings.text("run.vectors");
    vector_interval = settings.number("run.vector_interval");
    if (vector_interval == 0) settings.fail("run.vector_interval", "expected at least 1");
    vector_events = settings.has("run.vector_events") && settings.flag("run.vector_events");
  }
  if (!settings.has("run.sample")) return;
  if (!measure::Blocks::parse(settings.text("run.sample"), &sample)) {
    settings.fail("run.sample", "expected `number:begin:end:weight ...` ordered by time");
  }
  warm_up = settings.number("run.warm_up");
  if (!vectors.empty() || !boot.shadows.empty() || !accesses.empty()) {
    settings.fail("run.sample", "expected no run.vectors, shadows or run.accesses in the same run");
  }
}

void Observation::read_observers(Settings& settings, const RunConfig& boot) {
  cpi = settings.has("run.cpi") && settings.flag("run.cpi");
  if (cpi && kX86_64 && !boot.nominal) {
    settings.fail("run.cpi", "expected a Pentium, or run.clocks = nominal on x86-64");
  }
  if (cpi && !sample.empty()) settings.fail("run.cpi", "expected no run.sample in the same run");
  for (const observe::Kind& kind : base::registry<observe::Kind>()) {
    const std::string key = std::string("run.") + kind.name;
    if (settings.has(key)) observed.push_back({kind.name, kind.read(settings), settings.text(key)});
  }
  if (settings.has("run.issues")) {
    issues = settings.text("run.issues");
    issue_limit = settings.number("run.issue_limit");
  }
}

}  // namespace session
