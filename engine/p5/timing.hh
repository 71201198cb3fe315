// SPDX-License-Identifier: MIT
// How many clocks does an instruction take? The model reads timing.csv into arrays and indexes them
// by class.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "p5/classes.hh"
#include "p5/insn.hh"

namespace p5 {

// The execution modes for which the sources list separate clocks. The modes are in the same order
// as the columns of timing.csv.
enum class Mode : uint8_t { Real, V86, Prot };

class TimingTable {
 public:
  TimingTable();

  // Returns a table for a build that does not model the pipeline. In this table every instruction
  // takes one clock, and no instructions pair.
  static TimingTable flat();

  // Reads a table. Every class of classes.hh needs exactly one row. If there is an error, returns
  // false and leaves this table unchanged. `*error` is then one line "<name>:<line>: what is
  // wrong".
  bool load(const std::string& path, std::string* error);
  bool parse(std::string_view text, const std::string& name, std::string* error);

  // Each array has Class::Count entries, in clocks. If a class cannot occur in a mode, its entry is
  // 0 (task switches in real mode).
  const uint16_t* clocks(Mode mode) const { return column(Column(mode)); }
  // Clocks in protected mode if the transfer changes the privilege level.
  const uint16_t* inner_level() const { return column(kInner); }
  // Clocks in protected mode with CPL > IOPL (I/O reads the permission bitmap) or CPL 3 (RDTSC).
  const uint16_t* user_level() const { return column(kUser); }
  // Additional clocks for each REP iteration, ENTER level or call-gate parameter; 0 for other
  // classes.
  const uint16_t* per_iteration() const { return column(kIteration); }
  // Clocks of a REP with a count of zero.
  const uint16_t* zero_iterations() const { return column(kZero); }
  // int_overlap(): number of clocks during which later integer instructions may be executed.
  // fp_overlap(): number of clocks during which later x87 instructions may be executed.
  const uint16_t* int_overlap() const { return column(kIntOverlap); }
  const uint16_t* fp_overlap() const { return column(kFpOverlap); }

  // The pairing of the class. Two properties of an instruction restrict the pairing further:
  // prefixes, and a displacement together with an immediate (decode_pairing.cc).
  Pairing pairing(ClassId cls) const { return pairing_[cls]; }

 private:
  // The first three columns are in the order of Mode.
  enum Column {
    kReal,
    kV86,
    kProt,
    kInner,
    kUser,
    kIteration,
    kZero,
    kIntOverlap,
    kFpOverlap,
    kColumns
  };

  const uint16_t* column(Column which) const { return columns_[which].data(); }
  std::string parse_row(std::string_view row, std::vector<bool>* seen);

  std::vector<uint16_t> columns_[kColumns];
  std::vector<Pairing> pairing_;
};

// Returns the id of a class name, or Class::Count if there is no such class.
ClassId class_by_name(std::string_view name);

}  // namespace p5
