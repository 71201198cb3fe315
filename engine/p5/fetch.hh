// SPDX-License-Identifier: MIT
// How does the chip fetch instructions? The window is the piece of code that was fetched last.
// Fetch models when the bytes of the window arrive and how long the next fetch takes.
#pragma once

#include <cstdint>

#include "p5/caches.hh"
#include "p5/core.hh"
#include "p5/insn.hh"
#include "p5/pipes.hh"

namespace p5 {

struct Chip;

class Fetch {
 public:
  explicit Fetch(const Config& config) : line_(config.l1i.line), ahead_(config.fetch_ahead) {}

  // Linear address of the byte after the last instruction.
  Linear next() const { return next_; }
  void go_to(Linear linear) { next_ = linear; }
  void advance(uint32_t bytes) { next_ += bytes; }

  // Whether the instruction after the last instruction can take the fast path: it lies in the open
  // window (open()), and it is a plain instruction (Insn::reach).
  bool on_fast_path(const Insn& insn) const { return uint64_t(next_) + insn.reach <= open_end_; }
  // Opens the window for the fast path. The whole window has arrived.
  void open() {
    // Near the end of the address space, next_ or the sum in on_fast_path() could begin again at 0.
    if (window_ > kNoPage - 2 * kNoReach) return;
    open_end_ = uint64_t(window_) + window_bytes_;
  }
  // Closes the window: the next instruction does not take the fast path. Each transfer of control
  // and each change of the state closes it.
  void close() { open_end_ = 0; }

  // Whether this instruction directly follows the last instruction and lies in the window.
  bool follows(const Insn& insn, Linear linear) const {
    return linear == next_ && linear + insn.length - 1 - window_ < window_bytes_;
  }
  // Whether the whole window has arrived. The result is always false while hold() is on.
  bool complete(const Core& core) const { return core.clock >= ready_; }

  // Moves the window to the line of this instruction, or to the next line if the instruction begins
  // in the window. Two conditions must hold. The line must be in the page of the last fetch. The
  // line must also be the last-used line of its set in L1I. With a prefetcher, both conditions must
  // hold for the line behind it too, and no request waits for the bus. Such a fetch changes nothing
  // else. If a condition does not hold, the function changes nothing and returns false.
  bool enter_line(Core& core, const Caches& caches, Pipes& pipes, Linear linear, Linear last) {
    const bool begins_here = linear == next_ && linear - window_ < window_bytes_;
    const Linear missing = begins_here ? window_ + window_bytes_ : linear;
    const Linear first = missing & ~Linear(line_ - 1);
    if (missing >> 12 != quick_page_ || last - first >= line_) return false;
    const uint32_t physical = frame_ | uint32_t(missing & 0xFFF);
    if (ahead_) {
      if (!caches.l1i.quick_pair(physical)) return false;
      count_ahead(core, first, true);
    } else if (!caches.l1i.quick_read(physical)) {
      return false;
    }
    core.count(CodeReads);
    window_ = first;
    window_bytes_ = line_;
    pipes.enter_known_code();
    return true;
  }
  // Fetches the code from `linear` to `last`.
  void fetch(Linear linear, Linear last) {
    if (linear != next_ || linear - window_ >= window_bytes_) fetch_line(linear);
    while (last - window_ >= window_bytes_) fetch_line(window_ + window_bytes_);
  }
  // Waits for the whole line if the line is still being filled and the instruction needs more than
  // the 8 bytes that arrived first [INTEL-OPT].
  void wait_for_line(Core& core, Linear linear, Linear last) {
    if (core.clock >= line_complete_ || !rule(Rule::FillCode)) return;
    if (linear >> 3 != first_qword_ || last >> 3 != first_qword_) {
      core.wait(line_complete_, StallFetch);
    }
  }

  // With `on`, complete() returns false, so that no instruction takes the fast path.
  void hold(bool on) {
    if (on) {
      close();
      held_ready_ = ready_;
      ready_ = kNever;
    } else {
      ready_ = held_ready_;
    }
  }

  // Drops the prefetched code.
  void drop() {
    close();
    window_bytes_ = 0;
    if (ahead_) abandon();
  }
  // Drops the prefetched code and the translation of the page that contains this code.
  void drop_page() {
    drop();
    page_ = quick_page_ = kNoPage;
  }
  // Forgets a line fill that is in progress.
  void settle();

 private:
  static constexpr Linear kNoPage = ~Linear(0);
  static constexpr uint64_t kNever = ~uint64_t(0);

  Chip& chip();  // the chip that contains this part
  void fetch_line(Linear linear);
  template <bool kAhead>  // whether there is a prefetcher
  [[gnu::noinline]] void fetch_in_page(Linear linear);
  void enter_page(Linear linear);
  void fetch_uncached(Linear linear);
  void leave_window(Linear linear);
  void enter_ahead(Linear linear, uint32_t physical);
  template <bool kAhead>
  void fetch_slow(Linear linear, uint32_t physical);
  void enter_new_line(Linear first_qword, const Memory::Line& line);
  void request_next();
  void request_absent(uint32_t physical);
  void abandon();
  // Execution enters `line`, which fetch_line() counts as a code read, and the line behind is read
  // if `reads_next`. A line that was read ahead is not read again.
  void count_ahead(Core& core, Linear line, bool reads_next) {
    core.count(CodeReads, uint64_t(reads_next) - (line == read_ahead_));
    read_ahead_ = reads_next ? line + line_ : kNoPage;
  }
  void use_window(Linear linear, uint32_t bytes) {
    close();
    window_ = linear & ~Linear(bytes - 1);
    window_bytes_ = bytes;
  }

  uint64_t open_end_ = 0;  // the end of the window if it is open for the fast path, otherwise 0
  uint64_t ready_ = 0;     // complete() returns true from this clock on
  Linear next_ = 0;
  Linear window_ = 0;            // linear address of the window
  uint32_t line_;                // bytes in a line of L1I
  bool ahead_;                   // there is a prefetcher (key fetch.ahead)
  uint32_t window_bytes_ = 0;    // size of the window; 0: no window (always with timing off)
  Linear page_ = kNoPage;        // number of the linear page of the last fetch
  Linear quick_page_ = kNoPage;  // the same for enter_line(); kNoPage if it must not take the page
  uint32_t frame_ = 0;           // physical address of that page; valid until the page changes
  uint32_t attributes_ = 0;      // PageBits of that page
  uint64_t line_complete_ = 0;   // before this clock the line is incomplete
  Linear first_qword_ = 0;       // linear address / 8 of the 8 bytes that arrived first
  Linear read_ahead_ = kNoPage;  // the line behind the window, if the prefetcher has read it
  uint64_t held_ready_ = 0;      // the value of ready_ before hold(true)
};

}  // namespace p5
