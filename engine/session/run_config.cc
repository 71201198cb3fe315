// SPDX-License-Identifier: MIT
#include "session/run_config.hh"

#include <sstream>

#include "base/declared.hh"

namespace session {

using base::Settings;
using p5::kX86_64;

namespace {

// CPUID.1:EDX of a P54C: FPU VME DE PSE TSC MSR MCE CX8 [Intel 242480]. CMOV is bit 15.
constexpr uint32_t kFeatures = 0x1BF, kCmovFeature = 1u << 15;

}  // namespace

uint32_t RunConfig::cpuid_features() const { return kFeatures | (cmov ? kCmovFeature : 0); }

RunConfig RunConfig::read(Settings& settings) {
  RunConfig c;
  c.machine = p5::Config::read(settings);
  c.read_processor(settings);
  c.events = settings.text("run.events");
  c.output = settings.text("run.output");
  c.limit = settings.number("run.limit_cycles");
  if (settings.has("run.phase")) c.phase = settings.number("run.phase");
  c.timing = settings.flag("run.timing");
  c.fast_paths = !settings.has("run.fast_paths") || settings.flag("run.fast_paths");
  c.read_shadows(settings);
  c.read_classes(settings);
  c.screens = Screens::Paths::read(settings);
  if (settings.has("run.serial")) c.serial = settings.text("run.serial");
  c.boot = read_boot(settings);
  if (kX86_64) {
    if (!c.shadows.empty()) settings.fail("run", "expected no shadows on x86-64");
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

void RunConfig::read_classes(Settings& settings) {
  classes = settings.has("run.attribution_misses") && settings.flag("run.attribution_misses");
  if (classes && (kX86_64 || !shadow_names.empty())) {
    settings.fail("run.attribution_misses", "expected no shadows in the same run, and not x86-64");
  }
}

}  // namespace session
