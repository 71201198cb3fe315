// SPDX-License-Identifier: MIT
#include "observe/modes/modes.hh"

#include "observe/names.hh"

namespace observe {
namespace {

const Registered<Modes> registered("modes");

}  // namespace

std::string Modes::shown(uint64_t mode) const { return mode_name(p5::MachineMode(mode)); }

}  // namespace observe
