// SPDX-License-Identifier: MIT
#include "p5tracer.hh"

#include <algorithm>

#include "arch/x86/generated/decoder.hh"
#include "arch/x86/insts/static_inst.hh"
#include "arch/x86/ldstflags.hh"
#include "arch/x86/pcstate.hh"
#include "arch/x86/regs/int.hh"
#include "arch/x86/regs/misc.hh"
#include "arch/x86/regs/segment.hh"
#include "arch/x86/x86_traits.hh"
#include "cpu/thread_context.hh"
#include "instruction_kind.hh"
#include "mem/request.hh"

namespace gem5::p5lab {
namespace {

using X86ISA::ExtMachInst;
namespace rom = X86ISAInst::rom_labels;

constexpr unsigned kRings = 4;
constexpr const char* kRingNames[kRings] = {"ring0", "ring1", "ring2", "ring3"};
// The processor's exceptions have lower vectors than the interrupts of a PC's interrupt
// controllers.
constexpr RegVal kFirstInterrupt = 32;

Kind kind(const ExtMachInst& instruction) {
  if (instruction.vex.present) return Kind::Plain;
  const uint8_t opcode = instruction.opcode.op, modrm = instruction.modRM;
  switch (instruction.opcode.type) {
    case X86ISA::OneByteOpcode: return one_byte_kind(opcode, modrm);
    case X86ISA::TwoByteOpcode: return two_byte_kind(opcode, modrm, instruction.rex.r);
    default: return Kind::Plain;
  }
}

// On x86-64 the engine counts an operand of up to 8 bytes once for each line that it touches. The
// engine counts a longer operand in pieces of 8 bytes. Most of gem5's micro-operations also access
// 8 bytes.
unsigned parts(Addr address, Addr bytes, unsigned line) {
  constexpr Addr kWidest = 8;
  unsigned count = 0;
  for (const Addr end = address + bytes; address < end; address += kWidest) {
    const Addr piece = std::min(kWidest, end - address);
    count += divCeil((address & (line - 1)) + piece, line);
  }
  return count;
}

// Entry points of gem5's microcode ROM. Interrupts, exceptions and INT n enter the ROM. A far JMP
// begins outside the ROM and continues in the ROM.
const MicroPC kDelivery = romMicroPC(rom::extern_label_longModeInterrupt);
const MicroPC kErrorDelivery = romMicroPC(rom::extern_label_longModeInterruptWithError);
const MicroPC kRealDelivery = romMicroPC(rom::extern_label_realModeInterrupt);
const MicroPC kSoftDelivery = romMicroPC(rom::extern_label_longModeSoftInterrupt);
const MicroPC kFarJump = romMicroPC(rom::extern_label_jmpFarWork);

bool delivery(MicroPC pc) {
  return pc == kDelivery || pc == kErrorDelivery || pc == kRealDelivery || pc == kSoftDelivery;
}

}  // namespace

// --- one micro-operation ------------------------------------------------------------------------

class P5Tracer::Record : public trace::InstRecord {
 public:
  Record(P5Tracer& tracer, Tick when, ThreadContext* context, const StaticInstPtr& micro_op,
         const PCStateBase& state)
      : InstRecord(when, context, micro_op, state), tracer_(tracer) {
    if (last() && kind(machine_instruction()) == Kind::Cr3Load) {
      cr3_ = context->readMiscRegNoEffect(X86ISA::misc_reg::Cr3);
    }
  }

  // Micro-operations of the microcode ROM do not belong to an instruction of the program.
  bool in_rom() const { return isRomMicroPC(pc->microPC()); }
  bool first() const {
    return in_rom() ? delivery(pc->microPC())
                    : !staticInst->isMicroop() || staticInst->isFirstMicroop();
  }
  bool last() const {
    return !in_rom() && (!staticInst->isMicroop() || staticInst->isLastMicroop());
  }

  void dump() override {
    if (faulting) return;
    if (first()) tracer_.begin(thread);
    if (in_rom()) tracer_.enter_rom(thread, pc->microPC());
    if (mem_valid && !only_checked()) {
      if (staticInst->isLoad()) tracer_.access(addr, size, flags, false);
      if (staticInst->isStore()) tracer_.access(addr, size, flags, true);
    }
    if (last()) tracer_.complete(machine_instruction(), thread, cr3_);
  }

 private:
  const ExtMachInst& machine_instruction() const {
    return static_cast<const X86ISA::X86StaticInst&>(*staticInst).machInst;
  }

  // Accesses that a Pentium does not make: prefetches, flushes of a line, and microcode that only
  // checks the page tables. To deliver an interrupt, the microcode checks the stack frame by a read
  // with intent to write.
  bool only_checked() const {
    constexpr unsigned kNoAccess = Request::NO_ACCESS | Request::PREFETCH;
    if (flags & kNoAccess) return true;
    if (in_rom()) return staticInst->isLoad() && staticInst->getName() == "ldst";
    const ExtMachInst& instruction = machine_instruction();
    return instruction.opcode.type == X86ISA::TwoByteOpcode && instruction.opcode.op == 0xAE &&
           instruction.modRM.reg >= 6;  // CLWB, CLFLUSH, CLFLUSHOPT
  }

  P5Tracer& tracer_;
  RegVal cr3_ = 0;  // value when a load of CR3 was fetched
};

// --- events -------------------------------------------------------------------------------------

P5Tracer::Events::Events(P5Tracer* tracer)
    : Group(tracer)
#define P5_DEFINE(event, description) \
  , ADD_STAT(event, statistics::units::Count::get(), description)
      P5_TRACER_EVENTS(P5_DEFINE)
#undef P5_DEFINE
{
  const auto split = [](statistics::Vector& event) {
    event.init(kRings);
    for (unsigned ring = 0; ring < kRings; ring++) event.subname(ring, kRingNames[ring]);
  };
#define P5_SPLIT(event, description) split(event);
  P5_TRACER_EVENTS(P5_SPLIT)
#undef P5_SPLIT
}

P5Tracer::P5Tracer(const Params& params)
    : InstTracer(params), events_(this), line_(params.cache_line_size) {
  fatal_if(!TRACING_ON, "%s: this gem5 is built without tracing (gem5.fast); gem5.opt has it",
           name());
}

trace::InstRecord* P5Tracer::getInstRecord(Tick when, ThreadContext* thread,
                                           const StaticInstPtr micro_op, const PCStateBase& pc,
                                           const StaticInstPtr) {
  const bool counts = micro_op->isMemRef() || !micro_op->isMicroop() ||
                      micro_op->isFirstMicroop() || micro_op->isLastMicroop() ||
                      delivery(pc.microPC()) || pc.microPC() == kFarJump;
  return counts ? new Record(*this, when, thread, micro_op, pc) : nullptr;
}

// Another CPU model may have run since the last event and changed CR3.
void P5Tracer::drainResume() {
  InstTracer::drainResume();
  cr3_.reset();
}

// An instruction or a delivery begins. The ring at this point is the ring after the previous
// instruction.
void P5Tracer::begin(ThreadContext* thread) {
  const X86ISA::HandyM5Reg state = thread->readMiscRegNoEffect(X86ISA::misc_reg::M5Reg);
  const unsigned ring = state.cpl;
  if (crossing_) {
    if (ring != ring_) {
      (*crossing_)[ring_]++;
      events_.segment_loads[ring_]++;  // INTEL-DM 16: far transfers with a ring change count twice
    }
    crossing_ = nullptr;
  }
  ring_ = ring;
}

// An instruction that continues in the ROM is counted here, because gem5 does not mark the end of
// the instruction.
void P5Tracer::enter_rom(ThreadContext* thread, MicroPC pc) {
  const bool far_jump = pc == kFarJump;
  if (!delivery(pc) && !far_jump) return;
  events_.instructions[ring_]++;  // INTEL-DM 16, event 16h: a delivery adds one
  if (far_jump) return transfer(&events_.crossings_gate);
  if (pc == kSoftDelivery) {
    events_.soft_interrupts[ring_]++;
    return transfer(&events_.crossings_int);
  }
  const RegVal vector = thread->getReg(X86ISA::intRegMicro(1));
  const bool exception = pc == kErrorDelivery || vector < kFirstInterrupt;
  (exception ? events_.exceptions : events_.hw_interrupts)[ring_]++;
  transfer(&events_.crossings_async);
}

void P5Tracer::access(Addr address, Addr bytes, unsigned flags, bool write) {
  if ((flags & X86ISA::SegmentFlagMask) == X86ISA::segment_idx::Ms) {
    // Ports, and registers that microcode accesses by address, are not memory.
    if ((address >> 3 & X86ISA::IntAddrPrefixMask) == X86ISA::IntAddrPrefixIO) {
      (write ? events_.io_writes : events_.io_reads)[ring_]++;
    }
    return;
  }
  const unsigned count = parts(address, bytes, line_);
  (write ? events_.data_writes : events_.data_reads)[ring_] += count;
  if (!write && flags & Request::LOCKED_RMW) events_.locked_cycles[ring_] += count;
}

void P5Tracer::complete(const ExtMachInst& instruction, ThreadContext* thread,
                        RegVal fetched_cr3) {
  const Kind what = kind(instruction);
  if (what == Kind::Marker) return;
  events_.instructions[ring_]++;
  switch (what) {
    case Kind::Plain: case Kind::Marker: break;
    case Kind::Branch: case Kind::Serializing: events_.branches[ring_]++; break;
    case Kind::SegmentLoad: events_.segment_loads[ring_]++; break;
    case Kind::TableLoad:
      events_.segment_loads[ring_]++;
      events_.branches[ring_]++;
      break;
    case Kind::Cr3Load:
      events_.branches[ring_]++;
      load_cr3(instruction, thread, fetched_cr3);
      break;
    case Kind::Int:  // in real mode; in other modes INT executes in the ROM
      events_.soft_interrupts[ring_]++;
      transfer(&events_.crossings_int);
      break;
    case Kind::Gate: transfer(&events_.crossings_gate); break;
    case Kind::Far: transfer(&events_.crossings_far); break;
    case Kind::Iret: transfer(&events_.crossings_iret); break;
  }
}

// `fetched` is the value of CR3 when this load was fetched. On an out-of-order processor an earlier
// load of CR3 can still be in flight at that time, so the last committed value has priority.
void P5Tracer::load_cr3(const ExtMachInst& instruction, ThreadContext* thread, RegVal fetched) {
  const RegIndex source = instruction.modRM.rm | instruction.rex.b << 3;
  const RegVal before = cr3_.value_or(fetched);
  cr3_ = thread->getReg(X86ISA::intRegClass[source]);
  (*cr3_ == before ? events_.cr3_loads_unchanged : events_.cr3_loads_changed)[ring_]++;
}

// A load of a code segment. When the next instruction begins, begin() detects a change of the ring.
void P5Tracer::transfer(statistics::Vector* crossing) {
  events_.segment_loads[ring_]++;
  events_.branches[ring_]++;
  crossing_ = crossing;
}

}  // namespace gem5::p5lab
