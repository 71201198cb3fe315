// SPDX-License-Identifier: MIT
// Replays a trace of accesses (accesses.bin of docs/reference/formats.md) into pycachesim, a cache
// simulator of RRZE Erlangen (https://github.com/RRZE-HPC/pycachesim, AGPL-3.0; downloaded by the
// test, not part of this repository). Compares the simulator's result for each access with the
// trace.
//
// replay TRACE L1D-BYTES L1D-WAYS L1I-BYTES L1I-WAYS L2-BYTES L2-WAYS
//
// This program adapts pycachesim's policies to the policies of the P54C.
// - With write_allocate = 0 and write_back = 0, stores of pycachesim do not allocate (with
//   write_back = 1 they would). A dirty line has no effect on hits and misses, so write-through
//   gives the same result here. In the trace a write-back is a separate access of L2.
// - Stores of pycachesim do not change the LRU order. The P54C's L1D updates its LRU bit at loads
//   and stores [INTEL-DM 2]. So after a store that hits, this program loads the same line. A cache
//   with one way has no order.
// - The trace contains the invalidations that only a P5 makes. Their causes are locked accesses,
//   page-table updates, other bus masters and the other L1 cache. This program applies these
//   invalidations. In both simulators a fill uses an empty place first. In pycachesim an empty
//   place is the last in the order of its set, so it is replaced next.
#define NO_PYTHON
#include "backend.c"

#include <stdint.h>

enum {
  kL1dRead, kL1dWrite, kL1iRead, kL2Read, kL2Write, kL1dRemoved, kL1iRemoved, kL2Removed,
  kL1dCleaned, kAllRemoved, kL1Past, kL2Past, kKinds
};

static void make(Cache* cache, const char* name, long bytes, long ways, long line) {
  memset(cache, 0, sizeof *cache);
  cache->name = name;
  cache->ways = ways;
  cache->cl_size = line;
  cache->cl_bits = log2_uint((unsigned)line);
  cache->sets = bytes / (ways * line);
  cache->subblock_size = line;
  cache->subblock_bits = 1;
  cache->replacement_policy_id = 1;  // LRU
  cache->placement = calloc((size_t)(cache->sets * ways), sizeof(cache_entry));
  for (long i = 0; i < cache->sets * ways; i++) cache->placement[i].invalid = 1;
}

static cache_entry* set_of(Cache* cache, long address) {
  return cache->placement + Cache__get_set_id(cache, Cache__get_cacheline_id(cache, address)) *
                                cache->ways;
}

static int location(Cache* cache, long address) {
  const long id = Cache__get_cacheline_id(cache, address);
  return Cache__get_location(cache, id, Cache__get_set_id(cache, id));
}

static int answer(Cache* cache, long address, int write) {
  const addr_range range = {address, 1};
  const long long hits = cache->HIT.count;
  if (write) {
    const int there = location(cache, address) >= 0;
    Cache__store(cache, range, 0);
    if (there) Cache__load(cache, range);
    return there;
  }
  Cache__load(cache, range);
  return cache->HIT.count != hits;
}

static void take_away(Cache* cache, long address) {
  const int at = location(cache, address);
  if (at < 0) return;
  cache_entry* set = set_of(cache, address);
  for (long i = at; i + 1 < cache->ways; i++) set[i] = set[i + 1];
  set[cache->ways - 1].invalid = 1;
}

static void take_all(Cache* cache) {
  for (long i = 0; i < cache->sets * cache->ways; i++) cache->placement[i].invalid = 1;
}

int main(int argc, char** argv) {
  uint8_t bytes[16];
  FILE* trace = argc == 8 ? fopen(argv[1], "rb") : NULL;
  if (!trace || fread(bytes, 1, 16, trace) != 16 || memcmp(bytes, "P5ACCESS\1\0\0\0", 12) != 0) {
    fprintf(stderr, "replay: expected a trace of version 1 and six numbers\n");
    return 2;
  }
  const long line = bytes[12] | bytes[13] << 8;
  Cache l1d, l1i, l2;
  make(&l1d, "L1D", atol(argv[2]), atol(argv[3]), line);
  make(&l1i, "L1I", atol(argv[4]), atol(argv[5]), line);
  make(&l2, "L2", atol(argv[6]), atol(argv[7]), line);
  long long accesses[kKinds] = {0}, hits[kKinds] = {0}, differences = 0, number = 0;
  for (; fread(bytes, 1, 4, trace) == 4; number++) {
    const uint32_t word =
        bytes[0] | bytes[1] << 8 | bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    const unsigned kind = word >> 1 & 15;
    const long address = word & ~31u;
    int hit = word & 1;
    switch (kind) {
      case kL1dRead: hit = answer(&l1d, address, 0); break;
      case kL1dWrite: hit = answer(&l1d, address, 1); break;
      case kL1iRead: hit = answer(&l1i, address, 0); break;
      case kL2Read: hit = answer(&l2, address, 0); break;
      case kL2Write: hit = answer(&l2, address, 1); break;
      case kL1dRemoved: take_away(&l1d, address); break;
      case kL1iRemoved: take_away(&l1i, address); break;
      case kL2Removed: take_away(&l2, address); break;
      case kL1dCleaned: break;
      case kAllRemoved:
        take_all(&l1d);
        take_all(&l1i);
        take_all(&l2);
        break;
      default:
        fprintf(stderr, "replay: record %lld: kind %u is beyond this simulator\n", number, kind);
        return 1;
    }
    accesses[kind]++;
    hits[kind] += hit;
    if (hit != (int)(word & 1) && differences++ == 0) {
      fprintf(stderr, "replay: record %lld: kind %u, line %#lx: %s in the trace\n", number, kind,
              address, word & 1 ? "a hit" : "a miss");
    }
  }
  for (unsigned kind = 0; kind <= kL2Write; kind++) {
    printf("%lld %lld\n", accesses[kind], accesses[kind] - hits[kind]);
  }
  printf("%lld\n", differences);
  return differences != 0;
}
