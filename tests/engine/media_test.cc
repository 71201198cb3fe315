// SPDX-License-Identifier: MIT
// When does the run of a guest end that boots from its own media (engine/session/media.hh), and
// what is the text of its screen (engine/session/screen.hh)?
#include "engine/session/media.hh"

#include <doctest/doctest.h>

#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "engine/session/screen.hh"
#include "scratch.hh"

using namespace session;

namespace {

std::vector<uint8_t> codes(const std::string& text) { return {text.begin(), text.end()}; }

Screen showing(const std::vector<std::string>& rows) {
  Screen screen;
  screen.rows = rows;
  return screen;
}

MediaConfig until(const std::string& text, const Scratch& serial) {
  MediaConfig config;
  config.on = true;
  config.until = text;
  config.serial = serial.path();
  return config;
}

void append(const Scratch& file, const std::string& text) {
  std::ofstream(file.path(), std::ios::binary | std::ios::app) << text;
}

std::string found(const char* place) { return place ? place : "nowhere"; }

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
  Screen graphics;
  graphics.width = 640;
  graphics.height = 480;
  CHECK(graphics.text() == "(a graphics mode: 640 dots x 480 lines)\n");
  CHECK(Screen().text() == "");
}

TEST_CASE("media: the text must be in one row of the screen") {
  const Scratch serial;
  const MediaConfig config = until("login:", serial);
  Watch watch(config);
  CHECK(found(watch.finds(showing({"host login", ":"}))) == "nowhere");
  CHECK(found(watch.finds(showing({"", "host login: root"}))) == "on the screen");
}

TEST_CASE("media: the text on the serial line may arrive in any parts") {
  const std::string text = "login:";
  for (size_t cut = 0; cut <= text.size(); cut++) {
    CAPTURE(cut);
    const Scratch serial;
    const MediaConfig config = until(text, serial);
    Watch watch(config);
    append(serial, "ready\nlog " + text.substr(0, cut));
    CHECK(found(watch.finds(Screen())) == (cut == text.size() ? "on the serial line" : "nowhere"));
    append(serial, text.substr(cut) + " ");
    if (cut < text.size()) CHECK(found(watch.finds(Screen())) == "on the serial line");
  }
}

TEST_CASE("media: one byte at a time, and no serial line at all") {
  const Scratch serial;
  const MediaConfig config = until("aab", serial);
  Watch watch(config);
  for (const char* part : {"a", "a", "a"}) {
    append(serial, part);
    CHECK(found(watch.finds(Screen())) == "nowhere");
  }
  append(serial, "b");
  CHECK(found(watch.finds(Screen())) == "on the serial line");

  MediaConfig absent = config;
  absent.serial = "/nonexistent/serial.log";
  CHECK(found(Watch(absent).finds(Screen())) == "nowhere");
}

TEST_CASE("media: the keys of a run") {
  std::string error;
  CHECK_FALSE(read("", &error).on);
  CHECK(error == "");
  const std::string needed = "run.media = on\nrun.screen = s\nrun.serial = l\n";
  CHECK(read(needed, &error).until == "");
  CHECK(error == "");
  const MediaConfig config =
      read(needed + "run.until = A:\\>\nrun.look_cycles = 9\nrun.keep = d\nrun.keep_drive = 1\n",
           &error);
  CHECK(error == "");
  CHECK(config.until == "A:\\>");
  CHECK(config.interval == 9);
  CHECK(config.keep_drive == 1);
  for (const char* wrong : {"run.until = a\n", "run.until =\nrun.look_cycles = 1\n",
                            "run.until = a\nrun.look_cycles = 0\n", "run.keep = d\n",
                            "run.keep = d\nrun.keep_drive = 2\n", "run.look_cycles = 1\n"}) {
    CAPTURE(wrong);
    read(needed + wrong, &error);
    CHECK(error != "");
  }
}
