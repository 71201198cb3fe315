// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bochs/transitions.hh"

#include <string_view>

#include "bochs/cpu.hh"
#include "bochs/glue.hh"
#include "bochs/model.hh"
#include "bochs/watching.hh"

namespace bochs {

Transitions transitions;

void Transitions::refresh() {
  pending_ = false;
  if (breakpoints_) {
    breakpoints_ = false;
    const auto& dr = cpu()->dr;
    model().set_breakpoints(
        {p5::Linear(dr[0]), p5::Linear(dr[1]), p5::Linear(dr[2]), p5::Linear(dr[3])},
        cpu()->dr7.get32());
  }
  p5::State state = bochs::state();
#if BX_SUPPORT_X86_64
  if (state.paging && !cpu()->long_mode()) {
    run().end().fail("paging outside long mode: this engine models only the page tables of x86-64");
  }
#endif
  if (model().tr12() & p5::kCacheInhibit) state.caching = false;
  watching.leave();
  model().set_state(state);
  watching.arrive(entrance());
  crossed_ = {};
}

observe::Entrance Transitions::entrance() const {
  const std::string_view kind = crossed_.kind ? crossed_.kind : "";
  const bool call = kind == "gate" || (kind == "int" && crossed_.vector == session::kLinuxCall);
  return {crossed_.kind, crossed_.vector, call ? general_register(0) : 0};
}

}  // namespace bochs
