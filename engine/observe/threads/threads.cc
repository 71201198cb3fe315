// SPDX-License-Identifier: MIT
#include "observe/threads/threads.hh"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace observe {
namespace {

const Registered<Threads> registered("threads", Threads::read);

constexpr p5::Linear kPage = 4096;
constexpr size_t kNameBytes = 16;     // TASK_COMM_LEN
const char kFirstTask[] = "swapper";  // the name of init_task

uint64_t number(const std::string& bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | uint8_t(bytes[i]);
  return value;
}

}  // namespace

Make Threads::read(base::Settings& settings) {
  const std::string path = settings.text("run.threads_symbols");
  std::ifstream file(path);
  Symbols symbols;
  std::string name;
  uint64_t address = 0, size = 0;
  while (file >> std::hex >> address >> size >> name)
    symbols[name] = {p5::Linear(address), p5::Linear(size)};
  for (const char* needed : {"current_task", "init_task", "__switch_to"}) {
    if (!symbols.count(needed))
      settings.fail("run.threads_symbols", path + ": expected the symbol " + needed);
  }
  return [symbols](const Machine& machine) {
    return std::make_unique<Threads>(machine.model, machine.guest, symbols);
  };
}

void Threads::start() {
  const Symbol &code = symbols_["__switch_to"], &first = symbols_["init_task"];
  std::string bytes;
  if (load(code.address, code.size, &bytes)) switched_ = after_write(bytes);
  if (load(first.address, first.size, &bytes)) {
    const size_t found = bytes.find(kFirstTask);
    if (found != std::string::npos) name_ = found;
  }
  find();
  Places::start();
}

void Threads::arrive(const Entrance&, Position, p5::Linear) {
  find();
  look();
}

// The address space is divided at the place after the write, so that the code never executes it
// without a call of this function.
void Threads::move(p5::Linear linear, p5::Linear) {
  first_ = linear < switched_ ? 0 : switched_;
  bytes_ = linear < switched_ ? switched_ : 0 - switched_;
  find();
  look();
}

// Finds the thread that runs.
void Threads::find() {
  std::string task, name;
  thread_ = 0;
  if (!name_ || !load(symbols_["current_task"].address, sizeof(p5::Linear), &task)) return;
  if (!load(p5::Linear(number(task)) + p5::Linear(name_), kNameBytes, &name)) return;
  name.resize(std::min(name.find('\0'), name.size()));
  const auto [known, is_new] = threads_.insert({{number(task), name}, tasks_.size()});
  if (is_new) tasks_.push_back(name);
  thread_ = known->second;
}

std::string Threads::shown(uint64_t thread) const {
  const auto [known, is_new] = names_.insert({thread, tasks_[thread]});
  const unsigned same = is_new ? ++used_[tasks_[thread]] : 0;
  if (same > 1) known->second += " #" + std::to_string(same);
  return known->second;
}

// Returns the place after the only instruction of __switch_to() that writes current_task: MOV from
// a register (89h, or A3h from EAX) to an absolute address, or to one relative to the next
// instruction in 64-bit code. Returns 0 if there is not one such instruction.
p5::Linear Threads::after_write(const std::string& code) const {
  const p5::Linear address = symbols_.at("current_task").address,
                   begin = symbols_.at("__switch_to").address;
  p5::Linear found = 0;
  for (size_t i = 2; i + 4 <= code.size(); i++) {
    const p5::Linear next = begin + p5::Linear(i) + 4;
    const auto operand = p5::Linear(int32_t(number(code.substr(i, 4))));
    const bool plain = uint8_t(code[i - 2]) == 0x89 && (uint8_t(code[i - 1]) & 0xC7) == 0x05;
    const bool matches = p5::kX86_64
                             ? plain && next + operand == address
                             : (plain || uint8_t(code[i - 1]) == 0xA3) && operand == address;
    if (!matches) continue;
    if (found) return 0;
    found = next;
  }
  return found;
}

// Reads the guest's memory. Returns false if it has none at these addresses.
bool Threads::load(p5::Linear linear, size_t bytes, std::string* into) {
  into->clear();
  while (into->size() < bytes) {
    const p5::Linear at = linear + p5::Linear(into->size());
    uint32_t physical = 0;
    if (!guest_.code(at, false, &physical)) return false;
    const uint8_t* page = guest_.page(physical & ~uint32_t(kPage - 1));
    if (!page) return false;
    const size_t offset = at % kPage;
    into->append(reinterpret_cast<const char*>(page) + offset,
                 std::min<size_t>(kPage - offset, bytes - into->size()));
  }
  return true;
}

std::string Threads::differs() const {
  if (!switched_) return "__switch_to() of the guest's kernel has not one write of current_task";
  if (!name_) return "init_task of the guest's kernel has no name";
  return Places::differs();
}

}  // namespace observe
