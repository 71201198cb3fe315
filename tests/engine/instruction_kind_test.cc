// SPDX-License-Identifier: MIT
// Do gem5's event tracer and the engine's decoder agree? The tracer classifies instructions with
// its own table (configs/gem5/extras). For each instruction, the tracer must count the same
// additional events as the engine.
#include "configs/gem5/extras/instruction_kind.hh"

#include <doctest/doctest.h>

#include "p5/classes.hh"
#include "p5/decode.hh"
#include "table.hh"

namespace {

using namespace p5;
using gem5::p5lab::Kind;

// The numbers of branches and segment loads that are counted for an instruction. `transfer` is true
// if the instruction loads a code segment.
struct Counts {
  int branches = 0, segments = 0;
  bool transfer = false;
  bool operator==(const Counts& other) const {
    return branches == other.branches && segments == other.segments && transfer == other.transfer;
  }
};

Counts counts_of(Kind kind) {
  switch (kind) {
    case Kind::Plain:
    case Kind::Marker:
      return {};
    case Kind::Branch:
    case Kind::Serializing:
    case Kind::Cr3Load:
      return {1, 0, false};
    case Kind::SegmentLoad:
      return {0, 1, false};
    case Kind::TableLoad:
      return {1, 1, false};
    default:
      return {1, 1, true};
  }
}

// Returns the numbers that Pentium::begin_uncommon(), branch() and transfer() count.
Counts counts_of(const Insn& insn) {
  if (insn.flags & kFar) return {1, 1, true};
  const bool counted_as_branch = insn.flags & kSerializing || insn.cls == Class::Verr;
  return {(insn.flags & kBranch) || counted_as_branch, insn.segment_loads, false};
}

}  // namespace

TEST_CASE("gem5's tracer: every opcode has the engine's counts") {
  int compared = 0;
  for (int map = 0; map < 2; map++) {
    for (unsigned opcode = 0; opcode < 256; opcode++) {
      for (unsigned modrm = 0; modrm < 256; modrm++) {
        uint8_t bytes[15] = {};
        unsigned at = 0;
        if (map) bytes[at++] = 0x0F;
        bytes[at++] = uint8_t(opcode);
        bytes[at] = uint8_t(modrm);
        Insn insn;
        if (!decode(bytes, sizeof bytes, true, timing_table(), &insn)) continue;
        // Prefixes precede another opcode. A Pentium does not execute the opcodes of later
        // processors.
        const bool prefix = insn.opcode != opcode || insn.map != map;
        if (prefix || insn.cls == Class::Unknown || insn.flags & kNotOnPentium) continue;
        const Kind kind = map ? gem5::p5lab::two_byte_kind(uint8_t(opcode), uint8_t(modrm), false)
                              : gem5::p5lab::one_byte_kind(uint8_t(opcode), uint8_t(modrm));
        CAPTURE(map);
        CAPTURE(opcode);
        CAPTURE(modrm);
        CHECK(counts_of(kind) == counts_of(insn));
        compared++;
      }
    }
  }
  CHECK(compared > 256 * 256);
}
