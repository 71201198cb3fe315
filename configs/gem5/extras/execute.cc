// SPDX-License-Identifier: MIT
// One instruction after the other: gem5 decodes and executes it, and the chip hears of it.
#include <cstring>

#include "arch/generic/decoder.hh"
#include "arch/x86/generated/decoder.hh"
#include "arch/x86/insts/static_inst.hh"
#include "arch/x86/pcstate.hh"
#include "arch/x86/regs/int.hh"
#include "arch/x86/types.hh"
#include "arch/x86/utility.hh"
#include "base/logging.hh"
#include "p5cpu.hh"
#include "sim/faults.hh"
#include "sim/system.hh"
#include "wide_arguments.hh"

namespace gem5::p5lab {
namespace {

using ::p5lab::CodeMode;
using ::p5lab::Effect;
using X86ISA::X86StaticInst;
namespace int_reg = X86ISA::int_reg;
namespace misc_reg = X86ISA::misc_reg;

constexpr Addr kInPage = 0xFFF;
constexpr unsigned kLoopne = 0xE0;  // the first opcode of LOOP and JCXZ
// Vectors.
constexpr uint8_t kDebug = 1, kBreakpoint = 3, kOverflow = 4, kPageFault = 14;
// Where gem5's microcode for a delivery keeps the vector and the error code.
const RegId kVector = X86ISA::intRegMicro(1), kErrorCode = X86ISA::intRegMicro(15);

// Instructions that do nothing in gem5, and for which nothing is right if no x87 error is pending
// and the x87 has just been reset.
bool is_harmless(const std::string& name) { return name == "fwait" || name == "fninit"; }

// Whether the flags fulfil the condition of a conditional branch.
bool holds(unsigned condition, uint64_t flags) {
  const bool carry = flags & 1 << 0, parity = flags & 1 << 2, zero = flags & 1 << 6,
             sign = flags & 1 << 7, overflow = flags & 1 << 11;
  const bool holds[] = {overflow,
                        carry,
                        zero,
                        carry || zero,
                        sign,
                        parity,
                        sign != overflow,
                        zero || sign != overflow};
  return holds[condition >> 1] != (condition & 1);
}

}  // namespace

// --- the processor's state ----------------------------------------------------------------------

RegVal P5CPU::misc(RegIndex index) const {
  return threadInfo[0]->thread->readMiscRegNoEffect(index);
}

bool P5CPU::in_rom() const { return isRomMicroPC(threadInfo[0]->thread->pcState().microPC()); }

::p5lab::ChipState P5CPU::state() const {
  ::p5lab::ChipState found;
  if (process_) {  // a program of Linux, whose state is the same all the time
    found.cr3 = tables_->root();
    found.ring = 3;
    found.mode = params().cpu_isa == "x86-64" ? CodeMode::Long64 : CodeMode::Prot32;
    found.paging = found.large_pages = found.user_io = true;
    return found;
  }
  const X86ISA::HandyM5Reg mode = misc(misc_reg::M5Reg);
  const X86ISA::CR0 cr0 = misc(misc_reg::Cr0);
  const X86ISA::CR4 cr4 = misc(misc_reg::Cr4);
  found.cr3 = misc(misc_reg::Cr3);
  found.ring = mode.cpl;
  found.mode = code_mode();
  found.paging = cr0.pg;
  found.large_pages = mode.mode == X86ISA::LongMode || cr4.pse;
  found.global_pages = cr4.pge;
  found.caching = !cr0.cd;
  found.user_io = mode.cpl > (misc(misc_reg::Rflags) >> 12 & 3);
  return found;
}

CodeMode P5CPU::code_mode() const {
  const X86ISA::HandyM5Reg mode = misc(misc_reg::M5Reg);
  const X86ISA::SegAttr code = misc(misc_reg::CsAttr);
  if (mode.submode == X86ISA::SixtyFourBitMode) return CodeMode::Long64;
  if (mode.submode == X86ISA::RealMode) return CodeMode::Real;
  if (mode.submode == X86ISA::Virtual8086Mode) return CodeMode::V86;
  return code.defaultSize ? CodeMode::Prot32 : CodeMode::Prot16;
}

uint64_t P5CPU::page_table_entry(uint32_t physical) {
  if (tables_) return tables_->entry(physical);
  return system->physProxy.read<uint64_t>(physical);  // of x86-64
}

uint32_t P5CPU::code_physical(uint64_t linear) {
  for (const CodePage& page : pages_) {
    if (page.linear == (linear & ~kInPage)) return page.physical | (linear & kInPage);
  }
  panic("%s: the chip fetches at %#x outside of the instruction", name(), linear);
}

uint16_t P5CPU::x87_control() { return misc(misc_reg::Fcw); }

// RDTSC reads the chip's clock, which has left gem5's time behind during an instruction.
void P5CPU::shift_time_stamp(uint64_t clocks) {
  SimpleThread* thread = threadInfo[0]->thread;
  thread->setMiscRegNoEffect(misc_reg::Tsc, misc(misc_reg::Tsc) + clocks);
}

// --- one instruction, or one delivery of an interrupt -------------------------------------------

void P5CPU::step() {
  checkPcEventQueue();
  if (_status == Idle) return;
  serviceInstCountEvents();
  code_ = nullptr;
  skipped_ = faulted_ = false;
  modified_ = moved_ = kNowhere;
  accesses_ = 0;
  curStaticInst = nullStaticInstPtr;
  take_interrupt();
  Fault fault = NoFault;
  if (in_rom()) {
    preExecute();
  } else {
    fault = fetch();
    if (fault == NoFault) begin();
  }
  while (true) {
    if (fault == NoFault) fault = execute();
    if (fault != NoFault)
      raise(fault);
    else
      advancePC(fault);
    if (!curMacroStaticInst && !in_rom()) break;
    fault = NoFault;
    preExecute();
  }
  finish();
}

// gem5 sets the instruction pointer to the microcode that delivers the interrupt.
void P5CPU::take_interrupt() {
  if (!checkInterrupts(curThread)) return;
  SimpleThread* thread = threadInfo[0]->thread;
  const Addr resume = thread->pcState().instAddr();
  checkForInterrupts();
  if (!in_rom()) return;
  if (stale_) refresh_state();
  chip_->hard_interrupt(uint8_t(thread->getReg(kVector)), resume);
  stale_ = true;
}

// Fetches bytes until gem5's decoder has an instruction.
Fault P5CPU::fetch() {
  SimpleExecContext& info = *threadInfo[0];
  SimpleThread* thread = info.thread;
  linear_ = thread->pcState().instAddr();
  info.fetchOffset = 0;
  chunks_ = 0;
  pages_[1].linear = kNowhere;
  do {
    ifetch_req->taskId(taskId());
    setupFetchRequest(ifetch_req);
    const Fault fault = thread->mmu->translateAtomic(ifetch_req, thread->getTC(), BaseMMU::Execute);
    if (fault != NoFault) return fault;
    const Addr page = ifetch_req->getVaddr() & ~kInPage;
    pages_[chunks_ && page != pages_[0].linear] = {page, ifetch_req->getPaddr() & ~kInPage};
    fetchInstMem();
    if (chunks_ < kLongest / kChunk) {
      std::memcpy(bytes_ + kChunk * chunks_, thread->decoder->moreBytesPtr(), kChunk);
    }
    chunks_++;
    preExecute();
  } while (info.stayAtPC);
  return NoFault;
}

// The chip's record of the instruction that gem5 has just decoded. gem5 keeps an object for each
// content of an instruction. Two encodings with the same object and the same length have the same
// record, because they have the same number of prefixes.
const P5CPU::Code* P5CPU::look_up(unsigned length) {
  const StaticInst* object = (curMacroStaticInst ? curMacroStaticInst : curStaticInst).get();
  static_assert(alignof(StaticInst) >= 8 || sizeof(void*) >= 8);
  const uintptr_t key = reinterpret_cast<uintptr_t>(object) * 16 + length;
  const Code*& found = known_[key];
  if (!found) {
    if (process_) refuse_unimplemented();
    found = chip_->decode(bytes_ + (linear_ & (kChunk - 1)), length, state().mode);
  }
  return found;
}

void P5CPU::refuse_unimplemented() const {
  const auto* warns = dynamic_cast<const X86ISAInst::WarnUnimplemented*>(curStaticInst.get());
  const auto* fails = dynamic_cast<const X86ISAInst::FailUnimplemented*>(curStaticInst.get());
  if (!warns && !fails) return;
  const std::string missing = curStaticInst->getName();
  if (is_harmless(missing)) return;
  if (warns && params().unimplemented == "warn") {
    return warn("%s: gem5 does not implement the instruction %s at %#x: it does nothing", name(),
                missing, linear_);
  }
  fatal("%s: gem5 does not implement the instruction %s at %#x", name(), missing, linear_);
}

// The chip hears of the instruction before its first access.
void P5CPU::begin() {
  SimpleThread* thread = threadInfo[0]->thread;
  code_ = look_up(thread->pcState().as<X86ISA::PCState>().size());
  if (stale_) {
    refresh_state();
    stale_ = false;
  }
  const bool marker = code_->effect == Effect::Marker &&
                      MarkerCalls::is_call(uint32_t(thread->getReg(int_reg::Rax)));
  skipped_ = marker || code_->effect == Effect::Pseudo;
  if (marker) {
    const auto read = [thread](const RegId& id) { return uint32_t(thread->getReg(id)); };
    called_ = {read(int_reg::Rax), read(int_reg::Rbx), read(int_reg::Rcx), read(int_reg::Rdx)};
  }
  if (skipped_) return chip_->skip(*code_, linear_);
  const bool again = linear_ == retired_;
  retired_ = kNowhere;
  if (!again) retire();
}

void P5CPU::retire() {
  chip_->retire(*code_, linear_);
  if (code_->effect == Effect::SoftInterrupt) {
    const auto& instruction = static_cast<const X86StaticInst&>(*curStaticInst).machInst;
    const bool breakpoint = instruction.opcode.op == 0xCC;
    chip_->soft_interrupt(breakpoint ? kBreakpoint : uint8_t(instruction.immediate));
  } else if (code_->effect == Effect::TimeStamp && now() > curTick()) {
    ahead_ = (now() - curTick()) / clockPeriod();
    shift_time_stamp(ahead_);
  }
}

// Executes a micro-operation.
Fault P5CPU::execute() {
  SimpleExecContext& info = *threadInfo[0];
  const Fault fault = curStaticInst->execute(&info, traceData);
  if (fault == NoFault) {
    countInst();
    ppCommit->notify(std::make_pair(info.thread, curStaticInst));
  } else if (traceData) {
    traceFault();
  }
  postExecute();
  // A REP ends each iteration with a branch of its microcode.
  if (code_ && code_->repeated && accesses_ && curStaticInst->isDirectCtrl()) {
    accesses_ = 0;
    chip_->repeat();
  }
  return fault;
}

// A fault of the instruction. In a whole system, gem5 sets the instruction pointer to the microcode
// that delivers the exception. Otherwise gem5 carries out the system call, or gives the program its
// page and executes the instruction again.
void P5CPU::raise(const Fault& fault) {
  release();
  if (!process_) {
    faulted_ = true;
    advancePC(fault);
    if (in_rom()) deliver();
    return;
  }
  const bool call = dynamic_cast<const SESyscallFault*>(fault.get());
  faulted_ = !call;
  retired_ = call || !code_ ? kNowhere : linear_;
  if (dynamic_cast<const SyscallRetryFault*>(fault.get())) chip_->idle(syscallRetryLatency);
  if (!call) return advancePC(fault);
  const WideArguments arguments(threadContexts[0]);
  advancePC(fault);
}

void P5CPU::deliver() {
  SimpleThread* thread = threadInfo[0]->thread;
  if (stale_) refresh_state();
  const auto vector = uint8_t(thread->getReg(kVector));
  if (vector == kPageFault) {
    chip_->page_fault(misc(misc_reg::Cr2), !code_, thread->getReg(kErrorCode) & 1);
  }
  const bool trap = vector == kDebug || vector == kBreakpoint || vector == kOverflow;
  chip_->exception(vector, code_ && !trap, linear_);
}

// The instruction has ended, or the delivery of an interrupt or exception.
void P5CPU::finish() {
  release();
  if (ahead_) shift_time_stamp(-ahead_);
  ahead_ = 0;
  if (!code_ || faulted_) {
    stale_ = stale_ || !process_;
    return;
  }
  if (skipped_) {
    if (code_->effect == Effect::Marker) call_marker();
    return;
  }
  const Addr next = threadInfo[0]->thread->pcState().instAddr();
  if (code_->branch) {
    const bool jumps = taken(next);
    chip_->branch(linear_, jumps ? next : 0, jumps, code_->conditional);
  }
  if (code_->effect != Effect::None) apply_effect();
  stale_ = stale_ || code_->system;
}

// Whether the near branch has jumped. If its target is the next instruction, only the flags tell.
// A LOOP or JCXZ to the next instruction counts as not taken.
bool P5CPU::taken(Addr next) const {
  if (!code_->conditional || next != linear_ + code_->length) return true;
  const auto& instruction = static_cast<const X86StaticInst&>(*curStaticInst).machInst;
  const unsigned opcode = instruction.opcode.op;
  return !instruction.immediate && opcode < kLoopne &&
         holds(opcode & 0xF, X86ISA::getRFlags(threadContexts[0]));
}

void P5CPU::apply_effect() {
  switch (code_->effect) {
    case Effect::Gate:
    case Effect::FarReturn:
    case Effect::InterruptReturn:
      return chip_->far_transfer(code_->effect);
    case Effect::LoadCr3:
      return chip_->load_cr3(misc(misc_reg::Cr3));
    case Effect::ChangeMode:
      return chip_->serialize();
    case Effect::InvalidatePage:
      return chip_->invalidate_page(operand_address());
    case Effect::WriteBack:
    case Effect::Invalidate:
      return chip_->flush_caches(code_->effect == Effect::WriteBack);
    default:
      return;
  }
}

// The address of the operand in memory of the present instruction, in 64-bit mode without a segment
// base. The instruction has not changed a general register.
Addr P5CPU::operand_address() const {
  constexpr unsigned kSib = 4, kNoBase = 5, kUpper = 8;
  SimpleThread* thread = threadInfo[0]->thread;
  const auto& instruction = static_cast<const X86StaticInst&>(*curStaticInst).machInst;
  const auto general = [thread](unsigned number) {
    return Addr(thread->getReg(X86ISA::intRegClass[number]));
  };
  const X86ISA::ModRM modrm = instruction.modRM;
  const X86ISA::Sib sib = instruction.sib;
  const X86ISA::Rex rex = instruction.rex;
  Addr address = instruction.displacement;
  const unsigned base = modrm.rm == kSib ? sib.base : modrm.rm;
  if (modrm.mod || base != kNoBase) {
    address += general(base + kUpper * rex.b);
  } else if (modrm.rm == kNoBase) {
    address += linear_ + code_->length;
  }
  const unsigned index = sib.index + kUpper * rex.x;
  if (modrm.rm == kSib && index != kSib) address += general(index) << sib.scale;
  return address;
}

void P5CPU::call_marker() {
  SimpleThread* thread = threadInfo[0]->thread;
  const MarkerRegisters out = markers_->call(called_, uint32_t(thread->getReg(int_reg::Rsi)));
  thread->setReg(int_reg::Rax, RegVal(out.eax));
  thread->setReg(int_reg::Rbx, RegVal(out.ebx));
  thread->setReg(int_reg::Rcx, RegVal(out.ecx));
  thread->setReg(int_reg::Rdx, RegVal(out.edx));
}

}  // namespace gem5::p5lab
