/* SPDX-License-Identifier: MIT
   Executes random integer instructions of user mode and prints a checksum of each block of cases, or
   each case of one block: `integer_cases BLOCKS [FIRST [print]]`. The checksum covers the registers,
   the flags that the manual defines (Intel, Architecture and Programming Manual of the Pentium,
   241430, chapter 25) and the memory. test_instruction_values.py compares the output in the guest with
   the output of the same file on the host. */
#define _GNU_SOURCE /* REG_EIP */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { BLOCK = 1000 };
enum { CF = 1, PF = 4, AF = 0x10, ZF = 0x40, SF = 0x80, DF = 0x400, OF = 0x800 };
enum { ALL = CF | PF | AF | ZF | SF | DF | OF };
enum { EAX, ECX, EDX, EBX, ESP, EBP, ESI, EDI };
enum { DATA = 256, STACK = 512 }; /* bytes of the memory that instructions use */

/* What an instruction has after its opcode, and what it needs. */
enum {
  MODRM = 1,      /* ModR/M with any register */
  GROUP = 2,      /* ModR/M with the opcode extension `extension` */
  IMM8 = 4,       /* an immediate byte */
  IMM = 8,        /* an immediate of the operand's size */
  BYTE = 0x10,    /* an opcode of bytes; that of words has bit 0 set. Both are used */
  MEMORY = 0x20,  /* no register as the ModR/M operand */
  LOCK = 0x40,    /* may have a LOCK prefix in memory */
  NO16 = 0x80,    /* undefined with 16-bit operands */
  REGISTER = 0x100, /* the low three bits of the opcode are a register */
  CONDITION = 0x200, /* the low four bits of the opcode are a condition */
  ONE_SIZE = 0x400,  /* no operand-size prefix */
};

/* Flags that depend on a count, and values that must be in range. */
enum special { NONE, SHIFT, ROTATE, DOUBLE, BIT, DIVIDE, STRING, XLAT, FRAME, POPF, JUMP, OFFSET, RETURN };

struct form {
  const char* name;
  uint8_t length, opcode[2], extension;
  uint16_t has;
  uint16_t defined;
  enum special special;
};

#define ONE(code) 1, {code, 0}
#define TWO(code) 2, {0x0f, code}
#define ARITHMETIC(name, row, defined, lock)                               \
  {name, ONE(8 * row), 0, MODRM | BYTE | lock, defined, NONE},              \
  {name " r", ONE(8 * row + 2), 0, MODRM | BYTE, defined, NONE},            \
  {name " a", ONE(8 * row + 4), 0, IMM | BYTE, defined, NONE},              \
  {name " i", ONE(0x80), row, GROUP | IMM | BYTE | lock, defined, NONE},    \
  {name " x", ONE(0x83), row, GROUP | IMM8 | lock, defined, NONE},          \
  {name " 82", ONE(0x82), row, GROUP | IMM8 | ONE_SIZE, defined, NONE}
#define SHIFTS(name, row, special)                                          \
  {name " i", ONE(0xc0), row, GROUP | IMM8 | BYTE, ALL, special},           \
  {name " 1", ONE(0xd0), row, GROUP | BYTE, ALL, special},                  \
  {name " c", ONE(0xd2), row, GROUP | BYTE, ALL, special}
#define BITS(name, row, code)                                               \
  {name, TWO(code), 0, MODRM, CF | DF, BIT},                                \
  {name " i", TWO(0xba), row, GROUP | IMM8, CF | DF, NONE}

static const struct form forms[] = {
    ARITHMETIC("add", 0, ALL, LOCK), ARITHMETIC("or", 1, ALL & ~AF, LOCK),
    ARITHMETIC("adc", 2, ALL, LOCK), ARITHMETIC("sbb", 3, ALL, LOCK),
    ARITHMETIC("and", 4, ALL & ~AF, LOCK), ARITHMETIC("sub", 5, ALL, LOCK),
    ARITHMETIC("xor", 6, ALL & ~AF, LOCK), ARITHMETIC("cmp", 7, ALL, 0),
    SHIFTS("rol", 0, ROTATE), SHIFTS("ror", 1, ROTATE), SHIFTS("rcl", 2, ROTATE),
    SHIFTS("rcr", 3, ROTATE), SHIFTS("shl", 4, SHIFT), SHIFTS("shr", 5, SHIFT),
    SHIFTS("sal", 6, SHIFT), SHIFTS("sar", 7, SHIFT),
    BITS("bt", 4, 0xa3), BITS("bts", 5, 0xab), BITS("btr", 6, 0xb3), BITS("btc", 7, 0xbb),
    {"inc r", ONE(0x40), 0, REGISTER, ALL, NONE},
    {"dec r", ONE(0x48), 0, REGISTER, ALL, NONE},
    {"inc", ONE(0xfe), 0, GROUP | BYTE | LOCK, ALL, NONE},
    {"dec", ONE(0xfe), 1, GROUP | BYTE | LOCK, ALL, NONE},
    {"test", ONE(0x84), 0, MODRM | BYTE, ALL & ~AF, NONE},
    {"test a", ONE(0xa8), 0, IMM | BYTE, ALL & ~AF, NONE},
    {"test i", ONE(0xf6), 0, GROUP | IMM | BYTE, ALL & ~AF, NONE},
    {"not", ONE(0xf6), 2, GROUP | BYTE | LOCK, ALL, NONE},
    {"neg", ONE(0xf6), 3, GROUP | BYTE | LOCK, ALL, NONE},
    {"mul", ONE(0xf6), 4, GROUP | BYTE, CF | OF | DF, NONE},
    {"imul", ONE(0xf6), 5, GROUP | BYTE, CF | OF | DF, NONE},
    {"div", ONE(0xf6), 6, GROUP | BYTE, DF, DIVIDE},
    {"idiv", ONE(0xf6), 7, GROUP | BYTE, DF, DIVIDE},
    {"imul r", TWO(0xaf), 0, MODRM, CF | OF | DF, NONE},
    {"imul i", ONE(0x69), 0, MODRM | IMM, CF | OF | DF, NONE},
    {"imul x", ONE(0x6b), 0, MODRM | IMM8, CF | OF | DF, NONE},
    {"shld i", TWO(0xa4), 0, MODRM | IMM8 | NO16, ALL, DOUBLE},
    {"shld c", TWO(0xa5), 0, MODRM | NO16, ALL, DOUBLE},
    {"shrd i", TWO(0xac), 0, MODRM | IMM8 | NO16, ALL, DOUBLE},
    {"shrd c", TWO(0xad), 0, MODRM | NO16, ALL, DOUBLE},
    {"bsf", TWO(0xbc), 0, MODRM, ZF | DF, NONE},
    {"bsr", TWO(0xbd), 0, MODRM, ZF | DF, NONE},
    {"bswap", TWO(0xc8), 0, REGISTER | NO16, ALL, NONE},
    {"mov", ONE(0x88), 0, MODRM | BYTE, ALL, NONE},
    {"mov r", ONE(0x8a), 0, MODRM | BYTE, ALL, NONE},
    {"mov i", ONE(0xc6), 0, GROUP | IMM | BYTE, ALL, NONE},
    {"mov ri", ONE(0xb8), 0, REGISTER | IMM, ALL, NONE},
    {"mov a,m", ONE(0xa0), 0, BYTE, ALL, OFFSET},
    {"mov m,a", ONE(0xa2), 0, BYTE, ALL, OFFSET},
    {"movzx b", TWO(0xb6), 0, MODRM, ALL, NONE},
    {"movzx w", TWO(0xb7), 0, MODRM, ALL, NONE},
    {"movsx b", TWO(0xbe), 0, MODRM, ALL, NONE},
    {"movsx w", TWO(0xbf), 0, MODRM, ALL, NONE},
    {"lea", ONE(0x8d), 0, MODRM | MEMORY, ALL, NONE},
    {"xchg", ONE(0x86), 0, MODRM | BYTE | LOCK, ALL, NONE},
    {"xchg a", ONE(0x90), 0, REGISTER, ALL, NONE},
    {"cmpxchg", TWO(0xb0), 0, MODRM | BYTE | LOCK, ALL, NONE},
    {"xadd", TWO(0xc0), 0, MODRM | BYTE | LOCK, ALL, NONE},
    {"cmpxchg8b", TWO(0xc7), 1, GROUP | MEMORY | LOCK | ONE_SIZE, ALL, NONE},
    {"set", TWO(0x90), 0, MODRM | CONDITION | ONE_SIZE, ALL, NONE},
    {"j8", ONE(0x70), 0, CONDITION | ONE_SIZE, ALL, JUMP},
    {"j32", TWO(0x80), 0, CONDITION | ONE_SIZE, ALL, JUMP},
    {"loopne", ONE(0xe0), 0, ONE_SIZE, ALL, JUMP},
    {"loope", ONE(0xe1), 0, ONE_SIZE, ALL, JUMP},
    {"loop", ONE(0xe2), 0, ONE_SIZE, ALL, JUMP},
    {"jecxz", ONE(0xe3), 0, ONE_SIZE, ALL, JUMP},
    {"ret", ONE(0xc2), 0, ONE_SIZE, ALL, RETURN},
    {"cbw", ONE(0x98), 0, 0, ALL, NONE},
    {"cwd", ONE(0x99), 0, 0, ALL, NONE},
    {"aaa", ONE(0x37), 0, ONE_SIZE, CF | AF | DF, NONE},
    {"aas", ONE(0x3f), 0, ONE_SIZE, CF | AF | DF, NONE},
    {"daa", ONE(0x27), 0, ONE_SIZE, ALL & ~OF, NONE},
    {"das", ONE(0x2f), 0, ONE_SIZE, ALL & ~OF, NONE},
    {"aam", ONE(0xd4), 0, IMM8 | ONE_SIZE, SF | ZF | PF | DF, DIVIDE},
    {"aad", ONE(0xd5), 0, IMM8 | ONE_SIZE, SF | ZF | PF | DF, NONE},
    {"salc", ONE(0xd6), 0, ONE_SIZE, ALL, NONE},
    {"lahf", ONE(0x9f), 0, ONE_SIZE, ALL, NONE},
    {"sahf", ONE(0x9e), 0, ONE_SIZE, ALL, NONE},
    {"cmc", ONE(0xf5), 0, ONE_SIZE, ALL, NONE},
    {"clc", ONE(0xf8), 0, ONE_SIZE, ALL, NONE},
    {"stc", ONE(0xf9), 0, ONE_SIZE, ALL, NONE},
    {"cld", ONE(0xfc), 0, ONE_SIZE, ALL, NONE},
    {"std", ONE(0xfd), 0, ONE_SIZE, ALL, NONE},
    {"arpl", ONE(0x63), 0, MODRM | ONE_SIZE, ALL, NONE},
    {"into", ONE(0xce), 0, ONE_SIZE, ALL, NONE},
    {"bound", ONE(0x62), 0, MODRM | MEMORY, ALL, NONE},
    {"movs", ONE(0xa4), 0, BYTE, ALL, STRING},
    {"cmps", ONE(0xa6), 0, BYTE, ALL, STRING},
    {"stos", ONE(0xaa), 0, BYTE, ALL, STRING},
    {"lods", ONE(0xac), 0, BYTE, ALL, STRING},
    {"scas", ONE(0xae), 0, BYTE, ALL, STRING},
    {"xlat", ONE(0xd7), 0, ONE_SIZE, ALL, XLAT},
    {"push r", ONE(0x50), 0, REGISTER, ALL, NONE},
    {"pop r", ONE(0x58), 0, REGISTER, ALL, NONE},
    {"push", ONE(0xff), 6, GROUP, ALL, NONE},
    {"pop", ONE(0x8f), 0, GROUP, ALL, NONE},
    {"push i", ONE(0x68), 0, IMM, ALL, NONE},
    {"push x", ONE(0x6a), 0, IMM8, ALL, NONE},
    {"pusha", ONE(0x60), 0, 0, ALL, NONE},
    {"popa", ONE(0x61), 0, 0, ALL, NONE},
    {"pushf", ONE(0x9c), 0, 0, ALL, NONE},
    {"popf", ONE(0x9d), 0, 0, ALL, POPF},
    {"enter", ONE(0xc8), 0, 0, ALL, FRAME},
    {"leave", ONE(0xc9), 0, 0, ALL, FRAME},
};
enum { COUNT = sizeof(forms) / sizeof(*forms) };

struct state {
  uint32_t registers[8], flags;
};

static struct state before, after __attribute__((used));
static uint32_t own_stack __attribute__((used));
static struct {
  uint8_t guard[64], data[DATA], stack[STACK], end[64];
} memory __attribute__((aligned(64)));
static volatile int signalled;
static uint64_t seed;
static uint8_t* code; /* where the instruction is */
static uint8_t* next; /* where its next byte goes */

/* execute: loads the registers and flags from `before`, jumps to `code`, which ends with a jump to
   `resume`, and stores into `after`. No instruction between changes the flags. */
void execute(void);
extern const char resume[];
__asm__(
    ".text\nexecute:\n\tpusha\n\tpushf\n\tmov %esp, own_stack\n\tpush before+32\n\tpopf\n"
    "\tmov before+0, %eax\n\tmov before+4, %ecx\n\tmov before+8, %edx\n\tmov before+12, %ebx\n"
    "\tmov before+16, %esp\n\tmov before+20, %ebp\n\tmov before+24, %esi\n\tmov before+28, %edi\n"
    "\tjmp *code\n"
    "resume:\n\tmov %eax, after+0\n\tmov %ecx, after+4\n\tmov %edx, after+8\n\tmov %ebx, after+12\n"
    "\tmov %esp, after+16\n\tmov %ebp, after+20\n\tmov %esi, after+24\n\tmov %edi, after+28\n"
    "\tmov own_stack, %esp\n\tpushf\n\tpop after+32\n\tpopf\n\tpopa\n\tret\n");

static void on_signal(int number, siginfo_t* information, void* context) {
  (void)information;
  signalled = number;
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_EIP] = (greg_t)(uintptr_t)resume;
}

static uint64_t random_bits(void) { /* splitmix64 (Steele, Lea and Flood 2014) */
  uint64_t z = seed += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static uint32_t value(void) { /* often at the edge of a byte, a word or a doubleword */
  uint64_t bits = random_bits();
  uint32_t number = (uint32_t)(bits >> 32);
  switch (bits & 7) {
    case 0: return (uint32_t)((int32_t)(bits >> 3 & 7) - 4);
    case 1: return (1u << (bits >> 3 & 31)) - (bits >> 8 & 1);
    case 2: return number & 0xff;
    case 3: return number >> (bits >> 3 & 31);
    default: return number;
  }
}

static void emit(uint32_t number, int bytes) {
  memcpy(next, &number, 4);
  next += bytes;
}

/* A ModR/M operand. In memory, the displacement makes any base and index reach `place`. */
static void operand(unsigned reg, uint64_t bits, int only_memory, uint32_t place) {
  unsigned base = bits & 7, index = bits >> 3 & 7, scale = bits >> 6 & 3, choice = bits >> 8 & 3;
  if (choice < 2 && !only_memory) {
    emit(0xc0 | reg << 3 | base, 1);
  } else if (choice == 2) {
    emit(0x05 | reg << 3, 1);
    emit(place, 4);
  } else {
    uint32_t address = before.registers[base];
    if (index != ESP) address += before.registers[index] << scale;
    emit(0x84 | reg << 3, 1);
    emit(scale << 6 | index << 3 | base, 1);
    emit(place - address, 4);
  }
}

static uint16_t flags_of_count(const struct form* form, unsigned count, unsigned bits) {
  uint16_t defined = ALL;
  count &= 31;
  if (count == 0) return ALL;
  if (form->special != ROTATE) defined &= ~AF;
  if (count != 1) defined &= ~OF;
  if (form->special == SHIFT && form->extension != 7 && count >= bits) defined &= ~CF;
  return defined;
}

/* Gives registers and memory the values that an instruction must have not to leave the memory. */
static void prepare(const struct form* form, uint64_t bits) {
  uint32_t* registers = before.registers;
  uint32_t middle = (uint32_t)(uintptr_t)memory.data + DATA / 2;
  switch (form->special) {
    case BIT:
      for (int i = 0; i < 8; i++)
        if (i != ESP) registers[i] = (uint32_t)((int32_t)(registers[i] & 0x1ff) - 0x100);
      break;
    case DIVIDE:
      if (bits & 7) registers[EDX] = (registers[EDX] >> 16) * (bits >> 3 & 1);
      if (bits & 7 && bits & 16) registers[EAX] &= 0xffff;
      break;
    case STRING:
      registers[ESI] = middle + (bits & 15);
      registers[EDI] = middle + (bits >> 4 & 15);
      registers[ECX] &= 7;
      break;
    case XLAT: registers[EBX] = (uint32_t)(uintptr_t)memory.data; break;
    case FRAME: registers[EBP] = registers[ESP] + (bits & 63); break;
    case POPF: { /* neither TF nor NT nor AC */
      uint32_t flags = (uint32_t)bits & ALL;
      memcpy((void*)(uintptr_t)registers[ESP], &flags, 4);
      break;
    }
    default: break;
  }
}

/* Writes one instruction. Returns the flags that are defined after it. */
static uint16_t assemble(const struct form* form) {
  uint64_t bits = random_bits(), more = random_bits();
  uint32_t place = (uint32_t)(uintptr_t)memory.data + 64 + (more & 127);
  uint16_t defined = form->defined;
  int wide = !(form->has & BYTE) || bits & 1;
  int small = wide && !(form->has & (ONE_SIZE | NO16)) && bits & 2; /* 16 bits */
  int immediate = wide ? small ? 2 : 4 : 1, in_memory = (more >> 8 & 3) >= 2 || form->has & MEMORY;
  unsigned opcode = form->opcode[form->length - 1], reg = form->extension;
  unsigned condition = bits >> 8 & 15, count;
  next = code;
  if (form->has & BYTE) opcode |= wide;
  if (form->has & REGISTER) opcode |= bits >> 8 & 7;
  if (form->has & CONDITION) opcode |= condition;
  if (form->has & MODRM) reg = bits >> 12 & 7;
  if (form->special == BIT && reg == ESP) reg = EBP; /* ESP is no bit within the memory */
  if (form->has & LOCK && in_memory && !(bits >> 16 & 7)) emit(0xf0, 1);
  if (form->special == STRING && bits >> 16 & 3) emit(0xf2 | (bits >> 18 & 1), 1);
  if (!(bits >> 19 & 15)) emit(0x3e, 1);
  if (small) emit(0x66, 1);
  if (form->length == 2) emit(0x0f, 1);
  emit(opcode, 1);
  if (form->has & (MODRM | GROUP))
    operand(reg, more, form->has & MEMORY, place);
  count = form->has & IMM8 ? (unsigned)(bits >> 24 & 0xff) : before.registers[ECX];
  if (opcode == 0xd0 || opcode == 0xd1) count = 1;
  if (form->special == SHIFT || form->special == ROTATE || form->special == DOUBLE)
    defined = flags_of_count(form, count, 8u * (unsigned)immediate);
  if (form->has & IMM8) emit((uint32_t)(bits >> 24), 1);
  if (form->has & IMM) emit(value(), immediate);
  switch (form->special) {
    case OFFSET: emit(place, 4); break;
    case FRAME:
      if (opcode == 0xc8) emit((uint32_t)(bits >> 24) & 0x1f003f, 3);
      if (opcode == 0xc8) next[-1] &= 3;
      break;
    case JUMP: /* over LEA EAX, [EAX+1] */
      emit(3, form->length == 2 ? 4 : 1);
      emit(0x01408d, 3);
      break;
    case RETURN: { /* to the instruction after it */
      uint32_t there = (uint32_t)(uintptr_t)next + 2;
      memcpy((void*)(uintptr_t)before.registers[ESP], &there, 4);
      emit((uint32_t)(bits >> 24) & 0x3f, 2);
      break;
    }
    default: break;
  }
  emit(0xe9, 1);
  emit((uint32_t)(uintptr_t)resume - ((uint32_t)(uintptr_t)next + 4), 4);
  return defined;
}

static uint64_t mixed(uint64_t sum, const uint32_t* words, unsigned count) { /* FNV-1a by words */
  for (; count--; words++) sum = (sum ^ *words) * 0x100000001b3u;
  return sum;
}

static uint64_t one_case(uint64_t sum, int print) {
  const struct form* form = &forms[random_bits() % COUNT];
  for (int i = 0; i < 8; i++) before.registers[i] = value();
  before.registers[ESP] = (uint32_t)(uintptr_t)memory.stack + STACK / 2;
  before.flags = (uint32_t)random_bits() & (ALL & ~DF);
  if (form->special == STRING || form->special == NONE) before.flags |= random_bits() & DF;
  prepare(form, random_bits());
  uint16_t defined = assemble(form);
  signalled = 0;
  execute();
  after.flags &= signalled ? DF : defined;
  if (print) {
    printf("%s", form->name);
    for (const uint8_t* byte = code; byte < next - 5; byte++) printf(" %02x", *byte);
    printf(":");
    for (int i = 0; i < 9; i++) printf(" %x", ((uint32_t*)&before)[i]);
    printf(" ->");
    for (int i = 0; i < 9; i++) printf(" %x", ((uint32_t*)&after)[i]);
    printf(" signal %d memory %llx\n", signalled,
           (unsigned long long)mixed(0, (uint32_t*)&memory, sizeof(memory) / 4));
  }
  return mixed(sum ^ (unsigned)signalled, (uint32_t*)&after, 9);
}

int main(int arguments, char** words) {
  static uint8_t signal_stack[16384];
  unsigned blocks = arguments > 1 ? (unsigned)atoi(words[1]) : 1;
  unsigned first = arguments > 2 ? (unsigned)atoi(words[2]) : 0;
  stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof(signal_stack)};
  struct sigaction action = {.sa_sigaction = on_signal,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  sigaltstack(&stack, NULL);
  sigaction(SIGFPE, &action, NULL);
  sigaction(SIGSEGV, &action, NULL);
  code = mmap((void*)0x60000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (code == MAP_FAILED) {
    perror("integer_cases: mmap");
    return 1;
  }
  for (unsigned block = first; block < first + blocks; block++) {
    uint64_t sum = 0xcbf29ce484222325u;
    seed = block;
    for (unsigned i = 0; i < sizeof(memory) / 4; i++) ((uint32_t*)&memory)[i] = value();
    for (unsigned i = 0; i < BLOCK; i++) sum = one_case(sum, arguments > 3);
    sum = mixed(sum, (uint32_t*)&memory, sizeof(memory) / 4);
    printf("block %u %016llx\n", block, (unsigned long long)sum);
  }
  return 0;
}
