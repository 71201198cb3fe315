// SPDX-License-Identifier: MIT
#include "p5/core.hh"

#include <algorithm>
#include <iterator>

namespace p5 {
namespace {

constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kStalls); i++) {
    if (kStalls[i].event != kStalls[0].event + i) return false;
  }
  return true;
}
static_assert(in_order(), "Core::move finds a stall by its number");

}  // namespace

Core::Core(const Config& described, const TimingTable& table, Platform& surroundings)
    : clocks(table.clocks(Mode::Real)),
      config(described),
      machine(described),
      timing(table),
      platform(surroundings) {
  bank = ring_banks[0] = &counters.bank(0, 0);
  fills_instrumented = config.ideal.code_lines || config.ideal.data_lines;
}

void Core::use_bank(Space cr3, uint8_t ring) {
  if (cr3 != state.cr3) std::fill(std::begin(ring_banks), std::end(ring_banks), nullptr);
  Bank*& known = ring_banks[ring];
  if (!known) known = &counters.bank(cr3, ring);
  bank = known;
  if (observer) observer->use(*bank);
}

}  // namespace p5
