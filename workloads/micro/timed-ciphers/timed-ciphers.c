/* SPDX-License-Identifier: MIT */
/*
 * timed-ciphers: ciphers and message digests in assembly language from OpenSSL, whose clocks a byte
 * were measured on a Pentium and published by their authors (polyakov20, young97). Phase = routine.
 *
 * The assembly language is OpenSSL's, and build_header.py makes openssl-586.h from it. The routines
 * choose their code by the features in OPENSSL_ia32cap_P. Here it is zero, as on a Pentium without
 * MMX. Before the measurement, each routine is checked with an example of its standard. Then it
 * processes the same buffer of `bytes` bytes again and again, as `openssl speed` does; a cipher
 * writes its result into the same buffer.
 */
#include "p5w.h"

#define BYTES_MAX 8192
#define GROUP 512 /* bytes: whole blocks of each routine, and enough for the large tables of AES */

#ifdef __i386__
#include "openssl-586.h"

typedef struct {
  uint32_t words[60];
  int rounds;
} aes_key;
typedef struct {
  uint32_t x, y, words[256];
} rc4_key;
typedef struct {
  uint32_t p[18], s[4][256];
} blowfish_key;

void sha1_block_data_order(uint32_t *state, const void *from, size_t blocks);
void sha256_block_data_order(uint32_t *state, const void *from, size_t blocks);
void sha512_block_data_order(uint64_t *state, const void *from, size_t blocks);
int AES_set_encrypt_key(const uint8_t *bytes, int bits, aes_key *key);
int AES_set_decrypt_key(const uint8_t *bytes, int bits, aes_key *key);
void AES_encrypt(const uint8_t *from, uint8_t *to, const aes_key *key);
void AES_decrypt(const uint8_t *from, uint8_t *to, const aes_key *key);
void AES_cbc_encrypt(const uint8_t *from, uint8_t *to, size_t bytes, const aes_key *key,
                     uint8_t *vector, int encrypt);
void RC4_set_key(rc4_key *key, int bytes, const uint8_t *from);
void RC4(rc4_key *key, size_t bytes, const uint8_t *from, uint8_t *to);
int poly1305_init(void *state, const uint8_t *key, void *functions);
void poly1305_blocks(void *state, const uint8_t *from, size_t bytes, uint32_t bit);
void poly1305_emit(void *state, uint8_t *tag, const uint32_t *nonce);
void ChaCha20_ctr32(uint8_t *to, const uint8_t *from, size_t bytes, const uint32_t *key,
                    const uint32_t *counter);
void gcm_ghash_4bit_x86(uint8_t *hash, const uint64_t (*table)[2], const uint8_t *from,
                        size_t bytes);
void BF_cbc_encrypt(const uint8_t *from, uint8_t *to, long bytes, const blowfish_key *key,
                    uint8_t *vector, int encrypt);

static struct {
  uint8_t buffer[BYTES_MAX];
  uint8_t vector[16]; /* of a cipher with chained blocks */
  uint32_t sha[8];
  uint64_t sha512[8];
  aes_key encrypt, decrypt;
  rc4_key rc4;
  uint8_t poly1305[256];
  void *poly1305_functions[2];
  uint32_t chacha_key[8], chacha_counter[4];
  uint64_t ghash_table[16][2];
  uint8_t ghash[16];
  blowfish_key blowfish;
} data __attribute__((aligned(64)));

static long bytes = BYTES_MAX;

/* The value of a hexadecimal text, as bytes. */
static const uint8_t *hex(const char *text) {
  static uint8_t value[64];
  for (size_t i = 0; i < sizeof(value) && text[2 * i]; i++) {
    const char digits[3] = {text[2 * i], text[2 * i + 1], 0};
    value[i] = (uint8_t)strtoul(digits, NULL, 16);
  }
  return value;
}

static int equals(const void *made, const char *text) {
  return memcmp(made, hex(text), strlen(text) / 2) == 0;
}

/* --- SHA: the message "abc", padded to one block (FIPS 180) --- */

static void sha_message(size_t block) {
  memset(data.buffer, 0, sizeof(data.buffer));
  memcpy(data.buffer, "abc\x80", 4);
  data.buffer[block - 1] = 24; /* bits */
}

static void sha1(void) { sha1_block_data_order(data.sha, data.buffer, (size_t)bytes / 64); }

static int sha1_is_right(void) {
  static const uint32_t begin[] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  static const uint32_t end[] = {0xA9993E36, 0x4706816A, 0xBA3E2571, 0x7850C26C, 0x9CD0D89D};
  sha_message(64);
  memcpy(data.sha, begin, sizeof(begin));
  sha1_block_data_order(data.sha, data.buffer, 1);
  return memcmp(data.sha, end, sizeof(end)) == 0;
}

/* The routine takes its unrolled loop for messages of at least 256 bytes. */
static void sha256_unrolled(void) {
  sha256_block_data_order(data.sha, data.buffer, (size_t)bytes / 64);
}

static void sha256_folded(void) {
  for (size_t done = 0, left = (size_t)bytes / 64, now; left; left -= now, done += now)
    sha256_block_data_order(data.sha, data.buffer + 64 * done, now = left < 3 ? left : 3);
}

static const uint32_t sha256_begin[] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                                        0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};

static int sha256_is_right(void) {
  static const uint32_t end[] = {0xBA7816BF, 0x8F01CFEA, 0x414140DE, 0x5DAE2223,
                                 0xB00361A3, 0x96177A9C, 0xB410FF61, 0xF20015AD};
  sha_message(64);
  memcpy(data.sha, sha256_begin, sizeof(data.sha));
  sha256_block_data_order(data.sha, data.buffer, 1);
  return memcmp(data.sha, end, sizeof(end)) == 0;
}

/* The loop that is checked above gives the same result. */
static int sha256_unrolled_is_right(void) {
  uint32_t folded[8];
  memcpy(data.sha, sha256_begin, sizeof(data.sha));
  sha256_folded();
  memcpy(folded, data.sha, sizeof(folded));
  memcpy(data.sha, sha256_begin, sizeof(data.sha));
  sha256_unrolled();
  return memcmp(data.sha, folded, sizeof(folded)) == 0;
}

static void sha512(void) {
  sha512_block_data_order(data.sha512, data.buffer, (size_t)bytes / 128);
}

static int sha512_is_right(void) {
  static const uint64_t begin[] = {0x6A09E667F3BCC908, 0xBB67AE8584CAA73B, 0x3C6EF372FE94F82B,
                                   0xA54FF53A5F1D36F1, 0x510E527FADE682D1, 0x9B05688C2B3E6C1F,
                                   0x1F83D9ABFB41BD6B, 0x5BE0CD19137E2179};
  static const uint64_t end[] = {0xDDAF35A193617ABA, 0xCC417349AE204131, 0x12E6FA4E89A97EA2,
                                 0x0A9EEEE64B55D39A, 0x2192992A274FC1A8, 0x36BA3C23A3FEEBBD,
                                 0x454D4423643CE80E, 0x2A9AC94FA54CA49F};
  sha_message(128);
  memcpy(data.sha512, begin, sizeof(begin));
  sha512_block_data_order(data.sha512, data.buffer, 1);
  return memcmp(data.sha512, end, sizeof(end)) == 0;
}

/* --- AES with a key of 128 bits: the example of FIPS 197, appendix C.1 --- */

static void aes_encrypt(void) {
  for (long i = 0; i < bytes; i += 16)
    AES_encrypt(data.buffer + i, data.buffer + i, &data.encrypt);
}

static int aes_encrypt_is_right(void) {
  uint8_t made[16];
  AES_set_encrypt_key(hex("000102030405060708090a0b0c0d0e0f"), 128, &data.encrypt);
  AES_encrypt(hex("00112233445566778899aabbccddeeff"), made, &data.encrypt);
  return equals(made, "69c4e0d86a7b0430d8cdb78070b4c55a");
}

static void aes_decrypt(void) {
  for (long i = 0; i < bytes; i += 16)
    AES_decrypt(data.buffer + i, data.buffer + i, &data.decrypt);
}

static int aes_decrypt_is_right(void) {
  uint8_t made[16];
  AES_set_decrypt_key(hex("000102030405060708090a0b0c0d0e0f"), 128, &data.decrypt);
  AES_decrypt(hex("69c4e0d86a7b0430d8cdb78070b4c55a"), made, &data.decrypt);
  return equals(made, "00112233445566778899aabbccddeeff");
}

static void aes_chained(void) {
  AES_cbc_encrypt(data.buffer, data.buffer, (size_t)bytes, &data.encrypt, data.vector, 1);
}

/* Block by block, the routine that is checked above gives the same result. */
static int aes_chained_is_right(void) {
  static uint8_t made[BYTES_MAX];
  uint8_t vector[16] = {0};
  for (long i = 0; i < bytes; i += 16) {
    for (int k = 0; k < 16; k++) made[i + k] = data.buffer[i + k] ^ vector[k];
    AES_encrypt(made + i, made + i, &data.encrypt);
    memcpy(vector, made + i, 16);
  }
  memset(data.vector, 0, sizeof(data.vector));
  aes_chained();
  return memcmp(data.buffer, made, (size_t)bytes) == 0;
}

/* --- RC4: the first 32 bytes for a key of 40 bits in RFC 6229 --- */

static void rc4(void) { RC4(&data.rc4, (size_t)bytes, data.buffer, data.buffer); }

static int rc4_is_right(void) {
  uint8_t made[32] = {0};
  RC4_set_key(&data.rc4, 5, hex("0102030405"));
  RC4(&data.rc4, sizeof(made), made, made);
  return equals(made, "b2396305f03dc027ccc3524a0a1118a86982944f18fc82d589c403a47a0d0919");
}

/* --- Poly1305: RFC 8439, 2.5.2. The last block is padded. --- */

static void poly1305(void) { poly1305_blocks(data.poly1305, data.buffer, (size_t)bytes, 1); }

static int poly1305_is_right(void) {
  static const char message[48] = "Cryptographic Forum Research Group\x01";
  uint8_t tag[16];
  uint32_t nonce[4];
  memcpy(nonce, hex("0103808afb0db2fd4abff6af4149f51b"), sizeof(nonce));
  poly1305_init(data.poly1305, hex("85d6be7857556d337f4452fe42d506a8"), data.poly1305_functions);
  poly1305_blocks(data.poly1305, (const uint8_t *)message, 32, 1);
  poly1305_blocks(data.poly1305, (const uint8_t *)message + 32, 16, 0);
  poly1305_emit(data.poly1305, tag, nonce);
  return equals(tag, "a8061dc1305136c6c22b8baf0c0127a9");
}

/* --- ChaCha20: RFC 8439, 2.3.2 --- */

static void chacha20(void) {
  ChaCha20_ctr32(data.buffer, data.buffer, (size_t)bytes, data.chacha_key, data.chacha_counter);
}

static int chacha20_is_right(void) {
  uint8_t made[64] = {0};
  memcpy(data.chacha_key, hex("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"),
         sizeof(data.chacha_key));
  memcpy(data.chacha_counter, hex("01000000000000090000004a00000000"),
         sizeof(data.chacha_counter));
  ChaCha20_ctr32(made, made, sizeof(made), data.chacha_key, data.chacha_counter);
  return equals(made,
                "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
                "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
}

/* --- GHASH: test case 2 of the specification of GCM (McGrew and Viega) --- */

static uint64_t big_endian(const uint8_t *from) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) value = value << 8 | from[i];
  return value;
}

/* Entry i is the product of the hash key and the polynomial with the bits of i; bit 3 is x^0. */
static void ghash_table(const uint8_t *key) {
  uint64_t high = big_endian(key), low = big_endian(key + 8);
  for (int i = 8; i; i /= 2) {
    data.ghash_table[i][0] = high;
    data.ghash_table[i][1] = low;
    uint64_t reduced = low & 1 ? 0xE100000000000000 : 0;
    low = high << 63 | low >> 1;
    high = high >> 1 ^ reduced;
  }
  for (int i = 2; i < 16; i *= 2)
    for (int k = 1; k < i; k++)
      for (int half = 0; half < 2; half++)
        data.ghash_table[i + k][half] = data.ghash_table[i][half] ^ data.ghash_table[k][half];
}

static void ghash(void) {
  gcm_ghash_4bit_x86(data.ghash, (const uint64_t(*)[2])data.ghash_table, data.buffer,
                     (size_t)bytes);
}

static int ghash_is_right(void) {
  ghash_table(hex("66e94bd4ef8a2c3b884cfa59ca342b2e"));
  memset(data.ghash, 0, sizeof(data.ghash));
  gcm_ghash_4bit_x86(data.ghash, (const uint64_t(*)[2])data.ghash_table,
                     hex("0388dace60b6a392f328c2b971b2fe7800000000000000000000000000000080"), 32);
  return equals(data.ghash, "f38cbb1ad69223dcc3457ae5b6b0f885");
}

/* --- Blowfish. The numbers in its tables do not matter for the clocks, so they are any numbers, and
 * the same work in C checks the result. --- */

static void blowfish(void) {
  BF_cbc_encrypt(data.buffer, data.buffer, bytes, &data.blowfish, data.vector, 1);
}

static void blowfish_in_c(const blowfish_key *key, uint32_t *left, uint32_t *right) {
  for (int i = 0; i < 16; i++) {
    *left ^= key->p[i];
    uint32_t mixed = key->s[0][*left >> 24] + key->s[1][*left >> 16 & 255];
    mixed = (mixed ^ key->s[2][*left >> 8 & 255]) + key->s[3][*left & 255];
    uint32_t next = *right ^ mixed;
    *right = *left;
    *left = next;
  }
  uint32_t last = *left ^ key->p[16];
  *left = *right ^ key->p[17];
  *right = last;
}

static int blowfish_is_right(void) {
  uint32_t *numbers = data.blowfish.p;
  for (size_t i = 0; i < sizeof(data.blowfish) / 4; i++)
    numbers[i] = (uint32_t)(0x9E3779B97F4A7C15 * (i + 1) >> 32);
  memset(data.buffer, 0, sizeof(data.buffer));
  memset(data.vector, 0, sizeof(data.vector));
  blowfish();
  uint32_t left = 0, right = 0;
  for (long i = 0; i < bytes; i += 8) {
    blowfish_in_c(&data.blowfish, &left, &right);
    uint64_t made = big_endian(data.buffer + i);
    if (made >> 32 != left || (uint32_t)made != right) return 0;
  }
  return 1;
}

static const struct routine {
  uint32_t phase;
  const char *name;
  void (*run)(void);
  int (*is_right)(void); /* prepares the routine and checks it */
} routines[] = {
    {1, "SHA-1", sha1, sha1_is_right},
    {2, "SHA-256", sha256_folded, sha256_is_right},
    {3, "SHA-256 unrolled", sha256_unrolled, sha256_unrolled_is_right},
    {4, "SHA-512", sha512, sha512_is_right},
    {5, "AES encryption", aes_encrypt, aes_encrypt_is_right},
    {6, "AES decryption", aes_decrypt, aes_decrypt_is_right},
    {7, "AES chained", aes_chained, aes_chained_is_right},
    {8, "RC4", rc4, rc4_is_right},
    {9, "Poly1305", poly1305, poly1305_is_right},
    {10, "ChaCha20", chacha20, chacha20_is_right},
    {11, "GHASH", ghash, ghash_is_right},
    {12, "Blowfish chained", blowfish, blowfish_is_right},
};

static const struct routine *current;

static void measure(void) {
  p5_begin(current->phase);
  current->run();
  p5_end(current->phase);
}

static int measure_all(long iterations, long warmup) {
  for (size_t i = 0; i < sizeof(routines) / sizeof(*routines); i++) {
    current = &routines[i];
    if (!current->is_right()) {
      fprintf(stderr, "timed-ciphers: wrong result of %s\n", current->name);
      return P5W_EXIT_FAILED;
    }
    p5w_repeat(measure, warmup, iterations);
  }
  return 0;
}
#else
static long bytes = BYTES_MAX;

static int measure_all(long iterations, long warmup) {
  (void)iterations, (void)warmup;
  fprintf(stderr, "not a program for i386: nothing to measure\n");
  return P5W_EXIT_UNAVAILABLE;
}
#endif

int main(int argc, char **argv) {
  long iterations = 3, warmup = 2;
  const struct p5w_option options[] = {
      {"bytes", "bytes of the buffer, a multiple of 512, at most 8192", &bytes, GROUP, NULL},
      P5W_ITERATIONS(iterations, warmup),
      {0}};
  p5w_start(argc, argv, options);
  if (bytes % GROUP || bytes > BYTES_MAX) {
    fprintf(stderr, "%s: bytes must be a multiple of %d, and at most %d\n", argv[0], GROUP,
            BYTES_MAX);
    return P5W_EXIT_USAGE;
  }
  return measure_all(iterations, warmup);
}
