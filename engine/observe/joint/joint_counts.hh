// SPDX-License-Identifier: MIT
// How often did each event happen for each combination of the values of several observers? This
// observer counts combinations without a function; Attribution counts those with a function.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "observe/joint.hh"
#include "observe/places.hh"

namespace observe {

class JointCounts : public Places {
 public:
  JointCounts(p5::Pentium& model, Joint joint) : Places(model, "joint"), joint_(std::move(joint)) {}
  static Make read(base::Settings& settings);

  void before_far(Position, uint32_t) override { flush(); }
  void delivered(p5::Entry entry, uint8_t vector, Position back) override;
  void arrive(const Entrance&, Position, p5::Linear) override { flush(); }
  void join() override { take_place(); }
  void leave() override {
    if (value() != place_.second) flush();
  }

  uint64_t value() const override { return joint_.now(); }
  void members(uint64_t value, base::JsonLine* line) const override {
    joint_.members(uint32_t(value), line);
  }

 private:
  mutable Joint joint_;
};

}  // namespace observe
