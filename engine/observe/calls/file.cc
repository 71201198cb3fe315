// SPDX-License-Identifier: MIT
#include "observe/calls/file.hh"

#include "base/json.hh"

namespace observe {
namespace {

using base::JsonLine;

const char* kind_name(CallKind kind) {
  switch (kind) {
    case CallKind::Int:
      return "int";
    case CallKind::Gate:
      return "gate";
    case CallKind::Hardware:
      return "hardware";
    default:
      return "exception";
  }
}

// Returns [cycles,idle,mode_changes,crossings]. A number of cycles can be negative: the model can
// add clocks in one call and subtract them after the call.
std::string numbers(const Calls::Sum& sum) {
  std::string text = "[" + std::to_string(int64_t(sum.cycles));
  for (const uint64_t one : {sum.idle, sum.mode_changes, sum.crossings}) {
    text += "," + std::to_string(one);
  }
  return text + "]";
}

std::string row(uint32_t phase, const CallKey& key, const Calls::Counts& counts) {
  const bool gate = key.kind == CallKind::Gate, plain = key.function == kNoFunction;
  JsonLine line("call");
  line.member("phase", phase).member("kind", kind_name(key.kind));
  line.raw("vector", gate ? "null" : std::to_string(key.vector));
  line.raw("function", plain ? "null" : std::to_string(key.function));
  line.member("calls", counts.calls).member("returned", counts.returned);
  line.raw("exclusive", numbers(counts.own)).raw("inclusive", numbers(counts.inside));
  return line.raw("waited", std::to_string(int64_t(counts.waited))).line();
}

}  // namespace

std::string call_text(const CallKey* key) {
  if (!key) return "outside";
  const std::string vector = key->kind == CallKind::Gate ? "" : std::to_string(key->vector);
  const std::string function = key->function == kNoFunction ? "" : std::to_string(key->function);
  return std::string(kind_name(key->kind)) + ":" + vector + ":" + function;
}

std::string calls_text(const Calls& found) {
  JsonLine header("header");
  std::string text = header.member("schema_version", 1).line();
  for (const auto& [number, phase] : found.phases()) {
    const Calls::Sum outside = phase.rows.empty() ? Calls::Sum() : phase.rows[0].own;
    JsonLine line("phase");
    line.member("phase", number).member("cycles", phase.cycles);
    text += line.raw("outside", numbers(outside)).line();
    for (uint32_t one = 1; one < phase.rows.size(); one++) {
      const Calls::Counts& counts = phase.rows[one];
      const Calls::Sum& own = counts.own;
      if (!counts.calls && !own.cycles && !own.mode_changes && !own.crossings) continue;
      text += row(number, found.rows()[one], counts);
    }
  }
  return text + JsonLine("end").line();
}

}  // namespace observe
