// SPDX-License-Identifier: MIT
// How often did each event happen in each thread of Linux? A thread is a task of the kernel, and
// current_task points to the one that runs [Linux 6.1, arch/x86/include/asm/current.h; a kernel for
// one processor has it in one place]. __switch_to() writes it, after the switch of the stack and of
// the address space, and the counts belong to the next thread from the instruction on that follows
// this write.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "observe/places.hh"

namespace observe {

class Threads : public Places {
 public:
  struct Symbol {
    p5::Linear address = 0, size = 0;
  };
  using Symbols = std::map<std::string, Symbol>;

  Threads(p5::Pentium& model, Guest& guest, Symbols symbols)
      : Places(model, "thread"), guest_(guest), symbols_(std::move(symbols)) {}
  static Make read(base::Settings& settings);

  void start() override;
  bool sees_each() const override { return true; }
  void arrive(const Entrance&, Position, p5::Linear) override;
  std::string differs() const override;

 protected:
  // The number of the thread.
  uint64_t value() const override { return thread_; }
  std::string shown(uint64_t thread) const override;
  void move(p5::Linear linear, p5::Linear stack) override;

 private:
  using Task = std::pair<uint64_t, std::string>;  // address of the task_struct, and its name

  bool load(p5::Linear linear, size_t bytes, std::string* into);
  p5::Linear after_write(const std::string& code) const;
  void find();

  Guest& guest_;
  Symbols symbols_;
  p5::Linear switched_ = 0;  // the instruction after the write of current_task
  size_t name_ = 0;          // the place of the name in a task_struct; 0: unknown
  std::map<Task, uint64_t> threads_;
  std::vector<std::string> tasks_{"(unknown)"};  // the names of the tasks, by thread
  uint64_t thread_ = 0;
  // Tasks of one name are numbered in the order in which they are written, and only these.
  mutable std::map<uint64_t, std::string> names_;
  mutable std::map<std::string, unsigned> used_;
};

}  // namespace observe
