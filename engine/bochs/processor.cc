// SPDX-License-Identifier: LGPL-2.1-or-later
// What does the processor say about itself, and how does the guest reach the markers? CPUID, the
// model-specific registers, and the CPUID leaf for markers.
#include "bochs.h"
#include "bochs/glue.hh"
#include "bochs/time.hh"
#include "bochs/transitions.hh"
#include "bochs/watching.hh"
#include "cpu/cpu.h"
#include "cpu/cpudb/amd/athlon64_clawhammer.h"
#include "cpu/cpudb/intel/pentium.h"

namespace bochs {

namespace {

void marker(BX_CPU_C* cpu, Bit32u operation, cpuid_function_t* leaf) {
  const session::MarkerCall call{operation,
                                 cpu->get_reg32(BX_32BIT_REG_EDX),
                                 cpu->get_reg32(BX_32BIT_REG_ESI),
                                 cpu->get_reg32(BX_32BIT_REG_EBX),
                                 cpu->real_mode(),
                                 place(BX_SEG_REG_DS, BX_32BIT_REG_ESI),
                                 place(BX_SEG_REG_ES, BX_32BIT_REG_EDI)};
  const session::MarkerResult result = run().marker(call);
  if (operation == session::kReady) {
    run_agendas();
    ask_for_next_look();
  }
  watching.take();
  leaf->eax = result.eax;
  leaf->ebx = result.ebx;
  leaf->ecx = result.ecx;
  leaf->edx = result.edx;
}

#if BX_SUPPORT_X86_64

// One of the first x86-64 processors. The processor supports no extension of a later processor,
// except the CPUID leaf for markers.
class Processor : public athlon64_clawhammer_t {
 public:
  explicit Processor(BX_CPU_C* cpu) : athlon64_clawhammer_t(cpu) {}

  void get_cpuid_leaf(Bit32u function, Bit32u subfunction, cpuid_function_t* leaf) const override {
    if (function == session::kMarkerLeaf) return marker(cpu, subfunction, leaf);
    athlon64_clawhammer_t::get_cpuid_leaf(function, subfunction, leaf);
  }
};

#else

// The machine check registers: P5_MC_ADDR is register 0, and P5_MC_TYPE is register 1 [INTEL-DM].
constexpr Bit32u kMachineCheckType = 1;

// The processor's identity, its counter registers and the CPUID leaf for markers.
class Processor : public pentium_t {
 public:
  explicit Processor(BX_CPU_C* cpu) : pentium_t(cpu) {}

  void get_cpuid_leaf(Bit32u function, Bit32u subfunction, cpuid_function_t* leaf) const override {
    if (function == session::kMarkerLeaf) return marker(cpu, subfunction, leaf);
    leaf->eax = leaf->ebx = leaf->ecx = leaf->edx = 0;
    if (function == 0) {
      get_leaf_0(0x1, "GenuineIntel", leaf);
    } else if (function == 1) {
      leaf->eax = run().conf().config().signature;
      leaf->edx = run().conf().config().cpuid_features();
    }
  }

  int rdmsr(Bit32u index, Bit64u* value) override {
    if (index <= kMachineCheckType) {  // no machine check has occurred
      *value = 0;
      return 1;
    }
    uint64_t result = 0;
    if (!run().counter_registers().read(index, &result)) return -1;
    *value = result;
    return 1;
  }
  int wrmsr(Bit32u index, Bit64u value) override {
    transitions.expect();  // TR12 may inhibit the caches
    return run().counter_registers().write(index, value) ? 1 : -1;
  }
};

#endif

}  // namespace

bx_cpuid_t* make_processor() { return new Processor(BX_CPU(0)); }

}  // namespace bochs
