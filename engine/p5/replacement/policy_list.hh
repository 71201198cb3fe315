// SPDX-License-Identifier: MIT
// Replacement policies by their names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "replacement/policy.hh"

namespace p5 {

template <class... Each>
struct PolicyList {
  using Any = std::variant<Each...>;

  // Whether a policy of the list is least recently used where a set has two ways.
  static bool pair_is_lru(const std::string& policy) {
    return ((policy == PolicyName<Each>::name && Each::kPairIsLru) || ...);
  }

  // A policy of the list.
  static Any make(const std::string& policy, uint32_t sets, uint32_t ways) {
    std::optional<Any> made;
    ((policy == PolicyName<Each>::name ? void(made.emplace(Each(sets, ways))) : void()), ...);
    return std::move(made.value());
  }
};

}  // namespace p5
