// SPDX-License-Identifier: MIT
#include "session/event_stream.hh"

#include "base/json.hh"
#include "observe/names.hh"

namespace session {
namespace {

using base::JsonLine;

// Returns two hexadecimal digits, with 0f before them for a two-byte opcode.
std::string opcode_name(uint16_t opcode) {
  const std::string digits = base::hex(opcode & 0xFF);
  return (opcode >> 8 ? "0f" : "") + digits.substr(digits.size() - 2);
}

}  // namespace

void EventStream::open(const std::string& path, uint64_t clock_hz) {
  std::vector<std::string> units;
  for (const uint32_t event : counted_) units.push_back(p5::event_unit(event));
  file_.create(path);
  JsonLine header("header");
  header.member("schema_version", 1).member("engine", "bochs");
  header.member("clock_hz", clock_hz)
      .names("events", observe::event_names(counted_))
      .names("units", units);
  line_ = header.open();
  if (shadows_.any()) shadows_.append_header(&line_);
  if (played_) played_->use_all();  // a stream of an earlier part of the run had their counts
  file_.write(line_ + "}\n");
}

void EventStream::marker(const char* type, const char* op, uint32_t arg) {
  line_ = JsonLine(type).member("op", op).member("arg", arg).open();
  snapshot(true);
}

void EventStream::read(const char* insn, uint32_t index, uint64_t value) {
  JsonLine line("read");
  line.member("insn", insn).member("index", index).member("value", value);
  line_ = line.open();
  snapshot(false);
}

// Appends the clock and all counts to line_.
void EventStream::snapshot(bool shadows) {
  const Banks& banks =
      model_.counters().banks();  // before the clock, because this call may advance the clock
  line_ += ",\"tsc\":";
  base::append(&line_, model_.clock());
  line_ += ",\"banks\":[";
  append_banks(banks);
  line_ += "],\"vectors\":[";
  append_vectors(banks);
  line_ += ']';
  if (shadows && shadows_.any()) shadows_.append(&line_, *played_);
  line_ += "}\n";
  file_.write(line_);
}

// Appends [cr3,ring,[counts]] for each bank, without the zeros at the end.
void EventStream::append_banks(const Banks& banks) {
  const char* before = "";
  for (const auto& bank : banks) {
    size_t used = counted_.size();
    while (used && bank->count[counted_[used - 1]] == 0) used--;
    if (!used) continue;
    append_bank(&line_, before, *bank);
    for (size_t i = 0; i < used; i++) {
      line_ += i ? ',' : '[';
      base::append(&line_, bank->count[counted_[i]]);
    }
    line_ += "]]";
    before = ",";
  }
}

// Appends [cr3,ring,"irq"|"fault"|"soft",vector,count] for each vector.
void EventStream::append_vectors(const Banks& banks) {
  const char* before = "";
  for (const auto& bank : banks) {
    for (const auto& [key, count] : bank->vectors) {
      append_bank(&line_, before, *bank);
      line_.append("\"").append(observe::entry_name(key.first)).append("\",");
      base::append(&line_, key.second);
      line_ += ',';
      base::append(&line_, count);
      line_ += ']';
      before = ",";
    }
  }
}

void EventStream::note(const char* what, const std::string& name, uint64_t count) {
  JsonLine line("note");
  line.member("what", what).member("name", name);
  file_.write(line.member("count", count).line());
}

void EventStream::end(const std::string& status, const std::string& reason, uint32_t guest_status) {
  for (const auto& [opcode, count] : model_.unknown()) {
    note("unknown-class", opcode_name(opcode), count);
  }
  JsonLine end("end");
  end.member("status", status).member("reason", reason).member("guest_status", guest_status);
  file_.write(end.member("tsc", model_.clock()).line());
}

}  // namespace session
