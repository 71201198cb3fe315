// SPDX-License-Identifier: MIT
// The event stream of a run, events.jsonl (docs/reference/formats.md): a header, a snapshot of all
// counts at each marker, notes, and the end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "output.hh"
#include "pentium.hh"
#include "shadow_counts.hh"

namespace session {

class EventStream {
 public:
  // Of the model, of these events (counted.hh), and of geometries with these names; `played` is
  // null if there are none.
  EventStream(p5::Pentium& model, std::vector<uint32_t> counted,
              const std::vector<std::string>& shadow_names, p5::Shadows* played)
      : model_(model), counted_(std::move(counted)), shadows_(shadow_names), played_(played) {}

  // Makes the file and writes the header.
  void open(const std::string& path, uint64_t clock_hz);

  // A snapshot: what a marker of the guest does ("marker"), or where an interval of a sample begins
  // and ends ("interval").
  void marker(const char* type, const char* op, uint32_t arg);
  // A snapshot without shadows: an access to a counter register.
  void read(const char* insn, uint32_t index, uint64_t value);
  // The last lines: instructions without a row in the timing table, and how the run ended.
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
  p5::Shadows* played_;
  Output file_;
  std::string line_;  // being written; kept, so that its memory is used again
};

}  // namespace session
