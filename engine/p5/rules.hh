// SPDX-License-Identifier: MIT
// Which rules of the model can the tests turn off? In the engine, all rules apply, and rule() costs
// no time. The build of the tests (P5_MUTABLE) can turn one rule off. tests/engine/rule_cases.cc
// contains cases for each rule. Without the rule, some of these cases must fail, and the others
// must still pass.
#pragma once

#include <cstdint>

namespace p5 {

// clang-format off: a table with one entry on each line
#define P5_RULES(X) \
  /* which instructions pair [INTEL-OPT ch. 3, AGN-MA 3.2] */ \
  X(PairFirst,          "pairing: only UV, PU and FX instructions take a companion") \
  X(PairSecond,         "pairing: only UV and PV instructions go into V") \
  X(PairReadAfterWrite, "pairing: V reads no register that U writes") \
  X(PairWriteAfterWrite, "pairing: V writes no register that U writes") \
  X(PairWholeRegister,  "pairing: a part of a register counts as the whole") \
  X(PairStack,          "pairing: PUSH PUSH, PUSH CALL and POP POP share ESP") \
  X(PairPushPop,        "pairing: they share ESP with nothing else") \
  X(PairAccumulator,    "pairing: a store of the accumulator by address counts as its write") \
  X(PairDispImm,        "pairing: not with both displacement and immediate") \
  X(PairPrefix,         "pairing: prefixed instructions in U only") \
  X(PairCold,           "pairing: not in code that has just come in") \
  X(PairColdByte,       "pairing: in new code behind an instruction of one byte") \
  X(PairFxch,           "pairing: FXCH joins an FX instruction") \
  X(PairFxAlone,        "pairing: nothing else joins an FX instruction") \
  X(FxchThenX87,        "pairing: FXCH in V costs a clock when no x87 instruction follows") \
  /* what a pair costs [AGN-MA 3.4, INTEL-DM 2] */ \
  X(PairSerial,         "pair cost: V's own memory and arithmetic clocks come behind U's") \
  X(PairOverlap,        "pair cost: V's read goes beside the arithmetic of U's read") \
  X(BankConflict,       "pair cost: a clock when both access the same bank of L1D") \
  /* interlocks [INTEL-OPT, AGN-MA 3.3] */ \
  X(Agi,                "AGI: an address waits a clock for its register") \
  X(AgiInV,             "AGI: also the address of the instruction in V") \
  X(AgiFromV,           "AGI: also for a register written in V") \
  X(AgiOnce,            "AGI: both pipes wait in the same clock") \
  X(AgiImplicitStack,   "AGI: none for the ESP of PUSH, POP, CALL and RET") \
  X(AgiAccumulator,     "AGI: none behind a store of the accumulator by address") \
  X(AgiPrefix,          "AGI: none when a prefix has taken a clock in between") \
  X(Prefix,             "prefixes: a clock each") \
  X(PrefixHidden,       "prefixes: N clocks hide N-1 of the next instruction's") \
  X(PrefixNearJcc,      "prefixes: the 0F of a near Jcc is none") \
  X(Misaligned,         "misaligned access: 3 clocks") \
  X(MisalignedTwice,    "misaligned access: two references") \
  /* branches [AGN-MA 3.2] */ \
  X(BtbHit,             "BTB: an entry predicts") \
  X(BtbThreshold,       "BTB: states 0 and 1 predict fall through") \
  X(BtbDown,            "BTB: not taken is a state down") \
  X(BtbFromZero,        "BTB: taken in state 0 leads to 3") \
  X(BtbEnterTaken,      "BTB: only a taken branch is entered") \
  X(BtbEnterHigh,       "BTB: a new entry has state 3") \
  X(BtbNextInstruction, "BTB: no entry for a jump to the next instruction") \
  X(BtbTarget,          "BTB: another target than the last is mispredicted") \
  X(BtbPairBefore,      "BTB: an entry belongs to the pair before the branch's") \
  X(BtbBehindFlush,     "BTB: no look-up right behind a mispredicted branch") \
  X(BtbCr3,             "BTB: a CR3 load empties it") \
  X(BtbTightLoop,       "BTB: a state of 0 not more than 4 pairs old leads to 1") \
  X(BtbFalseHit,        "BTB: an entry that fires on a pair without a branch is a misprediction") \
  X(BtbFalseDown,       "BTB: ... and goes a state down") \
  X(Tr12NoPrediction,   "TR12.NBP: nothing is entered in the BTB") \
  X(Tr12SinglePipe,     "TR12.SE: nothing goes into V") \
  X(Mispredict,         "a mispredicted branch costs penalty.mispredict") \
  X(MispredictV,        "a mispredicted conditional branch in V costs penalty.mispredict_v") \
  /* x87 [INTEL-OPT, AGN-IT] */ \
  X(X87Operand,         "x87: an instruction waits for its operands") \
  X(X87Busy,            "x87: an instruction waits until the unit is free") \
  X(X87OverlapX87,      "x87: the unit is free before a result is ready") \
  X(X87OverlapInteger,  "x87: the integer pipes go on before a result is ready") \
  X(X87Multiply,        "x87: multiplications are two clocks apart") \
  X(X87StoreEarly,      "x87: a store wants its operand a clock early") \
  X(X87Precision,       "x87: a division takes the clocks of its precision") \
  X(X87MultiplyWaits,   "x87: an integer multiplication waits for a division") \
  X(X87Exchange,        "x87: FXCH exchanges when registers are ready") \
  /* strings, modes and rings [AGN-IT, INTEL-DM 16, UM3] */ \
  X(RepIteration,       "REP: clocks for each iteration") \
  X(RepZero,            "REP: its set-up is less for a count of zero") \
  X(RepOnce,            "REP: interrupted and resumed it counts once") \
  X(EnterLevels,        "ENTER: clocks for each level") \
  X(UserLevel,          "I/O beyond IOPL and RDTSC at ring 3 cost more") \
  X(ModeColumn,         "modes have clocks of their own") \
  X(InnerLevel,         "a transfer that changes the ring costs more") \
  X(SegmentLoadTwice,   "a far transfer that changes the ring loads two segments") \
  X(IntoTaken,          "INTO that interrupts costs more") \
  X(Gate,               "a far JMP or CALL through a gate costs more") \
  X(GateParameters,     "a gate to another ring: clocks for each parameter") \
  X(TaskSwitch,         "a task switch costs the clocks of its kind") \
  X(SerializingBranch,  "serialising instructions count as taken branches") \
  X(SerializingDrains,  "serialising instructions wait for the writes before them") \
  X(SerializingRefetch, "serialising instructions drop what was prefetched") \
  X(VerrBranch,         "VERR and VERW count as branches") \
  X(DeliveryCounts,     "an interrupt or exception counts as an instruction") \
  X(DeliveryFlushes,    "an interrupt or exception counts as a pipeline flush, INT does not") \
  /* memory [INTEL-DM 2, 3; INTEL-OPT] */ \
  X(MissOverhead,       "read miss: core clocks before the bus") \
  X(BusEdge,            "bus: a transaction starts at a bus clock") \
  X(BusOne,             "bus: one transaction after another, reads behind writes") \
  X(FillFirst,          "line fill: the requested 8 bytes come first") \
  X(FillWhole,          "line fill: a second reference waits for all of it") \
  X(FillCode,           "line fill: other code of the line waits for all of it") \
  /* code behind the executed line [INTEL-DM 2, 6; estimates as in fetch_ahead.hh] */ \
  X(AheadNext,          "fetch ahead: with a line, the line behind it is requested") \
  X(AheadPage,          "fetch ahead: not beyond the end of a page") \
  X(AheadYields,        "fetch ahead: the bus takes the reads and writes of execution first") \
  X(AheadOverhead,      "fetch ahead: the core clocks before the bus pass while it is busy") \
  X(AheadAbandon,       "fetch ahead: a transfer of control drops what the bus has not begun") \
  X(AheadArrives,       "fetch ahead: a line that the bus has begun arrives in L1I") \
  /* writes, DRAM, pages, other bus masters, ports [INTEL-DM 2, 3, 6] */ \
  X(WriteBuffers,       "writes: the core waits while the buffer of its pipe is taken") \
  X(WriteOrder,         "writes: one to an E or M line waits for those before it") \
  X(WritePosted,        "writes: the chip set posts some to DRAM") \
  X(PageMiss,           "DRAM: an access to another page than the open one takes longer") \
  X(Refresh,            "DRAM: a refresh delays the accesses behind it and closes the page") \
  X(Pipelined,          "DRAM: the next address leaves while DRAM delivers a line") \
  X(PostedFirst,        "DRAM: a read waits for the writes posted before it") \
  X(WriteOnce,          "L1D: the first write to a line that came in shared goes to the bus") \
  X(PageNoCache,        "pages with PCD are not cached") \
  X(PageWriteThrough,   "pages with PWT: their lines stay shared") \
  X(InquireBus,         "other bus masters: the bus is taken for the inquire cycle") \
  X(DeviceMemory,       "other bus masters: DRAM is taken for their data") \
  X(InquireModified,    "other bus masters: a modified line is written back first") \
  X(InquireWrite,       "other bus masters: a line that is written leaves the caches") \
  X(InquireRead,        "other bus masters: a line that is read is shared from then on") \
  X(PortDrains,         "ports: an access waits for the writes before it") \
  X(PortWaits,          "ports: the core waits for the access") \
  X(LockedOnBus,        "locked accesses go to the bus")
// clang-format on

enum class Rule : uint8_t {
#define P5_RULE(id, name) id,
  P5_RULES(P5_RULE)
#undef P5_RULE
      Count
};

#ifdef P5_MUTABLE
inline Rule rule_off = Rule::Count;  // Count: every rule holds
inline bool rule(Rule which) { return which != rule_off; }
#else
constexpr bool rule(Rule) { return true; }
#endif

}  // namespace p5
