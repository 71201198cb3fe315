// SPDX-License-Identifier: MIT
// What is counted. Each event is kept per address space (CR3) and privilege ring. The number
// behind a name is the P54C's own event code where it has one [INTEL-DM table 16-24].
#pragma once

#include <cstdint>

namespace p5 {

// clang-format off: a table, one entry a line
#define P5_EVENTS(X)                                                                        \
  X(CyclesBusy,        "cycles.busy",          "cycles")  /* clocks not halted           */ \
  X(CyclesIdle,        "cycles.idle",          "cycles")  /* clocks in HLT               */ \
  X(Instructions,      "instructions",         "events")  /* 16h; REP is 1, deliveries +1*/ \
  X(DataReads,         "data_reads",           "events")  /* 00h                         */ \
  X(DataWrites,        "data_writes",          "events")  /* 01h                         */ \
  X(DataReadMisses,    "data_read_misses",     "events")  /* 03h                         */ \
  X(DataWriteMisses,   "data_write_misses",    "events")  /* 04h                         */ \
  X(WriteHitsME,       "write_hits_me",        "events")  /* 05h                         */ \
  X(L1dWritebacks,     "l1d_writebacks",       "events")  /* 06h                         */ \
  X(CodeReads,         "code_reads",           "events")  /* 0Ch                         */ \
  X(CodeMisses,        "code_misses",          "events")  /* 0Eh                         */ \
  X(ItlbMisses,        "itlb_misses",          "events")  /* 0Dh                         */ \
  X(DtlbMisses,        "dtlb_misses",          "events")  /* 02h                         */ \
  X(WalkReads,         "walk_reads",           "events")  /* page-table reads            */ \
  X(L2Reads,           "l2_reads",             "events")  /* lines and single reads      */ \
  X(L2ReadMisses,      "l2_read_misses",       "events")                                    \
  X(L2Writes,          "l2_writes",            "events")  /* write-backs, single writes  */ \
  X(L2WriteMisses,     "l2_write_misses",      "events")                                    \
  X(DramReads,         "dram_reads",           "events")                                    \
  X(DramWrites,        "dram_writes",          "events")                                    \
  X(UncachedReads,     "uncached_reads",       "events")  /* data and code, no walks     */ \
  X(UncachedWrites,    "uncached_writes",      "events")                                    \
  X(Misaligned,        "misaligned",           "events")  /* 0Bh                         */ \
  X(LockedCycles,      "locked_cycles",        "events")  /* 1Ch                         */ \
  X(AgiStalls,         "agi_stalls",           "cycles")  /* 1Fh                         */ \
  X(IoReads,           "io_reads",             "events")  /* 1Dh                         */ \
  X(IoWrites,          "io_writes",            "events")  /* 1Dh                         */ \
  X(InstructionsV,     "instructions.v",       "events")  /* 17h                         */ \
  X(Branches,          "branches",             "events")  /* 12h                         */ \
  X(BtbHits,           "btb_hits",             "events")  /* 13h                         */ \
  X(TakenOrBtbHit,     "branches.taken_or_btb_hit", "events")  /* 14h                    */ \
  X(PipelineFlushes,   "pipeline_flushes",     "events")  /* 15h                         */ \
  X(MemoryBothPipes,   "memory_both_pipes",    "events")  /* 09h                         */ \
  X(BankConflicts,     "bank_conflicts",       "events")  /* 0Ah                         */ \
  X(Snoops,            "snoops",               "events")  /* 07h; inquire cycles         */ \
  X(SnoopHits,         "snoop_hits",           "events")  /* 08h; in L1D                 */ \
  X(Flops,             "flops",                "events")  /* 22h                         */ \
  X(BreakpointMatch0,  "breakpoint_matches.0", "events")  /* 23h; enabled or not         */ \
  X(BreakpointMatch1,  "breakpoint_matches.1", "events")  /* 24h                         */ \
  X(BreakpointMatch2,  "breakpoint_matches.2", "events")  /* 25h                         */ \
  X(BreakpointMatch3,  "breakpoint_matches.3", "events")  /* 26h                         */ \
  X(SegmentLoads,      "segment_loads",        "events")  /* 0Fh                         */ \
  X(HwInterrupts,      "hw_interrupts",        "events")  /* 27h                         */ \
  X(Exceptions,        "exceptions",           "events")  /* faults, traps, aborts       */ \
  X(SoftInterrupts,    "soft_interrupts",      "events")  /* INT n, INT3, INTO taken     */ \
  X(CrossInt,          "crossings.int",        "events")  /* ring changes by instruction */ \
  X(CrossGate,         "crossings.gate",       "events")  /* ... far CALL/JMP by a gate  */ \
  X(CrossFar,          "crossings.far",        "events")  /* ... far RET                 */ \
  X(CrossIret,         "crossings.iret",       "events")                                    \
  X(CrossAsync,        "crossings.async",      "events")  /* ... by interrupt or fault   */ \
  X(Cr3Changed,        "cr3_loads.changed",    "events")                                    \
  X(Cr3Unchanged,      "cr3_loads.unchanged",  "events")                                    \
  X(ModeReal,          "mode_changes.real",    "events")  /* changes into real mode      */ \
  X(ModeV86,           "mode_changes.v86",     "events")                                    \
  X(Mode16,            "mode_changes.16bit",   "events")  /* ... 16-bit protected code   */ \
  X(Mode32,            "mode_changes.32bit",   "events")                                    \
  X(TlbFlushes,        "tlb_flushes",          "events")                                    \
  X(StallRead,         "stall.read",           "cycles")  /* waiting for data, 1Ah       */ \
  X(StallWrite,        "stall.write",          "cycles")  /* write buffers full, 19h     */ \
  X(StallWriteME,      "stall.write_me",       "cycles")  /* write hit that waits, 1Bh   */ \
  X(StallWalk,         "stall.walk",           "cycles")  /* page walks                  */ \
  X(StallFetch,        "stall.fetch",          "cycles")  /* waiting for code            */ \
  X(StallIo,           "stall.io",             "cycles")  /* port accesses               */ \
  X(BusBusy,           "bus_busy",             "cycles")  /* 18h; a bus cycle under way  */ \
  X(Mode64,            "mode_changes.64bit",   "events")  /* x86-64 only: 64-bit code    */ \
  X(DiskReads,         "disk.reads",           "events")  /* requests that are done      */ \
  X(DiskWrites,        "disk.writes",          "events")                                    \
  X(DiskSectorsRead,   "disk.sectors_read",    "events")  /* 512 bytes                   */ \
  X(DiskSectorsWritten, "disk.sectors_written", "events")                                   \
  X(DiskBusy,          "disk.busy",            "cycles")  /* a request was under way     */ \
  X(DiskSeek,          "disk.seek",            "cycles")  /* of all requests: the arm    */ \
  X(DiskRotation,      "disk.rotation",        "cycles")  /* ... until the first sector  */ \
  X(DiskTransfer,      "disk.transfer",        "cycles")  /* ... over the media          */ \
  X(DiskWait,          "disk.wait",            "cycles")  /* ... bus, queues, overhead   */ \
  X(NetFramesSent,     "net.frames_sent",      "events")  /* by the guest, on the wire   */ \
  X(NetBytesSent,      "net.bytes_sent",       "events")  /* addresses to data           */ \
  X(NetFramesReceived, "net.frames_received",  "events")  /* in its card's ring          */ \
  X(NetBytesReceived,  "net.bytes_received",   "events")                                    \
  X(NetBusy,           "net.busy",             "cycles")  /* the wire: frame, collision  */ \
  X(NetCollisions,     "net.collisions",       "events")                                    \
  X(NetMissed,         "net.missed",           "events")  /* no room in the card's ring  */ \
  X(NetLost,           "net.lost",             "events")  /* faults injected, both ways  */ \
  X(NetDoubled,        "net.duplicated",       "events")                                    \
  X(NetLate,           "net.reordered",        "events")                                    \
  X(NetRemoteBusy,     "net.remote_busy",      "cycles")  /* the remote host's processor */
// clang-format on

enum Event : uint32_t {
#define P5_ENUM(id, name, unit) id,
  P5_EVENTS(P5_ENUM)
#undef P5_ENUM
      kEventCount
};

const char* event_name(uint32_t event);  // "data_reads"
const char* event_unit(uint32_t event);  // "events" or "cycles"

}  // namespace p5
