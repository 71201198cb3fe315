// SPDX-License-Identifier: MIT
// Which data does a run write (engine/session)? The tests check the event stream, crossings, and
// accesses to counter registers.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "../../workloads/lib/marker_numbers.h"
#include "bench.hh"
#include "observe/crossings/crossings.hh"
#include "observe/group.hh"
#include "observe/intervals/intervals.hh"
#include "scratch.hh"
#include "session/counter_registers.hh"
#include "session/event_stream.hh"

using namespace session;

namespace {

std::vector<std::string> lines(const Scratch& file) {
  std::vector<std::string> lines;
  const std::string text = file.content();
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    REQUIRE(end != std::string::npos);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// A model in which each instruction takes one clock, and the stream of three of its events.
struct StreamBench : Bench {
  StreamBench() {
    model.set_timing(false);
    stream.open(file.path(), 90'000'000);
  }
  std::vector<std::string> written() {
    stream.finish();
    return lines(file);
  }

  Scratch file;
  EventStream stream{model, {p5::CyclesBusy, p5::Instructions, p5::DataReads}, {}, nullptr};
};

}  // namespace

TEST_CASE("event stream: header, snapshot, end") {
  StreamBench bench;
  bench.change([](p5::State& state) { state.cr3 = 0x1000; });
  bench.insn("40");
  bench.insn("40");
  bench.stream.marker("marker", "begin", 7);
  bench.stream.end("failed", "a \"reason\"", 3);
  const std::vector<std::string> lines = bench.written();
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] ==
        "{\"type\":\"header\",\"schema_version\":1,\"engine\":\"bochs\",\"clock_hz\":90000000,"
        "\"events\":[\"cycles.busy\",\"instructions\",\"data_reads\"],"
        "\"units\":[\"cycles\",\"events\",\"events\"]}");
  // The stream omits the zeros at the end of a bank. It also omits banks in which all counts are
  // zero.
  CHECK(lines[1] ==
        "{\"type\":\"marker\",\"op\":\"begin\",\"arg\":7,\"tsc\":2,"
        "\"banks\":[[4096,0,[2,2]]],\"vectors\":[]}");
  CHECK(lines[2] ==
        "{\"type\":\"end\",\"status\":\"failed\",\"reason\":\"a \\\"reason\\\"\","
        "\"guest_status\":3,\"tsc\":2}");
}

TEST_CASE("event stream: interrupts by their vector") {
  StreamBench bench;
  bench.model.hard_interrupt(32, bench.ip);
  bench.stream.marker("marker", "ready", 0);
  const std::string line = bench.written().back();
  CHECK(line.find("\"vectors\":[[0,0,\"irq\",32,1]]") != std::string::npos);
}

TEST_CASE("event stream: geometries have their growth since the previous marker") {
  Bench bench;
  measure::Shadows shadows(std::vector<p5::Config>{p90()});
  bench.model.observe(&shadows);
  Scratch file;
  EventStream stream(bench.model, {p5::DataReads}, {"own"}, &shadows);
  stream.open(file.path(), 1);
  bench.change([](p5::State& state) { state.cr3 = 0x2000; });
  bench.load(0x5000);
  stream.marker("marker", "begin", 0);
  stream.marker("marker", "end", 0);
  stream.finish();
  const std::vector<std::string> written = lines(file);
  REQUIRE(written.size() == 3);
  CHECK(written[0].find("\"shadows\":[\"own\"],\"shadow_events\":[\"data_read_misses\"") !=
        std::string::npos);
  INFO(written[1]);
  CHECK(written[1].find(",\"shadows\":[[8192,0,[[1,0,0,0,1,") != std::string::npos);
  CHECK(written[2].find(",\"shadows\":[]}") != std::string::npos);
}

TEST_CASE("intervals: a line at the end of each interval, with the counts of each ring") {
  Bench bench;
  std::vector<std::string> written;
  observe::Intervals intervals(bench.model, 10, 90);
  intervals.open({p5::Instructions}, [&](const std::string& line) { written.push_back(line); });
  CHECK(intervals.deadline() == observe::Observer::kNever);  // before start(), no interval ends
  while (bench.model.clock() < 5) bench.insn("40");
  const uint64_t before = bench.model.counters().total(p5::Instructions);
  intervals.start();
  observe::Group group({&intervals});
  const uint64_t start = bench.model.clock();
  CHECK(group.deadline() == start + 10);
  group.look(start + 10);  // the last clock of the interval is not over
  CHECK(intervals.value() == 0);
  bench.change([](p5::State& state) { state.ring = 3; });
  bench.insn("40");
  bench.model.idle(36);
  group.look(bench.model.clock());  // several intervals have passed
  const uint64_t passed = bench.model.clock() - start;
  CHECK(passed > 30);
  CHECK(intervals.value() == 1);
  CHECK(group.deadline() == start + (passed / 10 + 1) * 10);
  intervals.stop();
  written.push_back(intervals.text({}));
  REQUIRE(written.size() == 5);
  CHECK(written[0] ==
        "{\"type\":\"header\",\"schema_version\":1,\"clock_hz\":90,\"length\":10,"
        "\"events\":[\"instructions\"]}\n");
  const std::string ring0 = "[0,[" + std::to_string(before) + "]]";
  CHECK(written[1] ==
        "{\"type\":\"counts\",\"tsc\":" + std::to_string(start) + ",\"rings\":[" + ring0 + "]}\n");
  CHECK(written[2] == "{\"type\":\"counts\",\"tsc\":" + std::to_string(start + passed) +
                          ",\"rings\":[" + ring0 + ",[3,[1]]]}\n");
  CHECK(written[3] == written[2]);  // stop() ends the last interval
  CHECK(written[4] == "{\"type\":\"end\"}\n");
}

TEST_CASE("crossings: only changes of state inside brackets that are not empty are written") {
  Bench bench;
  struct : observe::Guest {
    bool code(p5::Linear, bool, uint32_t*) override { return false; }
    const uint8_t* page(uint32_t) override { return nullptr; }
    observe::Registers registers() override { return {1, 2, 3, 4, 5, 6}; }
  } guest;
  std::vector<std::string> written;
  observe::Crossings crossings(bench.model, guest);
  crossings.open({}, [&](const std::string& line) { written.push_back(line); });
  crossings.start();
  const auto arrive = [&](const observe::Entrance& how) { crossings.arrive(how, {0, 0}, 0); };
  arrive({"cr3", -1});  // no bracket is open
  crossings.begin(P5_PHASE_EMPTY);
  arrive({"cr3", -1});
  crossings.end();
  crossings.begin(9);
  arrive({"far", -1});  // the same state
  arrive({"cr3", -1});  // CR3 with the same value
  bench.change([](p5::State& state) { state.ring = 3; });
  arrive({"interrupt", 32});
  bench.change([](p5::State& state) { state.mode = p5::MachineMode::V86; });
  arrive({});
  crossings.end();
  REQUIRE(written.size() == 5);
  CHECK(written[0].find("{\"kind\":\"begin\",\"phase\":9,\"tsc\":0,\"counts\":{") == 0);
  CHECK(written[1].find("{\"kind\":\"cr3\",\"vector\":null,\"tsc\":0,\"instructions\":0,"
                        "\"ring\":[0,0],\"cr3\":[0,0],\"mode\":[\"prot32\",\"prot32\"],"
                        "\"eip\":1,\"eax\":2,\"ebx\":3,\"ecx\":4,\"edx\":5,\"cr2\":6,"
                        "\"counts\":{\"code_misses\":0,") == 0);
  CHECK(written[2].find("{\"kind\":\"interrupt\",\"vector\":32,") == 0);
  CHECK(written[2].find("\"ring\":[0,3]") != std::string::npos);
  CHECK(written[3].find("{\"kind\":\"mode\",\"vector\":null,") == 0);
  CHECK(written[3].find("\"mode\":[\"prot32\",\"v86\"]") != std::string::npos);
  CHECK(written[4].find("{\"kind\":\"end\",\"phase\":9,\"tsc\":0,\"counts\":{") == 0);
}
