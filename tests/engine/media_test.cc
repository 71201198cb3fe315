// SPDX-License-Identifier: MIT
// How does boot.conf say what boots (engine/session/boot.hh), and what is the text of a screen
// (engine/session/screen.hh)?
#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "session/boot.hh"
#include "session/screen.hh"
#include "session/screens.hh"

using namespace session;

namespace {

std::vector<uint8_t> codes(const std::string& text) { return {text.begin(), text.end()}; }

Screen showing(const std::vector<std::string>& rows) {
  Screen screen;
  screen.rows = rows;
  return screen;
}

Boot read(const std::string& text, std::string* error) {
  base::Settings settings;
  CHECK(settings.parse(text, "boot.conf", error));
  const Boot boot = read_boot(settings);
  *error = settings.finish();
  return boot;
}

}  // namespace

TEST_CASE("screen: a row has no spaces at its end and no control character") {
  CHECK(row_of(codes("login: ")) == "login:");
  CHECK(row_of(std::vector<uint8_t>(80, 0)) == "");
  CHECK(row_of({0, 'a', 0, 'b', 0}) == " a b");
  // The codes of the table CP437.TXT of the Unicode Consortium.
  CHECK(row_of({0x80, 0xB3, 0xDB, 0xE1, 0xF8, 0xFE}) == "Ç│█ß°■");
  std::vector<uint8_t> all(256);
  std::iota(all.begin(), all.end(), uint8_t(0));
  for (const char byte : row_of(all)) {
    const uint8_t code = uint8_t(byte);
    CHECK((code >= 0x80 || (code >= 0x20 && code < 0x7F)));
  }
}

TEST_CASE("screen: the text of the file") {
  CHECK(showing({"one", "", "two"}).text() == "one\n\ntwo\n");
  CHECK(showing({"one", "", "two", "", ""}).indented() == "  one\n\n  two\n");
  Screen graphics;
  graphics.width = 640;
  graphics.height = 480;
  CHECK(graphics.text() == "(a graphics mode: 640 dots x 480 lines)\n");
  CHECK(Screen().text() == "");
}

TEST_CASE("screens: the files of a run") {
  std::string error;
  base::Settings settings;
  REQUIRE(settings.parse("run.screen = s\nrun.step_screens = f\n", "boot.conf", &error));
  const Screens::Paths paths = Screens::Paths::read(settings);
  CHECK(settings.finish() == "");
  CHECK(paths.last == "s");
  CHECK(paths.steps == "f");
}

TEST_CASE("boot: an image and media are two types with keys of their own") {
  std::string error;
  const std::string image = "boot.entry = 0:0\nboot.segment = 0\nboot.sp = 0\n";
  CHECK(std::holds_alternative<ImageBoot>(read(image, &error)));
  CHECK(error == "");
  read(image + "run.floppies = a\n", &error);
  CHECK(error == "boot.conf:4: run.floppies: unknown key");
  read(image + "run.media = on\n", &error);
  CHECK(error == "boot.conf:1: boot.entry: unknown key");
  CHECK(std::get<MediaBoot>(read("run.media = on\n", &error)).steps.empty());
  CHECK(error == "");
}

TEST_CASE("boot: the steps of media end with the ready point") {
  std::string error;
  const std::string media = "run.media = on\n",
                    wait = "run.step.0.wait = A:\\>\nrun.step.0.title =\n",
                    ready = "run.step.1.ready = on\nrun.step.1.title = ready\n";
  const auto boot = std::get<MediaBoot>(read(
      media + wait + ready + "run.floppies = a b\nrun.keep = d\nrun.keep_drive = 1\n", &error));
  CHECK(error == "");
  REQUIRE(boot.steps.size() == 2);
  CHECK(boot.steps[0].wanted.text() == "A:\\>");
  CHECK(boot.floppies == std::vector<std::string>{"a", "b"});
  CHECK(boot.keep == "d");
  CHECK(boot.keep_drive == 1);
  for (const std::string& wrong :
       {wait, std::string("run.step.0.wait = a\n"),
        std::string("run.step.0.wait =\nrun.step.0.title = t\n"), std::string("run.keep = d\n"),
        std::string("run.keep = d\nrun.keep_drive = 2\n")}) {
    CAPTURE(wrong);
    read(media + wrong, &error);
    CHECK(error != "");
  }
}
