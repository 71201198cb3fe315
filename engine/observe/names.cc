// SPDX-License-Identifier: MIT
#include "observe/names.hh"

#include "base/events.hh"

namespace observe {

const char* entry_name(p5::Entry entry) {
  switch (entry) {
    case p5::Entry::Irq:
      return "irq";
    case p5::Entry::Fault:
      return "fault";
    default:
      return "soft";
  }
}

const char* mode_name(p5::MachineMode mode) {
  switch (mode) {
    case p5::MachineMode::Real:
      return "real";
    case p5::MachineMode::V86:
      return "v86";
    case p5::MachineMode::Prot16:
      return "prot16";
    case p5::MachineMode::Prot32:
      return "prot32";
    default:
      return "long64";
  }
}

std::vector<std::string> event_names(const std::vector<uint32_t>& events) {
  std::vector<std::string> names;
  for (const uint32_t event : events) names.push_back(base::events::event_name(event));
  return names;
}

}  // namespace observe
