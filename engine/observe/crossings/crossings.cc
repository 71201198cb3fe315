// SPDX-License-Identifier: MIT
#include "observe/crossings/crossings.hh"

#include <cstring>
#include <iterator>

#include "../../../workloads/lib/marker_numbers.h"
#include "base/json.hh"
#include "observe/names.hh"

namespace observe {
namespace {

using p5::Event;

const Registered<Crossings> registered("crossings", Crossings::read);

// The events that each line of the trace reports. With --cpi, a line also reports the idle clocks
// and all components of the CPI stack.
constexpr Event kTraced[] = {p5::CodeMisses,   p5::DataReadMisses, p5::DataWriteMisses,
                             p5::L2ReadMisses, p5::L2WriteMisses,  p5::ItlbMisses,
                             p5::DtlbMisses};

std::vector<Event> traced(const p5::Pentium& model) {
  std::vector<Event> events(std::begin(kTraced), std::end(kTraced));
  if (!model.explains_clocks()) return events;
  events.push_back(p5::CyclesIdle);
  for (uint32_t event = 0; event < p5::kEventCount; event++) {
    if (p5::kEvents[event].asked) events.push_back(Event(event));
  }
  return events;
}

std::string pair(uint64_t from, uint64_t to) {
  return "[" + std::to_string(from) + "," + std::to_string(to) + "]";
}

}  // namespace

Make Crossings::read(base::Settings&) {
  return [](const Machine& machine) {
    return std::make_unique<Crossings>(machine.model, machine.guest);
  };
}

// Returns {"code_misses":N,...}: the counts since reset, summed over all rings and address spaces.
std::string Crossings::counts() {
  // The components contain all clocks only after this read of the counters.
  const p5::Counters& counters = model_.explains_clocks() ? model_.counters() : model_.banks();
  std::string text;
  for (const Event event : traced(model_)) {
    text += text.empty() ? "{\"" : ",\"";
    text += p5::event_name(event);
    text += "\":" + std::to_string(counters.total(event));
  }
  return text + '}';
}

void Crossings::begin(uint32_t phase) {
  open_.push_back(phase);
  bracket("begin");
}

void Crossings::end() {
  bracket("end");
  open_.pop_back();
}

// Writes the beginning or the end of a bracket that is not empty.
void Crossings::bracket(const char* what) {
  if (open_.back() == P5_PHASE_EMPTY) return;
  const std::string counts = this->counts();
  base::JsonLine line("kind", what);
  line.member("phase", open_.back()).member("tsc", model_.clock()).raw("counts", counts);
  write_(line.line());
}

void Crossings::arrive(const Entrance& how, Position, p5::Linear) {
  const p5::State& to = model_.state();
  const bool reload = how.kind && std::strcmp(how.kind, "cr3") == 0;
  const bool same = from_.ring == to.ring && from_.cr3 == to.cr3 && from_.mode == to.mode;
  const bool measures = !open_.empty() && open_.back() != P5_PHASE_EMPTY;
  if (measures && (!same || reload)) crossing(how, to);
  from_ = to;
}

void Crossings::crossing(const Entrance& how, const p5::State& to) {
  const std::string counts = this->counts();
  // Read the counters before the clock, because the read of the counters may advance the clock.
  const uint64_t instructions = model_.counters().total(Event::Instructions);
  const Registers registers = guest_.registers();
  base::JsonLine line("kind", how.kind ? how.kind : "mode");
  line.raw("vector", how.vector < 0 ? "null" : std::to_string(how.vector));
  line.member("tsc", model_.clock()).member("instructions", instructions);
  line.raw("ring", pair(from_.ring, to.ring)).raw("cr3", pair(from_.cr3, to.cr3));
  line.raw("mode",
           std::string("[\"") + mode_name(from_.mode) + "\",\"" + mode_name(to.mode) + "\"]");
  line.member("eip", registers.eip).member("eax", registers.eax).member("ebx", registers.ebx);
  line.member("ecx", registers.ecx).member("edx", registers.edx).member("cr2", registers.cr2);
  write_(line.raw("counts", counts).line());
}

}  // namespace observe
