// SPDX-License-Identifier: MIT
// Decodes instructions for tests/unit/test_decode_objdump.py. For each line "16|32|64 <hex bytes>"
// of standard input, the program prints one line "<length> <prefixes> <class> <flags>". It prints
// "-" if the bytes are not a whole instruction. Each flag is a letter: r (invalid on the Pentium),
// R (also invalid at pentium+cmov), m (memory), d (displacement), i (immediate). The argument is
// the timing table.
#include <cstdio>
#include <iostream>
#include <string>

#include "p5/decode.hh"

int main(int argc, char** argv) {
  p5::TimingTable timing;
  std::string error;
  if (argc != 2 || !timing.load(argv[1], &error)) {
    std::fprintf(stderr, "p5decode: %s\n", argc == 2 ? error.c_str() : "expected: p5decode TABLE");
    return 2;
  }
  std::ios::sync_with_stdio(false);
  std::string line;
  while (std::getline(std::cin, line)) {
    const std::string bits = line.substr(0, 3);
    if (bits != "16 " && bits != "32 " && bits != "64 ") {
      std::fprintf(stderr, "p5decode: '%s': expected '16|32|64 <hex bytes>'\n", line.c_str());
      return 2;
    }
    uint8_t bytes[32];
    unsigned count = 0;
    for (size_t at = 3; at + 1 < line.size() && count < sizeof bytes; at += 2) {
      bytes[count++] = uint8_t(std::stoul(line.substr(at, 2), nullptr, 16));
    }
    p5::Insn insn;
    const bool whole = bits == "64 " ? p5::decode64(bytes, count, timing, &insn)
                                     : p5::decode(bytes, count, bits == "32 ", timing, &insn);
    if (!whole) {
      std::cout << "-\n";
      continue;
    }
    std::string flags = "=";
    if (insn.flags & p5::kNotOnPentium) flags += 'r';
    if (insn.flags & p5::kNotOnPentiumCmov) flags += 'R';
    if (insn.flags & p5::kMemory) flags += 'm';
    if (insn.flags & p5::kDisp) flags += 'd';
    if (insn.flags & p5::kImm) flags += 'i';
    std::cout << unsigned(insn.length) << ' ' << unsigned(insn.prefixes) << ' '
              << p5::kClassNames[insn.cls] << ' ' << flags << '\n';
  }
  return 0;
}
