// SPDX-License-Identifier: MIT
// Does the decoder follow its rules? Each rule has hand-made cases here. For the whole opcode
// space, tests/unit/test_decode_objdump.py compares lengths and classes with objdump.
#include "p5/decode.hh"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "table.hh"

namespace {

using namespace p5;

constexpr RegMask kEax = 1, kEcx = 2, kEdx = 4, kEbx = 8, kEsp = 16, kEbp = 32, kEsi = 64,
                  kEdi = 128;

// Decodes a text like "8b 46 04". The whole text must be one instruction.
DecodedInsn decode_hex(const std::string& hex, bool code32 = true) {
  std::vector<uint8_t> bytes;
  for (size_t at = 0; at < hex.size(); at += 3) {
    bytes.push_back(uint8_t(std::stoul(hex.substr(at, 2), nullptr, 16)));
  }
  DecodedInsn insn;
  INFO(hex);
  REQUIRE(decode_registers(bytes.data(), unsigned(bytes.size()), code32, timing_table(), &insn));
  CHECK(insn.length == bytes.size());
  return insn;
}

DecodedInsn decode16(const std::string& hex) { return decode_hex(hex, false); }

std::string class_of(const std::string& hex) { return kClassNames[decode_hex(hex).cls]; }

bool has(const Insn& insn, InsnFlag flag) { return insn.flags & flag; }

}  // namespace

TEST_CASE("decode: registers of ModRM operands") {
  DecodedInsn insn = decode_hex("01 d8");  // add eax,ebx
  CHECK(insn.cls == Class::AluRR);
  CHECK(insn.reads == (kEax | kEbx));
  CHECK(insn.writes == kEax);
  CHECK(insn.agi_writes == kEax);
  CHECK(insn.address == 0);
  CHECK_FALSE(has(insn, kMemory));

  insn = decode_hex("8b 44 9e 04");  // mov eax,[esi+ebx*4+4]
  CHECK(insn.cls == Class::MovLoad);
  CHECK(insn.reads == 0);
  CHECK(insn.writes == kEax);
  CHECK(insn.address == (kEsi | kEbx));
  CHECK(has(insn, kMemory));
  CHECK(has(insn, kDisp));

  insn = decode_hex("89 0c 24");  // mov [esp],ecx: explicit ESP address
  CHECK(insn.cls == Class::MovStore);
  CHECK(insn.reads == kEcx);
  CHECK(insn.writes == 0);
  CHECK(insn.address == kEsp);
  CHECK_FALSE(has(insn, kStack));

  insn = decode_hex("39 c8");  // cmp eax,ecx writes nothing
  CHECK(insn.reads == (kEax | kEcx));
  CHECK(insn.writes == 0);

  insn = decode_hex("89 d8");  // mov eax,ebx does not read eax
  CHECK(insn.reads == kEbx);
  CHECK(insn.writes == kEax);
}

TEST_CASE("decode: parts of a register count as the whole") {
  CHECK(decode_hex("88 e0").reads == kEax);     // mov al,ah
  CHECK(decode_hex("b7 01").writes == kEbx);    // mov bh,1
  CHECK(decode_hex("8a 26").writes == kEax);    // mov ah,[esi]
  CHECK(decode_hex("0f b6 dc").reads == kEax);  // movzx ebx,ah
  CHECK(decode_hex("0f b6 dc").writes == kEbx);
  CHECK(decode_hex("0f b7 dc").reads == kEsp);  // movzx ebx,sp
}

TEST_CASE("decode: addresses of 16-bit and 32-bit forms") {
  CHECK(decode16("8b 07").address == kEbx);              // [bx]
  CHECK(decode16("8b 00").address == (kEbx | kEsi));     // [bx+si]
  CHECK(decode16("8b 43 10").address == (kEbp | kEdi));  // [bp+di+10h]
  CHECK(decode16("8b 06 34 12").address == 0);           // [1234h]
  CHECK(has(decode16("8b 06 34 12"), kDisp));
  CHECK(decode16("67 8b 04 1e").address == (kEsi | kEbx));    // 32-bit form in 16-bit code
  CHECK(decode_hex("67 8b 07").address == kEbx);              // 16-bit form in 32-bit code
  CHECK(decode_hex("8b 05 00 00 00 00").address == 0);        // [0]
  CHECK(decode_hex("8b 04 25 00 00 00 00").address == 0);     // the same with a SIB
  CHECK(decode_hex("8b 04 8d 00 00 00 00").address == kEcx);  // [ecx*4]
  CHECK(decode_hex("8b 04 20").address == kEax);              // index 4 means no index
}

TEST_CASE("decode: operand and address size change the length") {
  CHECK(decode_hex("66 05 34 12").length == 4);
  CHECK(decode_hex("05 78 56 34 12").length == 5);
  CHECK(decode16("05 34 12").length == 3);
  CHECK(decode16("66 05 78 56 34 12").length == 6);
  CHECK(decode_hex("67 a1 34 12").length == 4);
  CHECK(decode_hex("66 ea 00 00 00 00").length == 6);  // ptr16:16
  CHECK(decode_hex("f6 c1 7f").length == 3);           // TEST has an immediate,
  CHECK(decode_hex("f6 d1").length == 2);              // NOT has no immediate
  CHECK(decode_hex("c8 10 00 03").length == 4);
  CHECK(decode_hex("0f 22 18").length == 3);  // MOV CR: mod is ignored
  CHECK(decode_hex("0f 20 85").length == 3);
}

TEST_CASE("decode: incomplete instructions, and instructions that are too long") {
  Insn insn;
  const uint8_t load[] = {0x8B, 0x84, 0x24, 0x01, 0x02, 0x03, 0x04};
  for (unsigned available = 0; available < sizeof load; available++) {
    CAPTURE(available);
    CHECK_FALSE(decode(load, available, true, timing_table(), &insn));
  }
  CHECK(decode(load, sizeof load, true, timing_table(), &insn));

  const uint8_t two_byte[] = {0x0F, 0x38, 0xF0, 0x06};
  for (unsigned available = 0; available < sizeof two_byte; available++) {
    CHECK_FALSE(decode(two_byte, available, true, timing_table(), &insn));
  }
  // 14 prefixes and a NOP are 15 bytes. With one more prefix the instruction is too long.
  uint8_t prefixes[16];
  for (auto& byte : prefixes) byte = 0x66;
  prefixes[14] = 0x90;
  CHECK(decode(prefixes, 16, true, timing_table(), &insn));
  CHECK(insn.length == 15);
  CHECK(insn.prefixes == 14);
  prefixes[14] = 0x66;
  prefixes[15] = 0x90;
  CHECK_FALSE(decode(prefixes, 16, true, timing_table(), &insn));
}

TEST_CASE("decode: prefix clocks") {
  CHECK(decode_hex("90").prefixes == 0);
  CHECK(decode_hex("66 89 d8").prefixes == 1);
  CHECK(decode_hex("66 66 89 d8").prefixes == 2);
  for (const char* hex : {"26 8b 06", "2e 8b 06", "36 8b 06", "3e 8b 06", "64 8b 06", "65 8b 06",
                          "f0 01 06", "f3 a5", "f2 ae", "0f a2"}) {
    CAPTURE(hex);
    CHECK(decode_hex(hex).prefixes == 1);
  }
  CHECK(decode_hex("0f 84 00 00 00 00").prefixes == 0);  // near Jcc: 0F is free
  CHECK(decode_hex("66 0f 84 00 00").prefixes == 1);
  CHECK(decode_hex("0f 94 c0").prefixes == 1);  // SETcc: 0F takes a clock
  CHECK(decode_hex("66 64 0f b6 06").prefixes == 3);
}

TEST_CASE("decode: which ESP updates can cause an AGI") {  // [AGN-MA]
  for (const char* implicit : {"50", "58", "6a 01", "e8 00 00 00 00", "c3", "ff 30", "ff d0", "60",
                               "9c", "9d", "1e", "1f", "cd 80", "cf", "0f a0", "8f 00"}) {
    CAPTURE(implicit);
    const DecodedInsn insn = decode_hex(implicit);
    CHECK(has(insn, kStack));
    CHECK((insn.address & kEsp) != 0);
    CHECK((insn.writes & kEsp) != 0);
    CHECK((insn.agi_writes & kEsp) == 0);
  }
  for (const char* explicit_write :
       {"c2 08 00", "ca 08 00", "83 c4 08", "83 ec 08", "89 ec", "8d 64 24 08", "c9", "5c", "94",
        "bc 00 00 00 00", "8b 26", "c8 10 00 00", "44", "8f c4"}) {
    CAPTURE(explicit_write);
    CHECK((decode_hex(explicit_write).agi_writes & kEsp) != 0);
  }
  CHECK(decode_hex("58").agi_writes == kEax);            // POP writes its register explicitly
  CHECK(decode_hex("61").agi_writes == RegMask(~kEsp));  // POPA
  CHECK(decode_hex("c9").address == kEbp);               // LEAVE pops from where EBP points
  CHECK_FALSE(has(decode_hex("83 c4 08"), kStack));
  CHECK_FALSE(has(decode_hex("eb 00"), kStack));
}

TEST_CASE("decode: the accumulator of MOV moffs") {
  const DecodedInsn load = decode_hex("a1 00 00 00 00"), store = decode_hex("a3 00 00 00 00");
  CHECK(load.cls == Class::MovAccLoad);
  CHECK(load.agi_writes == kEax);
  CHECK(store.cls == Class::MovAccStore);
  CHECK(store.writes == kEax);  // for pairing only [AGN-IT]
  CHECK(store.agi_writes == 0);
  CHECK(store.reads == kEax);
  CHECK(has(store, kMemory));
  CHECK(has(store, kDisp));
  CHECK_FALSE(has(store, kImm));
}

TEST_CASE("decode: implicit registers") {
  CHECK(decode_hex("f7 e1").writes == (kEax | kEdx));  // mul ecx
  CHECK(decode_hex("f7 e1").reads == (kEax | kEcx));
  CHECK(decode_hex("f6 e1").writes == kEax);  // mul cl
  CHECK(decode_hex("f7 f1").reads == (kEax | kEdx | kEcx));
  CHECK(decode_hex("d3 e0").reads == (kEax | kEcx));  // shl eax,cl
  CHECK(decode_hex("c1 e0 03").reads == kEax);
  CHECK(decode_hex("99").writes == kEdx);
  CHECK(decode_hex("d7").address == (kEax | kEbx));  // xlat
  CHECK(decode_hex("a4").address == (kEsi | kEdi));
  CHECK(decode_hex("a4").writes == (kEsi | kEdi));
  CHECK(decode_hex("f3 a4").writes == (kEsi | kEdi | kEcx));
  CHECK(decode_hex("ac").writes == (kEsi | kEax));
  CHECK(decode_hex("aa").reads == kEax);
  CHECK(decode_hex("e2 fe").writes == kEcx);
  CHECK(decode_hex("ec").reads == kEdx);
  CHECK(decode_hex("e4 60").reads == 0);
  CHECK(decode_hex("0f a2").writes == (kEax | kEbx | kEcx | kEdx));
  CHECK(decode_hex("0f 31").writes == (kEax | kEdx));
  CHECK(decode_hex("0f 30").reads == (kEax | kEcx | kEdx));
  CHECK(decode_hex("df e0").writes == kEax);  // fnstsw ax
  CHECK(decode_hex("dd 38").writes == 0);     // fnstsw [eax]
  CHECK(decode_hex("0f c9").writes == kEcx);  // bswap ecx
  CHECK(decode_hex("91").writes == (kEax | kEcx));
}

TEST_CASE("decode: LEA, INVLPG and NOP only compute an address") {
  const Insn lea = decode_hex("8d 44 0b 04");
  CHECK(lea.cls == Class::Lea);
  CHECK(lea.address == (kEbx | kEcx));  // subject to AGI
  CHECK_FALSE(has(lea, kMemory));
  CHECK_FALSE(has(decode_hex("0f 01 3b"), kMemory));
  CHECK(decode_hex("0f 01 3b").address == kEbx);
  CHECK_FALSE(has(decode_hex("0f 1f 00"), kMemory));
  CHECK(has(decode_hex("0f 01 1b"), kMemory));  // LIDT does read
}

TEST_CASE("decode: branches, far transfers, system instructions") {
  for (const char* hex :
       {"eb 00", "e9 00 00 00 00", "e8 00 00 00 00", "ff e0", "ff 20", "ff d0", "c3", "c2 04 00"}) {
    CAPTURE(hex);
    CHECK(has(decode_hex(hex), kBranch));
    CHECK_FALSE(has(decode_hex(hex), kConditional));
    CHECK_FALSE(has(decode_hex(hex), kFar));
    CHECK_FALSE(has(decode_hex(hex), kUncommon));
  }
  for (const char* hex : {"74 00", "0f 84 00 00 00 00", "e2 00", "e1 00", "e3 00"}) {
    CAPTURE(hex);
    CHECK(has(decode_hex(hex), kBranch));
    CHECK(has(decode_hex(hex), kConditional));
  }
  for (const char* hex : {"ea 00 00 00 00 00 00", "9a 00 00 00 00 00 00", "ff 28", "ff 18", "cb",
                          "ca 04 00", "cc", "cd 80", "ce", "cf"}) {
    CAPTURE(hex);
    CHECK(has(decode_hex(hex), kFar));
    CHECK_FALSE(has(decode_hex(hex), kBranch));
    CHECK(has(decode_hex(hex), kUncommon));
  }
  for (const char* hex : {"0f 22 d8", "0f 23 f8", "0f 08", "0f 09", "0f 01 3b", "0f 01 13",
                          "0f 01 1b", "0f 00 d0", "0f 00 d8", "0f a2", "0f 30", "0f aa", "cf"}) {
    CAPTURE(hex);
    CHECK(has(decode_hex(hex), kSerializing));
  }
  for (const char* hex : {"0f 20 d8", "0f 21 f8", "0f 31", "0f 32", "f4", "0f 06", "0f 01 03"}) {
    CAPTURE(hex);
    CHECK_FALSE(has(decode_hex(hex), kSerializing));
    CHECK(has(decode_hex(hex), kSystem));
    CHECK(has(decode_hex(hex), kUncommon));
  }
  CHECK(has(decode_hex("ec"), kIo));
  CHECK(has(decode_hex("6f"), kIo));
  CHECK_FALSE(has(decode_hex("a5"), kIo));
}

TEST_CASE("decode: an instruction of the fast path has its length and its clocks") {
  CHECK(decode_hex("89 d8").reach == 2);
  CHECK(decode_hex("89 d8").clocks == 1);
  CHECK(decode_hex("66 01 44 24 04").reach == 5);
  CHECK(decode_hex("66 01 44 24 04").clocks == 3);
  // Locked and uncommon instructions, and PUSHF, whose clocks depend on the mode.
  for (const char* hex : {"f0 01 08", "87 03", "f3 a5", "d8 c1", "0f a2", "f7 e1", "8e d8", "9c"})
    CHECK(decode_hex(hex).reach == kNoReach);
}

TEST_CASE("decode: locked accesses") {
  CHECK(has(decode_hex("f0 0f b1 0b"), kLocked));
  CHECK(has(decode_hex("87 03"), kLocked));  // XCHG with memory locks by itself
  CHECK_FALSE(has(decode_hex("87 c3"), kLocked));
  CHECK_FALSE(has(decode_hex("0f b1 0b"), kLocked));
}

TEST_CASE("decode: REP belongs to string instructions only") {
  CHECK(class_of("f3 a5") == "rep.movs");
  CHECK(class_of("f2 a5") == "rep.movs");
  CHECK(class_of("f2 ae") == "rep.scas");
  CHECK(class_of("66 f3 ab") == "rep.stos");
  CHECK(class_of("f3 6d") == "rep.ins");
  CHECK(has(decode_hex("f3 a5"), kRep));
  CHECK(has(decode_hex("f3 a5"), kUncommon));
  CHECK_FALSE(has(decode_hex("a5"), kRep));
  CHECK_FALSE(has(decode_hex("a5"), kUncommon));
  CHECK(class_of("f3 90") == "nop");  // PAUSE is a NOP on this chip
  CHECK_FALSE(has(decode_hex("f3 90"), kRep));
  CHECK_FALSE(has(decode_hex("f3 90"), kNotOnPentium));
}

TEST_CASE("decode: segment and table loads") {
  for (const char* hex :
       {"8e d8", "8e 00", "8e d0", "1f", "07", "17", "0f a1", "0f a9", "c4 00", "c5 00", "0f b2 00",
        "0f b4 00", "0f b5 00", "0f 00 d0", "0f 00 d8", "0f 01 10", "0f 01 18"}) {
    CAPTURE(hex);
    CHECK(decode_hex(hex).segment_loads == 1);
    CHECK(has(decode_hex(hex), kUncommon));
  }
  for (const char* hex : {"8c d8", "1e", "0f a0", "ea 00 00 00 00 00 00", "cb", "cf", "0f 00 c0",
                          "0f 01 00", "8e c8"}) {  // 8E C8: MOV CS is invalid
    CAPTURE(hex);
    CHECK(decode_hex(hex).segment_loads == 0);
  }
  CHECK(class_of("8e d0") == "mov.ss");
  CHECK(class_of("8e 10") == "mov.ss-mem");
  CHECK(class_of("8e d8") == "mov.sreg");
  CHECK(class_of("17") == "pop.ss");
  CHECK(class_of("1f") == "pop.sreg");
}

TEST_CASE("decode: pairing") {  // [INTEL-OPT ch. 3, AGN-IT]
  const auto pairing = [](const char* hex) { return decode_hex(hex).pairing; };
  CHECK(pairing("89 d8") == Pairing::UV);
  CHECK(pairing("8b 46 04") == Pairing::UV);
  CHECK(pairing("c7 06 01 00 00 00") == Pairing::UV);     // mov [esi],imm
  CHECK(pairing("c7 46 04 01 00 00 00") == Pairing::NP);  // with displacement: does not pair
  CHECK(pairing("83 3b 05") == Pairing::UV);              // cmp [ebx],5
  CHECK(pairing("83 7b 04 05") == Pairing::NP);
  CHECK(pairing("80 4b 04 05") == Pairing::NP);
  CHECK(pairing("c1 63 04 05") == Pairing::NP);  // shl [ebx+4],5
  CHECK(pairing("d1 63 04") == Pairing::PU);     // by 1: no immediate
  CHECK(pairing("c1 e0 03") == Pairing::PU);
  CHECK(pairing("d3 e0") == Pairing::NP);
  CHECK(pairing("c1 c0 03") == Pairing::NP);  // rol eax,3
  CHECK(pairing("d1 c0") == Pairing::PU);
  CHECK(pairing("11 d8") == Pairing::PU);
  CHECK(pairing("a8 01") == Pairing::UV);
  CHECK(pairing("f6 c1 01") == Pairing::NP);  // test cl,1
  CHECK(pairing("f7 d8") == Pairing::NP);
  CHECK(pairing("6a 05") == Pairing::UV);
  CHECK(pairing("ff 33") == Pairing::NP);
  CHECK(pairing("74 00") == Pairing::PV);
  CHECK(pairing("0f 84 00 00 00 00") == Pairing::PV);
  CHECK(pairing("e8 00 00 00 00") == Pairing::PV);
  CHECK(pairing("c3") == Pairing::NP);
  CHECK(pairing("66 89 d8") == Pairing::PU);  // prefixed: U only
  CHECK(pairing("64 8b 06") == Pairing::PU);
  CHECK(pairing("66 11 d8") == Pairing::PU);
  CHECK(pairing("2e 74 00") == Pairing::NP);  // PV, and U only: does not pair
  CHECK(pairing("d8 c1") == Pairing::FX);
  CHECK(pairing("d9 c9") == Pairing::NP);
}

TEST_CASE("decode: invalid instructions at both ISA levels") {
  const auto refused = [](const char* hex) {
    const Insn insn = decode_hex(hex);
    return std::pair(has(insn, kNotOnPentium), has(insn, kNotOnPentiumCmov));
  };
  // Only level pentium+cmov executes CMOV, FCMOV, FCOMI and hint NOPs (multi-byte NOP, ENDBR32).
  for (const char* hex : {"0f 44 c1", "0f 4f 06", "da c1", "db d9", "db f1", "df e9", "0f 1f 00",
                          "0f 1f 44 00 00", "66 0f 1f 44 00 00", "f3 0f 1e fb", "0f 0d 08"}) {
    CAPTURE(hex);
    CHECK(refused(hex) == std::pair(true, false));
  }
  // Both levels refuse MMX, SSE, fences, SYSENTER, SYSEXIT, SYSCALL, RDPMC, FISTTP, POPCNT, MOVBE,
  // RDTSCP, RDRAND and AVX.
  for (const char* hex : {"0f 6f c1", "0f 77",       "0f 28 c1",    "f3 0f 10 c1",
                          "0f ae 00", "0f ae e8",    "0f c3 00",    "0f 34",
                          "0f 35",    "0f 05",       "0f 33",       "db 08",
                          "dd 08",    "f3 0f b8 c1", "0f 38 f0 00", "66 0f 3a 0f c1 04",
                          "0f 01 f9", "0f c7 f0",    "0f ef c0",    "0f e7 00",
                          "c5 f8"}) {
    CAPTURE(hex);
    CHECK(refused(hex) == std::pair(true, true));
  }
  // Neither level refuses ordinary instructions, or the invalid opcodes that software executes to
  // get #UD.
  for (const char* hex : {"0f 0b", "0f b9 c0", "0f ff c0", "0f c7 0b", "0f b1 0b", "0f a2", "d9 c1",
                          "db e3", "df e0", "de d9", "da e9", "c4 00", "62 00", "0f 31", "0f c8"}) {
    CAPTURE(hex);
    CHECK(refused(hex) == std::pair(false, false));
  }
}

TEST_CASE("decode: classes that depend on operand size or value") {
  CHECK(class_of("f7 f1") == "div.32");
  CHECK(class_of("66 f7 f1") == "div.16");
  CHECK(class_of("f6 f1") == "div.8");
  CHECK(kClassNames[decode16("f7 f1").cls] == std::string("div.16"));
  CHECK(class_of("cf") == "iretd");
  CHECK(kClassNames[decode16("cf").cls] == std::string("iret"));
  CHECK(kClassNames[decode16("66 cf").cls] == std::string("iretd"));
  CHECK(class_of("0f bc 03") == "bsf.m.32");
  CHECK(class_of("66 0f bd c1") == "bsr.r.16");
  CHECK(class_of("c8 10 00 00") == "enter.0");
  CHECK(class_of("c8 10 00 01") == "enter.1");
  CHECK(class_of("c8 10 00 21") == "enter.1");  // the level counts modulo 32
  const Insn enter = decode_hex("c8 10 00 05");
  CHECK(enter.cls == Class::EnterN);
  CHECK(enter.modrm == 5);
  CHECK(class_of("0f 22 c0") == "mov.to-cr0");
  CHECK(class_of("0f 22 d8") == "mov.to-cr3");
  CHECK(class_of("0f 22 e0") == "mov.to-cr4");
  CHECK(class_of("90") == "nop");
  CHECK(class_of("91") == "xchg.acc");
}

TEST_CASE("decode: x87") {
  CHECK(class_of("d8 c1") == "fadd");
  CHECK(class_of("dc 36") == "fdiv");
  CHECK(class_of("da 0e") == "fiadd");  // FIMUL
  CHECK(class_of("db 2e") == "fld.m80");
  CHECK(class_of("df 2e") == "fild");
  CHECK(class_of("df 3e") == "fist");
  CHECK(class_of("d9 fa") == "fsqrt");
  CHECK(class_of("de d9") == "fcom");
  CHECK(class_of("da e9") == "fcom");
  CHECK(class_of("dd 36") == "fnsave");
  CHECK(class_of("d9 d1") == "unknown");
  CHECK(has(decode_hex("d9 c9"), kFpu));
  CHECK(has(decode_hex("dd 46 08"), kMemory));
  CHECK_FALSE(has(decode_hex("9b"), kFpu));
}

TEST_CASE("decode: invalid opcodes have no class and are uncommon") {
  for (const char* hex :
       {"0f 0b", "0f 04", "8d c0", "fe d0", "ff f8", "0f 24 c0", "0f 22 c8", "8f c8", "c6 c8 00"}) {
    CAPTURE(hex);
    CHECK(class_of(hex) == "unknown");
    CHECK(has(decode_hex(hex), kUncommon));
  }
}

TEST_CASE("decode: every class of an encoding can be reached") {
  // Goes through all opcodes and ModRM bytes. If a class had no encoding, the model would never use
  // the row of this class in the table.
  std::vector<bool> seen(Class::Count, false);
  for (int map = 0; map < 2; map++) {
    for (int opcode = 0; opcode < 256; opcode++) {
      for (int modrm = 0; modrm < 256; modrm++) {
        for (const uint8_t prefix : {0x3E, 0x66, 0xF3}) {
          uint8_t bytes[16] = {prefix};
          unsigned at = 1;
          if (map == 1) bytes[at++] = 0x0F;
          bytes[at++] = uint8_t(opcode);
          bytes[at++] = uint8_t(modrm);
          bytes[at + 1] = uint8_t(modrm);  // ENTER's level
          Insn insn;
          if (decode(bytes, 15, true, timing_table(), &insn)) seen[insn.cls] = true;
        }
      }
    }
  }
#define P5_CHECK_SEEN(id, name) CHECK_MESSAGE(seen[Class::id], name);
  P5_DECODED_CLASSES(P5_CHECK_SEEN)
#undef P5_CHECK_SEEN
#define P5_CHECK_UNSEEN(id, name) CHECK_MESSAGE(!seen[Class::id], name);
  P5_OUTCOME_CLASSES(P5_CHECK_UNSEEN)
#undef P5_CHECK_UNSEEN
}
