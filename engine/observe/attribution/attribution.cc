// SPDX-License-Identifier: MIT
#include "observe/attribution/attribution.hh"

#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "observe/attribution/file.hh"

namespace observe {
namespace {

const Registered<Attribution> registered("attribution", Attribution::read);

}  // namespace

Make Attribution::read(base::Settings& settings) {
  const bool stacks = settings.flag("run.attribution_stacks");
  if (settings.has("run.sample"))
    settings.fail("run.attribution", "expected no run.sample in the same run");
  const std::string path = settings.text("run.functions");
  std::ifstream file(path, std::ios::binary);
  std::string error;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto functions = std::make_shared<Functions>();
  if (!file)
    settings.fail("run.functions", path + " cannot be read");
  else if (!functions->parse(text, path, &error))
    settings.fail("run.functions", error);
  const std::vector<std::string> others = Joint::read(settings, "run.attribution_joint");
  return [stacks, functions, others](const Machine& machine) {
    return std::make_unique<Attribution>(machine.model, machine.guest, std::move(*functions),
                                         stacks, machine.classes, Joint(others, machine));
  };
}

Attribution::Attribution(p5::Pentium& model, Guest& guest, Functions functions, bool stacks,
                         MissClasses* classes, Joint joint)
    : model_(model),
      guest_(guest),
      functions_(std::move(functions)),
      stacks_(stacks),
      classes_(classes),
      joint_(std::move(joint)),
      late_(model, [this](p5::Event component) { explain(component); }) {}

void Attribution::start() {
  ring_ = model_.state().ring;
  bank_ = number_of(model_.bank());
  joined_ = joint_.now();
  entering_.frames.emplace_back();
}

// --- the current position
// -------------------------------------------------------------------------

void Attribution::move(p5::Linear linear, p5::Linear stack) {
  flush();
  const uint32_t before = function_;
  look_up(linear, true);
  if (functions_[function_].is_start && ring_ != 3) {  // a new task of the kernel
    stack_ = &stack_at(stack);
    stack_->frames.assign(1, {~p5::Linear(0), 0, entrance_of({"start", -1, 0}), 0});
  } else if (look_ == Look::Return) {
    return_to(stack);
  } else if (look_ == Look::CallNext) {
    // Position-independent code calls its next instruction to read EIP, and never returns there.
    if (!is_one_function(before, function_)) call(stack);
  } else if (look_ == Look::Jump && stack_ != &entering_ && stack_->key != key_of(stack)) {
    return_to(stack);  // the processor has changed to another stack
  }
  look_ = Look::Jump;
  use_node();
}

// `fetched`: the emulator has just fetched the instruction, so the page of the instruction is
// present.
void Attribution::look_up(p5::Linear linear, bool fetched) {
  Known& known = known_[(linear ^ linear >> 12) % known_.size()];
  // Only a kernel is a module at fixed addresses, and ring 3 never executes a kernel.
  const bool kernel = ring_ != 3;
  uint32_t page = kNone - 1, physical = 0;
  if (!kernel) {
    page = guest_.code(linear, fetched, &physical) ? page_in(physical / Functions::kPageBytes) : 0;
  }
  if (known.linear != linear || known.page != page) {
    known.linear = linear;
    known.page = page;
    if (!kernel) {
      known.place = functions_.in(page, linear);
    } else if (!functions_.at(linear, &known.place)) {
      known.place = functions_.in(0, linear);
    }
  }
  function_ = known.place.function;
  first_ = known.place.first;
  bytes_ = known.place.bytes;
}

// Returns the page of a module that has the same content as this physical page. Returns 0 if there
// is no such page.
uint32_t Attribution::page_in(uint32_t frame) {
  if (frame >= page_in_.size()) page_in_.resize(frame + 1, kNone);
  if (page_in_[frame] == kNone) {
    const uint8_t* content = guest_.page(frame * Functions::kPageBytes);
    page_in_[frame] = content ? functions_.page(content) : 0;
  }
  return page_in_[frame];
}

void Attribution::decoded(uint32_t physical) {
  const uint32_t frame = physical / Functions::kPageBytes;
  if (frame < page_in_.size()) page_in_[frame] = kNone;
}

// --- calls and returns --------------------------------------------------------------------------

Attribution::Stack& Attribution::stack_at(p5::Linear stack) {
  const uint64_t key = key_of(stack);
  Stack& found = stacks_known_[key];
  found.key = key;
  return found;
}

void Attribution::call(p5::Linear stack) {
  const Frame from = stack_->frames.back();
  if (stack_ == &entering_ || stack_->key != key_of(stack)) {
    // The kernel has switched to its own stack, or a call has moved to another stack.
    Stack& next = stack_at(stack);
    next.frames.assign(1, from);
    next.frames.back().stack = ~p5::Linear(0);
    stack_ = &next;
  }
  stack_->frames.push_back({stack, caller(), from.entrance, 0});
}

// The lines of a function have functions of their own, whose names differ after a tab.
bool Attribution::is_one_function(uint32_t a, uint32_t b) const {
  if (a == b) return true;
  const std::string &one = functions_[a].name, &other = functions_[b].name;
  return one.substr(0, one.find('\t')) == other.substr(0, other.find('\t')) &&
         functions_[a].module == functions_[b].module;
}

// The stack pointer is now `stack`. All frames below this address have ended.
void Attribution::return_to(p5::Linear stack) {
  // An entry into the kernel begins on a special stack. The kernel then switches to its own stack
  // without a call.
  const bool entering = stack_ == &entering_ && ring_ != 3;
  const uint64_t key = key_of(stack);
  if (!entering && stack_->key != key) {
    // A program leaves the pieces below.
    const bool same_space = stack_->key >> kSpaceShift == key >> kSpaceShift;
    if (ring_ == 3 && same_space && stack_->key < key) stack_->frames.clear();
    stack_ = &stack_at(stack);
  }
  auto& frames = stack_->frames;
  if (frames.empty()) frames.push_back(continued(stack));
  while (frames.size() > 1 && frames.back().stack < stack) frames.pop_back();
}

// Returns the first frame of a piece of a stack that is reached without a call. A program reaches
// it from the piece above, with local variables. A kernel's pieces are the stacks of different
// tasks.
Attribution::Frame Attribution::continued(p5::Linear stack) const {
  const auto above = stacks_known_.find(key_of(stack + (p5::Linear(1) << kStackShift)));
  if (ring_ != 3 || above == stacks_known_.end() || above->second.frames.empty()) {
    return {};
  }
  const Frame& from = above->second.frames.back();
  return {~p5::Linear(0), from.parent, from.entrance, 0};
}

// execve() has ended. The page directory may be that of an earlier process, so all stacks in this
// address space are forgotten.
void Attribution::begin_program(p5::Linear stack) {
  const uint64_t space = key_of(0) >> kSpaceShift;
  for (auto known = stacks_known_.begin(); known != stacks_known_.end();) {
    known = known->first >> kSpaceShift == space ? stacks_known_.erase(known) : std::next(known);
  }
  stack_ = &stack_at(stack);
  stack_->frames.assign(1, {});
}

void Attribution::arrive(const Entrance& how, Position here, p5::Linear stack) {
  flush();
  bank_ = number_of(model_.bank());
  const uint8_t before = std::exchange(ring_, model_.state().ring);
  look_up(here.address, false);
  look_ = Look::Jump;
  const bool delivered = how.vector >= 0 || (how.kind && std::strcmp(how.kind, "gate") == 0);
  if (ring_ < before) {
    entering_.frames.assign(1, {~p5::Linear(0), caller(), entrance_of(how), 0});
    stack_ = &entering_;
  } else if (ring_ > before || (how.kind && !delivered && std::strcmp(how.kind, "cr3") != 0)) {
    return_to(stack);
    if (ring_ == 3 && functions_[function_].is_start && here.address == first_)
      begin_program(stack);
  } else if (delivered) {
    stack_->frames.push_back({stack, caller(), entrance_of(how), 0});
  }
  use_node();
}

// --- the values of other observers --------------------------------------------------------------

void Attribution::before_far(Position, uint32_t) {
  if (!joint_.names().empty()) flush();
}

void Attribution::delivered(p5::Entry entry, uint8_t, Position) {
  // The instruction INT belongs to its call.
  if (!joint_.names().empty() && entry != p5::Entry::Soft) flush();
}

void Attribution::join() {
  if (joint_.names().empty()) return;
  joined_ = joint_.now();
  use_node();
}

// --- the current node
// -----------------------------------------------------------------------------

uint32_t Attribution::entrance_of(const Entrance& how) {
  const auto [found, first] = entrance_numbers_.insert({how, uint32_t(entrances_.size())});
  if (first) entrances_.push_back(how);
  return found->second;
}

uint32_t Attribution::number_of(const p5::Bank& bank) {
  const auto [found, first] = bank_numbers_.insert({&bank, uint32_t(banks_.size())});
  if (first) banks_.push_back({&bank, Grown{}});
  return found->second;
}

void Attribution::use_node() {
  Frame& frame = stack_->frames.back();
  node_ = frame.node = node_of({frame.parent, function_, bank_, frame.entrance, joined_});
  if (classes_) classes_->use(function_, !open_.empty());
}

uint32_t Attribution::node_of(const Node& key) {
  Recent& recent = recent_[Hash()(key) % recent_.size()];
  if (!(recent.key == key)) {
    if (key.joint != Joint::kRest && nodes_.size() >= kMostJoint && !node_numbers_.count(key)) {
      return node_of({key.parent, key.function, key.bank, key.entrance, Joint::kRest});
    }
    const auto [found, first] = node_numbers_.insert({key, uint32_t(nodes_.size())});
    if (first) {
      nodes_.push_back(key);
      depths_.push_back(key.parent ? depths_[key.parent] + 1 : 1);
    }
    recent = {key, found->second};
  }
  return recent.node;
}

// Adds the growth of all counts since the last flush to the current node.
void Attribution::flush() {
  if (classes_ && model_.observer()) model_.observer()->settle();
  if (open_.empty()) return;
  model_.settle();
  Seen& seen = banks_[bank_];
  Counts grown;
  uint64_t any = 0;
  for (size_t i = 0; i < p5::kEventCount; i++) {
    const uint64_t now = seen.bank->count[i];
    any |= grown[i] = now - seen.count[i];
    seen.count[i] = now;
  }
  const size_t used = p5::kEventCount + (classes_ ? MissClasses::kCounts : 0);
  for (size_t i = 0; i < used - p5::kEventCount; i++) {
    const uint64_t now = classes_->counts()[i];
    any |= grown[p5::kEventCount + i] = now - classes_seen_[i];
    classes_seen_[i] = now;
  }
  if (!any) return;
  for (Phase* phase : open_) {
    Counts& counts = counts_of(phase, node_);
    for (size_t i = 0; i < used; i++) counts[i] += grown[i];
  }
  if (late_.read()) late_node_ = node_;
}

Attribution::Counts& Attribution::counts_of(Phase* phase, uint32_t node) {
  if (node >= phase->counts.size()) phase->counts.resize(nodes_.size());
  auto& counts = phase->counts[node];
  if (!counts) counts = std::make_unique<Counts>(Counts{});
  return *counts;
}

void Attribution::explain(p5::Event component) {
  Grown& seen = banks_[bank_].count;
  seen[p5::CpiSingleOther]--;
  seen[component]++;
  for (Phase* phase : open_) {
    Counts& counts = counts_of(phase, late_node_);
    counts[p5::CpiSingleOther]--;
    counts[component]++;
  }
}

// --- brackets -----------------------------------------------------------------------------------

void Attribution::begin(uint32_t phase) {
  flush();
  model_.settle();
  for (const auto& bank : model_.banks().banks()) number_of(*bank);
  Phase& begun = phases_[phase];
  begun.began.clear();
  for (Seen& seen : banks_) {
    seen.count = seen.bank->count;
    begun.began.push_back(seen.count);
  }
  open_.push_back(&begun);
  if (!classes_) return;
  classes_->begin(phase);
  classes_->use(function_, true);
}

void Attribution::end() {
  flush();
  Phase& ended = *open_.back();
  ended.began.resize(banks_.size());
  ended.grown.resize(banks_.size());
  for (size_t bank = 0; bank < banks_.size(); bank++) {
    for (size_t i = 0; i < p5::kEventCount; i++) {
      ended.grown[bank][i] += banks_[bank].bank->count[i] - ended.began[bank][i];
    }
  }
  open_.pop_back();
  if (!classes_) return;
  classes_->end();
  classes_->use(function_, !open_.empty());
}

void Attribution::stop() {
  while (!open_.empty()) end();
}

std::string Attribution::text(const std::vector<uint32_t>& counted) const {
  return attribution_text(*this, counted);
}

std::string Attribution::differs() const {
  for (const auto& [number, phase] : phases_) {
    std::vector<Grown> sums(banks_.size(), Grown{});
    for (size_t node = 0; node < phase.counts.size(); node++) {
      if (!phase.counts[node]) continue;
      for (size_t i = 0; i < p5::kEventCount; i++) {
        sums[nodes_[node].bank][i] += (*phase.counts[node])[i];
      }
    }
    for (size_t bank = 0; bank < phase.grown.size(); bank++) {
      for (uint32_t i = 0; i < p5::kEventCount; i++) {
        if (sums[bank][i] != phase.grown[bank][i]) {
          return std::string("the sum over all functions differs from the count of ") +
                 p5::event_name(i) + " of phase " + std::to_string(number);
        }
      }
    }
  }
  return "";
}

}  // namespace observe
