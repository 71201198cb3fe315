// SPDX-License-Identifier: MIT
#include "p5/decode_parts.hh"
#include "p5/opcodes.hh"
#include "p5/rules.hh"

namespace p5 {
namespace {

using namespace opcodes;

// An instruction with a prefix pairs only in U. An instruction with both a displacement and an
// immediate does not pair [INTEL-OPT]. An instruction in V is therefore never longer than 7 bytes,
// which is the limit in V [INTEL-OPT 3.9]. In 64-bit code the limit does not count REX. Only moves
// with an address or an immediate of 8 bytes are longer.
constexpr unsigned kLongestInV = 7;

Pairing restrict_pairing(Pairing pairing, const Insn& insn) {
  if (rule(Rule::PairDispImm) && (insn.flags & kDisp) && (insn.flags & kImm)) return Pairing::NP;
  const bool too_long = kX86_64 && insn.length > kLongestInV + 1;
  if (too_long || (rule(Rule::PairPrefix) && insn.prefixes > 0)) {
    if (pairing == Pairing::UV) return Pairing::PU;
    if (pairing == Pairing::PV) return Pairing::NP;
  }
  return pairing;
}

}  // namespace

void decode_pairing(Pairing listed, bool implicit, DecodedInsn* insn) {
  insn->pairing = restrict_pairing(listed, *insn);
  const bool pops = insn->cls == C::PopReg;
  implicit = implicit && rule(Rule::PairStack);
  insn->as_u = kAlways | kNotFx | (implicit ? insn->agi_writes : insn->writes);
  if (implicit) insn->as_u |= pops ? kPopsEsp : kPushesEsp;
  if (insn->length > 1 || !rule(Rule::PairColdByte)) insn->as_u |= kLong;
  if (insn->pairing == Pairing::FX) {
    insn->as_u = kAlways | (rule(Rule::PairFxAlone) ? PairMask(kFx) : 0);
    if (!rule(Rule::PairFxch)) insn->as_u |= kNotFx;
  }
  if (rule(Rule::PairFirst) && (insn->pairing == Pairing::NP || insn->pairing == Pairing::PV)) {
    insn->as_u = kNothingJoins;
  }

  // If a POP is in U, only a POP in V can use ESP. If a PUSH is in U, only a PUSH or CALL in V can
  // use ESP. If the instruction in U writes ESP explicitly, no instruction in V can use ESP.
  RegMask uses = 0;
  if (rule(Rule::PairReadAfterWrite)) uses |= insn->reads | insn->address;
  if (rule(Rule::PairWriteAfterWrite)) uses |= insn->writes;
  insn->as_v = kNever | kFx | uses;
  if (uses & kEsp && rule(Rule::PairPushPop)) {
    if (!implicit || !pops) insn->as_v |= kPopsEsp;
    if (!implicit || pops) insn->as_v |= kPushesEsp;
  }
  const bool in_v = insn->pairing == Pairing::UV || insn->pairing == Pairing::PV;
  if (rule(Rule::PairSecond) && !in_v) insn->as_v |= kAlways;
  if (insn->cls == C::Fxch) insn->as_v = kNever | kNotFx;
}

void pair_always(Insn* insn) {
  if (insn->flags & kUncommon) return;
  insn->as_u = kAlways;
  insn->as_v = kNever;
}

}  // namespace p5
