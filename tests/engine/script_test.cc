// SPDX-License-Identifier: MIT
// How does a script (engine/session/script.hh) drive a machine, and when does it find a text?
#include "session/script.hh"

#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "scratch.hh"

using namespace session;
using base::kMillisecond;
using base::kSecond;
using base::Time;

namespace {

const std::string kA = "1e", kEnter = "1c", kShift = "2a";

// A machine whose screen a test sets. It records all inputs with their times in milliseconds.
class FakeConsole : public Console {
 public:
  Screen screen() override { return shown; }
  bool key(const std::string& code, bool down) override {
    static const char digits[] = "0123456789abcdef";
    std::string name;
    for (const char byte : code) name += {digits[byte >> 4 & 15], digits[byte & 15]};
    inputs.push_back({now / kMillisecond, (down ? "+" : "-") + name});
    if (on_key) on_key(name, down);
    return code != "\x7f";
  }
  bool mouse(int right, int down, unsigned buttons) override {
    moved[0] += right;
    moved[1] += down;
    const std::string report = std::to_string(right) + " " + std::to_string(down) + " ";
    inputs.push_back({now / kMillisecond, report + std::to_string(buttons)});
    return mouse_is_on;
  }
  bool insert(unsigned drive, const std::string& path) override {
    inputs.push_back({now / kMillisecond, std::to_string(drive) + " " + path});
    return path != "bad.img";
  }

  Screen shown;
  bool mouse_is_on = true;
  int moved[2] = {0, 0};
  Time now = 0;
  std::vector<std::pair<Time, std::string>> inputs;
  std::function<void(const std::string& name, bool down)> on_key;
};

std::vector<Step> steps_of(const std::string& text, std::string* error) {
  base::Settings settings;
  REQUIRE(settings.parse(text, "test.conf", error));
  std::vector<Step> steps = Step::read_all(settings);
  *error = settings.finish();
  return steps;
}

// A script and its machine. Each element of `lines` is one step: `wait = login:`.
struct Bench {
  explicit Bench(const std::vector<std::string>& lines) : script(make(lines)) {}

  Script make(const std::vector<std::string>& lines) {
    std::string text, error;
    for (size_t i = 0; i < lines.size(); i++) {
      const std::string key = "run.step." + std::to_string(i) + ".";
      text += key + "title = " + std::to_string(i) + "\n";
      const size_t more = lines[i].find(", ");
      text += key + lines[i].substr(0, more) + "\n";
      if (more != std::string::npos) text += key + lines[i].substr(more + 2) + "\n";
    }
    std::vector<Step> steps = steps_of(text, &error);
    REQUIRE(error == "");
    return Script(std::move(steps), serial.path(), console, [this](const Step& step) {
      done.push_back({console.now / kMillisecond, step.title});
    });
  }
  // Runs the script exactly when it asks for it, as the emulator does.
  Script::State run(Time until) {
    Script::State state = Script::State::Runs;
    while (state == Script::State::Runs && script.next() <= until) {
      console.now = script.next();
      state = script.run(console.now);
    }
    if (state == Script::State::Runs) console.now = until;
    return state;
  }
  void send(const std::string& text) {
    std::ofstream(serial.path(), std::ios::binary | std::ios::app) << text;
  }
  void show(const std::vector<std::string>& rows) { console.shown.rows = rows; }

  FakeConsole console;
  Scratch serial;
  std::vector<std::pair<Time, std::string>> done;
  Script script;
};

using Inputs = std::vector<std::pair<Time, std::string>>;
constexpr auto Runs = Script::State::Runs, Ended = Script::State::Ended, Late = Script::State::Late,
               Refused = Script::State::Refused;

}  // namespace

TEST_CASE("script: keys go down and up at the times of a typist, one after the other") {
  Bench bench({"keys = 1e 2a+1e 1c"});
  CHECK(bench.run(kSecond) == Ended);
  CHECK(bench.console.inputs == Inputs{{0, "+1e"},
                                       {30, "-1e"},
                                       {50, "+2a"},
                                       {80, "+1e"},
                                       {110, "-1e"},
                                       {130, "-2a"},
                                       {150, "+1c"},
                                       {180, "-1c"}});
  CHECK(bench.done == Inputs{{200, "0"}});
}

TEST_CASE("script: the steps run in their order, and an absent text stops them") {
  Bench bench({"wait = >", "keys = 1e", "pause_us = 1500000", "begin = 1", "end = 1", "wait = x"});
  CHECK(bench.run(kSecond) == Runs);
  CHECK(bench.console.inputs.empty());
  bench.show({"A:\\>"});
  CHECK(bench.run(2 * kSecond) == Runs);
  CHECK(bench.console.inputs == Inputs{{1010, "+1e"}, {1040, "-1e"}});
  CHECK(bench.run(4 * kSecond) == Runs);
  CHECK(bench.done == Inputs{{1010, "0"}, {1060, "1"}, {2560, "2"}, {2560, "3"}, {2560, "4"}});
  CHECK(bench.script.step().title == "5");
}

TEST_CASE("script: the limit of a step counts from the beginning of the step") {
  Bench bench({"pause_us = 1000000", "wait = a, within_us = 500000", "wait = b, within_us = 1"});
  bench.run(kSecond + 400 * kMillisecond);
  bench.show({"a"});
  CHECK(bench.run(2 * kSecond) == Late);
  CHECK(bench.script.step().title == "2");
  CHECK(bench.console.now == kSecond + 410 * kMillisecond + base::kMicrosecond);

  Bench late({"wait = a, within_us = 500000"});
  CHECK(late.run(2 * kSecond) == Late);
  CHECK(late.console.now == 500 * kMillisecond);

  Bench good({"wait = a, within_us = 500000", "pause_us = 1000000"});
  good.show({"a"});
  CHECK(good.run(10 * kSecond) == Ended);  // the limit of a step that is done has no effect
}

TEST_CASE("script: a late call delays the keys, and drops none") {
  Bench bench({"keys = 1e 1c"});
  bench.script.run(0);
  bench.console.now = kSecond;
  bench.script.run(kSecond);
  CHECK(bench.run(2 * kSecond) == Ended);
  CHECK(bench.console.inputs == Inputs{{0, "+1e"}, {1000, "-1e"}, {1020, "+1c"}, {1050, "-1c"}});
}

TEST_CASE("script: a wait after typing does not find the prompt before it") {
  Bench bench({"wait = >", "keys = 1e 1c", "wait = >", "keys = 1c", "wait = >"});
  bench.show({"A:\\>", "", ""});
  CHECK(bench.run(kSecond) == Runs);
  CHECK(bench.script.step().title == "2");
  bench.show({"A:\\>a", "", ""});  // the echo
  CHECK(bench.run(2 * kSecond) == Runs);
  CHECK(bench.script.step().title == "2");
  bench.show({"A:\\>a", "result", "A:\\>"});
  CHECK(bench.run(3 * kSecond) == Runs);
  CHECK(bench.script.step().title == "4");
  bench.show({"result", "A:\\>", "A:\\>"});  // scrolled by a row
  CHECK(bench.run(4 * kSecond) == Ended);
  CHECK(std::string(bench.script.place()) == "on the screen");
}

TEST_CASE("script: a fast guest that answers while the keys are pressed") {
  Bench bench({"wait = >", "keys = 1c 1c", "wait = C>"});
  bench.show({"C>", "", ""});
  bench.console.on_key = [&](const std::string&, bool down) {
    if (down) bench.show({"C>", "C>", ""});
  };
  CHECK(bench.run(kSecond) == Ended);
}

TEST_CASE("script: text that only scrolls stays old, and a new picture is new") {
  NewText text;
  const Pattern login = Pattern::exactly("login:");
  text.look({"one", "login:", "two", ""});
  CHECK(text.has(login));
  text.forget();
  CHECK_FALSE(text.has(login));
  text.look({"login:", "two", "three", ""});
  CHECK_FALSE(text.has(login));
  text.look({"login:", "two", "three", "no login: here"});
  CHECK(text.has(login));
  text.forget();
  text.look({"two", "three", "no login: here", "ß login:"});
  CHECK(text.has(login));
  text.forget();
  text.look({"two", "three", "no login: here", "ß login: root"});
  CHECK_FALSE(text.has(login));
  CHECK(text.has(Pattern::exactly("login: r")));
  text.look({});  // a graphics mode
  CHECK_FALSE(text.has(login));
  text.look({"two", "login:"});
  CHECK(text.has(login));
}

TEST_CASE("script: a row that stays while the others scroll stays old") {
  NewText text;
  const Pattern title = Pattern::exactly("Setup");
  text.look({"Setup", "a", "b", "c"});
  text.forget();
  text.look({"Setup", "b", "c", "d"});
  CHECK_FALSE(text.has(title));
  CHECK(text.has(Pattern::exactly("d")));
  CHECK_FALSE(text.has(Pattern::exactly("c")));
  text.look({"a", "b", ">"});
  text.forget();
  text.look({"b", ">", ">"});  // the last row has moved up, and is there again
  CHECK(text.has(Pattern::exactly(">")));
}

TEST_CASE("script: the text must be in one row of the screen") {
  Bench bench({"wait = login:"});
  bench.show({"host login", ":"});
  CHECK(bench.run(kSecond) == Runs);
  bench.show({"", "host login: root"});
  CHECK(bench.run(2 * kSecond) == Ended);
}

TEST_CASE("script: the text on the serial line may arrive in any parts") {
  const std::string text = "login:";
  for (size_t cut = 0; cut <= text.size(); cut++) {
    CAPTURE(cut);
    Bench bench({"wait = login:"});
    bench.send("ready\r\nlog " + text.substr(0, cut));
    CHECK(bench.run(kSecond) == (cut == text.size() ? Ended : Runs));
    bench.send(text.substr(cut) + " ");
    if (cut == text.size()) continue;
    CHECK(bench.run(2 * kSecond) == Ended);
    CHECK(std::string(bench.script.place()) == "on the serial line");
  }
}

TEST_CASE("script: a zero byte does not hide the rest of a line on the serial line") {
  Bench bench({"wait_pattern = log.n"});
  bench.send(std::string("a\0 login", 8));
  CHECK(bench.run(kSecond) == Ended);
}

TEST_CASE("script: two waits find texts that came together, and typing makes the text old") {
  Bench bench({"wait = second", "wait = first", "keys = 1c", "wait = first"});
  bench.send("first\nsecond\nthird\n");
  CHECK(bench.run(kSecond) == Runs);
  CHECK(bench.script.step().title == "3");
  bench.send("again the first");
  CHECK(bench.run(2 * kSecond) == Ended);
}

TEST_CASE("script: one byte at a time, a long line, and no serial line at all") {
  Bench bench({"wait = aab"});
  for (const char* part : {"a", "a", "a"}) {
    bench.send(part);
    CHECK(bench.run(bench.console.now + kSecond) == Runs);
  }
  bench.send(std::string(100'000, '.'));
  CHECK(bench.run(bench.console.now + kSecond) == Runs);
  bench.send("aa");
  CHECK(bench.run(bench.console.now + kSecond) == Runs);
  bench.send("b");
  CHECK(bench.run(bench.console.now + kSecond) == Ended);

  SerialLine absent("/nonexistent/serial.log");
  absent.read();
  CHECK_FALSE(absent.has(Pattern::exactly("a")));
}

TEST_CASE("script: patterns") {
  const auto found = [](const std::string& expression, const std::string& line) {
    std::string error;
    const Pattern pattern = Pattern::expression(expression, &error);
    REQUIRE(error == "");
    size_t begin = 0, end = 0;
    return pattern.find(line, &begin, &end) ? line.substr(begin, end - begin) : "-";
  };
  CHECK(found("[0-9]+ file", "   12 files") == "12 file");
  CHECK(found("^C:.*>$", "C:\\DOS>") == "C:\\DOS>");
  CHECK(found("^C", "in C") == "-");
  CHECK(found("x*", "abxx") == "xx");  // an empty text is no match
  CHECK(found("x*", "ab") == "-");
  std::string error;
  Pattern::expression("(", &error);
  CHECK(error != "");

  Bench bench({"wait_pattern = ^[A-C]:.>$"});
  bench.show({"A:\\>dir"});
  CHECK(bench.run(kSecond) == Runs);
  bench.show({"A:\\>"});
  CHECK(bench.run(2 * kSecond) == Ended);
}

TEST_CASE("script: floppies, and what the machine refuses") {
  Bench bench({"insert = 1 two.img", "wait = x"});
  bench.show({"x"});
  CHECK(bench.run(kSecond) == Runs);  // the text was there before the floppy
  CHECK(bench.console.inputs == Inputs{{0, "1 two.img"}});

  Bench bad({"insert = 0 bad.img"});
  CHECK(bad.run(kSecond) == Refused);
  CHECK(bad.script.problem() == "the drive cannot take bad.img");
  CHECK(bad.done.empty());

  Bench key({"keys = 7f 1e"});
  CHECK(key.run(kSecond) == Refused);
  CHECK(key.script.problem() == "the keyboard has no such key");
}

TEST_CASE("script: a guest that has stopped for good completes only what needs no guest") {
  Bench bench({"wait = a", "begin = 1", "wait = b", "end = 1", "wait = c", "wait = d"});
  bench.script.run(0);
  bench.show({"a b"});
  CHECK(bench.script.run_out(5 * kMillisecond) == Runs);
  CHECK(bench.script.step().title == "4");
  bench.show({"a b c d"});
  CHECK(bench.script.run_out(6 * kMillisecond) == Ended);

  Bench typing({"wait = a", "keys = 1e"});
  typing.script.run(0);
  typing.show({"a"});
  CHECK(typing.script.run_out(kMillisecond) == Runs);  // the guest reads no key
  CHECK(typing.script.step().title == "1");

  Bench halting({"keys = 1e 1c", "pause_us = 9", "wait = halted"});
  halting.run(40 * kMillisecond);
  halting.show({"halted"});
  CHECK(halting.script.run_out(49 * kMillisecond) == Runs);  // before the second key
  CHECK(halting.script.step().title == "0");
  CHECK(halting.script.run_out(60 * kMillisecond) == Ended);
}

TEST_CASE("script: wrong steps in the parameter file") {
  for (const char* wrong :
       {"wait =", "wait_pattern = [", "keys =", "keys = 1", "keys = 1g", "keys = 1e++1c",
        "pause_us = x", "pause_us = 1\nrun.step.0.within_us = 1", "insert = 2 a", "insert = 0",
        "insert = x a", "begin = x", "nothing = 1", "wait = a\nrun.step.1.wait = b"}) {
    CAPTURE(wrong);
    std::string error;
    steps_of(std::string("run.step.0.title = t\nrun.step.0.") + wrong + "\n", &error);
    CHECK(error.find("test.conf") == 0);
    CHECK(error.find("run.step.") != std::string::npos);
  }
}

TEST_CASE("script: the mouse reports small parts of a motion, and all of it") {
  Bench bench({"move = 12 -3", "click = 1 2", "move = 4 0, holding = 1"});
  CHECK(bench.run(kSecond) == Ended);
  CHECK(bench.console.inputs == Inputs{{0, "0 0 0"},
                                       {10, "4 -1 0"},
                                       {20, "4 -1 0"},
                                       {30, "4 -1 0"},
                                       {40, "0 0 0"},
                                       {50, "0 0 1"},
                                       {80, "0 0 0"},
                                       {100, "0 0 2"},
                                       {130, "0 0 0"},
                                       {150, "0 0 1"},
                                       {160, "4 0 1"},
                                       {170, "0 0 0"}});
  CHECK(bench.done == Inputs{{50, "0"}, {150, "1"}, {180, "2"}});
  for (const int way : {1, 5, 7, 639, -1, -479}) {
    CAPTURE(way);
    Bench far({"move = " + std::to_string(way) + " " + std::to_string(-2 * way)});
    CHECK(far.run(100 * kSecond) == Ended);
    CHECK(far.console.moved[0] == way);
    CHECK(far.console.moved[1] == -2 * way);
  }
  Bench off({"move = 1 1"});
  off.console.mouse_is_on = false;
  CHECK(off.run(kSecond) == Refused);
  CHECK(off.script.problem() == "the guest has not switched the mouse on");
}

TEST_CASE("script: wrong steps of the mouse") {
  for (const char* wrong : {"move = 1", "move = 1 2 3", "move = a 1", "move = 1 100001",
                            "click =", "click = 4", "click = left", "ready = off"}) {
    CAPTURE(wrong);
    std::string error;
    steps_of(std::string("run.step.0.") + wrong + "\nrun.step.0.title =\n", &error);
    CHECK(error != "");
  }
}

TEST_CASE("script: the steps after the ready point can be replaced at this point") {
  std::string error;
  Bench bench({"pause_us = 1000", "ready = on", "keys = 1e"});
  CHECK(bench.run(0) == Runs);
  std::vector<Step> others = steps_of(
      "run.step.0.title = 0\nrun.step.0.pause_us = 1000\nrun.step.1.title = 1\n"
      "run.step.1.ready = on\nrun.step.2.title = 2\nrun.step.2.keys = 1c\n",
      &error);
  bench.script.replace(std::move(others));
  CHECK(bench.run(kSecond) == Ended);
  CHECK(bench.console.inputs == Inputs{{1, "+1c"}, {31, "-1c"}});
}

TEST_CASE("script: the steps of a job have the numbers after those of the boot") {
  const std::string text =
      "run.step.2.keys = 1e\nrun.step.2.title = c\nrun.step.3.pause_us = 1\nrun.step.3.title = d\n";
  std::string error;
  base::Settings settings;
  REQUIRE(settings.parse(text, "job.conf", &error));
  CHECK(Step::read_all(settings).empty());
  const std::vector<Step> steps = Step::read_all(settings, 2);
  CHECK(settings.finish() == "");
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].title == "c");
  CHECK(steps[1].kind == Step::Kind::Pause);
}
