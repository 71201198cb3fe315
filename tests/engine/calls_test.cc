// SPDX-License-Identifier: MIT
// Where do calls begin and end, and to which call do the cycles belong? In each test the sum over
// all rows must equal the growth of the counters.
#include "observe/calls/calls.hh"

#include <doctest/doctest.h>

#include <string>

#include "bench.hh"
#include "trace.hh"

namespace {

using observe::CallKey;
using observe::CallKind;
using observe::Calls;
using observe::CallTable;
using p5::MachineMode;

constexpr uint32_t kProgram = 0x08000000, kKernel = 0xC0000000, kDos = 0x1000;
constexpr uint32_t kUserStack = 0xBFFFF000, kKernelStack = 0xC1001000;

struct Sum {
  Sum() = default;
  explicit Sum(const uint64_t* counts) : idle(counts[p5::CyclesIdle]) {
    cycles = counts[p5::CyclesBusy] + idle;
    for (uint32_t event = p5::CrossInt; event <= p5::CrossAsync; event++)
      crossings += counts[event];
    for (uint32_t event = p5::ModeReal; event <= p5::Mode32; event++) mode_changes += counts[event];
  }
  void add(const Sum& other) {
    cycles += other.cycles;
    idle += other.idle;
    crossings += other.crossings;
    mode_changes += other.mode_changes;
  }
  uint64_t cycles = 0, idle = 0, crossings = 0, mode_changes = 0;
};
// The counts of a call in all rings and address spaces.
struct Row {
  uint64_t calls = 0, returned = 0, waited = 0;
  Sum own, inside;
};

CallTable table() {
  CallTable table;
  std::string error;
  REQUIRE(table.parse("21:ah 2f:ax 80:eax gate:eax 80/1:ends 80/b:moves 19@7c00", &error));
  return table;
}

// The processor, with the calls of the emulator's glue in the same order.
class System : public Bench {
 public:
  explicit System(MachineMode mode, uint8_t ring, uint32_t code, uint32_t stack)
      : known(table()), calls((set(mode, ring), model), known) {
    ip = code;
    esp = stack;
    calls.begin(1);
  }

  void work(unsigned instructions = 3) {
    for (unsigned i = 0; i < instructions; i++) insn("40");
  }
  // A software interrupt to `handler` that uses `bytes` of the stack.
  void interrupt(uint8_t vector, uint32_t eax, uint32_t handler, uint32_t bytes = 6) {
    calls.before_far({ip + 2, esp}, eax);
    insn("cd 80");
    calls.delivered(p5::Entry::Soft, vector, {0, 0});
    model.soft_interrupt(vector);
    arrive(handler, esp - bytes);
  }
  // The same, from ring 3 to a kernel.
  void system_call(uint32_t eax, uint32_t kernel_stack = kKernelStack) {
    calls.before_far({ip + 2, esp}, eax);
    insn("cd 80");
    calls.delivered(p5::Entry::Soft, 0x80, {0, 0});
    model.soft_interrupt(0x80);
    set(MachineMode::Prot32, 0);
    arrive(kKernel, kernel_stack);
  }
  void hardware(uint8_t vector, uint32_t handler, uint32_t bytes = 6) {
    calls.delivered(p5::Entry::Irq, vector, {ip, esp});
    model.hard_interrupt(vector, ip);
    arrive(handler, esp - bytes);
  }
  void exception(uint8_t vector, uint32_t handler, uint32_t bytes = 6) {
    calls.delivered(p5::Entry::Fault, vector, {ip, esp});
    model.exception(vector, false, ip);
    arrive(handler, esp - bytes);
  }
  // A far transfer: IRET by default.
  void go(uint32_t target, uint32_t stack, p5::Crossing how = p5::Crossing::Iret) {
    insn("cf");
    calls.moved();
    model.far_transfer(how);
    arrive(target, stack);
  }
  // IRET from a kernel to ring 3.
  void to_user(uint32_t target, uint32_t stack) {
    calls.before_far({ip + 1, esp}, 0);
    insn("cf");
    calls.moved();
    model.far_transfer(p5::Crossing::Iret);
    set(MachineMode::Prot32, 3);
    arrive(target, stack);
  }
  void load_cr3(uint32_t cr3) {
    model.load_cr3(cr3);
    change([cr3](p5::State& state) { state.cr3 = cr3; });
    arrive(ip, esp);
  }
  void set(MachineMode mode, uint8_t ring) {
    change([=](p5::State& state) {
      state.mode = mode;
      state.ring = ring;
      state.paging = mode == MachineMode::Prot32;
    });
  }
  void arrive(uint32_t address, uint32_t stack) {
    ip = address;
    esp = stack;
    calls.arrive({}, {ip, esp}, esp);
  }

  // Ends the bracket and returns the counts of a row.
  Row row(CallKind kind, uint8_t vector, uint32_t function = observe::kNoFunction) {
    for (uint32_t one = 1; one < calls.rows().size(); one++) {
      const CallKey& key = calls.rows()[one];
      if (key.kind == kind && key.vector == vector && key.function == function) return counts(one);
    }
    FAIL("no such row");
    return {};
  }
  Row outside() { return counts(0); }
  // Returns the cycles of the bracket.
  uint64_t finish() {
    calls.stop();
    CHECK(calls.differs() == "");
    uint64_t cycles = 0;
    for (const auto& [place, counts] : calls.phases().at(1).counts)
      cycles += Sum(counts.events.data()).cycles;
    CHECK(cycles > 0);
    return cycles;
  }
  Row counts(uint64_t row) {
    finish();
    Row found;
    for (const auto& [place, counts] : calls.phases().at(1).counts) {
      if (place.second != row) continue;
      found.own.add(Sum(counts.events.data()));
      if (counts.own.empty()) continue;
      found.calls += counts.own[Calls::kCalls];
      found.returned += counts.own[Calls::kReturned];
      found.waited += counts.own[Calls::kWaited];
      found.inside.add(Sum(&counts.own[Calls::kTotal]));
    }
    return found;
  }

  uint32_t esp = 0;
  CallTable known;
  Calls calls;
};

class Dos : public System {
 public:
  Dos() : System(MachineMode::Real, 0, 0x10000, 0x20000) {}
};

class Kernel : public System {
 public:
  Kernel() : System(MachineMode::Prot32, 3, kProgram, kUserStack) {}
};

}  // namespace

TEST_CASE("calls: a call holds its instruction, its handler and the return") {
  Dos dos;
  dos.work();
  const uint32_t back = dos.ip + 2, stack = dos.esp;
  const uint64_t began = dos.model.clock();
  dos.interrupt(0x21, 0x3D00, kDos);
  dos.work();
  dos.go(back, stack);
  const uint64_t cycles = dos.model.clock() - began;
  dos.work();
  const Row open = dos.row(CallKind::Int, 0x21, 0x3D);
  CHECK(open.calls == 1);
  CHECK(open.returned == 1);
  CHECK(open.own.cycles == cycles);
  CHECK(open.inside.cycles == cycles);
  CHECK(open.waited == 0);
}

TEST_CASE("calls: a nested call belongs to the outer call, but not to its own cycles") {
  Dos dos;
  const uint32_t back = dos.ip + 2, stack = dos.esp;
  dos.interrupt(0x21, 0x0900, kDos);
  dos.work();
  const uint32_t inner_back = dos.ip + 2, inner_stack = dos.esp;
  dos.interrupt(0x10, 0x0E41, 0xC0000);
  dos.work(10);
  dos.go(inner_back, inner_stack);
  dos.go(back, stack);
  const Row print = dos.row(CallKind::Int, 0x21, 0x09);
  const Row video = dos.row(CallKind::Int, 0x10);
  CHECK(print.inside.cycles == print.own.cycles + video.own.cycles);
  CHECK(video.inside.cycles == video.own.cycles);
  CHECK(video.returned == 1);
  CHECK(print.returned == 1);
}

TEST_CASE("calls: RETF 2 and a far jump return too, and a far RET leaves the flags") {
  for (const int left : {0, -2, -4}) {
    Dos dos;
    const uint32_t back = dos.ip + 2, stack = dos.esp;
    dos.interrupt(0x25, 0, kDos);
    dos.go(back, stack + uint32_t(left), p5::Crossing::Far);
    CHECK(dos.row(CallKind::Int, 0x25).returned == 1);
  }
}

TEST_CASE("calls: a transfer to another address or another stack is no return") {
  Dos dos;
  const uint32_t back = dos.ip + 2, stack = dos.esp;
  dos.interrupt(0x21, 0, kDos);
  dos.go(back + 1, stack - 100, p5::Crossing::Far);
  dos.go(back, stack - 100, p5::Crossing::Far);
  dos.work();
  const Row row = dos.row(CallKind::Int, 0x21, 0);
  CHECK(row.calls == 1);
  CHECK(row.returned == 0);
  CHECK(row.inside.cycles == 0);
  CHECK(row.own.cycles == dos.finish());
}

TEST_CASE("calls: a program that ends does not return, and the call that started it does") {
  Dos dos;
  const uint32_t back = dos.ip + 2, stack = dos.esp;
  dos.interrupt(0x21, 0x4B00, kDos);
  dos.go(0x30000, 0x40000, p5::Crossing::Far);  // the program
  dos.work();
  dos.interrupt(0x21, 0x4C00, kDos);
  dos.go(back, stack);
  dos.work();
  const Row exec = dos.row(CallKind::Int, 0x21, 0x4B);
  const Row exit = dos.row(CallKind::Int, 0x21, 0x4C);
  CHECK(exec.returned == 1);
  CHECK(exit.calls == 1);
  CHECK(exit.returned == 0);
  CHECK(exit.inside.cycles == 0);
  CHECK(exec.inside.cycles == exec.own.cycles + exit.own.cycles);
  CHECK(dos.outside().own.cycles > 0);
}

TEST_CASE("calls: INT 19h ends where the boot sector begins") {
  Dos dos;
  dos.interrupt(0x19, 0, 0xF0000);
  dos.work();
  const uint64_t inside = dos.model.clock();
  dos.go(0x7C00, 0x8000);
  dos.work(20);
  CHECK(dos.row(CallKind::Int, 0x19).returned == 0);
  CHECK(dos.outside().own.cycles > 0);
  CHECK(dos.row(CallKind::Int, 0x19).own.cycles >= inside);
}

TEST_CASE("calls: an interrupt inside a call has its own row, and an exception may skip code") {
  Dos dos;
  const uint32_t back = dos.ip + 2, stack = dos.esp;
  dos.interrupt(0x16, 0, kDos);
  const uint32_t at = dos.ip, handler_stack = dos.esp;
  dos.hardware(0x08, 0xF1000);
  dos.work();
  dos.go(at, handler_stack);
  dos.exception(6, 0xF2000);
  dos.go(at + 2, handler_stack);  // behind the invalid opcode
  dos.go(back, stack);
  CHECK(dos.row(CallKind::Hardware, 8).returned == 1);
  CHECK(dos.row(CallKind::Exception, 6).returned == 1);
  const Row keys = dos.row(CallKind::Int, 0x16);
  CHECK(keys.returned == 1);
  CHECK(keys.inside.cycles == keys.own.cycles + dos.row(CallKind::Hardware, 8).own.cycles +
                                  dos.row(CallKind::Exception, 6).own.cycles);
}

TEST_CASE("calls: a return of an outer call ends the calls inside it") {
  Dos dos;
  const uint32_t back = dos.ip + 2, stack = dos.esp;
  dos.interrupt(0x21, 0x0100, kDos);
  dos.interrupt(0x16, 0, 0xF0000);
  dos.interrupt(0x15, 0, 0xF3000);
  dos.go(back, stack, p5::Crossing::Gate);  // a far jump out of three handlers
  dos.work();
  CHECK(dos.row(CallKind::Int, 0x21, 1).returned == 1);
  CHECK(dos.row(CallKind::Int, 0x16).returned == 0);
  CHECK(dos.row(CallKind::Int, 0x15).returned == 0);
  CHECK(dos.outside().own.cycles > 0);
}

TEST_CASE("calls: crossings and mode changes of a system call") {
  Kernel kernel;
  const uint32_t back = kernel.ip + 2, stack = kernel.esp;
  kernel.system_call(20);
  kernel.work();
  kernel.to_user(back, stack);
  CHECK(kernel.row(CallKind::Int, 0x80, 20).inside.crossings == 2);
  CHECK(kernel.row(CallKind::Int, 0x80, 20).inside.mode_changes == 0);
}

TEST_CASE("calls: another task runs while a call waits") {
  Kernel kernel;
  kernel.load_cr3(0x1000);
  kernel.work();
  const uint32_t back = kernel.ip + 2, stack = kernel.esp;
  const uint64_t began = kernel.model.clock();
  kernel.system_call(3);
  kernel.work();
  kernel.load_cr3(0x2000);
  const uint64_t left = kernel.model.clock();
  // A program that has made no call yet. It then makes a call, and this call wakes the first task.
  kernel.to_user(kProgram + 0x1000, kUserStack);
  kernel.work(20);
  kernel.system_call(4, kKernelStack + 0x2000);
  kernel.work();
  kernel.load_cr3(0x1000);
  const uint64_t again = kernel.model.clock();
  kernel.work();
  kernel.esp = kKernelStack;
  kernel.to_user(back, stack);
  const uint64_t cycles = kernel.model.clock() - began;
  const Row read = kernel.row(CallKind::Int, 0x80, 3);
  CHECK(read.returned == 1);
  CHECK(read.waited == again - left);
  CHECK(read.inside.cycles == cycles - (again - left));
  CHECK(kernel.row(CallKind::Int, 0x80, 4).returned == 0);
}

TEST_CASE("calls: two tasks in one address space return each to their own call") {
  Kernel kernel;
  const uint32_t first_back = kernel.ip + 2, first_stack = kernel.esp;
  kernel.system_call(7);
  kernel.to_user(kProgram + 0x1000, kUserStack - 0x10000);  // the second task
  const uint32_t second_back = kernel.ip + 2, second_stack = kernel.esp;
  kernel.system_call(8);
  kernel.to_user(first_back, first_stack);
  kernel.system_call(7);
  kernel.to_user(second_back, second_stack);
  CHECK(kernel.row(CallKind::Int, 0x80, 7).returned == 1);
  CHECK(kernel.row(CallKind::Int, 0x80, 7).calls == 2);
}

TEST_CASE("calls: a new thread is not inside the call of the thread that waits") {
  Kernel kernel;
  const uint32_t back = kernel.ip + 2, stack = kernel.esp;
  const uint64_t began = kernel.model.clock();
  kernel.system_call(3);
  kernel.work();
  // The kernel switches its stack. The new thread has never been in the kernel.
  kernel.esp = kKernelStack + 0x4000;
  kernel.to_user(kProgram + 0x1000, kUserStack - 0x10000);
  const uint64_t left = kernel.model.clock();
  kernel.work(50);
  const uint32_t own_back = kernel.ip + 2, own_stack = kernel.esp;
  kernel.system_call(20, kKernelStack + 0x4000);
  kernel.to_user(own_back, own_stack);
  kernel.system_call(4, kKernelStack + 0x4000);
  const uint64_t again = kernel.model.clock();
  kernel.esp = kKernelStack;
  kernel.to_user(back, stack);
  const uint64_t cycles = kernel.model.clock() - began;
  const Row read = kernel.row(CallKind::Int, 0x80, 3);
  CHECK(read.returned == 1);
  CHECK(kernel.row(CallKind::Int, 0x80, 20).returned == 1);
  CHECK(kernel.row(CallKind::Int, 0x80, 20).inside.cycles > 0);
  CHECK(kernel.outside().own.cycles >= 50);
  CHECK(read.waited >= again - left);
  CHECK(read.inside.cycles + read.waited == cycles);
}

TEST_CASE("calls: a handler of signals finds the calls of its own task again") {
  Kernel kernel;
  const uint32_t back = kernel.ip + 2, stack = kernel.esp;
  kernel.system_call(7);
  kernel.esp = kKernelStack + 0x4000;
  kernel.to_user(kProgram + 0x1000, kUserStack - 0x10000);  // another thread
  kernel.system_call(8, kKernelStack + 0x4000);
  kernel.esp = kKernelStack;
  kernel.to_user(kProgram + 0x4000, stack - 500);  // the handler of the first thread
  const uint64_t began = kernel.model.clock();
  kernel.work(100);
  const uint64_t handled = kernel.model.clock() - began;
  kernel.system_call(119);
  kernel.to_user(back, stack);
  const Row waits = kernel.row(CallKind::Int, 0x80, 7);
  CHECK(waits.returned == 1);
  CHECK(waits.own.cycles >= handled);
  CHECK(kernel.row(CallKind::Int, 0x80, 8).returned == 0);
}

TEST_CASE("calls: a child with the parent's memory and stack is not the parent") {
  Kernel kernel;
  const uint32_t back = kernel.ip + 2, stack = kernel.esp;
  kernel.system_call(190);  // vfork
  kernel.esp = kKernelStack - 0x4000;
  kernel.to_user(back, stack);
  kernel.work(30);
  kernel.system_call(1, kKernelStack - 0x4000);
  kernel.esp = kKernelStack;
  const uint64_t before = kernel.model.clock();
  kernel.to_user(back, stack);
  kernel.work(5);
  const Row vfork = kernel.row(CallKind::Int, 0x80, 190);
  CHECK(vfork.calls == 1);
  CHECK(vfork.returned == 1);
  CHECK(vfork.waited >= 30);
  CHECK(vfork.inside.cycles < before);
  CHECK(kernel.row(CallKind::Int, 0x80, 1).returned == 0);
}

TEST_CASE("calls: a monitor returns from a place within its own stack") {
  Kernel kernel;
  const uint32_t back = kernel.ip + 2, stack = kernel.esp;
  kernel.system_call(5);
  kernel.esp = kKernelStack - 600;
  kernel.to_user(kProgram + 0x1000, kUserStack - 0x10000);  // a handler of the program
  kernel.work(50);
  kernel.system_call(6, kKernelStack - 600);
  kernel.esp = kKernelStack;
  kernel.to_user(back, stack);
  const Row outer = kernel.row(CallKind::Int, 0x80, 5);
  CHECK(outer.returned == 1);
  CHECK(outer.own.cycles >= 50);
  CHECK(outer.waited == 0);
}

TEST_CASE("calls: kernel stacks without end") {
  Kernel kernel;
  for (uint32_t i = 0; i < 70000; i++) {
    kernel.system_call(1000 + i % 3, kKernelStack + 0x2000 * i);
    kernel.to_user(kProgram + 0x10 * (i % 1000), kUserStack - i);
  }
  kernel.finish();
}

TEST_CASE("calls: exec moves to another address space, and exit ends all calls of its own") {
  Kernel kernel;
  kernel.load_cr3(0x1000);
  kernel.system_call(11);
  kernel.load_cr3(0x2000);
  kernel.work(20);
  kernel.to_user(kProgram + 0x2000, kUserStack);
  kernel.work();
  kernel.system_call(1);
  kernel.load_cr3(0x3000);
  kernel.to_user(kProgram, kUserStack);
  kernel.work(50);
  kernel.load_cr3(0x2000);  // a new program has got the page directory
  kernel.to_user(kProgram + 0x3000, kUserStack - 1000);
  kernel.work(70);
  const uint64_t outside = kernel.outside().own.cycles;
  CHECK(outside >= 120);
  CHECK(kernel.row(CallKind::Int, 0x80, 11).returned == 0);
  CHECK(kernel.row(CallKind::Int, 0x80, 11).own.cycles >= 20);
  CHECK(kernel.row(CallKind::Int, 0x80, 1).calls == 1);
  CHECK(kernel.row(CallKind::Int, 0x80, 1).returned == 0);
}

TEST_CASE("calls: INT3 ends when a debugger takes it, and the call around it waits") {
  Kernel kernel;
  kernel.load_cr3(0x1000);
  const uint32_t back = kernel.ip + 2, stack = kernel.esp;
  kernel.system_call(7);
  kernel.to_user(kProgram + 0x1000, kUserStack - 0x1000);  // a handler of signals
  kernel.calls.before_far({kernel.ip + 1, kernel.esp}, 0);
  kernel.insn("cc");
  kernel.calls.delivered(p5::Entry::Soft, 3, {0, 0});
  kernel.model.soft_interrupt(3);
  kernel.set(MachineMode::Prot32, 0);
  kernel.arrive(kKernel, kKernelStack);
  kernel.work();
  kernel.load_cr3(0x2000);  // the debugger
  kernel.to_user(kProgram, kUserStack);
  kernel.work(200);
  kernel.system_call(26, kKernelStack + 0x2000);
  kernel.load_cr3(0x1000);
  kernel.esp = kKernelStack;
  kernel.to_user(kProgram + 0x2000, kUserStack - 0x2000);
  kernel.work(500);
  kernel.esp = kKernelStack;
  kernel.to_user(back, stack);
  CHECK(kernel.row(CallKind::Int, 3).calls == 1);
  CHECK(kernel.row(CallKind::Int, 3).returned == 0);
  CHECK(kernel.row(CallKind::Int, 3).own.cycles < 500);
  CHECK(kernel.row(CallKind::Int, 0x80, 7).returned == 1);
  CHECK(kernel.row(CallKind::Int, 0x80, 7).own.cycles >= 500);
  CHECK(kernel.row(CallKind::Int, 0x80, 7).waited >= 200);
}

TEST_CASE("calls: a handler of signals is inside the call, until the call returns") {
  Kernel kernel;
  const uint32_t back = kernel.ip + 2, stack = kernel.esp;
  kernel.system_call(37);
  kernel.to_user(kProgram + 0x4000, stack - 500);
  kernel.system_call(119);  // sigreturn
  kernel.to_user(back, stack);
  CHECK(kernel.row(CallKind::Int, 0x80, 37).returned == 1);
  CHECK(kernel.row(CallKind::Int, 0x80, 119).returned == 0);
}

TEST_CASE("calls: a gate releases its parameters, and idle time is counted apart") {
  Kernel kernel;
  kernel.calls.before_far({kernel.ip + 7, kernel.esp}, 42);
  const uint32_t back = kernel.ip + 7, stack = kernel.esp;
  kernel.insn("9a 00 00 00 00 00 00");
  kernel.calls.gate();
  kernel.model.far_transfer(p5::Crossing::Gate);
  kernel.set(MachineMode::Prot32, 0);
  kernel.arrive(kKernel, kKernelStack);
  kernel.model.idle(1000);
  kernel.to_user(back, stack + 12);
  const Row row = kernel.row(CallKind::Gate, 0, 42);
  CHECK(row.returned == 1);
  CHECK(row.own.idle == 1000);
  CHECK(row.own.cycles > 1000);
}

TEST_CASE("calls: a call that began before a bracket counts no call in it") {
  Dos dos;
  dos.calls.end();
  const uint32_t back = dos.ip + 2, stack = dos.esp;
  dos.interrupt(0x21, 0x3E00, kDos);
  dos.calls.begin(1);
  dos.work();
  dos.go(back, stack);
  dos.work();
  const Row row = dos.row(CallKind::Int, 0x21, 0x3E);
  CHECK(row.calls == 0);
  CHECK(row.returned == 0);
  CHECK(row.own.cycles > 0);
}

TEST_CASE("calls: without end and without return") {
  Dos dos;
  AddressStream random(3, 8192, 32);
  for (int i = 0; i < 70000; i++) {
    dos.esp = random.next();
    dos.interrupt(uint8_t(random.below(256)), random.next(), 0x1000 + 16 * random.below(0x8000));
    if (random.below(4) == 0) dos.go(random.next(), random.next());
  }
  dos.finish();
  uint64_t calls = 0;
  for (uint64_t row = 1; row < dos.calls.rows().size(); row++) calls += dos.counts(row).calls;
  CHECK(calls == 70000);
}

TEST_CASE("calls: words of the table") {
  CallTable table;
  std::string error;
  CHECK(table.parse("21:ah 2f:ax 80:eax gate:eax 19@7c00 80/fc:ends", &error));
  CHECK(table.key(CallKind::Int, 0x21, 0x12345678).function == 0x56);
  CHECK(table.key(CallKind::Int, 0x2F, 0x12345678).function == 0x5678);
  CHECK(table.key(CallKind::Int, 0x80, 0x12345678).function == 0x12345678);
  CHECK(table.key(CallKind::Hardware, 0x21, 0x12345678).function == observe::kNoFunction);
  CHECK(table.properties({CallKind::Int, 0x80, 0xFC}) == CallTable::kEnds);
  for (const char* wrong :
       {"21", "21:bx", "100:ah", ":ah", "80/1", "80/x:ends", "80/1:end", "19@"}) {
    CallTable refused;
    error.clear();
    CHECK_FALSE(refused.parse(wrong, &error));
    CHECK(error.find(wrong) != std::string::npos);
  }
}
