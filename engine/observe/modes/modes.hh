// SPDX-License-Identifier: MIT
// How often did each event happen in each machine mode?
#pragma once

#include <string>

#include "observe/places.hh"

namespace observe {

class Modes : public Places {
 public:
  explicit Modes(p5::Pentium& model) : Places(model, "mode") {}

 protected:
  uint64_t value() const override { return uint64_t(model_.state().mode); }
  std::string shown(uint64_t mode) const override;
};

}  // namespace observe
