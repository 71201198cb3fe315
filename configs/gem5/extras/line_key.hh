// SPDX-License-Identifier: MIT
// The tags of gem5 24.0 take a line as an address and `secure`. Those of newer states take both as
// one key, with a member `address`. These templates accept either.
#pragma once

#include <type_traits>

#include "base/types.hh"
#include "mem/cache/cache_blk.hh"

namespace gem5::p5lab {

// The block of a line, or a null pointer.
template <typename Tags>
CacheBlk* find_block(const Tags& tags, const Addr line, const bool secure) {
  if constexpr (std::is_invocable_v<decltype(&Tags::findBlock), const Tags&, Addr, bool>) {
    return tags.findBlock(line, secure);
  } else {
    return tags.findBlock({line, secure});
  }
}

// The address in the arguments of findVictim.
template <typename... Others>
Addr line_address(const Addr address, const Others&...) {
  return address;
}
template <typename Key, typename... Others>
auto line_address(const Key& key, const Others&...) -> decltype(key.address) {
  return key.address;
}

}  // namespace gem5::p5lab
