// SPDX-License-Identifier: MIT
// Instruction fetch. The window is the piece of code that was fetched last. Fetch knows when its
// bytes are there and what the next line of code costs.
#pragma once

#include <cstdint>

#include "caches.hh"
#include "core.hh"
#include "insn.hh"
#include "pipes.hh"

namespace p5 {

struct Chip;

class Fetch {
 public:
  explicit Fetch(const Config& config) : line_(config.l1i.line) {}

  // Linear address behind the last instruction.
  Linear next() const { return next_; }
  void go_to(Linear linear) { next_ = linear; }
  void advance(uint32_t bytes) { next_ += bytes; }

  // Does this instruction follow the last one, in code that is at hand?
  bool follows(const Insn& insn, Linear linear) const {
    return linear == next_ && linear + insn.length - 1 - window_ < window_bytes_;
  }
  // Is all of the window there, and nobody wants to see each instruction?
  bool complete(const Core& core) const { return core.clock >= ready_; }

  // Moves the window to a line in the page of the last fetch, which L1I used last in its set. Such
  // a fetch changes nothing else. False: this fetch is another one, and nothing has changed.
  bool enter_line(Core& core, const Caches& caches, Pipes& pipes, Linear linear, Linear last) {
    const Linear first = linear & ~Linear(line_ - 1);
    if (linear >> 12 != page_ || last - first >= line_ ||
        !caches.l1i.quick_read(frame_ | uint32_t(linear & 0xFFF))) {
      return false;
    }
    core.count(CodeReads);
    window_ = first;
    window_bytes_ = line_;
    pipes.enter_known_code();
    return true;
  }
  // Fetches the code from `linear` to `last`, wherever it is.
  void fetch(Linear linear, Linear last) {
    if (linear != next_ || linear - window_ >= window_bytes_) fetch_line(linear);
    while (last - window_ >= window_bytes_) fetch_line(window_ + window_bytes_);
  }
  // Waits for the window's line if it is still coming in and the instruction needs more than the
  // 8 bytes that came first [INTEL-OPT].
  void wait_for_line(Core& core, Linear linear, Linear last) {
    if (core.clock >= line_complete_ || !rule(Rule::FillCode)) return;
    if (linear >> 3 != first_qword_ || last >> 3 != first_qword_) {
      core.wait(line_complete_, StallFetch);
    }
  }

  // On: complete() is false, because somebody wants to see each instruction.
  void hold(bool on);

  // Drops what was prefetched.
  void drop() { window_bytes_ = 0; }
  // Drops the translation of its page as well.
  void drop_page() {
    drop();
    page_ = kNoPage;
  }
  // No line is coming in.
  void settle() { line_complete_ = ready_ = 0; }

 private:
  static constexpr Linear kNoPage = ~Linear(0);
  static constexpr uint64_t kNever = ~uint64_t(0);

  Chip& chip();  // that this is a part of
  void fetch_line(Linear linear);
  void use_window(Linear linear, uint32_t bytes) {
    window_ = linear & ~Linear(bytes - 1);
    window_bytes_ = bytes;
  }

  uint64_t ready_ = 0;  // before this clock the line is incomplete, or each of its
                        // instructions is to be looked at
  Linear next_ = 0;
  Linear window_ = 0;           // linear address of what was fetched last ...
  uint32_t window_bytes_ = 0;   // ... and its size; 0: nothing (always with timing off)
  uint32_t line_;               // bytes in a line of L1I
  Linear page_ = kNoPage;       // linear page that code was fetched from last: its translation
  uint32_t frame_ = 0;          // stays that of the ITLB until something else is fetched
  uint32_t attributes_ = 0;     // PageBits of that page
  uint64_t line_complete_ = 0;  // before this clock the line is incomplete
  Linear first_qword_ = 0;      // linear address / 8 of the qword that came first
  uint64_t held_ready_ = 0;     // ready_, while on hold
};

}  // namespace p5
