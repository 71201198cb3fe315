// SPDX-License-Identifier: MIT
#include "observe/joint/joint_counts.hh"

#include <utility>

namespace observe {
namespace {

const Registered<JointCounts> registered("joint", JointCounts::read);

}  // namespace

Make JointCounts::read(base::Settings& settings) {
  const std::vector<std::string> names = Joint::read(settings, "run.joint_of");
  if (names.empty()) settings.fail("run.joint_of", "expected names of observers");
  return [names](const Machine& machine) {
    return std::make_unique<JointCounts>(machine.model, Joint(names, machine));
  };
}

void JointCounts::delivered(p5::Entry entry, uint8_t vector, Position back) {
  Places::delivered(entry, vector, back);
  // The instruction INT belongs to its call.
  if (entry != p5::Entry::Soft) flush();
}

}  // namespace observe
