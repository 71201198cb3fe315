// SPDX-License-Identifier: MIT
#include "p5/opcodes.hh"

namespace p5::opcodes {
namespace {

constexpr void up_to_9f(Map& m) {
  m[0x00] = group(kLocalTables);
  m[0x01] = group(kGlobalTables);
  m[0x02] = m[0x03] = op2(C::Lar, C::Lar, kRmR | kRegW);
  m[0x05] = m[0x07] = refused(0);  // SYSCALL, SYSRET
  m[0x06] = op(C::Clts, 0, 0, 0, kSystem);
  m[0x08] = op(C::Invd, 0, 0, 0, kSystem | kSerializing);
  m[0x09] = op(C::Wbinvd, 0, 0, 0, kSystem | kSerializing);
  m[0x0E] = refused(0);               // FEMMS
  m[0x0F] = refused(kModRm | kImm8);  // 3DNow!
  for (int i = 0x10; i < 0x18; i++) m[i] = refused();
  // Hint NOPs. The P6 and later processors execute the whole range as NOPs. Parts of the range got
  // other meanings later (prefetch, CET).
  m[0x0D] = op(C::NopLong, kModRm | kNoAccess, 0, 0, kNotOnPentium);
  for (int i = 0x18; i < 0x20; i++) m[i] = m[0x0D];
  m[0x20] = op(C::MovFromCr, kModRm | kNoMemory | kRmW, 0, 0, kSystem);
  m[0x21] = op(C::MovFromDr, kModRm | kNoMemory | kRmW, 0, 0, kSystem);
  m[0x22] = group(kMovToCrs);
  m[0x23] = op(C::MovToDr, kModRm | kNoMemory | kRmR, 0, 0, kSystem | kSerializing);
  m[0x24] = m[0x26] = op(C::Unknown, kModRm | kNoMemory);  // MOV TRn exists only on 386 and 486
  for (int i = 0x28; i < 0x30; i++) m[i] = refused();
  m[0x30] = op(C::Wrmsr, 0, kEax | kEcx | kEdx, 0, kSystem | kSerializing);
  m[0x31] = op(C::Rdtsc, 0, 0, kEax | kEdx, kSystem);
  m[0x32] = op(C::Rdmsr, 0, kEcx, kEax | kEdx, kSystem);
  m[0x33] = m[0x34] = m[0x35] = m[0x37] = refused(0);  // RDPMC, SYSENTER, SYSEXIT, GETSEC
  m[0x38] = refused(kThird | kModRm);
  m[0x3A] = refused(kThird | kModRm | kImm8);
  for (int cc = 0; cc < 16; cc++) {
    m[0x40 + cc] = op2(C::CmovRR, C::CmovRM, kRmR | kRegRw, 0, 0, kNotOnPentium);
    m[0x80 + cc] = op(C::Jcc, kRelZ, 0, 0, kBranch | kConditional);
    m[0x90 + cc] = op2(C::SetccReg, C::SetccMem, kRmW | kRm8);
  }
  for (int i = 0x50; i < 0x80; i++) m[i] = refused(i >= 0x70 && i < 0x74 ? kModRm | kImm8 : kModRm);
  m[0x77] = refused(0);  // EMMS
}

constexpr void from_a0(Map& m) {
  m[0xA0] = m[0xA8] = op(C::PushSreg, kPushPop);
  m[0xA1] = m[0xA9] = loads_segment(op(C::PopSreg, kPushPop));
  m[0xA2] = op(C::Cpuid, 0, kEax | kEcx, kEax | kEcx | kEdx | kEbx, kSystem | kSerializing);
  m[0xA3] = op2(C::BtReg, C::BtMemReg, kRmR | kRegR);
  m[0xA4] = m[0xAC] = op2(C::ShldReg, C::ShldMem, kRmRw | kRegR | kImm8);
  m[0xA5] = m[0xAD] = op2(C::ShldReg, C::ShldMem, kRmRw | kRegR, kEcx);
  m[0xAA] = op(C::Rsm, 0, 0, 0xFF, kSystem | kSerializing);
  m[0xAB] = m[0xB3] = m[0xBB] = op2(C::BtsReg, C::BtsMemReg, kRmRw | kRegR);
  m[0xAE] = refused();            // FXSAVE, fences
  m[0xA6] = m[0xA7] = refused();  // VIA PadLock
  m[0xAF] = op2(C::ImulRR, C::ImulRM, kRmR | kRegRw);
  m[0xB0] = op2(C::CmpxchgReg, C::CmpxchgMem, kRmRw | kRegR | kRm8 | kReg8, kEax, kEax);
  m[0xB1] = op2(C::CmpxchgReg, C::CmpxchgMem, kRmRw | kRegR, kEax, kEax);
  m[0xB2] = loads_segment(mem_only(C::Lss, kRegW));
  m[0xB4] = m[0xB5] = loads_segment(mem_only(C::Lds, kRegW));
  m[0xB6] = m[0xBE] = op2(C::MovExtend, C::MovExtend, kRmR | kRegW | kRm8);
  m[0xB7] = m[0xBF] = op2(C::MovExtend, C::MovExtend, kRmR | kRegW);
  m[0xB8] = refused();               // POPCNT
  m[0xB9] = op(C::Unknown, kModRm);  // UD1
  m[0xBA] = group(kBitImm);
  m[0xBC] = op2(C::BsfReg16, C::BsfMem16, kRmR | kRegW | kSized);
  m[0xBD] = op2(C::BsrReg16, C::BsrMem16, kRmR | kRegW | kSized);
  m[0xC0] = op2(C::XaddReg, C::XaddMem, kRmRw | kRegRw | kRm8 | kReg8);
  m[0xC1] = op2(C::XaddReg, C::XaddMem, kRmRw | kRegRw);
  for (int i = 0xC2; i < 0xC7; i++) m[i] = refused(i == 0xC3 ? kModRm : kModRm | kImm8);
  m[0xC7] = group(kWideExchange);
  for (int reg = 0; reg < 8; reg++) m[0xC8 + reg] = op(C::Bswap, kOpR | kOpW);
  for (int i = 0xD0; i < 0xFF; i++) m[i] = refused();
  m[0xFF] = op(C::Unknown, kModRm);  // UD0
}

constexpr Map two_byte_map() {
  Map m{};
  up_to_9f(m);
  from_a0(m);
  return m;
}

constexpr Map two_byte_map_64() {
  Map m = two_byte_map();
  m[0x24] = m[0x26] = Op();
  // SYSCALL, SYSRET, SYSENTER, SYSEXIT.
  m[0x05] = m[0x07] = m[0x34] = m[0x35] = op(C::Unknown, 0, 0, 0, kFar);
  return m;
}

}  // namespace

constexpr Map kTwoByte = two_byte_map();
constexpr Map kTwoByte64 = two_byte_map_64();

}  // namespace p5::opcodes
