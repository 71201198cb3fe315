// SPDX-License-Identifier: MIT
// The ISA of P5CPU: gem5's X86ISA, which also tells the processor what others write to memory.
// gem5's atomic processors give their ISA each write that their port snoops.
#pragma once

#include <functional>

#include "arch/x86/isa.hh"
#include "params/P5ISA.hh"

namespace gem5::p5lab {

class P5ISA : public X86ISA::ISA {
 public:
  PARAMS(P5ISA);
  using Listener = std::function<void(const Packet&)>;

  explicit P5ISA(const Params& params) : X86ISA::ISA(params) {}

  void listen(Listener listener) { listener_ = std::move(listener); }
  void handleLockedSnoop(PacketPtr packet, Addr) override {
    if (packet->isWrite() && listener_) listener_(*packet);
  }

 private:
  Listener listener_;
};

}  // namespace gem5::p5lab
