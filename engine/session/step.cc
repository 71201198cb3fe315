// SPDX-License-Identifier: MIT
#include "step.hh"

#include <sstream>

namespace session {
namespace {

// Returns the bytes of a text of hexadecimal digits. Returns an empty text if the digits are wrong.
std::string bytes_of(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    const std::string pair = digits.substr(i, 2);
    if (pair.find_first_not_of("0123456789abcdef") != std::string::npos) return "";
    bytes += char(std::stoi(pair, nullptr, 16));
  }
  return digits.size() % 2 ? "" : bytes;
}

// Reads the chords: `1e 2a+1e` presses a key, and then the same key together with another one.
std::vector<Step::Chord> chords_of(base::Settings& settings, const std::string& key) {
  std::vector<Step::Chord> chords;
  std::istringstream words(settings.text(key));
  for (std::string word; words >> word;) {
    chords.emplace_back();
    std::istringstream codes(word);
    for (std::string code; std::getline(codes, code, '+');) {
      chords.back().push_back(bytes_of(code));
      if (chords.back().back().empty()) settings.fail(key, "`" + word + "` is not a scan code");
    }
  }
  if (chords.empty()) settings.fail(key, "expected one or more keys");
  return chords;
}

void read_insert(base::Settings& settings, const std::string& key, Step* step) {
  std::istringstream words(settings.text(key));
  if (!(words >> step->drive >> step->path) || step->drive > 1) {
    settings.fail(key, "expected `DRIVE FILE` with drive 0 or 1");
  }
}

Step read(base::Settings& settings, const std::string& prefix) {
  Step step;
  const auto has = [&](const char* key) { return settings.has(prefix + key); };
  if (has("wait")) {
    step.kind = Step::Kind::Wait;
    step.wanted = Pattern::exactly(settings.text(prefix + "wait"));
  } else if (has("wait_pattern")) {
    step.kind = Step::Kind::Wait;
    std::string error;
    step.wanted = Pattern::expression(settings.text(prefix + "wait_pattern"), &error);
    if (!error.empty()) settings.fail(prefix + "wait_pattern", error);
  } else if (has("keys")) {
    step.kind = Step::Kind::Keys;
    step.chords = chords_of(settings, prefix + "keys");
  } else if (has("insert")) {
    step.kind = Step::Kind::Insert;
    read_insert(settings, prefix + "insert", &step);
  } else if (has("begin") || has("end")) {
    step.kind = has("begin") ? Step::Kind::Begin : Step::Kind::End;
    step.phase = uint32_t(settings.number(prefix + (has("begin") ? "begin" : "end")));
  } else {
    step.pause = settings.number(prefix + "pause_us") * base::kMicrosecond;
  }
  if (has("within_us")) {
    step.within = settings.number(prefix + "within_us") * base::kMicrosecond;
    if (step.kind != Step::Kind::Wait) settings.fail(prefix + "within_us", "expected with a wait");
  }
  if (step.kind == Step::Kind::Wait && step.wanted.text().empty()) {
    settings.fail(prefix + (has("wait") ? "wait" : "wait_pattern"), "expected a text");
  }
  return step;
}

}  // namespace

std::vector<Step> Step::read_all(base::Settings& settings) {
  std::vector<Step> steps;
  for (;;) {
    const std::string prefix = "run.step." + std::to_string(steps.size()) + ".";
    if (!settings.has(prefix + "title")) return steps;
    steps.push_back(read(settings, prefix));
    steps.back().title = settings.text(prefix + "title");
  }
}

}  // namespace session
