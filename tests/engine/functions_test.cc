// SPDX-License-Identifier: MIT
// Which function contains an address? The tests use code at fixed addresses, and pages that the
// engine finds by their content.
#include "measure/functions.hh"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

using measure::Functions;
using p5::Linear;

std::vector<uint8_t> page_of(uint8_t value) {
  return std::vector<uint8_t>(Functions::kPageBytes, value);
}

std::string hex(uint64_t value) {
  char text[20];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return text;
}

// A kernel, and a program of two pages. Its function `over` begins in the first page and ends in
// the second.
Functions table() {
  Functions functions;
  std::string error;
  const std::string text =
      "module kernel\nfixed c0400000 10000\nfunction c0400100 40 first\n"
      "start c0400140 20 ret_from_fork\n"
      "module /bin/program\npage 8000 " +
      hex(Functions::digest(page_of(1).data())) + "\npage 9000 " +
      hex(Functions::digest(page_of(2).data())) + "\nfunction 8010 10 f\nfunction 8ff0 20 over\n";
  REQUIRE_MESSAGE(functions.parse(text, "table", &error), error);
  return functions;
}

}  // namespace

TEST_CASE("functions: at fixed addresses, with gaps between them") {
  const Functions functions = table();
  Functions::Place place{};
  REQUIRE(functions.at(0xC040013F, &place));
  CHECK(functions[place.function].name == "first");
  CHECK(place.first == 0xC0400100);
  CHECK(place.bytes == 0x40);
  REQUIRE(functions.at(0xC0400140, &place));
  CHECK(functions[place.function].is_start);
  REQUIRE(functions.at(0xC0400000, &place));
  CHECK(functions[place.function].name == "[kernel+unknown]");
  CHECK(place.first + place.bytes == 0xC0400100);
  REQUIRE(functions.at(0xC0400160, &place));
  CHECK(functions[place.function].name == "[kernel+unknown]");
  CHECK(place.first == 0xC0400160);
  CHECK_FALSE(functions.at(0xC0410000, &place));
  CHECK_FALSE(functions.at(0x8010, &place));
}

TEST_CASE("functions: by the content of a page, at any address") {
  const Functions functions = table();
  const uint32_t first = functions.page(page_of(1).data()),
                 second = functions.page(page_of(2).data());
  REQUIRE(first != 0);
  REQUIRE(second != 0);
  CHECK(functions.page(page_of(3).data()) == 0);

  const Functions::Place f = functions.in(first, 0x70000015);
  CHECK(functions[f.function].name == "f");
  CHECK(functions[f.function].module == "/bin/program");
  CHECK(f.first == 0x70000010);
  CHECK(f.bytes == 0x10);
  // If a function continues in the next page, a second look-up in this page is necessary.
  const Functions::Place head = functions.in(first, 0x70000FF8);
  CHECK(functions[head.function].name == "over");
  CHECK(head.first + head.bytes == 0x70001000);
  const Functions::Place tail = functions.in(second, 0x50000004);
  CHECK(functions[tail.function].name == "over");
  CHECK(tail.first == 0x50000000);
  CHECK(tail.bytes == 0x10);
  const Functions::Place gap = functions.in(second, 0x50000010);
  CHECK(functions[gap.function].name == "[/bin/program+unknown]");
  CHECK(gap.first + gap.bytes == 0x50001000);
  const Functions::Place unknown = functions.in(0, 0x12345);
  CHECK(unknown.function == Functions::kUnknown);
  CHECK(unknown.first == 0x12000);
  CHECK(unknown.bytes == 0x1000);
}

TEST_CASE("functions: the error of a wrong table names the line") {
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"function 1 2 f\n", "t:1: expected a module first"},
           {"module\n", "t:1: expected `module NAME`"},
           {"module m\nfixed 1\n", "t:2: expected two numbers in hexadecimal"},
           {"module m\nfunction 10 0 f\n", "t:2: expected an address, a length and a name"},
           {"module m\nfunction 10 8 f\nfunction 17 2 g\n",
            "t:3: expected functions that do not overlap"},
           {"module m\nfunction 10 8 f\nfunction 8 9 g\n",
            "t:3: expected functions that do not overlap"},
           {"module m\nplace 1 2\n", "t:2: expected module, fixed, page, function or start"}}) {
    Functions functions;
    std::string error;
    CHECK_FALSE(functions.parse(text, "t", &error));
    CHECK(error == said);
  }
}
