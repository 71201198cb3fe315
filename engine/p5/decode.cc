// SPDX-License-Identifier: MIT
#include "p5/decode.hh"

#include "p5/classes.hh"
#include "p5/decode_parts.hh"
#include "p5/opcodes.hh"
#include "p5/rules.hh"

namespace p5 {
namespace {

using namespace opcodes;

// Bits of a REX prefix. W: operands have 64 bits. R, X and B extend the register in ModRM.reg, the
// index, and the register in ModRM.rm, the base or the opcode.
constexpr uint8_t kRexW = 8, kRexR = 4, kRexX = 2, kRexB = 1;

// `high`: the register may be AH, CH, DH or BH.
RegMask register_bit(unsigned number, bool high) {
  if (high && !rule(Rule::PairWholeRegister)) return number < 4 ? RegMask(1u << number) : 0;
  return RegMask(1u << (high ? number & 3 : number));
}

// The address of a ModRM memory operand: its registers, and the lengths of SIB and displacement.
struct Address {
  RegMask registers = 0;
  unsigned sib = 0;           // bytes
  unsigned displacement = 0;  // bytes
};

Address address16(uint8_t modrm) {
  static constexpr RegMask kRegisters[8] = {kEbx | kEsi, kEbx | kEdi, kEbp | kEsi, kEbp | kEdi,
                                            kEsi,        kEdi,        kEbp,        kEbx};
  const unsigned mod = modrm >> 6, rm = modrm & 7;
  if (mod == 0 && rm == 6) return {0, 0, 2};
  return {kRegisters[rm], 0, mod};
}

// `rex` is the REX prefix of 64-bit code, or 0. Without a base, an address without SIB is relative
// to RIP in 64-bit code, and the instruction has a displacement in both cases.
Address address32(uint8_t modrm, uint8_t sib, uint8_t rex) {
  static constexpr unsigned kDisplacement[3] = {0, 1, 4};
  const unsigned mod = modrm >> 6, rm = modrm & 7;
  Address a;
  a.displacement = kDisplacement[mod];
  unsigned base = rm;
  if (rm == 4) {
    a.sib = 1;
    base = sib & 7;
    const unsigned index = (sib >> 3 & 7) | (rex & kRexX ? 8 : 0);
    if (index != 4) a.registers |= RegMask(1u << index);
  }
  if (mod == 0 && base == 5) {
    a.displacement = 4;
  } else {
    a.registers |= RegMask(1u << (base | (rex & kRexB ? 8 : 0)));
  }
  return a;
}

enum class Code { Bits16, Bits32, Bits64 };

// Decodes one instruction in several steps. A step that reads bytes returns false if the
// instruction does not end within the available bytes.
class Decoder {
 public:
  Decoder(Code code, const uint8_t* bytes, unsigned available)
      : bytes_(bytes),
        available_(available < kMaxInsnBytes ? available : kMaxInsnBytes),
        code64_(code == Code::Bits64),
        wide_(code != Code::Bits16) {}

  bool decode(const TimingTable& timing, DecodedInsn* out) {
    if (!read_prefixes() || !read_opcode() || !read_operand() || !read_immediate()) return false;
    insn_.length = uint8_t(at_);
    choose_class();
    choose_refusal();
    choose_registers();
    choose_flags();
    choose_reach(timing);
    decode_pairing(timing.pairing(insn_.cls), op_->bits & kPushPop, &insn_);
    *out = insn_;
    return true;
  }

 private:
  bool read_prefixes();
  bool read_opcode();
  bool read_operand();
  bool read_immediate();
  void choose_class();
  void choose_refusal();
  void choose_registers();
  void choose_flags();
  void choose_reach(const TimingTable& timing);
  // `rex`: the bit of REX that extends the number. With REX, bytes 4 to 7 are SPL, BPL, SIL and
  // DIL.
  void use_register(unsigned number, uint8_t rex, bool byte, bool read, bool written) {
    const RegMask bit = register_bit(number | (rex_ & rex ? 8 : 0), byte && !rex_);
    if (read) insn_.reads |= bit;
    if (written) insn_.writes |= bit;
  }

  const uint8_t* bytes_;
  unsigned available_;
  const bool code64_, wide_;
  unsigned at_ = 0;
  DecodedInsn insn_;
  bool operand32_ = wide_, addr32_ = wide_, operand64_ = false, rep_ = false;
  uint8_t rex_ = 0;
  SimdPrefix simd_ = SimdPrefix::None;
  const Op* op_ = nullptr;
  Address address_;
  bool memory_ = false;     // the operand is in memory
  unsigned immediate_ = 0;  // bytes
};

bool Decoder::read_prefixes() {
  // A REX prefix has an effect only directly before the opcode.
  for (; at_ < available_; at_++) {
    const uint8_t byte = bytes_[at_];
    if (code64_ && (byte & 0xF0) == 0x40) {
      rex_ = byte;
      continue;
    }
    if (byte == 0x66) {
      operand32_ = !wide_;
      if (simd_ == SimdPrefix::None) simd_ = SimdPrefix::Operand;
    } else if (byte == 0x67) {
      addr32_ = !wide_;
    } else if (byte == 0xF0) {
      insn_.flags |= kLocked;
    } else if (byte == 0xF2 || byte == 0xF3) {
      rep_ = true;
      simd_ = byte == 0xF2 ? SimdPrefix::Double : SimdPrefix::Single;
    } else if ((byte & 0xE7) != 0x26 && byte != 0x64 && byte != 0x65) {
      break;
    }
    insn_.prefixes++;
    rex_ = 0;
  }
  operand64_ = rex_ & kRexW;
  operand32_ |= operand64_;
  return at_ < available_;
}

bool Decoder::read_opcode() {
  insn_.opcode = bytes_[at_++];
  op_ = code64_ ? &kOneByte64[insn_.opcode] : &kOneByte[insn_.opcode];
  if (insn_.opcode == 0x0F) {
    if (at_ >= available_) return false;
    insn_.opcode = bytes_[at_++];
    insn_.map = 1;
    op_ = code64_ ? &kTwoByte64[insn_.opcode] : &kTwoByte[insn_.opcode];
    // The 0F byte costs a decode clock, except in a near Jcc [INTEL-OPT].
    if ((insn_.opcode & 0xF0) != 0x80 || !rule(Rule::PrefixNearJcc)) insn_.prefixes++;
  }
  if (op_->bits & kThird) {
    if (at_ >= available_) return false;
    insn_.opcode = bytes_[at_++];
  }
  return true;
}

// Reads ModRM, SIB and the displacement.
bool Decoder::read_operand() {
  if (op_->bits & kModRm) {
    if (at_ >= available_) return false;
    insn_.modrm = bytes_[at_++];
    if (op_->group != kNoGroup) op_ = &kGroupOps[op_->group][insn_.modrm >> 3 & 7];
    memory_ = insn_.modrm < 0xC0 && !(op_->bits & kNoMemory);
    if (memory_) {
      if (addr32_ || code64_) {
        const bool sib = (insn_.modrm & 7) == 4;
        if (sib && at_ >= available_) return false;
        address_ = address32(insn_.modrm, sib ? bytes_[at_] : 0, rex_);
      } else {
        address_ = address16(insn_.modrm);
      }
      at_ += address_.sib + address_.displacement;
    }
  }
  if (op_->bits & kMoffs) {
    address_.displacement = code64_ && addr32_ ? 8 : addr32_ || code64_ ? 4 : 2;
    at_ += address_.displacement;
    memory_ = true;
  }
  return true;
}

bool Decoder::read_immediate() {
  const uint32_t bits = op_->bits;
  const unsigned z = operand32_ ? 4 : 2;
  if (bits & kImm8) immediate_ += 1;
  if (bits & kImm16) immediate_ += 2;
  if (bits & kImmZ) immediate_ += z;
  const bool long_immediate = operand64_ && insn_.map == 0 && (insn_.opcode & 0xF8) == 0xB8;
  if (long_immediate) immediate_ = 8;
  if (bits & kFarPtr) immediate_ += 2 + z;
  at_ += immediate_;
  if (bits & kRel8) at_ += 1;
  // On Intel's processors, the offset of a near branch always has 4 bytes in 64-bit code. Prefixes
  // do not change this length.
  if (bits & kRelZ) at_ += code64_ ? 4 : z;
  return at_ <= available_;
}

void Decoder::choose_class() {
  insn_.flags |= op_->flags;
  insn_.cls = memory_ ? op_->mem : op_->reg;
  if (rep_ && op_->rep != Class::Unknown) {
    insn_.cls = op_->rep;
    insn_.flags |= kRep;
    insn_.reads |= kEcx;
    insn_.writes |= kEcx;
  }
  if ((op_->bits & kSized) && operand32_) insn_.cls++;
  if (code64_ && insn_.map == 1 && insn_.cls == Class::Unknown && !(op_->bits & kThird)) {
    insn_.cls = long_class(insn_.opcode, insn_.modrm, simd_);
  }
  // The time of ENTER depends on its nesting level. The level is the last byte, modulo 32.
  if (insn_.map == 0 && insn_.opcode == 0xC8) {
    insn_.modrm = bytes_[at_ - 1] & 31;
    insn_.cls = insn_.modrm == 0 ? Class::Enter0 : insn_.modrm == 1 ? Class::Enter1 : Class::EnterN;
  }
}

// Refuses encodings that are valid only on later processors.
void Decoder::choose_refusal() {
  const uint8_t opcode = insn_.opcode, reg = insn_.modrm >> 3 & 7;
  if (insn_.map == 0) {
    // On later processors, 62, C4 and C5 with a register operand are prefixes of AVX and AVX-512.
    // C6 F8 is XABORT, and C7 F8 is XBEGIN.
    const bool begins = (opcode == 0xC6 || opcode == 0xC7) && insn_.modrm == 0xF8;
    if (!memory_ && (opcode == 0x62 || opcode == 0xC4 || opcode == 0xC5 || begins)) {
      insn_.flags |= kRefused;
    }
  } else if (insn_.cls == Class::Unknown) {
    // The Pentium does not have these encodings of 0F 01 and 0F C7. Examples are MONITOR, RDTSCP,
    // RDRAND and VMX instructions.
    if (opcode == 0x01 || (opcode == 0xC7 && reg >= 3)) insn_.flags |= kRefused;
  }
}

void Decoder::choose_registers() {
  const uint32_t bits = op_->bits;
  insn_.segment_loads = op_->segments;
  insn_.reads |= op_->reads;
  insn_.writes |= op_->writes;
  insn_.address = op_->address | address_.registers;
  if (!memory_) use_register(insn_.modrm & 7, kRexB, bits & kRm8, bits & kRmR, bits & kRmW);
  use_register(insn_.modrm >> 3 & 7, kRexR, bits & kReg8, bits & kRegR, bits & kRegW);
  use_register(insn_.opcode & 7, kRexB, bits & kOp8, bits & kOpR, bits & kOpW);
  // For the pairing rules, a store of the accumulator to an absolute address also writes the
  // accumulator [AGN-IT]. For AGI stalls, such a store does not write the accumulator.
  if (bits & kMoffs && insn_.reads && !rule(Rule::PairAccumulator)) insn_.writes = 0;
  insn_.agi_writes = insn_.writes;
  if (bits & kMoffs && rule(Rule::AgiAccumulator)) insn_.agi_writes &= ~insn_.reads;
  if (bits & kPushPop) {
    insn_.flags |= kStack;
    insn_.address |= kEsp;
    insn_.writes |= kEsp;
    // An implicit update of ESP causes no AGI stall [AGN-MA].
    if (!rule(Rule::AgiImplicitStack)) insn_.agi_writes |= kEsp;
  }
}

void Decoder::choose_flags() {
  // XCHG with memory is locked without a prefix.
  if (insn_.map == 0 && memory_ && (insn_.opcode == 0x86 || insn_.opcode == 0x87)) {
    insn_.flags |= kLocked;
  }
  if (address_.displacement > 0) insn_.flags |= kDisp;
  if (immediate_ > 0) insn_.flags |= kImm;
  if (memory_ && !(op_->bits & kNoAccess)) insn_.flags |= kMemory;
  if (insn_.flags & kFpu) decode_fpu(&insn_);
  if (code64_) {
    // The emulator decides which instructions exist.
    insn_.flags &= uint16_t(~kRefused);
    // The number of clocks of an instruction without an equivalent contains its prefixes.
    if (insn_.cls >= kFirstLong || insn_.cls == Class::NopLong) insn_.prefixes = 0;
  }
  if ((insn_.flags & (kRep | kFar | kIo | kSystem | kFpu | kNotOnPentium)) ||
      insn_.segment_loads > 0 || insn_.cls == Class::Unknown || insn_.cls == Class::EnterN ||
      insn_.cls == Class::Verr || multiplies(insn_.cls)) {
    insn_.flags |= kUncommon;
  }
}

void Decoder::choose_reach(const TimingTable& timing) {
  if (insn_.flags & (kUncommon | kLocked)) return;
  const uint32_t clocks = timing.clocks(Mode::Prot)[insn_.cls];
  const bool same = timing.clocks(Mode::Real)[insn_.cls] == clocks &&
                    timing.clocks(Mode::V86)[insn_.cls] == clocks;
  if (!same || clocks > UINT8_MAX) return;
  insn_.reach = insn_.length;
  insn_.clocks = uint8_t(clocks);
}

}  // namespace

bool decode_registers(const uint8_t* bytes, unsigned available, bool code32,
                      const TimingTable& timing, DecodedInsn* out) {
  return Decoder(code32 ? Code::Bits32 : Code::Bits16, bytes, available).decode(timing, out);
}

bool decode(const uint8_t* bytes, unsigned available, bool code32, const TimingTable& timing,
            Insn* out) {
  DecodedInsn decoded;
  const bool whole = decode_registers(bytes, available, code32, timing, &decoded);
  if (whole) *out = decoded;
  return whole;
}

bool decode64(const uint8_t* bytes, unsigned available, const TimingTable& timing, Insn* out) {
  DecodedInsn decoded;
  const bool whole = Decoder(Code::Bits64, bytes, available).decode(timing, &decoded);
  if (whole) *out = decoded;
  return whole;
}

}  // namespace p5
