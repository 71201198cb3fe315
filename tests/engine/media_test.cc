// SPDX-License-Identifier: MIT
// What must a run do whose guest boots from its own media (engine/session/media.hh), and what is
// the text of its screen (engine/session/screen.hh)?
#include "session/media.hh"

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

#include "session/screen.hh"

using namespace session;

namespace {

std::vector<uint8_t> codes(const std::string& text) { return {text.begin(), text.end()}; }

Screen showing(const std::vector<std::string>& rows) {
  Screen screen;
  screen.rows = rows;
  return screen;
}

MediaConfig read(const std::string& text, std::string* error) {
  base::Settings settings;
  CHECK(settings.parse(text, "test.conf", error));
  const MediaConfig config = MediaConfig::read(settings);
  *error = settings.finish();
  return config;
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

TEST_CASE("media: a guest of the engine with a graphics screen") {
  std::string error;
  const std::string needed = "run.screen = s\nrun.serial = o\nrun.step_screens = f\n";
  const MediaConfig config = read(needed, &error);
  CHECK(error == "");
  CHECK_FALSE(config.on);
  CHECK(config.screen == "s");
  CHECK(config.step_screens == "f");
  read(needed + "run.floppies = a\n", &error);  // only for a guest with its own media
  CHECK(error != "");
}

TEST_CASE("media: the keys of a run") {
  std::string error;
  CHECK_FALSE(read("", &error).on);
  CHECK(error == "");
  const std::string needed = "run.media = on\nrun.screen = s\nrun.serial = l\n";
  CHECK(read(needed, &error).steps.empty());
  CHECK(error == "");
  const MediaConfig config = read(
      needed + "run.step.0.wait = A:\\>\nrun.step.0.title =\nrun.step_screens = f\n" +
          "run.step.1.ready = on\nrun.step.1.title = ready\nrun.keep = d\nrun.keep_drive = 1\n",
      &error);
  CHECK(error == "");
  REQUIRE(config.steps.size() == 2);
  CHECK(config.steps[0].wanted.text() == "A:\\>");
  CHECK(config.step_screens == "f");
  CHECK(config.keep_drive == 1);
  for (const char* wrong : {"run.step.0.wait = a\n", "run.step.0.wait = a\nrun.step.0.title = t\n",
                            "run.step.0.wait =\nrun.step.0.title = t\n", "run.keep = d\n",
                            "run.keep = d\nrun.keep_drive = 2\n"}) {
    CAPTURE(wrong);
    read(needed + wrong, &error);
    CHECK(error != "");
  }
}
