// SPDX-License-Identifier: MIT
// The files that the boot ROM asks for with a marker: they are put into the guest's memory, and the
// ROM jumps to the entry.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "marker.hh"
#include "settings.hh"

namespace session {

class GuestFiles {
 public:
  // Writes bytes to the guest's memory; false: there is no memory.
  using Write = std::function<bool(uint32_t address, const uint8_t* bytes, size_t count)>;

  // Reads boot.blob.N ("address offset length|- file"), boot.entry, boot.segment and boot.sp;
  // errors are kept in `settings`.
  static GuestFiles read(base::Settings& settings);

  // Loads all of them. Returns what is wrong, or an empty text.
  std::string load(const Write& write) const;

  // The answer to the ROM: EAX says whether there are files, EBX is the entry as CS:IP, ECX the
  // data segment, EDX the stack pointer.
  MarkerResult entry() const { return {blobs_.empty() ? 0u : 1u, entry_, segment_, stack_}; }

 private:
  struct Blob {
    uint32_t address = 0;
    uint64_t offset = 0, length = 0;  // length 0: to the end of the file
    std::string file;
  };
  static bool parse(const std::string& text, Blob* blob);

  std::vector<Blob> blobs_;
  uint32_t entry_ = 0, segment_ = 0, stack_ = 0;
};

}  // namespace session
