# SPDX-License-Identifier: MIT
"""The tree that workload andrew-make compiles, on this host, and its program by other compilers."""

import os
import subprocess
import sys
from pathlib import Path

from building import zig_caches

from p5lab.lab import cache_directory

REPO = Path(__file__).parents[1]
INCLUDE = ("workloads/lib", "guest-images/linux/p5ctr", "workloads/apps/andrew-make")
# Writes the tree. The arguments are the numbers of files, KB and directories.
WRITER = """
#define TREE_COPY "/bin/cp"
#include "tree.h"
#include "sources.h"
int main(int argc, char **argv) {
  if (argc != 4) return 1;
  tree_files = atol(argv[1]), tree_kilobytes = atol(argv[2]), tree_directories = atol(argv[3]);
  generate("tree");
  return 0;
}
"""
# clang calls this function of the C library even for a program without one.
MEMSET = """
void *memset(void *place, int byte, unsigned size) {
  for (char *at = place; size > 0; size--) *at++ = (char)byte;
  return place;
}
"""
GCC = ["gcc", "-m32", "-march=pentium", "-fno-pic", "-fno-stack-protector"]
CLANG = [
    *(sys.executable, "-m", "ziglang", "cc", "-target", "x86-linux-musl", "-mcpu=pentium"),
    *("-fno-stack-protector", "-fno-sanitize=undefined"),
]


def writer_in(place):
    """Makes the program that writes the tree, and returns its path."""
    (place / "writer.c").write_text(WRITER)
    include = [f"-I{REPO / name}" for name in INCLUDE]
    words = ["gcc", "-D_GNU_SOURCE", "-DP5LAB_NATIVE", *include, "-o", place / "writer"]
    subprocess.run([*words, place / "writer.c"], check=True)
    return place / "writer"


def written(writer, place, *numbers):
    """Writes the tree in a directory, and returns its place."""
    place.mkdir(exist_ok=True)
    subprocess.run([writer, *map(str, numbers)], cwd=place, check=True)
    return place / "tree"


def compiled(tree, compiler, option):
    """What the program prints when this compiler has made it, all files at once."""
    place = tree.with_name(f"objects-{len(compiler)}{option}")
    place.mkdir()
    flags = [option, "-w", "-ffreestanding", "-c"]
    environment = {**os.environ, **zig_caches(cache_directory() / "zig")}
    subprocess.run([*compiler, *flags, *tree.rglob("*.c")], cwd=place, check=True, env=environment)
    (place / "memset.c").write_text(MEMSET)
    subprocess.run([*GCC, "-fno-builtin", "-c", "memset.c"], cwd=place, check=True)
    link = ["gcc", "-m32", "-static", "-no-pie", "-nostdlib", "-o", place / "program"]
    subprocess.run([*link, *sorted(place.glob("*.o"))], check=True)
    return subprocess.run([place / "program"], capture_output=True, text=True, check=True).stdout
