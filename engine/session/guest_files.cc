// SPDX-License-Identifier: MIT
#include "session/guest_files.hh"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/json.hh"

namespace session {

bool GuestFiles::parse(const std::string& text, Blob* blob) {
  char length[32];
  int used = 0;
  if (std::sscanf(text.c_str(), "%" SCNi32 " %" SCNi64 " %31s %n",
                  reinterpret_cast<int32_t*>(&blob->address),
                  reinterpret_cast<int64_t*>(&blob->offset), length, &used) != 3 ||
      !used) {
    return false;
  }
  if (std::strcmp(length, "-") != 0) blob->length = std::strtoull(length, nullptr, 0);
  blob->file = text.substr(size_t(used));
  return true;
}

GuestFiles GuestFiles::read(base::Settings& settings) {
  GuestFiles files;
  for (int i = 0;; i++) {
    const std::string key = "boot.blob." + std::to_string(i);
    if (!settings.has(key)) break;
    Blob blob;
    if (!parse(settings.text(key), &blob)) {
      settings.fail(key, "expected `address offset length|- file`");
      return files;
    }
    files.blobs_.push_back(blob);
  }
  unsigned cs = 0, ip = 0;
  if (std::sscanf(settings.text("boot.entry").c_str(), "%x:%x", &cs, &ip) != 2) {
    settings.fail("boot.entry", "expected segment:offset in hexadecimal");
  }
  files.entry_ = cs << 16 | ip;
  files.segment_ = uint32_t(settings.number("boot.segment"));
  files.stack_ = uint32_t(settings.number("boot.sp"));
  return files;
}

std::string GuestFiles::load(const Write& write) const {
  for (const Blob& blob : blobs_) {
    std::error_code error;
    const uint64_t size = std::filesystem::file_size(blob.file, error);
    const uint64_t left = size - std::min(size, blob.offset);
    if (!error && left < blob.length) {
      return "boot file " + blob.file + " is shorter than its " + std::to_string(blob.length) +
             " bytes from " + std::to_string(blob.offset);
    }
    std::vector<uint8_t> bytes(error ? 0 : blob.length ? blob.length : left);
    std::ifstream file(blob.file, std::ios::binary);
    file.seekg(std::streamoff(blob.offset));
    file.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size()));
    if (error || !file) return "boot file " + blob.file + " cannot be read";
    if (!write(blob.address, bytes.data(), bytes.size())) {
      return "a boot file does not fit into memory at " + base::hex(blob.address);
    }
  }
  return "";
}

}  // namespace session
