// SPDX-License-Identifier: MIT
// How does a saved process continue in a new process? This program replaces its own memory by the
// regions in a file (saved_image.hh), sets the registers and jumps to the code of the saved
// process. It needs no library, because it must not have memory that is in the way: the linker
// places it at an address that no other program uses.
//
// Usage: p5restore FILE. The program removes FILE when it is mapped.
#include <asm/prctl.h>
#include <asm/unistd.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

#include "restore/saved_image.hh"

extern "C" {
extern char __executable_start[], _end[];  // of the linker
[[noreturn]] void p5_restore(char** arguments);
[[noreturn]] void p5_jump(const restore::Registers* registers);
}

namespace {

constexpr uint64_t kLowest = 0x10000, kHighest = 0x7FFFFFFFF000;  // addresses of a process
constexpr uint64_t kStack = 8 << 20;  // bytes by which the stack may grow, as by default on Linux
constexpr int kBadInput = 2;          // exit status (session/ending.hh)

restore::Header header;

long call(long number, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0, uint64_t d = 0,
          uint64_t e = 0, uint64_t f = 0) {
  register uint64_t r10 asm("r10") = d, r8 asm("r8") = e, r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

uint64_t address(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

[[noreturn]] void die(const char* why) {
  uint64_t length = 0;
  while (why[length]) length++;
  call(__NR_write, 2, address(why), length);
  for (;;) call(__NR_exit_group, kBadInput);
}

void read_header(long file) {
  char* to = reinterpret_cast<char*>(&header);
  for (uint64_t done = 0; done < sizeof header;) {
    const long now = call(__NR_read, uint64_t(file), address(to + done), sizeof header - done);
    if (now <= 0) die("the saved state is too short\n");
    done += uint64_t(now);
  }
  if (header.magic != restore::kMagic || header.regions > restore::kMostRegions) {
    die("the saved state is damaged\n");
  }
}

void map(uint64_t begin, uint64_t end, uint64_t protection, long file, uint64_t offset) {
  const uint64_t anonymous = offset ? 0 : MAP_ANONYMOUS | MAP_NORESERVE;
  const long at =
      call(__NR_mmap, begin, end - begin, protection, MAP_PRIVATE | MAP_FIXED | anonymous,
           offset ? uint64_t(file) : ~uint64_t(0), offset);
  if (uint64_t(at) != begin) die("the saved state needs memory that this host does not give\n");
}

}  // namespace

void p5_restore(char** arguments) {
  const char* path = arguments[1];
  const long file = path ? call(__NR_open, address(path), O_RDONLY) : -1;
  if (file < 0) die("the saved state cannot be read\n");
  read_header(file);
  call(__NR_unlink, address(path));
  // Removes all memory of this process except that of this program. The kernel's page vdso goes
  // too: the engine does not use it (session/saved_state.cc).
  const uint64_t own = address(__executable_start);
  const uint64_t behind = (address(_end) + restore::kPage - 1) & ~(restore::kPage - 1);
  call(__NR_munmap, kLowest, own - kLowest);
  call(__NR_munmap, behind, kHighest - behind);
  map(header.stack - kStack, header.stack, PROT_READ | PROT_WRITE, -1, 0);
  for (uint64_t i = 0; i < header.regions; i++) {
    const restore::Region& one = header.region[i];
    map(one.begin, one.end, one.protection, file, one.offset);
  }
  call(__NR_close, uint64_t(file));
  for (int i = 0; i < restore::kSignals; i++) {
    call(__NR_rt_sigaction, uint64_t(i) + 1, address(&header.actions[i]), 0, 8);
  }
  call(__NR_arch_prctl, ARCH_SET_FS, header.fs);
  p5_jump(&header.registers);
}

// The first instruction of the program: it leaves the stack of the kernel, which is removed. Then
// p5_jump, which loads the registers. The saved call returns 1.
asm(R"(
        .bss
        .balign 16
        .fill   65536
stack:
        .text
        .globl  _start
_start: leaq    8(%rsp), %rdi
        leaq    stack(%rip), %rsp
        call    p5_restore
        .globl  p5_jump
p5_jump:
        movq    0(%rdi), %rbx
        movq    8(%rdi), %rbp
        movq    16(%rdi), %r12
        movq    24(%rdi), %r13
        movq    32(%rdi), %r14
        movq    40(%rdi), %r15
        movq    48(%rdi), %rsp
        ldmxcsr 64(%rdi)
        fninit
        fldcw   68(%rdi)
        movl    $1, %eax
        jmp     *56(%rdi)
)");
