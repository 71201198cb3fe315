// SPDX-License-Identifier: MIT
#include "session/step.hh"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace session {
namespace {

std::string prefix_of(size_t number) { return "run.step." + std::to_string(number) + "."; }

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

// Reads whole numbers, each from -`most` to `most`.
std::vector<int> numbers_of(base::Settings& settings, const std::string& key, int most) {
  std::istringstream words(settings.text(key));
  std::vector<int> numbers;
  for (int number; words >> number;) numbers.push_back(number);
  const auto beyond = [most](int number) { return std::abs(number) > most; };
  if (!words.eof() || std::any_of(numbers.begin(), numbers.end(), beyond)) {
    settings.fail(key, "expected whole numbers, at most " + std::to_string(most));
  }
  return numbers;
}

void read_mouse(base::Settings& settings, const std::string& prefix, Step* step) {
  if (step->kind == Step::Kind::Click) {
    for (const int buttons : numbers_of(settings, prefix + "click", Step::kButtons)) {
      if (buttons < 1) settings.fail(prefix + "click", "expected the numbers of buttons");
      step->clicks.push_back(unsigned(buttons));
    }
    if (step->clicks.empty()) settings.fail(prefix + "click", "expected one or more buttons");
    return;
  }
  const std::vector<int> way = numbers_of(settings, prefix + "move", Step::kFarthest);
  if (way.size() != 2) return settings.fail(prefix + "move", "expected `RIGHT DOWN`");
  step->right = way[0];
  step->down = way[1];
  if (!settings.has(prefix + "holding")) return;
  step->holding = unsigned(settings.number(prefix + "holding")) & unsigned(Step::kButtons);
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
  } else if (has("move") || has("click")) {
    step.kind = has("move") ? Step::Kind::Move : Step::Kind::Click;
    read_mouse(settings, prefix, &step);
  } else if (has("ready")) {
    step.kind = Step::Kind::Ready;
    if (!settings.flag(prefix + "ready")) settings.fail(prefix + "ready", "expected on");
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

std::vector<Step> Step::read_all(base::Settings& settings, size_t first) {
  std::vector<Step> steps;
  for (;;) {
    const std::string prefix = prefix_of(first + steps.size());
    if (!settings.has(prefix + "title")) return steps;
    steps.push_back(read(settings, prefix));
    steps.back().title = settings.text(prefix + "title");
  }
}

}  // namespace session
