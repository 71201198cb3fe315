// SPDX-License-Identifier: MIT
#include "p5/replacement.hh"

#include <variant>

#include "p5/policies.hh"

namespace p5 {

struct Replacement::Chosen {
  Policies::Any any;
};

Replacement::Replacement(const std::string& policy, uint32_t sets, uint32_t ways)
    : pair_(ways == 2 && Policies::pair_is_lru(policy)), oldest_(pair_ ? sets : 0) {
  if (ways > 1 && !pair_) policy_.reset(new Chosen{Policies::make(policy, sets, ways)});
}

Replacement::~Replacement() = default;
Replacement::Replacement(const Replacement& other)
    : pair_(other.pair_),
      oldest_(other.oldest_),
      policy_(other.policy_ ? new Chosen(*other.policy_) : nullptr) {}

void Replacement::touch_policy(uint32_t set, uint32_t way) {
  std::visit([=](auto& policy) { policy.touch(set, way); }, policy_->any);
}

void Replacement::fill_policy(uint32_t set, uint32_t way) {
  std::visit([=](auto& policy) { policy.fill(set, way); }, policy_->any);
}

uint32_t Replacement::policy_victim(uint32_t set) {
  return std::visit([=](auto& policy) { return policy.victim(set); }, policy_->any);
}

}  // namespace p5
