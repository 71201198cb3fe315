// SPDX-License-Identifier: MIT
// Which timing classes are there? This list holds each class once, as an enumerator and as the name
// in timing.csv. A new class needs one line here and one row in timing.csv. The loader (timing.hh)
// rejects a table if its classes differ from this list.
#pragma once

#include <cstddef>

#include "p5/insn.hh"

namespace p5 {

// The decoder assigns these classes. A name gives the mnemonic family and then the operands: `rr`
// register (or immediate) only, `rm` memory read into a register, `mr` read-modify-write of memory,
// `load`, `store`, `imm`. A `.32` class directly follows its `.16` class, because the decoder adds
// one to get the `.32` class.
#define P5_DECODED_CLASSES(X)     \
  X(Unknown, "unknown")           \
  X(Nop, "nop")                   \
  X(NopLong, "nop.long")          \
  X(MovRR, "mov.rr")              \
  X(MovLoad, "mov.load")          \
  X(MovStore, "mov.store")        \
  X(MovStoreImm, "mov.store-imm") \
  X(MovAccLoad, "mov.acc-load")   \
  X(MovAccStore, "mov.acc-store") \
  X(MovFromSreg, "mov.from-sreg") \
  X(MovSreg, "mov.sreg")          \
  X(MovSregMem, "mov.sreg-mem")   \
  X(MovSs, "mov.ss")              \
  X(MovSsMem, "mov.ss-mem")       \
  X(Lea, "lea")                   \
  X(AluRR, "alu.rr")              \
  X(AluRM, "alu.rm")              \
  X(AluMR, "alu.mr")              \
  X(AdcRR, "adc.rr")              \
  X(AdcRM, "adc.rm")              \
  X(AdcMR, "adc.mr")              \
  X(CmpRR, "cmp.rr")              \
  X(CmpMem, "cmp.mem")            \
  X(TestRR, "test.rr")            \
  X(TestMem, "test.mem")          \
  X(TestAccImm, "test.acc-imm")   \
  X(TestImm, "test.imm")          \
  X(TestMemImm, "test.mem-imm")   \
  X(IncReg, "inc.r")              \
  X(IncMem, "inc.m")              \
  X(NegReg, "neg.r")              \
  X(NegMem, "neg.m")              \
  X(PushReg, "push.r")            \
  X(PushImm, "push.imm")          \
  X(PushMem, "push.m")            \
  X(PushSreg, "push.sreg")        \
  X(PopReg, "pop.r")              \
  X(PopMem, "pop.m")              \
  X(PopSreg, "pop.sreg")          \
  X(PopSs, "pop.ss")              \
  X(Pusha, "pusha")               \
  X(Popa, "popa")                 \
  X(Pushf, "pushf")               \
  X(Popf, "popf")                 \
  X(Lahf, "lahf")                 \
  X(MovExtend, "movx")            \
  X(Cbw, "cbw")                   \
  X(Cwd, "cwd")                   \
  X(XchgAcc, "xchg.acc")          \
  X(XchgRR, "xchg.rr")            \
  X(XchgMem, "xchg.mem")          \
  X(Xlat, "xlat")                 \
  X(Bswap, "bswap")               \
  X(Lds, "lds")                   \
  X(Lss, "lss")                   \
  X(SetccReg, "setcc.r")          \
  X(SetccMem, "setcc.m")          \
  X(ShiftReg, "shift.r")          \
  X(ShiftMem, "shift.m")          \
  X(ShiftRegCl, "shift.r-cl")     \
  X(ShiftMemCl, "shift.m-cl")     \
  X(RotateReg1, "rotate.r-1")     \
  X(RotateMem1, "rotate.m-1")     \
  X(RotateRegImm, "rotate.r-imm") \
  X(RotateMemImm, "rotate.m-imm") \
  X(RotateRegCl, "rotate.r-cl")   \
  X(RotateMemCl, "rotate.m-cl")   \
  X(RclReg1, "rcl.r-1")           \
  X(RclMem1, "rcl.m-1")           \
  X(RclRegImm, "rcl.r-imm")       \
  X(RclMemImm, "rcl.m-imm")       \
  X(RclRegCl, "rcl.r-cl")         \
  X(RclMemCl, "rcl.m-cl")         \
  X(ShldReg, "shld.r")            \
  X(ShldMem, "shld.m")            \
  X(BtReg, "bt.r")                \
  X(BtMemImm, "bt.m-imm")         \
  X(BtMemReg, "bt.m-r")           \
  X(BtsReg, "bts.r")              \
  X(BtsMemImm, "bts.m-imm")       \
  X(BtsMemReg, "bts.m-r")         \
  X(BsfReg16, "bsf.r.16")         \
  X(BsfReg32, "bsf.r.32")         \
  X(BsfMem16, "bsf.m.16")         \
  X(BsfMem32, "bsf.m.32")         \
  X(BsrReg16, "bsr.r.16")         \
  X(BsrReg32, "bsr.r.32")         \
  X(BsrMem16, "bsr.m.16")         \
  X(BsrMem32, "bsr.m.32")         \
  X(Mul8, "mul.8")                \
  X(Mul16, "mul.16")              \
  X(Mul32, "mul.32")              \
  X(ImulRR, "imul.rr")            \
  X(ImulRM, "imul.rm")            \
  X(Div8, "div.8")                \
  X(Div16, "div.16")              \
  X(Div32, "div.32")              \
  X(Idiv8, "idiv.8")              \
  X(Idiv16, "idiv.16")            \
  X(Idiv32, "idiv.32")            \
  X(Aaa, "aaa")                   \
  X(Aad, "aad")                   \
  X(Aam, "aam")                   \
  X(Salc, "salc")                 \
  X(CmpxchgReg, "cmpxchg.r")      \
  X(CmpxchgMem, "cmpxchg.m")      \
  X(Cmpxchg8b, "cmpxchg8b")       \
  X(XaddReg, "xadd.r")            \
  X(XaddMem, "xadd.m")            \
  X(Bound, "bound")               \
  X(Enter0, "enter.0")            \
  X(Enter1, "enter.1")            \
  X(EnterN, "enter.n")            \
  X(Leave, "leave")               \
  X(SetFlag, "flag")              \
  X(Cli, "cli")                   \
  X(Jmp, "jmp")                   \
  X(Call, "call")                 \
  X(Jcc, "jcc")                   \
  X(JmpInd, "jmp.ind")            \
  X(CallInd, "call.ind")          \
  X(Ret, "ret")                   \
  X(RetImm, "ret.imm")            \
  X(Jcxz, "jcxz")                 \
  X(Loop, "loop")                 \
  X(Loopcc, "loopcc")             \
  X(JmpFar, "jmp.far")            \
  X(JmpFarMem, "jmp.far-mem")     \
  X(CallFar, "call.far")          \
  X(CallFarMem, "call.far-mem")   \
  X(RetFar, "ret.far")            \
  X(RetFarImm, "ret.far-imm")     \
  X(Int3, "int3")                 \
  X(IntN, "int.n")                \
  X(Into, "into")                 \
  X(Iret, "iret")                 \
  X(Iretd, "iretd")               \
  X(Lods, "lods")                 \
  X(Stos, "stos")                 \
  X(Movs, "movs")                 \
  X(Scas, "scas")                 \
  X(Cmps, "cmps")                 \
  X(Ins, "ins")                   \
  X(Outs, "outs")                 \
  X(RepLods, "rep.lods")          \
  X(RepStos, "rep.stos")          \
  X(RepMovs, "rep.movs")          \
  X(RepScas, "rep.scas")          \
  X(RepCmps, "rep.cmps")          \
  X(RepIns, "rep.ins")            \
  X(RepOuts, "rep.outs")          \
  X(In, "in")                     \
  X(Out, "out")                   \
  X(Cpuid, "cpuid")               \
  X(Rdtsc, "rdtsc")               \
  X(Rdmsr, "rdmsr")               \
  X(Wrmsr, "wrmsr")               \
  X(Rsm, "rsm")                   \
  X(Hlt, "hlt")                   \
  X(Wait, "wait")                 \
  X(Clts, "clts")                 \
  X(Lmsw, "lmsw")                 \
  X(Smsw, "smsw")                 \
  X(MovFromCr, "mov.from-cr")     \
  X(MovToCr0, "mov.to-cr0")       \
  X(MovToCr2, "mov.to-cr2")       \
  X(MovToCr3, "mov.to-cr3")       \
  X(MovToCr4, "mov.to-cr4")       \
  X(MovFromDr, "mov.from-dr")     \
  X(MovToDr, "mov.to-dr")         \
  X(Lgdt, "lgdt")                 \
  X(Sgdt, "sgdt")                 \
  X(Lldt, "lldt")                 \
  X(Sldt, "sldt")                 \
  X(Ltr, "ltr")                   \
  X(Str, "str")                   \
  X(Lar, "lar")                   \
  X(Verr, "verr")                 \
  X(Arpl, "arpl")                 \
  X(Invd, "invd")                 \
  X(Invlpg, "invlpg")             \
  X(Wbinvd, "wbinvd")             \
  X(CmovRR, "cmov.rr")            \
  X(CmovRM, "cmov.rm")            \
  X(Fld, "fld")                   \
  X(FldM80, "fld.m80")            \
  X(Fbld, "fbld")                 \
  X(FstReg, "fst.r")              \
  X(FstMem, "fst.m")              \
  X(FstM80, "fst.m80")            \
  X(Fbstp, "fbstp")               \
  X(Fild, "fild")                 \
  X(Fist, "fist")                 \
  X(FldZero, "fldz")              \
  X(FldConst, "fldpi")            \
  X(Fadd, "fadd")                 \
  X(Fmul, "fmul")                 \
  X(Fdiv, "fdiv")                 \
  X(Fiadd, "fiadd")               \
  X(Fidiv, "fidiv")               \
  X(Fchs, "fchs")                 \
  X(Fcom, "fcom")                 \
  X(Ficom, "ficom")               \
  X(Ftst, "ftst")                 \
  X(Fxam, "fxam")                 \
  X(Fprem, "fprem")               \
  X(Fprem1, "fprem1")             \
  X(Frndint, "frndint")           \
  X(Fscale, "fscale")             \
  X(Fxtract, "fxtract")           \
  X(Fsqrt, "fsqrt")               \
  X(Fsin, "fsin")                 \
  X(Fsincos, "fsincos")           \
  X(F2xm1, "f2xm1")               \
  X(Fyl2x, "fyl2x")               \
  X(Fyl2xp1, "fyl2xp1")           \
  X(Fptan, "fptan")               \
  X(Fpatan, "fpatan")             \
  X(Fnop, "fnop")                 \
  X(Fxch, "fxch")                 \
  X(Ffree, "ffree")               \
  X(Fnstsw, "fnstsw")             \
  X(Fldcw, "fldcw")               \
  X(Fnstcw, "fnstcw")             \
  X(Fnclex, "fnclex")             \
  X(Fninit, "fninit")             \
  X(Fldenv, "fldenv")             \
  X(Fnstenv, "fnstenv")           \
  X(Fnsave, "fnsave")             \
  X(Frstor, "frstor")             \
  X(Fcmov, "fcmov")               \
  X(Fcomi, "fcomi")

// Classes for outcomes that the encoding of an instruction does not determine. When the outcome is
// known, the model uses the row of the outcome's class.
#define P5_OUTCOME_CLASSES(X)         \
  X(Interrupt, "event.interrupt")     \
  X(Exception, "event.exception")     \
  X(IntoTaken, "into.taken")          \
  X(IretToV86, "iret.to-v86")         \
  X(JmpGate, "jmp.gate")              \
  X(CallGate, "call.gate")            \
  X(JmpTask, "jmp.task")              \
  X(CallTask, "call.task")            \
  X(IntTask, "int.task")              \
  X(IretTask, "iret.task")            \
  X(TaskSwitch32, "task-switch.32")   \
  X(TaskSwitch16, "task-switch.16")   \
  X(TaskSwitchV86, "task-switch.v86") \
  X(Fdiv24, "fdiv.24")                \
  X(Fdiv53, "fdiv.53")                \
  X(Fidiv24, "fidiv.24")              \
  X(Fidiv53, "fidiv.53")

// Classes of instructions that only 64-bit code has here: no Pentium has an equivalent. The decoder
// assigns these classes (decode_long.cc). A name of SSE gives the number of 64-bit parts or of
// elements that the instruction processes.
#define P5_LONG_CLASSES(X)               \
  X(Syscall, "syscall")                  \
  X(Sysret, "sysret")                    \
  X(Swapgs, "swapgs")                    \
  X(Fxsave, "fxsave")                    \
  X(Fxrstor, "fxrstor")                  \
  X(Ldmxcsr, "ldmxcsr")                  \
  X(Stmxcsr, "stmxcsr")                  \
  X(Fence, "fence")                      \
  X(Clflush, "clflush")                  \
  X(Emms, "emms")                        \
  X(SimdMove64, "simd.move.64")          \
  X(SimdMove128, "simd.move.128")        \
  X(SimdLogic64, "simd.logic.64")        \
  X(SimdLogic128, "simd.logic.128")      \
  X(SimdProduct64, "simd.product.64")    \
  X(SimdProduct128, "simd.product.128")  \
  X(SimdConvert, "simd.convert")         \
  X(SimdAdd1, "simd.add.1")              \
  X(SimdAdd2, "simd.add.2")              \
  X(SimdAdd4, "simd.add.4")              \
  X(SimdMul1, "simd.mul.1")              \
  X(SimdMul2, "simd.mul.2")              \
  X(SimdMul4, "simd.mul.4")              \
  X(SimdDivSingle1, "simd.div.single.1") \
  X(SimdDivSingle4, "simd.div.single.4") \
  X(SimdDivDouble1, "simd.div.double.1") \
  X(SimdDivDouble2, "simd.div.double.2") \
  X(SimdRoot1, "simd.root.1")            \
  X(SimdRoot2, "simd.root.2")            \
  X(SimdRoot4, "simd.root.4")

#define P5_CLASSES(X)   \
  P5_DECODED_CLASSES(X) \
  P5_OUTCOME_CLASSES(X) \
  P5_LONG_CLASSES(X)

// This is a struct and not an enum class, because a class id is stored and used as a plain ClassId.
struct Class {
  enum : ClassId {
#define P5_ENUMERATOR(id, name) id,
    P5_CLASSES(P5_ENUMERATOR)
#undef P5_ENUMERATOR
        Count
  };
};

inline constexpr const char* kClassNames[] = {
#define P5_NAME(id, name) name,
    P5_CLASSES(P5_NAME)
#undef P5_NAME
};
static_assert(sizeof(kClassNames) / sizeof(kClassNames[0]) == std::size_t{Class::Count});

// The first of P5_LONG_CLASSES. All later classes are in this list too.
constexpr ClassId kFirstLong = Class::Syscall;

// Whether the class is an integer multiplication.
constexpr bool multiplies(ClassId cls) { return cls >= Class::Mul8 && cls <= Class::ImulRM; }

}  // namespace p5
