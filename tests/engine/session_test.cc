// SPDX-License-Identifier: MIT
// Does each small part of a run (engine/session) work alone?
#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "scratch.hh"
#include "session/brackets.hh"
#include "session/counted.hh"
#include "session/guest_files.hh"
#include "session/job.hh"
#include "session/marker.hh"

using namespace session;

namespace {

base::Settings settings(const std::string& text) {
  base::Settings settings;
  std::string error;
  REQUIRE(settings.parse(text, "job.conf", &error));
  return settings;
}

std::string word(uint32_t value) {
  std::string text;
  for (int i = 0; i < 4; i++) text += char(value >> 8 * i);
  return text;
}

}  // namespace

TEST_CASE("brackets: the last opened phase closes first") {
  Brackets brackets;
  CHECK_FALSE(brackets.measures());
  CHECK(brackets.begin(1) == "");
  CHECK(brackets.begin(2) == "");
  CHECK(brackets.measures());
  CHECK(brackets.begin(1) == "unbalanced markers: phase 1 began twice");
  CHECK(brackets.end(1) == "unbalanced markers: phase 2 was not ended before phase 1");
  CHECK(brackets.end(3) == "unbalanced markers: end of phase 3 without its begin");
  CHECK(brackets.exit() == "unbalanced markers: phase 2 was not ended");
  CHECK(brackets.end(2) == "");
  CHECK(brackets.measures());  // while its end is written
  brackets.close();
  CHECK(brackets.end(1) == "");
  brackets.close();
  CHECK(brackets.exit() == "");
  CHECK_FALSE(brackets.measures());
}

TEST_CASE("brackets: empty brackets do not measure") {
  Brackets brackets;
  brackets.begin(kEmpty);
  CHECK_FALSE(brackets.measures());
  CHECK_FALSE(brackets.inside());
  brackets.close();
  brackets.begin(4);
  brackets.begin(kEmpty);
  CHECK_FALSE(brackets.measures());
  CHECK(brackets.inside());
}

TEST_CASE("marker: twelve bytes of a text, with zeros after its end") {
  const MarkerResult first = twelve_bytes("abcdefghijklmn", 0, 7);
  CHECK(first.eax == 7);
  CHECK(word(first.ebx) + word(first.ecx) + word(first.edx) == "abcdefghijkl");
  const MarkerResult last = twelve_bytes("abcdefghijklmn", 12, 7);
  CHECK(word(last.ebx) == std::string("mn\0\0", 4));
  CHECK(last.ecx == 0);
  const MarkerResult beyond = twelve_bytes("abc", 100, 1);
  CHECK((beyond.ebx | beyond.ecx | beyond.edx) == 0);
}

TEST_CASE("job: a command line and a program in pieces of twelve bytes") {
  const Scratch program("0123456789ABCDE");
  base::Settings own = settings(
      "run.job = /bin/true 1\nrun.trace_reads = on\nrun.program = " + program.path() + "\n");
  const Job job = Job::read(own, 0);
  CHECK(own.finish() == "");
  CHECK(job.trace_reads);
  CHECK(word(job.command_at(0).ebx) == "/bin");
  CHECK(job.command_at(0).eax == 1);
  CHECK(job.program_at(0).eax == 12);
  CHECK(job.program_at(12).eax == 3);
  CHECK(word(job.program_at(12).ebx) == std::string("CDE\0", 4));
  CHECK(job.program_at(15).eax == 0);
  CHECK(job.program_at(99).eax == 0);
}

TEST_CASE("job: for an unreadable program the error names the key") {
  base::Settings own = settings("run.job = x\nrun.trace_reads = off\nrun.program = /nowhere/x\n");
  Job::read(own, 0);
  CHECK(own.error() == "job.conf:3: run.program: /nowhere/x cannot be read");
}

TEST_CASE("guest files: loaded at their addresses, in parts or completely") {
  const Scratch kernel("HEADKERNEL");
  base::Settings own = settings(
      "boot.blob.0 = 0x100000 4 - " + kernel.path() + "\nboot.blob.1 = 0x90000 0 4 " +
      kernel.path() + "\nboot.entry = 9020:0010\nboot.segment = 0x9000\nboot.sp = 0xFFF0\n");
  const GuestFiles files = GuestFiles::read(own);
  REQUIRE(own.finish() == "");
  std::map<uint32_t, std::string> memory;
  CHECK(files.load([&](uint32_t address, const uint8_t* bytes, size_t count) {
    memory[address] = std::string(reinterpret_cast<const char*>(bytes), count);
    return true;
  }) == "");
  CHECK(memory == std::map<uint32_t, std::string>{{0x90000, "HEAD"}, {0x100000, "KERNEL"}});
  const MarkerResult entry = files.entry();
  CHECK(entry.eax == 1);
  CHECK(entry.ebx == 0x90200010);
  CHECK(entry.ecx == 0x9000);
  CHECK(entry.edx == 0xFFF0);
  CHECK(files.load([](uint32_t, const uint8_t*, size_t) { return false; }) ==
        "a boot file does not fit into memory at 0x00100000");
}

TEST_CASE("guest files: a missing or short file gives a message of one line") {
  const std::string rest = "boot.entry = 0:0\nboot.segment = 0\nboot.sp = 0\n";
  const auto no_memory = [](uint32_t, const uint8_t*, size_t) { return true; };
  const Scratch shorter("123");
  base::Settings own = settings("boot.blob.0 = 0 1 4 " + shorter.path() + "\n" + rest);
  CHECK(GuestFiles::read(own).load(no_memory) ==
        "boot file " + shorter.path() + " is shorter than its 4 bytes from 1");
  own = settings("boot.blob.0 = 0 0 - /nowhere/x\n" + rest);
  CHECK(GuestFiles::read(own).load(no_memory) == "boot file /nowhere/x cannot be read");
  own = settings("boot.blob.0 = 0 0\n" + rest);
  GuestFiles::read(own);
  CHECK(own.error() == "job.conf:1: boot.blob.0: expected `address offset length|- file`");
  own = settings("boot.entry = here\nboot.segment = 0\nboot.sp = 0\n");
  const GuestFiles none = GuestFiles::read(own);
  CHECK(own.error() == "job.conf:1: boot.entry: expected segment:offset in hexadecimal");
  CHECK(none.entry().eax == 0);
}

TEST_CASE("counted events: a device's events count only if the machine has the device") {
  const auto names = [](const std::set<base::events::Part>& parts, bool newer = true) {
    std::set<std::string> names;
    for (const uint32_t event : counted_events(
             [&](base::events::Part part) { return parts.count(part) != 0; }, true, newer, false)) {
      names.insert(p5::event_name(event));
    }
    return names;
  };
  const std::set<std::string> none = names({base::events::Part::P5}),
                              both = names({base::events::Part::P5, base::events::Part::Scsi,
                                            base::events::Part::Ne2000});
  CHECK(none.count("instructions") == 1);
  CHECK(none.count("disk.reads") == 0);
  CHECK(none.count("net.busy") == 0);
  CHECK(none.count("mode_changes.64bit") == 0);  // an event of the other engine
  CHECK(names({base::events::Part::Scsi}).count("disk.wait") == 1);
  CHECK(names({base::events::Part::Scsi}).count("net.busy") == 0);
  CHECK(names({base::events::Part::Ne2000}).count("net.remote_busy") == 1);
  CHECK(both.size() == p5::kEventCount - 1);
  // Only the level pentium+cmov has the instructions that these events count.
  CHECK(none.count("newer.instructions") == 1);
  CHECK(names({base::events::Part::P5}, false).size() == none.size() - 2);
}
