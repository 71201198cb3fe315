// SPDX-License-Identifier: LGPL-2.1-or-later
// Which bytes does a program mean by a segment register and an offset?
#include "bochs.h"
#include "bochs/glue.hh"
#include "cpu/cpu.h"

namespace bochs {

session::Place place(unsigned segment, unsigned general) {
  BX_CPU_C* cpu = BX_CPU(0);
  session::Place place;
#if BX_SUPPORT_X86_64
  if (cpu->long64_mode()) {  // no segments
    place.segment.readable = place.segment.writable = true;
    place.segment.limit = ~p5::Linear(0);
    place.offset = cpu->get_reg64(general);
    return place;
  }
#endif
  const bx_descriptor_t& cache = cpu->sregs[segment].cache;
  const auto& content = cache.u.segment;
  const bool code = IS_CODE_SEGMENT(cache.type);
  place.segment.readable = cache.valid && (!code || IS_CODE_SEGMENT_READABLE(cache.type));
  place.segment.writable = cache.valid && !code && IS_DATA_SEGMENT_WRITEABLE(cache.type);
  place.segment.expand_down = !code && IS_DATA_SEGMENT_EXPAND_DOWN(cache.type);
  place.segment.wide = content.d_b;
  place.segment.base = content.base;
  place.segment.limit = content.limit_scaled;
  const Bit32u offset = cpu->get_reg32(general);
  // 16-bit code uses SI and DI, as its string instructions do.
  place.offset = cpu->sregs[BX_SEG_REG_CS].cache.u.segment.d_b ? offset : offset & 0xFFFF;
  return place;
}

}  // namespace bochs
