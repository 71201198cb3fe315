// SPDX-License-Identifier: MIT
// Functions by address, from a table that the command line tool makes of symbol tables
// (docs/reference/formats.md, functions.txt). A module is what was linked as one: a kernel at fixed
// addresses, or a program or library. Pages of the latter are identified by their content. A module
// is therefore found in any address space and at any address, and the guest's own tables are not
// needed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "isa.hh"

namespace p5 {

class Functions {
 public:
  static constexpr uint32_t kPageBytes = 4096;
  static constexpr uint32_t kUnknown = 0;  // code of no known module

  struct Function {
    std::string name, module;
    bool starts_task = false;  // a new task begins there, on a stack with no past
  };
  // The function around an address, which holds for `bytes` from `first` on.
  struct Place {
    uint32_t function;
    Linear first, bytes;
  };

  // From the file's text; false with `*error` = "<name>:<line>: what is wrong".
  bool parse(const std::string& text, const std::string& name, std::string* error);

  // The place of code at a fixed address; false: it is in no module of that kind.
  bool at(Linear linear, Place* place) const;
  // The page of a module that has this content; 0: none.
  uint32_t page(const uint8_t* content) const;
  // The place of code at `linear`, in a page found by page() or in none (0). It ends with the page.
  Place in(uint32_t page, Linear linear) const;

  const Function& operator[](uint32_t function) const { return functions_[function]; }
  size_t size() const { return functions_.size(); }

  // What identifies a page's content: each 8 bytes, the lowest first, change all that follows.
  static uint64_t digest(const uint8_t* content);

 private:
  struct Range {
    Linear end;
    uint32_t function;
  };
  struct Module {
    uint32_t unknown = 0;            // the function of what no symbol covers
    Linear first = 0, bytes = 0;     // at a fixed place; 0: by its pages
    std::map<Linear, Range> ranges;  // by first address
  };
  struct Page {
    uint32_t module;
    Linear linear;  // as linked
  };

  Place look_up(const Module& module, Linear linear) const;

  std::vector<Function> functions_{{"[unknown]", "[unknown]"}};
  std::vector<Module> modules_;
  std::vector<Page> pages_{{}};
  std::unordered_map<uint64_t, uint32_t> by_content_;
};

}  // namespace p5
