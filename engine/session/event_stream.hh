// SPDX-License-Identifier: MIT
// How is the event stream of a run written (events.jsonl, docs/reference/formats.md)? The stream
// consists of a header, a snapshot of all counts at each marker, notes, and an end line.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "p5/pentium.hh"
#include "session/output.hh"
#include "session/shadow_counts.hh"

namespace session {

class EventStream {
 public:
  // `counted` lists the events to write (counted.hh). `shadow_names` lists the names of the
  // shadows. `played` contains the shadows; null: the run has no shadows.
  EventStream(p5::Pentium& model, std::vector<uint32_t> counted,
              const std::vector<std::string>& shadow_names, measure::Shadows* played)
      : model_(model), counted_(std::move(counted)), shadows_(shadow_names), played_(played) {}

  // Creates the file and writes the header.
  void open(const std::string& path, uint64_t clock_hz);

  // Writes a snapshot. The type of the snapshot is "marker" for a marker of the guest, and
  // "interval" for the beginning or end of a sampled interval.
  void marker(const char* type, const char* op, uint32_t arg);
  // Writes a snapshot without shadows when the guest accesses a counter register.
  void read(const char* insn, uint32_t index, uint64_t value);
  // Writes a note: a number of times that something happened, outside of the counts.
  void note(const char* what, const std::string& name, uint64_t count);
  // Writes the last lines: the instructions without a row in the timing table, and the end of the
  // run with its status.
  void end(const std::string& status, const std::string& reason, uint32_t guest_status);

  const std::vector<uint32_t>& counted() const { return counted_; }
  bool is_open() const { return bool(file_); }
  void finish() { file_.finish(); }

 private:
  using Banks = std::vector<std::unique_ptr<p5::Bank>>;
  void snapshot(bool shadows);
  void append_banks(const Banks& banks);
  void append_vectors(const Banks& banks);

  p5::Pentium& model_;
  std::vector<uint32_t> counted_;
  ShadowCounts shadows_;
  measure::Shadows* played_;
  Output file_;
  std::string line_;  // the current line; a member, so that its memory is reused
};

}  // namespace session
