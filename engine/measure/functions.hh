// SPDX-License-Identifier: MIT
// Which function does an address belong to? The command line tool makes the table from symbol
// tables (docs/reference/formats.md, functions.txt). A module is one linked file: a kernel, a
// program or a library. A kernel has fixed addresses. The content of the pages identifies a program
// or a library. The lookup therefore works in any address space and at any address, and needs no
// tables of the guest.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "p5/isa.hh"

namespace measure {

class Functions {
 public:
  static constexpr uint32_t kPageBytes = 4096;
  static constexpr uint32_t kUnknown = 0;  // code that belongs to no known module

  struct Function {
    std::string name, module;
    bool is_start = false;  // a program or a task of the kernel begins here, on an empty stack
  };
  // The function at an address. The function covers `bytes` bytes, and `first` is the address of
  // the first of these bytes.
  struct Place {
    uint32_t function;
    p5::Linear first, bytes;
  };

  // Reads the text of the file. If parse() returns false, `*error` is "<name>:<line>: what is
  // wrong".
  bool parse(const std::string& text, const std::string& name, std::string* error);

  // Looks up code at a fixed address. Returns false if no module with fixed addresses contains the
  // address.
  bool at(p5::Linear linear, Place* place) const;
  // Returns the page of a module that has this content, or 0 if there is no such page.
  uint32_t page(const uint8_t* content) const;
  // Looks up code at `linear`. `page` is the result of page() for the page of this code (0: no
  // page). The place does not extend beyond the page.
  Place in(uint32_t page, p5::Linear linear) const;

  const Function& operator[](uint32_t function) const { return functions_[function]; }
  size_t size() const { return functions_.size(); }

  // Returns a hash of a page's content. The hash reads words of 8 bytes in the order of their
  // addresses.
  static uint64_t digest(const uint8_t* content);

 private:
  struct Range {
    p5::Linear end;
    uint32_t function;
  };
  struct Module {
    uint32_t unknown = 0;                // the function for code without a symbol
    p5::Linear first = 0, bytes = 0;     // range of fixed addresses; 0 bytes: found by its pages
    std::map<p5::Linear, Range> ranges;  // [first address]
  };
  struct Page {
    uint32_t module;
    p5::Linear linear;  // address at link time
  };

  Place look_up(const Module& module, p5::Linear linear) const;

  std::vector<Function> functions_{{"[unknown]", "[unknown]"}};
  std::vector<Module> modules_;
  std::vector<uint32_t> fixed_;  // the modules with fixed addresses
  std::vector<Page> pages_{{}};
  std::unordered_map<uint64_t, uint32_t> by_content_;
};

}  // namespace measure
