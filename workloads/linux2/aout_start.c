/* SPDX-License-Identifier: MIT */
/*
 * The start of a program in the format a.out. Linux puts argc and the addresses of argv and of the
 * environment on its stack (create_tables in Linux 1.0, fs/exec.c). BSD puts argc and the strings
 * of argv and of the environment there (4.4BSD-Lite, kern/kern_exec.c). The C library expects what
 * an ELF program of Linux finds: the strings of argv, of the environment and the auxiliary vector,
 * one after the other.
 */
#include <elf.h>
#include <stddef.h>
#include <string.h>

#define PAGE 4096

int main(int argc, char **argv);
void _init(void);
void _fini(void);
int __libc_start_main(int (*program)(int, char **), int argc, char **argv, void (*begin)(void),
                      void (*end)(void), void (*unused)(void));

__asm__(
    ".globl _start\n"
    "_start:\n"
    "  xorl %ebp, %ebp\n"
#ifdef P5LAB_BSD
    "  movl (%esp), %eax\n"
    "  leal 4(%esp), %ecx\n"
    "  leal 8(%esp,%eax,4), %edx\n"
    "  pushl %edx\n"
    "  pushl %ecx\n"
    "  pushl %eax\n"
#endif
    "  call start_as_elf\n");

static size_t length_of(char **texts) {
  size_t count = 0;
  while (texts[count]) count++;
  return count + 1;
}

__attribute__((used)) static void start_as_elf(int argc, char **argv, char **environment) {
  size_t texts = length_of(argv), variables = length_of(environment);
  Elf32_auxv_t *more;
  char *block[texts + variables + 2 * sizeof(*more) / sizeof(char *)];
  memcpy(block, argv, texts * sizeof(*argv));
  memcpy(block + texts, environment, variables * sizeof(*environment));
  more = (Elf32_auxv_t *)(block + texts + variables);
  more[0] = (Elf32_auxv_t){.a_type = AT_PAGESZ, .a_un.a_val = PAGE};
  more[1] = (Elf32_auxv_t){.a_type = AT_NULL};
  __libc_start_main(main, argc, block, _init, _fini, NULL);
}
