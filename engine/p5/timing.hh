// SPDX-License-Identifier: MIT
// The instruction timing table: timing.csv in arrays that the model indexes by class.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "classes.hh"
#include "insn.hh"

namespace p5 {

// Execution modes that the sources tell apart. Column order of timing.csv.
enum class Mode : uint8_t { Real, V86, Prot };

class TimingTable {
 public:
  TimingTable();

  // Every instruction takes one clock and none pairs: where there is no pipeline.
  static TimingTable flat();

  // Reads a table; on failure returns false with one line "<name>:<line>: what is wrong" and
  // leaves this table unchanged. Every class of classes.hh needs exactly one row.
  bool load(const std::string& path, std::string* error);
  bool parse(std::string_view text, const std::string& name, std::string* error);

  // Each array has Class::Count entries; clocks. A class that cannot occur in a mode has 0 there
  // (task switches in real mode).
  const uint16_t* clocks(Mode mode) const { return column(Column(mode)); }
  // Protected mode and the transfer changes the privilege level.
  const uint16_t* inner_level() const { return column(kInner); }
  // Protected mode with CPL > IOPL (I/O: the permission bitmap is read) or CPL 3 (RDTSC).
  const uint16_t* user_level() const { return column(kUser); }
  // On top for each REP iteration, ENTER level, call-gate parameter; 0 for other classes.
  const uint16_t* per_iteration() const { return column(kIteration); }
  // REP with a count of zero.
  const uint16_t* zero_iterations() const { return column(kZero); }
  // Of the clocks, those which later integer (x87) instructions may overlap.
  const uint16_t* int_overlap() const { return column(kIntOverlap); }
  const uint16_t* fp_overlap() const { return column(kFpOverlap); }

  // Pairing of the class before prefixes and displacement + immediate (decode.cc) restrict it.
  Pairing pairing(ClassId cls) const { return pairing_[cls]; }

 private:
  // The first three are Mode's.
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

// Id of a class name, or Class::Count when there is none.
ClassId class_by_name(std::string_view name);

}  // namespace p5
