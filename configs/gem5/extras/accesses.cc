// SPDX-License-Identifier: MIT
// Which accesses of gem5's micro-operations does the chip see, and as what?
#include "arch/x86/ldstflags.hh"
#include "arch/x86/regs/segment.hh"
#include "p5cpu.hh"

namespace gem5::p5lab {
namespace {

constexpr Addr kPage = 0x1000, kInPage = kPage - 1;

// Registers that microcode accesses by address.
bool is_internal(Request::Flags flags) {
  return (Request::FlagsType(flags) & X86ISA::SegmentFlagMask) == X86ISA::segment_idx::Ms;
}

}  // namespace

Tick P5CPU::sendPacket(RequestPort& port, const PacketPtr& packet) {
  if (!packets_) first_packet_ = packet->getAddr();
  last_packet_ = packet->getAddr();
  packets_ = true;
  return AtomicSimpleCPU::sendPacket(port, packet);
}

Fault P5CPU::readMem(Addr address, uint8_t* data, unsigned size, Request::Flags flags,
                     const std::vector<bool>& byte_enable) {
  packets_ = false;
  const Fault fault = AtomicSimpleCPU::readMem(address, data, size, flags, byte_enable);
  if (fault == NoFault && packets_ && !is_internal(flags)) report(address, size, flags, false);
  return fault;
}

Fault P5CPU::writeMem(uint8_t* data, unsigned size, Addr address, Request::Flags flags,
                      uint64_t* result, const std::vector<bool>& byte_enable) {
  packets_ = false;
  const Fault fault = AtomicSimpleCPU::writeMem(data, size, address, flags, result, byte_enable);
  if (fault == NoFault && packets_ && !is_internal(flags)) report(address, size, flags, true);
  return fault;
}

// A read with the intent to write is reported together with its write, as the chip's model has it:
// the write then needs no report of its own.
void P5CPU::report(Addr address, unsigned size, Request::Flags flags, bool write) {
  if (skipped_ || flags.isSet(Request::PREFETCH)) return;
  using ::p5lab::Access;
  if (write && address == modified_) {
    modified_ = kNowhere;
    return;
  }
  const bool modify = !write && flags.isSet(Request::READ_MODIFY_WRITE);
  if (modify) modified_ = address;
  const Access kind = write ? Access::Write : modify ? Access::ReadWrite : Access::Read;
  accesses_++;
  const unsigned in_page = kPage - (address & kInPage);
  if (size <= in_page) {
    chip_->data(address, first_packet_, size, kind, false);
  } else {
    chip_->data(address, first_packet_, in_page, kind, true);
    chip_->data(address + in_page, last_packet_ & ~kInPage, size - in_page, kind, false);
  }
}

}  // namespace gem5::p5lab
