// SPDX-License-Identifier: MIT
#include "session/run_config.hh"

#include <sstream>

#include "base/declared.hh"

namespace session {

using base::Settings;
using p5::kX86_64;

RunConfig RunConfig::read(Settings& settings) {
  RunConfig c;
  c.machine = p5::Config::read(settings);
  c.read_processor(settings);
  c.events = settings.text("run.events");
  c.output = settings.text("run.output");
  c.limit = settings.number("run.limit_cycles");
  if (settings.has("run.phase")) c.phase = settings.number("run.phase");
  c.timing = settings.flag("run.timing");
  c.read_accesses(settings);
  c.fast_paths = !settings.has("run.fast_paths") || settings.flag("run.fast_paths");
  c.server = settings.has("run.server") && settings.flag("run.server");
  c.read_shadows(settings);
  c.read_blocks(settings);
  c.read_classes(settings);
  c.read_observers(settings);
  c.media = MediaConfig::read(settings);
  if (kX86_64) {
    if (!c.shadows.empty() || !c.accesses.empty()) {
      settings.fail("run", "expected no shadows and no run.accesses on x86-64");
    }
    if (!c.nominal) c.machine = c.machine.without_clocks();
  }
  if (settings.has("run.feedback") && !settings.flag("run.feedback")) {
    c.machine = c.machine.without_feedback();
  }
  for (const char* described : {"machine.name", "machine.title", "cpu.timing", "devices.chipset"}) {
    if (settings.has(described)) settings.text(described);  // not used by the engine
  }
  return c;
}

const std::set<std::string>& RunConfig::own_keys() {
  static const std::set<std::string> keys = [] {
    std::set<std::string> all = {
        "run.access_limit", "run.accesses",        "run.cpi",           "run.issues",
        "run.issue_limit",  "run.sample",          "run.vector_events", "run.vectors",
        "run.warm_up",      "run.vector_interval",
    };
    for (const observe::Kind& kind : base::registry<observe::Kind>()) {
      all.insert(std::string("run.") + kind.name);
      all.insert(kind.keys.begin(), kind.keys.end());
    }
    return all;
  }();
  return keys;
}

void RunConfig::read_processor(Settings& settings) {
  signature = uint32_t(settings.number("cpu.signature"));
  const std::string isa = settings.text("cpu.isa");
  if (kX86_64 && isa != "x86-64") {
    settings.fail("cpu.isa", "`" + isa + "` is not x86-64; this engine is built only for x86-64");
  } else if (!kX86_64 && isa != "pentium" && isa != "pentium+cmov") {
    settings.fail("cpu.isa", "`" + isa + "` is not pentium or pentium+cmov");
  }
  cmov = isa == "pentium+cmov";
  if (settings.has("run.clocks")) {
    nominal = kX86_64 && settings.text("run.clocks") == "nominal";
    if (!nominal) settings.fail("run.clocks", "expected `nominal`, and x86-64");
  }
  if (!kX86_64 || nominal) timing_table = settings.text("run.timing_table");
}

void RunConfig::read_accesses(Settings& settings) {
  if (!settings.has("run.accesses")) return;
  accesses = settings.text("run.accesses");
  access_limit = settings.number("run.access_limit");
  if (settings.has("shadow.0.name"))
    settings.fail("run.accesses", "expected no shadows in the same run");
  if (machine.l1d.line < 32) settings.fail("l1d.line", "expected 32 or more with run.accesses");
}

void RunConfig::read_shadows(Settings& settings) {
  for (int i = 0;; i++) {
    const std::string prefix = "shadow." + std::to_string(i);
    if (!settings.has(prefix + ".name")) return;
    read_shadow(settings, prefix);
  }
}

// Reads the configuration of a shadow: the machine's keys, with some values replaced by the
// shadow's keys.
void RunConfig::read_shadow(Settings& settings, const std::string& prefix) {
  const std::string key = prefix + ".set";
  shadow_names.push_back(settings.text(prefix + ".name"));
  std::istringstream words(settings.text(key));
  Settings own = settings;
  for (std::string word; words >> word;) {
    const std::string name = word.substr(0, word.find('='));
    if (!base::is_geometry(base::declared::p5, name) || name.size() == word.size() ||
        !own.replace(name, word.substr(name.size() + 1))) {
      return settings.fail(key, "expected keys of cache and TLB geometry, found `" + word + "`");
    }
  }
  const p5::Config config = p5::Config::read(own);
  if (settings.error().empty() && !own.error().empty()) settings.fail(key, own.error());
  if (config.l1d.line != machine.l1d.line || config.l1i.line != machine.l1i.line) {
    settings.fail(key, "expected L1 lines of the machine's length");
  }
  shadows.push_back(config);
}

void RunConfig::read_blocks(Settings& settings) {
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
  if (!vectors.empty() || !shadow_names.empty() || settings.has("run.accesses")) {
    settings.fail("run.sample", "expected no run.vectors, shadows or run.accesses in the same run");
  }
}

void RunConfig::read_classes(Settings& settings) {
  classes = settings.has("run.attribution_misses") && settings.flag("run.attribution_misses");
  if (classes && (kX86_64 || !shadow_names.empty() || settings.has("run.accesses"))) {
    settings.fail("run.attribution_misses",
                  "expected no shadows or run.accesses in the same run, and not x86-64");
  }
}

void RunConfig::read_observers(Settings& settings) {
  cpi = settings.has("run.cpi") && settings.flag("run.cpi");
  if (cpi && kX86_64 && !nominal) {
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
