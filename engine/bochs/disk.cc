// SPDX-License-Identifier: LGPL-2.1-or-later
// How does each process get its own disk? In the disk image mode "private" the engine reads the
// image once. The guest's writes stay in the memory of this process. The file never changes, and a
// forked process gets its own copy of the disk.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <vector>

#include "bochs.h"
#include "bochs/glue.hh"
#include "iodev/hdimage/hdimage.h"

namespace {

constexpr Bit64s kSector = 512;

class PrivateImage;
std::vector<const PrivateImage*> opened;  // in the order of the configuration

class PrivateImage : public device_image_t {
 public:
  using device_image_t::open;

  int open(const char* path, int flags) override {
    (void)flags;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (file) content_.resize(size_t(file.tellg()));
    file.seekg(0).read(content_.data(), std::streamsize(content_.size()));
    // Bochs prints the name of the file that could not be opened.
    if (!file || content_.empty() || content_.size() % kSector) return -1;
    hd_size = content_.size();
    sect_size = kSector;
    position_ = 0;
    opened.push_back(this);
    return 0;
  }

  void close() override { content_.clear(); }

  Bit64s lseek(Bit64s offset, int whence) override {
    if (whence == SEEK_CUR) offset += position_;
    if (whence == SEEK_END) offset += Bit64s(content_.size());
    if (offset < 0 || offset > Bit64s(content_.size())) return -1;
    return position_ = offset;
  }

  ssize_t read(void* buffer, size_t count) override {
    count = within(count);
    std::memcpy(buffer, content_.data() + position_, count);
    position_ += Bit64s(count);
    return ssize_t(count);
  }

  ssize_t write(const void* buffer, size_t count) override {
    count = within(count);
    std::memcpy(content_.data() + position_, buffer, count);
    position_ += Bit64s(count);
    return ssize_t(count);
  }

  bool save(std::FILE* file) const {
    return std::fwrite(content_.data(), 1, content_.size(), file) == content_.size();
  }

  Bit32u get_timestamp() override { return 0; }  // the guest must not depend on the host's dates

 private:
  size_t within(size_t count) const { return std::min(count, content_.size() - size_t(position_)); }

  std::vector<char> content_;
  Bit64s position_ = 0;
};

class PrivateImages : public hdimage_locator_c {
 public:
  PrivateImages() : hdimage_locator_c("private") {}

 protected:
  device_image_t* allocate(Bit64u, const char*) override { return new PrivateImage; }
} private_images;

}  // namespace

bool bochs::save_disk(unsigned drive, std::FILE* file) {
  return drive < opened.size() && opened[drive]->save(file);
}
