// SPDX-License-Identifier: MIT
#include "observe/calls/calls.hh"

#include <algorithm>

#include "base/json.hh"
#include "observe/names.hh"

namespace observe {
namespace {

const Registered<Calls> registered("calls", Calls::read);

const char* kind_name(CallKind kind) {
  switch (kind) {
    case CallKind::Int:
      return "int";
    case CallKind::Gate:
      return "gate";
    case CallKind::Hardware:
      return "hardware";
    default:
      return "exception";
  }
}

void add(const Places::Events& growth, uint64_t* sums) {
  for (size_t i = 0; i < growth.size(); i++) sums[i] += growth[i];
}

uint64_t cycles(const Places::Events& counts) {
  return counts[p5::CyclesBusy] + counts[p5::CyclesIdle];
}

}  // namespace

Make Calls::read(base::Settings& settings) {
  CallTable table;
  std::string error;
  if (!table.parse(settings.text("run.call_table"), &error)) settings.fail("run.call_table", error);
  return [table](const Machine& machine) { return std::make_unique<Calls>(machine.model, table); };
}

Calls::Calls(p5::Pentium& model, const CallTable& table)
    : Places(model, "call"), table_(table), state_(model.state()) {
  frames_.push_back({});
  frames_[kOutside].open = true;
  rows_.push_back({CallKind::Int, 0, kNoFunction});  // of no call
  start();
}

void Calls::start() {
  state_ = model_.state();
  Places::start();
}

// --- entries ------------------------------------------------------------------------------------

void Calls::before_far(Position next, uint32_t eax) {
  flush();
  before_ = {next, eax};
}

void Calls::delivered(p5::Entry entry, uint8_t vector, Position back) {
  Places::delivered(entry, vector, back);
  // The instruction INT belongs to its call.
  if (entry == p5::Entry::Soft) return enter(CallKind::Int, vector, before_);
  flush();
  enter(entry == p5::Entry::Irq ? CallKind::Hardware : CallKind::Exception, vector, {back, 0});
}

void Calls::enter(CallKind kind, uint8_t vector, const Before& from) {
  // An open call with the same return cannot return any more: its stack has been used again.
  const auto same = back_at_.find(from.next.address);
  if (same != back_at_.end()) {
    const std::vector<uint32_t> open = same->second;
    for (const uint32_t one : open) {
      if (frames_[one].open && in_place(frames_[one]) &&
          frames_[one].back.stack == from.next.stack) {
        finish(one, false);
      }
    }
  }
  const CallKey key = table_.key(kind, vector, from.eax);
  const uint32_t number = new_frame();
  Frame& frame = frames_[number];
  frame.ring = state_.ring;
  frame.mode = state_.mode;
  frame.cr3 = state_.cr3;
  frame.kind = kind;
  frame.properties = table_.properties(key);
  frame.ends_at = table_.ends_at(key);
  ends_open_ += frame.ends_at != CallTable::kNoAddress;
  frame.row = row_of(key);
  frame.back = from.next;
  frame.caller = &model_.bank();
  frame.entered = cycles_;
  for (Phase* phase : open_) own_counts(phase, {frame.caller, frame.row})[kCalls]++;
  back_at_[from.next.address].push_back(number);
  current_ = number;
  delivered_ = true;
  take_place();
}

std::vector<uint64_t>& Calls::own_counts(Phase* phase, const Place& place) {
  std::vector<uint64_t>& own = counts_at(phase, place).own;
  own.resize(kTotal + p5::kEventCount);
  return own;
}

uint32_t Calls::row_of(CallKey key) {
  const auto known = row_numbers_.find(key);
  if (known != row_numbers_.end()) return known->second;
  if (rows_.size() >= kMostRows && key.function != kNoFunction) {
    key.function = kNoFunction;
    return row_of(key);
  }
  rows_.push_back(key);
  return row_numbers_[key] = uint32_t(rows_.size() - 1);
}

// Returns an open frame inside the current frame.
uint32_t Calls::new_frame() {
  if (frames_.size() - free_.size() >= kMostOpen) {
    close_inside(kOutside);  // a guest that makes calls without end and returns from none
    current_ = kOutside;
  }
  if (free_.empty()) {
    free_.push_back(uint32_t(frames_.size()));
    frames_.push_back({});
  }
  const uint32_t number = free_.back();
  free_.pop_back();
  frames_[number] = {};
  frames_[number].open = true;
  frames_[number].parent = current_;
  frames_[number].number = ++serial_;
  frames_[current_].children++;
  return number;
}

// --- changes of the state -----------------------------------------------------------------------

void Calls::arrive(const Entrance&, Position here, p5::Linear) {
  const p5::State& now = model_.state();
  flush();
  const p5::Space before = state_.cr3;
  if (now.cr3 != before && !delivered_) change_space(now.cr3);
  const bool inwards = now.ring<state_.ring, outwards = now.ring> state_.ring;
  state_ = now;
  // SYSCALL leaves the stack to the kernel.
  const bool changes_stack = !p5::kX86_64 || frames_[current_].kind != CallKind::Gate;
  if (delivered_ && inwards && changes_stack) enter_task(here.stack);
  if (landed_ && !delivered_) {
    left_stack_ = outwards ? before_.next.stack : 0;
    if (outwards) take_task();
    land(here);
  }
  landed_ = delivered_ = false;
  take_place();
}

// The kernel switches from one address space to another. The calls of the old space wait. If it has
// an open INT3, a debugger takes control, and the program does not continue after the INT3.
void Calls::change_space(p5::Space to) {
  const p5::Space from = state_.cr3;
  for (uint32_t at = current_; at != kOutside && frames_[at].cr3 == from; at = frames_[at].parent) {
    const CallKey& key = rows_[frames_[at].row];
    if (key.kind == CallKind::Int && key.vector == kBreakpoint) {
      finish(at, false);
      break;
    }
  }
  uint32_t ended = kOutside;
  bool ends = false;
  for (uint32_t at = current_; at != kOutside && frames_[at].cr3 == from; at = frames_[at].parent) {
    ends = ends || frames_[at].properties & CallTable::kEnds;
    ended = at;
  }
  if (ends) {
    finish(ended, false);
    waiting_.erase(from);
  } else if (frames_[current_].properties & CallTable::kMoves && !waiting_.count(to)) {
    frames_[current_].moved = true;
    frames_[current_].cr3 = to;
    waiting_.erase(from);
    return;
  } else {
    waiting_[from] = {current_, frames_[current_].number};
  }
  const auto known = waiting_.find(to);
  const bool waits = known != waiting_.end() && frames_[known->second.frame].open &&
                     frames_[known->second.frame].number == known->second.number;
  current_ = waits ? known->second.frame : kOutside;
}

// --- tasks --------------------------------------------------------------------------------------

// The current call has begun to use a kernel stack.
void Calls::enter_task(p5::Linear kernel_stack) {
  frames_[current_].kernel_stack = kernel_stack;
  if (known_task(kernel_stack)) return;
  if (tasks_.size() >= kMostOpen) tasks_.clear();  // a guest with kernel stacks without end
  tasks_[{state_.cr3, kernel_stack}] = {kOutside, 0};
}

// Returns the task of the present address space with this kernel stack; null if it is unknown.
Calls::Waiting* Calls::known_task(p5::Linear kernel_stack) {
  const p5::Linear from = kernel_stack < kSameStack ? 0 : kernel_stack - kSameStack;
  const auto found = tasks_.lower_bound({state_.cr3, from});
  const bool near = found != tasks_.end() && found->first.first == state_.cr3 &&
                    found->first.second <= kernel_stack + kSameStack;
  return near ? &found->second : nullptr;
}

// Returns the kernel stack of the task that is in a call; 0 if no call of it has changed the ring.
p5::Linear Calls::kernel_stack_of(uint32_t frame) const {
  for (; frame != kOutside; frame = frames_[frame].parent) {
    if (frames_[frame].cr3 != state_.cr3) return 0;
    if (frames_[frame].kernel_stack) return frames_[frame].kernel_stack;
  }
  return 0;
}

bool Calls::same_task(p5::Linear one, p5::Linear other) {
  return one - other <= kSameStack || other - one <= kSameStack;
}

// Whether a kernel goes to a program from the stack of another task than the one that has entered
// the kernel at `entered`. The kernel may return from a place below, because a monitor can use its
// own stack in this way.
bool Calls::other_task(p5::Linear entered) const {
  const bool program = state_.ring == 3 && state_.paging && state_.mode >= p5::MachineMode::Prot32;
  return program && entered && left_stack_ && !same_task(entered, left_stack_) &&
         entered - left_stack_ > kNearStack;
}

// A kernel returns to an outer ring from the stack `left_stack_`. If this is the stack of another
// task, the calls of the task that was current wait.
void Calls::take_task() {
  const p5::Linear entered = kernel_stack_of(current_);
  if (entered ? same_task(entered, left_stack_) : current_ != kOutside) return;
  const Waiting* to = known_task(left_stack_);
  if (!to && !other_task(entered)) return;
  Waiting* from = entered ? known_task(entered) : nullptr;
  const bool waits = to && frames_[to->frame].open && frames_[to->frame].number == to->number;
  const uint32_t next = waits ? to->frame : kOutside;
  if (from) *from = {current_, frames_[current_].number};
  current_ = next;
}

// --- returns ------------------------------------------------------------------------------------

// Whether the processor is in the ring, mode and address space of the frame's caller.
bool Calls::in_place(const Frame& frame) const {
  return frame.ring == state_.ring && frame.mode == state_.mode && frame.cr3 == state_.cr3 &&
         !frame.moved;
}

// Whether the stack is as after a return of this call.
bool Calls::is_back(const Frame& frame, Position here) const {
  if (!in_place(frame)) return false;
  const p5::Linear released = here.stack - frame.back.stack;
  if (released == 0) return true;
  if (frame.kind == CallKind::Gate) return released <= kMostParameters;
  // A far RET leaves the flags on the stack (INT 25h and 26h of DOS).
  return frame.kind == CallKind::Int && (released == p5::Linear(-2) || released == p5::Linear(-4));
}

// A far transfer has gone to `here`.
void Calls::land(Position here) {
  const auto found = back_at_.find(here.address);
  if (found != back_at_.end()) {
    const auto& open = found->second;
    const auto back = std::find_if(open.rbegin(), open.rend(), [&](uint32_t one) {
      return is_back(frames_[one], here) && !other_task(frames_[one].kernel_stack);
    });
    if (back != open.rend()) return finish(*back, true);
  }
  if (current_ == kOutside) return;
  const Frame& frame = frames_[current_];
  if (in_place(frame) && frame.back.stack == here.stack) return finish(current_, true);
  for (uint32_t at = ends_open_ ? current_ : kOutside; at != kOutside; at = frames_[at].parent) {
    if (frames_[at].ends_at == here.address) return finish(at, false);
  }
  if (state_.ring == 3 && state_.paging && state_.mode >= p5::MachineMode::Prot32)
    leave_program(here);
}

// A kernel has gone to a program that does not continue after a call: to a new program, to a
// handler of signals, or to an earlier place of the program (longjmp). Closes the calls that the
// program can no longer return from.
void Calls::leave_program(Position here) {
  while (current_ != kOutside) {
    const Frame& frame = frames_[current_];
    const bool above = in_place(frame) && here.stack > frame.back.stack;
    if (!frame.moved && !above) return;
    finish(current_, false);
  }
}

// Ends a call and all calls inside it. The parent of the call becomes current if the call or a call
// inside it is current, or if the call has returned.
void Calls::finish(uint32_t number, bool returned) {
  bool inside = returned;
  for (uint32_t at = current_; at != kOutside && !inside; at = frames_[at].parent) {
    inside = at == number;
  }
  if (frames_[number].children) close_inside(number);
  if (inside) current_ = frames_[number].parent;
  close(number, returned);
}

// Closes the open calls inside a call, the innermost first.
void Calls::close_inside(uint32_t number) {
  std::vector<uint32_t> order;
  for (uint32_t one = 1; one < frames_.size(); one++) {
    if (frames_[one].open) order.push_back(one);
  }
  std::sort(order.begin(), order.end(),
            [this](uint32_t a, uint32_t b) { return frames_[a].number < frames_[b].number; });
  std::vector<bool> doomed(frames_.size());
  doomed[number] = true;
  for (const uint32_t one : order) {
    if (doomed[frames_[one].parent]) doomed[one] = true;
  }
  for (auto one = order.rbegin(); one != order.rend(); ++one) {
    if (doomed[*one] && *one != number) close(*one, false);
  }
}

void Calls::close(uint32_t number, bool returned) {
  Frame& frame = frames_[number];
  for (size_t i = 0; i < open_.size(); i++) {
    if (!returned || frame.number < began_[i]) continue;
    std::vector<uint64_t>& own = own_counts(open_[i], {frame.caller, frame.row});
    own[kReturned]++;
    own[kWaited] += cycles_ - frame.entered - cycles(frame.total);
    add(frame.total, &own[kTotal]);
  }
  add(frame.total, frames_[frame.parent].total.data());
  frames_[frame.parent].children--;
  auto& open = back_at_[frame.back.address];
  open.erase(std::find(open.begin(), open.end(), number));
  if (open.empty()) back_at_.erase(frame.back.address);
  ends_open_ -= frame.ends_at != CallTable::kNoAddress;
  frame.open = false;
  free_.push_back(number);
}

// --- counts -------------------------------------------------------------------------------------

void Calls::grew(const Events& growth) {
  cycles_ += cycles(growth);
  add(growth, frames_[current_].total.data());
}

void Calls::begin(uint32_t number) {
  Places::begin(number);
  began_.push_back(++serial_);
}

void Calls::end() {
  Places::end();
  began_.pop_back();
}

std::vector<Calls::OwnEvent> Calls::own_events(const std::vector<uint32_t>& counted) const {
  std::vector<OwnEvent> own = {{"calls", kCalls}, {"returned", kReturned}, {"waited", kWaited}};
  const std::vector<std::string> names = event_names(counted);
  for (size_t i = 0; i < names.size(); i++)
    own.push_back({"total." + names[i], kTotal + counted[i]});
  return own;
}

// A call is `int:128:5`, `gate::5`, `exception:14:` or, for no call, `outside`.
void Calls::members(uint64_t row, base::JsonLine* line) const {
  if (!row) {
    line->member("call", "outside");
    return;
  }
  const CallKey& key = rows_[row];
  const std::string vector = key.kind == CallKind::Gate ? "" : std::to_string(key.vector);
  const std::string function = key.function == kNoFunction ? "" : std::to_string(key.function);
  line->member("call", std::string(kind_name(key.kind)) + ":" + vector + ":" + function);
}

}  // namespace observe
