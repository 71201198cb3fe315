// SPDX-License-Identifier: MIT
#include "counters.hh"

namespace p5 {

const char* event_name(uint32_t event) {
  static const char* const names[] = {
#define P5_NAME(id, name, unit) name,
      P5_EVENTS(P5_NAME)
#undef P5_NAME
  };
  return names[event];
}

const char* event_unit(uint32_t event) {
  static const char* const units[] = {
#define P5_UNIT(id, name, unit) unit,
      P5_EVENTS(P5_UNIT)
#undef P5_UNIT
  };
  return units[event];
}

Bank& Counters::bank(uint32_t cr3, uint8_t ring) {
  Bank*& found = index_[uint64_t(cr3) << 2 | ring];
  if (!found) {
    banks_.push_back(std::make_unique<Bank>());
    found = banks_.back().get();
    found->cr3 = cr3;
    found->ring = ring;
  }
  return *found;
}

uint64_t Counters::total(Event event, uint32_t rings) const {
  uint64_t sum = 0;
  for (const auto& bank : banks_) {
    if (rings >> bank->ring & 1) sum += bank->count[event];
  }
  return sum;
}

namespace {

// The model's events behind each code of the chip [INTEL-DM table 16-24]; a code that is absent
// here counts nothing yet.
struct ChipEvent {
  uint8_t es;
  Event parts[3];
  uint8_t count;
};
constexpr ChipEvent kChipEvents[] = {
    {0x00, {DataReads}, 1},
    {0x01, {DataWrites}, 1},
    {0x02, {DtlbMisses}, 1},
    {0x03, {DataReadMisses}, 1},
    {0x04, {DataWriteMisses}, 1},
    {0x05, {WriteHitsME}, 1},
    {0x06, {L1dWritebacks}, 1},
    {0x09, {MemoryBothPipes}, 1},
    {0x0A, {BankConflicts}, 1},
    {0x0B, {Misaligned}, 1},
    {0x0C, {CodeReads}, 1},
    {0x0D, {ItlbMisses}, 1},
    {0x0E, {CodeMisses}, 1},
    {0x0F, {SegmentLoads}, 1},
    {0x12, {Branches}, 1},
    {0x13, {BtbHits}, 1},
    {0x14, {TakenOrBtbHit}, 1},
    {0x15, {PipelineFlushes}, 1},
    {0x16, {Instructions}, 1},
    {0x17, {InstructionsV}, 1},
    {0x19, {StallWrite}, 1},
    {0x1A, {StallRead, StallWalk}, 2},
    {0x1C, {LockedCycles}, 1},
    {0x1D, {IoReads, IoWrites}, 2},
    {0x1E, {UncachedReads, WalkReads}, 2},
    {0x1F, {AgiStalls}, 1},
    {0x27, {HwInterrupts}, 1},
    {0x28, {DataReads, DataWrites}, 2},
    {0x29, {DataReadMisses, DataWriteMisses}, 2},
};

const ChipEvent* chip_event(unsigned es) {
  for (const ChipEvent& event : kChipEvents) {
    if (event.es == es) return &event;
  }
  return nullptr;
}

constexpr uint32_t kCesrMask = 0x03FF03FF;  // ES 5:0, CC 8:6, PC 9, and the same from bit 16

}  // namespace

bool CounterMsrs::supported(unsigned es) { return chip_event(es) != nullptr; }

uint64_t CounterMsrs::source(unsigned counter) const {
  const uint32_t half = cesr_ >> (16 * counter) & 0x3FF;
  const uint32_t es = half & 0x3F, cc = half >> 6 & 7;
  const uint32_t rings = (cc & 1 ? 0x7 : 0) | (cc & 2 ? 0x8 : 0);  // 01: CPL 0-2, 10: CPL 3
  if (!rings) return 0;                                            // stopped
  if (cc & 4) return counters_.total(CyclesBusy, rings) + counters_.total(CyclesIdle, rings);
  uint64_t sum = 0;
  if (const ChipEvent* event = chip_event(es)) {
    for (unsigned i = 0; i < event->count; i++) sum += counters_.total(event->parts[i], rings);
  }
  return sum;
}

uint64_t CounterMsrs::read(unsigned counter) const {
  return (value_[counter] + source(counter) - base_[counter]) & kMask;
}

void CounterMsrs::write_cesr(uint32_t value) {
  for (unsigned i = 0; i < 2; i++) value_[i] = read(i);  // writing CESR does not clear counters
  cesr_ = value & kCesrMask;
  for (unsigned i = 0; i < 2; i++) base_[i] = source(i);
}

void CounterMsrs::write(unsigned counter, uint64_t value) {
  value_[counter] = value & kMask;
  base_[counter] = source(counter);
}

}  // namespace p5
