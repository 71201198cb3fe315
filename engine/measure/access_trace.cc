// SPDX-License-Identifier: MIT
#include "measure/access_trace.hh"

namespace measure {
namespace {

void put_word(std::FILE* file, uint32_t word) {
  for (int i = 0; i < 4; i++) std::fputc(int(word >> (8 * i) & 0xFF), file);
}

}  // namespace

AccessTrace::AccessTrace(std::FILE* file, uint32_t line, uint64_t limit)
    : file_(file), limit_(limit) {
  std::fputs("P5ACCESS", file_);
  put_word(file_, 1);  // schema_version
  put_word(file_, line);
}

// A line has at least 32 bytes, so the low 5 bits of its address are free for kind and result.
void AccessTrace::put(Kind kind, uint32_t address, bool hit) {
  if (!full()) put_word(file_, (address & ~31u) | uint32_t(kind) << 1 | hit);
}

void AccessTrace::access(Level level, uint32_t address, bool write, const p5::CacheAccess& result,
                         bool may_fill) {
  if (level > Level::L2) return;
  const bool hit = result.hit;
  if (level != Level::L2) accesses_++;
  if (!may_fill) return put(level == Level::L2 ? L2Past : L1Past, address, hit);
  switch (level) {
    case Level::L1d:
      return put(write ? L1dWrite : L1dRead, address, hit);
    case Level::L1i:
      return put(L1iRead, address, hit);
    case Level::L2:
      return put(write ? L2Write : L2Read, address, hit);
    default:
      return;
  }
}

void AccessTrace::invalidated(Level level, uint32_t address, Use) {
  if (level > Level::L2) return;
  put(level == Level::L1d ? L1dRemoved : level == Level::L1i ? L1iRemoved : L2Removed, address);
}

void AccessTrace::cleaned(uint32_t address) { put(L1dCleaned, address); }

void AccessTrace::flushed() { put(AllRemoved, 0); }

}  // namespace measure
