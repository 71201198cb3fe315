// SPDX-License-Identifier: MIT
// Converts a geometry of the reference model to the engine's form.
#pragma once

#include <doctest/doctest.h>

#include "p5/cache.hh"
#include "reference/cache.hh"

inline p5::CacheConfig engine_config(const reference::Geometry& geometry) {
  p5::CacheConfig config;
  config.size = geometry.size;
  config.ways = geometry.ways;
  config.line = geometry.line;
  config.write_back = geometry.write_back;
  config.write_allocate = geometry.write_allocate;
  config.policy = geometry.policy;
  const uint32_t sets = config.size / (config.ways * config.line);
  REQUIRE(sets * config.ways * config.line == config.size);
  return config;
}
