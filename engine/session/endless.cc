// SPDX-License-Identifier: MIT
#include "session/endless.hh"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace session {
namespace {

constexpr uint32_t kPage = 4096, kEntries = 1024;
// Bits of an entry of a page table or directory [INTEL-DM].
enum : uint32_t { kPresent = 1, kUser = 4, kAccessed = 0x20, kLarge = 0x80 };

// System calls that reach the program only until they return [Linux 6.1,
// arch/x86/entry/syscalls/syscall_32.tbl]. No timer, no signal, no other process and no socket.
constexpr uint32_t kHarmless[] = {
    3,   4,   5,   6,   10,  11,  12,  13,  19,  20,  24,  33,  38,  39,  40,  41,  42,
    45,  47,  49,  50,  63,  64,  76,  77,  78,  83,  85,  91,  92,  93,  106, 107, 108,
    118, 122, 125, 140, 141, 145, 146, 158, 162, 163, 168, 174, 175, 180, 181, 183, 187,
    191, 192, 193, 194, 195, 196, 197, 199, 200, 201, 202, 219, 220, 224, 239, 243, 258,
    265, 266, 267, 295, 300, 305, 307, 311, 355, 383, 384, 403, 406, 407, 439};
constexpr uint32_t kIoctl = 54, kFcntl = 55, kFcntl64 = 221;
// Commands of ioctl (TCGETS, TIOCGWINSZ) and fcntl (F_DUPFD to F_GETFL) that only ask or copy.
constexpr uint32_t kAsks[] = {0x5401, 0x5413}, kGetFlags = 3, kDupCloseOnExec = 1030;

bool is_harmless(uint32_t number, uint32_t second) {
  if (number == kIoctl)
    return std::find(std::begin(kAsks), std::end(kAsks), second) != std::end(kAsks);
  if (number == kFcntl || number == kFcntl64)
    return second <= kGetFlags || second == kDupCloseOnExec;
  return std::binary_search(std::begin(kHarmless), std::end(kHarmless), number);
}

uint32_t entry_at(const uint8_t* table, uint32_t index) {
  uint32_t entry = 0;
  std::memcpy(&entry, table + index * sizeof entry, sizeof entry);
  return entry;
}

void append(std::vector<uint8_t>* to, const void* bytes, size_t count) {
  const auto* first = static_cast<const uint8_t*>(bytes);
  to->insert(to->end(), first, first + count);
}

// The content of the pages that the program has accessed, each behind its linear address and its
// entry. Returns false if one of them is not in RAM or is a large page, so that it is unknown.
bool accessed(p5::Space cr3, GuestMemory& memory, std::vector<uint8_t>* content) {
  constexpr uint32_t kUsed = kPresent | kUser | kAccessed;
  const uint8_t* directory = memory.memory(uint32_t(cr3) & ~(kPage - 1), false);
  for (uint32_t i = 0; directory && i < kEntries; i++) {
    const uint32_t upper = entry_at(directory, i);
    if ((upper & kUsed) != kUsed) continue;
    const uint8_t* table = memory.memory(upper & ~(kPage - 1), false);
    if ((upper & kLarge) || !table) return false;
    for (uint32_t j = 0; j < kEntries; j++) {
      const uint32_t entry = entry_at(table, j), place[] = {i << 22 | j << 12, entry};
      if ((entry & kUsed) != kUsed) continue;
      const uint8_t* page = memory.memory(entry & ~(kPage - 1), false);
      if (!page) return false;
      append(content, place, sizeof place);
      append(content, page, kPage);
    }
  }
  return directory != nullptr;
}

}  // namespace

void Endless::calls(uint32_t number, uint32_t second_argument, uint64_t clock) {
  given_up_ = given_up_ || !is_harmless(number, second_argument);
  disturbed(clock);
}

void Endless::disturbed(uint64_t clock) {
  since_ = clock;
  age_ = kept_at_ = 0;
  longest_ = 1;
  registers_.clear();
  memory_ = {};
}

uint64_t Endless::found(const std::string& registers, p5::Space cr3, uint64_t clock,
                        GuestMemory& memory) {
  std::vector<uint8_t> now;
  if (kept_at_ && registers == registers_) {
    if (accessed(cr3, memory, &now) && now == memory_) return kept_at_;
    registers_.clear();  // this state does not come again so soon; a later one may
  }
  if (++age_ < longest_) return 0;
  age_ = 0;
  longest_ *= 2;
  if (now.empty() && !accessed(cr3, memory, &now)) {
    given_up_ = true;
    return 0;
  }
  kept_at_ = clock;
  registers_ = registers;
  memory_ = std::move(now);
  return 0;
}

}  // namespace session
