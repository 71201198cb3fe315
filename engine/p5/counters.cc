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

Bank& Counters::bank(Space cr3, uint8_t ring) {
  Bank*& found = index_[{cr3, ring}];
  if (!found) {
    banks_.push_back(std::make_unique<Bank>());
    found = banks_.back().get();
    found->cr3 = cr3;
    found->ring = ring;
  }
  return *found;
}

namespace {

// One of the chip's events [INTEL-DM table 16-24]: what it counts, and what its errors add to that
// or take away.
struct ChipEvent {
  struct Error {
    bool event;  // of Event, else of Miscount
    uint8_t which;
    int8_t times;
  };
  uint8_t es;
  Event parts[3];
  uint8_t count;
  Error errors[2] = {{false, 0, 0}, {false, 0, 0}};
};
constexpr ChipEvent::Error error(Miscount which, int8_t times) { return {false, which, times}; }
constexpr ChipEvent::Error error(Event which, int8_t times) {
  return {true, uint8_t(which), times};
}
constexpr ChipEvent kChipEvents[] = {
    {0x00, {DataReads}, 1},
    {0x01, {DataWrites}, 1, {error(WriteParts, -1)}},
    {0x02, {DtlbMisses}, 1, {error(DtlbMissFaults, 1)}},
    {0x03, {DataReadMisses}, 1, {error(MisalignedMisses, 1)}},
    {0x04, {DataWriteMisses}, 1},
    {0x05, {WriteHitsME}, 1},
    {0x06, {L1dWritebacks}, 1},
    {0x07, {Snoops}, 1},
    {0x08, {SnoopHits}, 1},
    {0x09, {MemoryBothPipes}, 1},
    {0x0A, {BankConflicts}, 1},
    {0x0B, {Misaligned}, 1, {error(MisalignedStores, 1)}},
    {0x0C, {CodeReads}, 1},
    {0x0D, {ItlbMisses}, 1, {error(ItlbMissFaults, 1)}},
    {0x0E, {CodeMisses}, 1},
    {0x0F, {SegmentLoads}, 1},
    {0x12, {Branches}, 1},
    {0x13, {BtbHits}, 1},
    {0x14, {TakenOrBtbHit}, 1},
    {0x15, {PipelineFlushes}, 1},
    {0x16, {Instructions}, 1},
    {0x17, {InstructionsV}, 1},
    {0x18, {BusBusy}, 1},
    {0x19, {StallWrite}, 1},
    {0x1A, {StallRead, StallWalk}, 2, {error(MisalignedReads, -1)}},
    {0x1B, {StallWriteME}, 1, {error(StallWriteME, -1)}},  // EWBE# alone, which no board here uses
    {0x1C, {LockedCycles}, 1},
    {0x1D, {IoReads, IoWrites}, 2},
    {0x1E, {UncachedReads, WalkReads}, 2, {error(IoReads, 1)}},
    {0x1F, {AgiStalls}, 1},
    {0x22, {Flops}, 1},
    {0x23, {BreakpointMatch0}, 1},
    {0x24, {BreakpointMatch1}, 1},
    {0x25, {BreakpointMatch2}, 1},
    {0x26, {BreakpointMatch3}, 1},
    {0x27, {HwInterrupts}, 1},
    {0x28, {DataReads, DataWrites}, 2, {error(WriteParts, -1)}},
    {0x29, {DataReadMisses, DataWriteMisses}, 2, {error(MisalignedMisses, 1)}},
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
    for (const ChipEvent::Error& error : event->errors) {
      if (!miscounts_ || !error.times) continue;
      const uint64_t total = error.event ? counters_.total(Event(error.which), rings)
                                         : counters_.total(Miscount(error.which), rings);
      sum += uint64_t(int64_t(error.times)) * total;
    }
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
