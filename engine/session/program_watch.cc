// SPDX-License-Identifier: MIT
#include "session/program_watch.hh"

#include <cstring>
#include <utility>

#include "base/json.hh"

namespace session {
namespace {

constexpr unsigned kPage = 4096, kStackWords = 160;
const char* const kRegisters[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};

}  // namespace

void ProgramWatch::entered(KernelEntry entry, bool with_stack) {
  if (!init_ || entry.cr3 == init_) return;
  entry_ = std::move(entry);
  entry_.clock = time_.clocks();
  if (entry_.vector == kLinuxCall)
    endless_.calls(uint32_t(entry_.registers[0]), uint32_t(entry_.registers[1]), entry_.clock);
  else
    endless_.disturbed(entry_.clock);
  const p5::Linear stack = p5::Linear(entry_.registers[4]);
  for (unsigned i = 0; with_stack && i < kStackWords; i++) {
    const p5::Linear at = stack + i * sizeof(p5::Linear);
    uint32_t physical = 0;
    if (!emulator_.code(at, false, &physical)) break;
    const uint8_t* bytes = emulator_.page(physical);
    if (!bytes || physical % kPage + sizeof(p5::Linear) > kPage) break;
    p5::Linear word = 0;
    std::memcpy(&word, bytes, sizeof word);
    entry_.stack.push_back(word);
  }
  if (with_stack && entry_.vector == kLinuxCall) sent_ = entry_;
}

void ProgramWatch::seen(p5::Linear at, p5::Space cr3) {
  if (!init_ || cr3 == init_) return;
  seen_at_ = at;
  seen_ = time_.clocks();
}

bool ProgramWatch::may_be_endless(p5::Space cr3) const {
  // System calls of x86-64 are no interrupts.
  if (p5::kX86_64 || entry_.vector < 0 || cr3 != entry_.cr3) return false;
  return endless_.searches(time_.clocks(), time_.second());
}

std::string ProgramWatch::found(const std::string& registers, p5::Space cr3) {
  const uint64_t now = time_.clocks(), before = endless_.found(registers, cr3, now, emulator_);
  if (!before) return "";
  return "the program cannot end" + about() +
         ", and all its registers and its memory are as they were " + time_.text(now - before) +
         " before";
}

std::string ProgramWatch::about() const {
  const uint64_t now = time_.clocks();
  if (p5::kX86_64 || entry_.vector < 0) return "";  // SYSCALL is no interrupt
  const std::string since = time_.text(now - entry_.clock);
  if (seen_ > entry_.clock && now - seen_ < time_.second())
    return "; the program runs at " + base::hex(seen_at_) + ", for " + since +
           " without a system call";
  if (entry_.vector != kLinuxCall) return "";
  return "; the program waits for " + since + " in system call " +
         std::to_string(uint32_t(entry_.registers[0])) + ", first argument " +
         std::to_string(uint32_t(entry_.registers[3]));
}

void ProgramWatch::note(EventStream& events) const {
  for (const KernelEntry* one : {&entry_, &sent_}) {
    if (one->vector < 0) continue;
    std::string text = "error=" + std::to_string(one->error) + " at=" + base::hex(one->at) +
                       " cr2=" + base::hex(one->cr2);
    for (unsigned i = 0; i < 8; i++)
      text += std::string(" ") + kRegisters[i] + "=" + base::hex(one->registers[i]);
    text += " stack=";
    for (const p5::Linear word : one->stack) text += base::hex(word) + ",";
    events.note("kernel-entry", text, uint64_t(one->vector));
  }
}

}  // namespace session
