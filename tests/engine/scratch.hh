// SPDX-License-Identifier: MIT
// A temporary file of a test. The file is removed at the end of the test.
#pragma once

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

class Scratch {
 public:
  explicit Scratch(const std::string& content = "") {
    char path[] = "/tmp/p5-engine-test-XXXXXX";
    const int file = mkstemp(path);
    REQUIRE(file >= 0);
    close(file);
    path_ = path;
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~Scratch() { unlink(path_.c_str()); }
  Scratch(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  std::string content() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::string path_;
};
