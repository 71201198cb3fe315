// SPDX-License-Identifier: LGPL-2.1-or-later
// How do several iterations of a repeated MOVS or STOS run at once?
#include <algorithm>
#include <cstring>

#include "bochs/cpu.hh"
#include "bochs/glue.hh"
#include "bochs/model.hh"
#include "pc_system.h"

namespace bochs {

namespace {

constexpr Bit32u kRepeatInterval = BX_MAX_TRACE_LENGTH - 1;  // as in Bochs's cpu.cc

// A page that Bochs may access directly with the current rights. If `host` is null, direct access
// is impossible or not allowed.
struct Window {
  Bit8u* host = nullptr;
  Bit32u linear = 0, physical = 0, bytes = 0;  // up to the end of the page

  Window(unsigned segment, Bit32u offset, bool write) {
    const auto& seg = cpu()->sregs[segment];
    if (!(seg.cache.valid & (write ? SegAccessWOK4G : SegAccessROK4G))) return;
    linear = offset;
    const bx_TLB_entry* entry = cpu()->DTLB.get_entry_of(linear, 0);
    if (entry->lpf != (linear & ~0xFFFu)) return;
    physical = Bit32u(entry->ppf | (linear & 0xFFF));
    // If a page contains code that Bochs has decoded, Bochs must see each write to this page.
    if (write && pageWriteStampTable.getFineGranularityMapping(physical)) return;
    host = write ? cpu()->v2h_write_byte(linear, cpu()->user_pl)
                 : cpu()->v2h_read_byte(linear, cpu()->user_pl);
    bytes = 0x1000 - (linear & 0xFFF);
  }
};

template <class Word>
void transfer(Bit8u* to, const Bit8u* from, Bit32u words) {
  for (Bit32u i = 0; i < words; i++) {  // forward, even if the ranges overlap
    Word word;
    std::memcpy(&word, from, sizeof word);
    std::memcpy(to, &word, sizeof word);
    to += sizeof word;
    from += sizeof word;
  }
}

template <class Word>
void fill(Bit8u* to, Bit32u value, Bit32u words) {
  const Word word = Word(value);
  for (Bit32u i = 0; i < words; i++) std::memcpy(to + i * sizeof word, &word, sizeof word);
}

bool string_block(bxInstruction_c* i, unsigned bytes, bool moves) {
#if BX_SUPPORT_X86_64
  if (cpu()->long64_mode()) return false;  // segments have a different meaning in long mode
#endif
  const Bit32u left = cpu()->get_reg32(BX_32BIT_REG_ECX);
  if (left < 2 || cpu()->get_DF() || cpu()->async_event) return false;
  if (!run().conf().config().fast_paths) return false;
  const Bit32u esi = cpu()->get_reg32(BX_32BIT_REG_ESI), edi = cpu()->get_reg32(BX_32BIT_REG_EDI);
  if ((edi | (moves ? esi : 0)) & (bytes - 1)) return false;
  const Window to(BX_SEG_REG_ES, edi, true);
  if (!to.host) return false;
  Bit32u count = std::min(left, to.bytes / bytes);
  p5::Block block{moves, 0, 0, to.linear, to.physical, bytes};
  const Bit8u* source = nullptr;
  if (moves) {
    const Window from(i->seg(), esi, false);
    if (!from.host) return false;
    source = from.host;
    block.from = from.linear;
    block.from_physical = from.physical;
    count = std::min(count, from.bytes / bytes);
  }
  if (count < 2) return false;
  // Single iterations report the time to Bochs at fixed intervals. A block of iterations reports
  // the time at the same intervals. The block ends before the iteration at which a timer is due,
  // and Bochs executes this iteration itself.
  p5::Pace pace{p5_ticked, p5_ticked + bx_pc_system.getNumCpuTicksLeftNextEvent(), kRepeatInterval};
  count = model().block(block, count, &pace);
  if (pace.reported != p5_ticked) {
    const Bit32u due = Bit32u(pace.reported - p5_ticked);
    p5_ticked = pace.reported;
    BX_TICKN(due);
  }
  if (moves) {
    if (bytes == 4)
      transfer<Bit32u>(to.host, source, count);
    else if (bytes == 2)
      transfer<Bit16u>(to.host, source, count);
    else
      transfer<Bit8u>(to.host, source, count);
    cpu()->set_reg32(BX_32BIT_REG_ESI, esi + count * bytes);
  } else {
    const Bit32u value = cpu()->get_reg32(BX_32BIT_REG_EAX);
    if (bytes == 4)
      fill<Bit32u>(to.host, value, count);
    else if (bytes == 2)
      fill<Bit16u>(to.host, value, count);
    else
      fill<Bit8u>(to.host, value, count);
  }
  cpu()->set_reg32(BX_32BIT_REG_EDI, edi + count * bytes);
  cpu()->set_reg32(BX_32BIT_REG_ECX, left - (count - 1));
  return true;
}

}  // namespace

}  // namespace bochs

bool p5_block(bxInstruction_c* i, unsigned bytes, bool moves) {
  return bochs::string_block(i, bytes, moves);
}
