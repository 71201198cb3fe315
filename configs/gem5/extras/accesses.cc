// SPDX-License-Identifier: MIT
// Which accesses of gem5's micro-operations does the chip see, and as what?
#include <algorithm>

#include "arch/x86/insts/static_inst.hh"
#include "arch/x86/ldstflags.hh"
#include "arch/x86/regs/misc.hh"
#include "arch/x86/regs/segment.hh"
#include "arch/x86/types.hh"
#include "arch/x86/x86_traits.hh"
#include "p5cpu.hh"
#include "sim/system.hh"

namespace gem5::p5lab {
namespace {

constexpr Addr kPage = 0x1000, kInPage = kPage - 1;

// Ports, and registers that microcode accesses by address.
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
  if (fault == NoFault && (packets_ || is_internal(flags))) report(address, size, flags, false);
  return fault;
}

Fault P5CPU::writeMem(uint8_t* data, unsigned size, Addr address, Request::Flags flags,
                      uint64_t* result, const std::vector<bool>& byte_enable) {
  packets_ = false;
  const Fault fault = AtomicSimpleCPU::writeMem(data, size, address, flags, result, byte_enable);
  if (fault == NoFault && (packets_ || is_internal(flags))) report(address, size, flags, true);
  return fault;
}

// A read with the intent to write is reported together with its write, as the chip's model has it:
// the write then needs no report of its own.
void P5CPU::report(Addr address, unsigned size, Request::Flags flags, bool write) {
  if (skipped_ || flags.isSet(Request::PREFETCH)) return;
  if (is_internal(flags)) return report_port(address, size, write);
  if (only_checks()) return;
  if (size < kChunk && moves_state()) {
    const Addr chunk = address & ~Addr(kChunk - 1);
    if (chunk == moved_) return;
    first_packet_ -= address - chunk;
    address = moved_ = chunk;
    size = kChunk;
  }
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
    access({address, physical(first_packet_), size, kind, false});
  } else {
    access({address, physical(first_packet_), in_page, kind, true});
    access({address + in_page, physical(last_packet_) & uint32_t(~kInPage), size - in_page, kind,
            false});
  }
}

// gem5's microcode makes some accesses of an instruction in an order of its own. They wait for the
// end of the instruction.
void P5CPU::access(const Piece& piece) {
  held_.push_back(piece);
  if (!in_rom() && code_->effect != ::p5lab::Effect::InterruptReturn && !is_two_byte()) release();
}

// The chip hears of the waiting accesses in the order of the embedded engine: of each stack frame
// and each gate backwards, and of each state and each operand of 16 bytes forwards.
void P5CPU::release() {
  if (held_.empty()) return;
  const auto adjacent = [](const Piece& one, const Piece& next) {
    return next.address == one.address + one.bytes || one.address == next.address + next.bytes;
  };
  if (in_rom() || !is_two_byte()) {
    for (auto first = held_.begin(); first != held_.end();) {
      auto last = first + 1;
      while (last != held_.end() && adjacent(last[-1], *last)) ++last;
      std::reverse(first, last);
      first = last;
    }
  } else {
    std::stable_sort(held_.begin(), held_.end(), [](const Piece& one, const Piece& other) {
      return one.address < other.address;
    });
  }
  for (const Piece& one : held_)
    chip_->data(one.address, one.physical, one.bytes, one.kind, one.first);
  held_.clear();
}

// gem5 moves the registers of the local APIC to an address beyond 32 bits.
uint32_t P5CPU::physical(Addr packet) const {
  if (packet >> 32 == 0) return uint32_t(packet);
  return uint32_t((misc(X86ISA::misc_reg::ApicBase) & ~kInPage) | (packet & kInPage));
}

// The other internal addresses are those of registers.
void P5CPU::report_port(Addr address, unsigned size, bool write) {
  if ((address >> 3 & X86ISA::IntAddrPrefixMask) != X86ISA::IntAddrPrefixIO) return;
  chip_->port(uint16_t(address), write, size);
}

// The page walker of gem5 sets accessed bits. All other writes are those of bus masters; gem5 shows
// the processor no reads of bus masters.
void P5CPU::hear_write(const Packet& packet) {
  if (packet.getAddr() >> 32) return;  // a message between the devices and the local APIC
  const std::string& from = system->getRequestorName(packet.req->requestorId());
  const std::string walker = ".walker";
  const auto address = uint32_t(packet.getAddr());
  if (from.size() > walker.size() &&
      !from.compare(from.size() - walker.size(), walker.npos, walker))
    return chip_->table_update(address);
  chip_->bus_master(address, packet.getSize(), true);
}

// Whether the instruction is FXSAVE or FXRSTOR. gem5 moves the fields of the state one by one; the
// chip has a data bus of 8 bytes.
bool P5CPU::moves_state() const {
  const auto& instruction = static_cast<const X86ISA::X86StaticInst&>(*curStaticInst).machInst;
  return is_two_byte() && instruction.opcode.op == 0xAE && instruction.modRM.mod != 3 &&
         instruction.modRM.reg < 2;
}

bool P5CPU::is_two_byte() const {
  const auto& instruction = static_cast<const X86ISA::X86StaticInst&>(*curStaticInst).machInst;
  return instruction.opcode.type == X86ISA::TwoByteOpcode;
}

// Before the microcode of a delivery writes the stack frame, it reads both ends of the frame with
// the intent to write. A Pentium does not.
bool P5CPU::only_checks() const { return in_rom() && curStaticInst->getName() == "ldst"; }

}  // namespace gem5::p5lab
