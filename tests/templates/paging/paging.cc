// SPDX-License-Identifier: MIT
// How often did each event happen with and without paging? A template for an observer.
#include <string>

#include "observe/places.hh"

namespace {

class Paging : public observe::Places {
 public:
  explicit Paging(p5::Pentium& model) : Places(model, "paging") {}

 protected:
  uint64_t value() const override { return model_.state().paging; }
  std::string shown(uint64_t value) const override { return value ? "on" : "off"; }
};

const observe::Registered<Paging> registered("paging");

}  // namespace
