// SPDX-License-Identifier: MIT
#include "wide_arguments.hh"

#include "arch/x86/process.hh"
#include "arch/x86/regs/int.hh"

namespace gem5::p5lab {
namespace {

namespace int_reg = X86ISA::int_reg;

const std::array<RegId, 6> kArguments = {int_reg::Ebx, int_reg::Ecx, int_reg::Edx,
                                         int_reg::Esi, int_reg::Edi, int_reg::Ebp};

struct Call {
  RegVal number;
  size_t wide;  // which argument gem5 takes from two registers
};
// _llseek, set_tid_address. readv and writev would need more: gem5 reads vectors of 64 bits.
constexpr Call kCalls[] = {{140, 1}, {258, 0}};

}  // namespace

WideArguments::WideArguments(ThreadContext* thread) : thread_(thread) {
  if (!dynamic_cast<X86ISA::I386Process*>(thread->getProcessPtr())) return;
  for (const Call& call : kCalls)
    changed_ = changed_ || call.number == thread->getReg(int_reg::Eax);
  if (!changed_) return;
  for (size_t i = 0; i < kArguments.size(); i++) before_[i] = thread->getReg(kArguments[i]);
  for (const Call& call : kCalls) {
    if (call.number != thread->getReg(int_reg::Eax)) continue;
    thread->setReg(kArguments[call.wide + 1], RegVal(0));
    for (size_t i = call.wide + 2; i < kArguments.size(); i++) {
      thread->setReg(kArguments[i], before_[i - 1]);
    }
  }
}

WideArguments::~WideArguments() {
  for (size_t i = 0; changed_ && i < kArguments.size(); i++) {
    thread_->setReg(kArguments[i], before_[i]);
  }
}

}  // namespace gem5::p5lab
