// SPDX-License-Identifier: MIT
#include "session/guest_buffer.hh"

#include <algorithm>
#include <cstring>

namespace session {
namespace {

using p5::Linear;

// Bits of a page-table entry [INTEL-DM 11].
constexpr p5::PageEntry kPresent = 1, kWritable = 2, kUser = 4, kDirty = 0x40, kLarge = 0x80;
constexpr uint32_t kPage = 0x1000;

bool inside(const Place& place, uint32_t length, bool write) {
  const Segment& segment = place.segment;
  if (!(write ? segment.writable : segment.readable)) return false;
  const Linear last = place.offset + (length - 1);
  if (last < place.offset) return false;
  if (!segment.expand_down) return last <= segment.limit;
  return place.offset > segment.limit && last <= (segment.wide ? 0xFFFFFFFF : 0xFFFF);
}

// Translates the address of a byte. Returns false if the page tables do not allow the access.
bool translate(Linear linear, bool write, const p5::State& state, p5::Platform& tables,
               uint32_t* physical) {
  *physical = uint32_t(linear);
  if (!state.paging) return true;
  const p5::PageEntry needed =
      kPresent | (state.ring == 3 ? kUser : 0) | (write ? kWritable : p5::PageEntry(0));
  uint32_t table = uint32_t(state.cr3) & ~(kPage - 1);
  for (unsigned level = p5::kPageLevels; level-- > 0;) {
    const unsigned shift = 12 + p5::kTableBits * level;
    const uint32_t index = uint32_t(linear >> shift) & ((1u << p5::kTableBits) - 1);
    const p5::PageEntry entry =
        tables.read_physical(table + uint32_t(index * sizeof(p5::PageEntry)));
    if ((entry & needed) != needed) return false;
    const bool large = level == 1 && state.large_pages && entry & kLarge;
    table = uint32_t(entry) & ~(kPage - 1);
    if (level > 0 && !large) continue;
    if (write && !(entry & kDirty)) return false;
    const uint32_t within = (1u << shift) - 1;
    *physical = (table & ~within) | (uint32_t(linear) & within);
    return true;
  }
  return false;
}

}  // namespace

GuestBuffer find_buffer(const Place& place, uint32_t length, bool write, const p5::State& state,
                        p5::Platform& tables, GuestMemory& memory) {
  GuestBuffer found;
  found.at = Linear(place.segment.base + place.offset);
  if (length > kLongestBuffer) found.refusal = kTooLong;
  if (found.refusal || length == 0) return found;
  if (!inside(place, length, write)) {
    found.refusal = kOutsideSegment;
    return found;
  }
  const Linear first = found.at;
  for (uint32_t done = 0; done < length;) {
    found.at = first + done;
    const uint32_t part = std::min(length - done, kPage - (uint32_t(found.at) & (kPage - 1)));
    uint32_t physical = 0;
    if (!translate(found.at, write, state, tables, &physical)) {
      found.refusal = kPageNotReady;
      return found;
    }
    uint8_t* bytes = memory.memory(physical, write);
    if (!bytes) {
      found.refusal = kNoMemory;
      return found;
    }
    found.pieces.push_back({bytes, part});
    done += part;
  }
  return found;
}

std::string text_of(const GuestBuffer& buffer) {
  std::string text;
  for (const Piece& piece : buffer.pieces) {
    text.append(reinterpret_cast<const char*>(piece.bytes), piece.length);
  }
  return text;
}

void copy_to(const GuestBuffer& buffer, const char* bytes) {
  for (const Piece& piece : buffer.pieces) {
    std::memcpy(piece.bytes, bytes, piece.length);
    bytes += piece.length;
  }
}

}  // namespace session
