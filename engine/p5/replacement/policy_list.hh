// SPDX-License-Identifier: MIT
// How does the model find a replacement policy by its name?
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "p5/replacement/policy.hh"

namespace p5 {

template <class... Each>
struct PolicyList {
  using Any = std::variant<Each...>;

  // Whether the policy with this name behaves like LRU for a set of two ways.
  static bool pair_is_lru(const std::string& policy) {
    return ((policy == PolicyName<Each>::name && Each::kPairIsLru) || ...);
  }

  // Returns a new policy with this name.
  static Any make(const std::string& policy, uint32_t sets, uint32_t ways) {
    std::optional<Any> made;
    ((policy == PolicyName<Each>::name ? void(made.emplace(Each(sets, ways))) : void()), ...);
    return std::move(made.value());
  }
};

}  // namespace p5
