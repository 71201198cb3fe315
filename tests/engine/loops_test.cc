// SPDX-License-Identifier: MIT
// Do loops of mixed code take the clocks that published sources give? loops.txt is the table of the
// loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "bench.hh"

using namespace p5;

namespace {

constexpr double kTolerance = 0.02;  // one clock in 50
constexpr int kWarm = 100, kMeasured = 200;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    const size_t first = part.find_first_not_of(' '), last = part.find_last_not_of(' ');
    parts.push_back(first == std::string::npos ? "" : part.substr(first, last - first + 1));
  }
  return parts;
}

struct Loop {
  std::string name, board, held, code;
  double clocks, modelled;  // by the sources, and by the model: the same, or explained
};

std::vector<Loop> loops() {
  std::ifstream file("tests/engine/loops.txt");
  REQUIRE(file.is_open());
  std::vector<Loop> found;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto fields = split(line, '|');
    CAPTURE(line);
    REQUIRE(fields.size() == 7);
    CHECK(split(fields[5], ';').size() == 2);  // two sources
    const auto clocks = split(fields[4], '/');
    CHECK((clocks.size() == 1) == (fields[6].find("The model has") == std::string::npos));
    found.push_back({fields[0], fields[1], fields[2], fields[3], std::stod(clocks.front()),
                     std::stod(clocks.back())});
  }
  return found;
}

// Executes an instruction and its accesses, such as `8b 06 r2000` or `dd 1b w3000.8`.
void execute(Bench& bench, const std::string& text) {
  std::string hex;
  std::vector<std::string> accesses;
  for (const auto& word : split(text, ' ')) {
    if (word.find_first_of("rwm") == 0)
      accesses.push_back(word);
    else
      hex += hex.empty() ? word : " " + word;
  }
  bench.insn(hex);
  for (const auto& word : accesses) {
    const auto parts = split(word.substr(1), '.');
    const auto at = uint32_t(std::stoul(parts[0], nullptr, 16));
    const uint32_t bytes = parts.size() > 1 ? uint32_t(std::stoul(parts[1])) : 4;
    const DataKind kind = word[0] == 'r'   ? DataKind::Read
                          : word[0] == 'w' ? DataKind::Write
                                           : DataKind::ReadWrite;
    bench.model.data(at, at, bytes, kind);
  }
}

void iterate(Bench& bench, const std::vector<std::string>& code) {
  bench.ip = Bench::kCode;
  for (const auto& text : code) execute(bench, text);
  bench.insn("4f");
  bench.insn("75 fe");
  bench.model.branch(bench.ip - 2, Bench::kCode, true, true);
}

void run_blocks(Bench& bench, int count) {
  constexpr uint32_t kApart = 25;
  for (int i = 0; i < count; i++) {
    bench.ip = Bench::kCode + kApart * uint32_t(i);
    const uint32_t next = Bench::kCode + kApart * uint32_t((i + 1) % count);
    bench.insn("f7 df");
    bench.insn("eb 00");
    bench.model.branch(bench.ip - 2, next, true, false);
  }
}

// Returns the clocks of an iteration when the loop is steady.
double clocks_of(const Loop& loop) {
  Config config = p90();
  if (loop.board == "even") {
    config.memory.core_clocks = 2;
    config.memory.bus_clocks = 1;
  }
  Bench bench(config);
  for (const auto& address : split(loop.held, ' ')) {
    if (!address.empty()) bench.read(uint32_t(std::stoul(address, nullptr, 16)));
  }
  const auto code = split(loop.code, ',');
  const size_t blocks = loop.code.find(" blocks");
  const auto once = [&] {
    if (blocks == std::string::npos)
      iterate(bench, code);
    else
      run_blocks(bench, std::stoi(loop.code));
  };
  for (int i = 0; i < kWarm; i++) once();
  const uint64_t start = bench.model.clock();
  for (int i = 0; i < kMeasured; i++) once();
  return double(bench.model.clock() - start) / kMeasured;
}

}  // namespace

TEST_CASE("loops: mixed code takes the clocks that sources give") {
  const auto all = loops();
  size_t as_derived = 0;
  for (const Loop& loop : all) {
    CAPTURE(loop.name);
    CHECK(clocks_of(loop) == doctest::Approx(loop.modelled).epsilon(kTolerance));
    as_derived += loop.clocks == loop.modelled;
  }
  CHECK(as_derived >= 25);
}
