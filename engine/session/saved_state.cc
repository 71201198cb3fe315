// SPDX-License-Identifier: MIT
#include "session/saved_state.hh"

#include <asm/prctl.h>
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "restore/saved_image.hh"
#include "session/ending.hh"
#include "session/own_files.hh"

// Saves the registers, and returns 0. In the restored process it returns a second time, with 1.
extern "C" int p5_registers(restore::Registers* to) __attribute__((returns_twice));

asm(R"(
        .text
        .globl  p5_registers
        .type   p5_registers, @function
p5_registers:
        movq    %rbx, 0(%rdi)
        movq    %rbp, 8(%rdi)
        movq    %r12, 16(%rdi)
        movq    %r13, 24(%rdi)
        movq    %r14, 32(%rdi)
        movq    %r15, 40(%rdi)
        leaq    8(%rsp), %rdx
        movq    %rdx, 48(%rdi)
        movq    (%rsp), %rdx
        movq    %rdx, 56(%rdi)
        stmxcsr 64(%rdi)
        fnstcw  68(%rdi)
        xorl    %eax, %eax
        ret
        .size   p5_registers, . - p5_registers
)");

// The emulator asks for the host's time, although no event depends on it (test_host_clock.py). The
// C library would jump to the page vdso of the kernel, which is elsewhere in a restored process.
// These functions make system calls instead.
extern "C" int gettimeofday(timeval* time, void* zone) noexcept {
  return int(syscall(SYS_gettimeofday, time, zone));
}
extern "C" time_t time(time_t* time) noexcept { return syscall(SYS_time, time); }

extern "C" void* __curbrk;  // of the C library: the end of the heap

namespace session {
namespace {

constexpr char kImage[] = "image";
// Descriptors from this one on belong to the starter of a restored process: its locks.
constexpr int kFirstOfStarter = 500;

// Static, because memory must not be allocated while it is saved.
restore::Header header;
char maps[1 << 20];

void check(bool good, const char* what) {
  if (!good) die(kNoOutput, what);
}

// Reads the list of all regions from the kernel: `begin-end rwxp offset device inode path`.
void find_regions() {
  const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  size_t size = 0;
  for (ssize_t now = 1; now > 0 && size < sizeof maps - 1; size += size_t(now)) {
    now = read(file, maps + size, sizeof maps - 1 - size);
    check(now >= 0, "/proc/self/maps");
  }
  close(file);
  header.regions = 0;
  for (char* line = std::strtok(maps, "\n"); line; line = std::strtok(nullptr, "\n")) {
    restore::Region region{};
    char rights[5] = "";
    if (std::sscanf(line, "%lx-%lx %4s", &region.begin, &region.end, rights) != 3) continue;
    // The name is the last word. A path may contain any other word.
    const char* name = std::strrchr(line, ' ') + 1;
    if (std::strncmp(name, "[v", 2) == 0) continue;  // vdso, vvar, vsyscall: the kernel's own
    if (std::strcmp(name, "[stack]") == 0) header.stack = region.begin;
    region.protection = (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
                        (rights[2] == 'x' ? PROT_EXEC : 0);
    check(header.regions < restore::kMostRegions, "too many regions of memory");
    header.region[header.regions++] = region;
  }
}

void find_signals() {
  for (int i = 0; i < restore::kSignals; i++) {
    syscall(SYS_rt_sigaction, i + 1, nullptr, &header.actions[i], 8);
  }
}

bool is_zero(const char* page) {
  return page[0] == 0 && std::memcmp(page, page + 1, restore::kPage - 1) == 0;
}

bool write_all(int file, const void* from, size_t count, uint64_t offset) {
  const char* bytes = static_cast<const char*>(from);
  while (count) {
    const ssize_t now = pwrite(file, bytes, count, off_t(offset));
    if (now <= 0) return false;
    bytes += now;
    offset += uint64_t(now);
    count -= size_t(now);
  }
  return true;
}

// Writes the regions and then the header. Pages of zeros become holes of the file.
bool write_image(int file) {
  uint64_t offset = (sizeof header + restore::kPage - 1) / restore::kPage * restore::kPage;
  for (uint64_t i = 0; i < header.regions; i++) {
    restore::Region& region = header.region[i];
    if (!(region.protection & PROT_READ)) continue;
    region.offset = offset;
    for (uint64_t at = region.begin; at < region.end;
         at += restore::kPage, offset += restore::kPage) {
      const char* page = reinterpret_cast<const char*>(at);
      if (!is_zero(page) && !write_all(file, page, restore::kPage, offset)) return false;
    }
  }
  return ftruncate(file, off_t(offset)) == 0 && write_all(file, &header, sizeof header, 0);
}

// Moves the descriptors that the starter of this process has opened, so that they do not stand in
// the place of a file of the run.
void move_descriptors() {
  DIR* directory = opendir("/proc/self/fd");
  check(directory != nullptr, "/proc/self/fd");
  while (const dirent* entry = readdir(directory)) {
    const int one = std::atoi(entry->d_name);
    if (one <= STDERR_FILENO || one == dirfd(directory) || one >= kFirstOfStarter) continue;
    check(fcntl(one, F_DUPFD, kFirstOfStarter) >= 0, "a file of the starter");
    close(one);
  }
  closedir(directory);
}

// A file that the restored process must open again in its working directory.
struct Kept {
  OpenFile file;
  std::string name;
  off_t offset;
};

// Returns the open files of this process in its working directory, except its standard output.
std::vector<Kept> kept_files() {
  char here[PATH_MAX];
  check(getcwd(here, sizeof here) != nullptr, "working directory");
  const std::string below = std::string(here) + "/";
  std::vector<Kept> kept;
  for (const OpenFile& file : open_files()) {
    if (file.descriptor <= STDERR_FILENO) continue;
    if (file.path.compare(0, below.size(), below) != 0) continue;
    kept.push_back({file, file.path.substr(below.size()), lseek(file.descriptor, 0, SEEK_CUR)});
  }
  return kept;
}

// In the child that is saved. Returns in the restored process.
void leave_image() {
  const std::vector<Kept> files = kept_files();
  const int image = open(kImage, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  check(image >= 0, kImage);
  check(syscall(SYS_arch_prctl, ARCH_GET_FS, &header.fs) == 0, "arch_prctl");
  header.magic = restore::kMagic;
  find_signals();
  find_regions();
  if (p5_registers(&header.registers) == 0) _exit(write_image(image) ? 0 : kNoOutput);
  // The heap of this process is where the saved one was, and the kernel does not know it. Memory
  // that is freed at its end must not be given back, and the heap must not grow: the kernel would
  // answer with the end of the starter's heap, which lies behind, and the C library would take this
  // for success. New memory then comes from mmap().
  mallopt(M_TRIM_THRESHOLD, -1);
  __curbrk = reinterpret_cast<void*>(UINTPTR_MAX);  // sbrk() cannot add anything to it
  move_descriptors();
  for (const Kept& one : files) reopen(one.file, one.name, one.offset);
}

}  // namespace

bool save_state(const std::string& directory, const std::vector<std::string>& closed) {
  std::fflush(nullptr);
  check(mkdir(directory.c_str(), 0777) == 0, directory.c_str());
  const pid_t child = fork();
  check(child >= 0, "fork");
  if (child) {
    int status = 0;
    check(waitpid(child, &status, 0) == child, "waitpid");
    if (status) die(kNoOutput, directory + ": the state cannot be saved");
    return false;
  }
  char below[PATH_MAX];
  check(getcwd(below, sizeof below) != nullptr, "working directory");
  check(chdir(directory.c_str()) == 0, directory.c_str());
  take_files(std::string(below) + "/", closed);
  leave_image();
  return true;
}

}  // namespace session
