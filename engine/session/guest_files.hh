// SPDX-License-Identifier: MIT
// Which files does the boot ROM load? The ROM requests the files with a marker. The engine copies
// the files into the guest's memory. Then the ROM jumps to the entry point of the guest.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/settings.hh"
#include "session/marker.hh"

namespace session {

class GuestFiles {
 public:
  // Writes bytes to the guest's memory. Returns false if there is no memory at this address.
  using Write = std::function<bool(uint32_t address, const uint8_t* bytes, size_t count)>;

  // Reads boot.blob.N ("address offset length|- file"), boot.entry, boot.segment and boot.sp.
  // `settings` keeps the first error.
  static GuestFiles read(base::Settings& settings);

  // Loads all files. Returns an error message, or an empty string.
  std::string load(const Write& write) const;

  // Returns the answer to the ROM. EAX: 1 if there are files. EBX: the entry point as CS:IP. ECX:
  // the data segment. EDX: the stack pointer.
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
