// SPDX-License-Identifier: MIT
// Where is a buffer of a guest's program in physical memory? The program gives the buffer as
// segment and offset of its own mode (docs/reference/marker-protocol.md).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "p5/pentium.hh"

namespace session {

// A segment register of the program, with the content of the descriptor or, in real mode and
// virtual-8086 mode, the values that belong to such a mode.
struct Segment {
  bool readable = false, writable = false;  // both false: a null selector
  bool expand_down = false;                 // the valid offsets are those above the limit
  bool wide = false;                        // with expand_down: offsets go up to 4 GB, not to 64 KB
  p5::Linear base = 0, limit = 0;
};

// The first byte of a buffer.
struct Place {
  Segment segment;
  p5::Linear offset = 0;
};

// Why a buffer cannot be used. The value is the answer to the program.
enum Refusal : uint32_t {
  kNotRefused,
  kOutsideSegment,  // an offset is beyond the limit, or the segment cannot be read or written
  kPageNotReady,    // a page is absent or does not allow the access
  kNoMemory,        // there is no RAM at this address
  kTooLong,         // longer than kLongestBuffer
  kTooShort,        // the buffer is too short for the answer
  kBadName          // a name that a phase cannot have
};

constexpr uint32_t kLongestBuffer = 0x10000;

// A part of a buffer within one page, in the host's memory.
struct Piece {
  uint8_t* bytes;
  uint32_t length;
};

// The whole buffer, or the reason why it cannot be used and the linear address of the first byte
// that is refused. A buffer is never used in part.
struct GuestBuffer {
  std::vector<Piece> pieces;
  Refusal refusal = kNotRefused;
  p5::Linear at = 0;
};

// The memory of the machine.
class GuestMemory {
 public:
  virtual ~GuestMemory() = default;
  // Returns the host's address of a byte of RAM, which is valid up to the end of the page. `write`:
  // the caller will write. Returns null if there is no RAM at this address.
  virtual uint8_t* memory(uint32_t physical, bool write) = 0;
};

// Finds the host memory of a buffer of `length` bytes. A page that the engine writes must be
// present, writable and dirty, and a program of ring 3 needs a user page: the engine changes no
// page table. The search counts no event.
GuestBuffer find_buffer(const Place& place, uint32_t length, bool write, const p5::State& state,
                        p5::Platform& tables, GuestMemory& memory);

// The content of a buffer, and its replacement with as many bytes.
std::string text_of(const GuestBuffer& buffer);
void copy_to(const GuestBuffer& buffer, const char* bytes);

}  // namespace session
