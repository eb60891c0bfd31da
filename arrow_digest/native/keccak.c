/* The Keccak permutation with the blocks of SHA3-256, of one state or several side by side, once for each kind of CPU. */
#include "dispatch.h"
#include <string.h>

enum { RATE = 136 };

static const uint64_t ROUND_CONSTANTS[24] = {
    0x0000000000000001u, 0x0000000000008082u, 0x800000000000808au, 0x8000000080008000u, 0x000000000000808bu,
    0x0000000080000001u, 0x8000000080008081u, 0x8000000000008009u, 0x000000000000008au, 0x0000000000000088u,
    0x0000000080008009u, 0x000000008000000au, 0x000000008000808bu, 0x800000000000008bu, 0x8000000000008089u,
    0x8000000000008003u, 0x8000000000008002u, 0x8000000000000080u, 0x000000000000800au, 0x800000008000000au,
    0x8000000080008081u, 0x8000000000008080u, 0x0000000080000001u, 0x8000000080008008u};

static inline uint64_t word_at(const uint8_t *p, int64_t at) { uint64_t v; memcpy(&v, p + at, 8); return v; }

#define NAME one
#define LANES 1
#define TARGET
#include "keccak_lanes.h"

#if HAVE_VECTORS
#define NAME two
#define LANES 2
#define TARGET
#include "keccak_lanes.h"
#endif

#if HAVE_X86
#define NAME one_bmi
#define LANES 1
#define TARGET TARGET_AVX2
#include "keccak_lanes.h"
#define NAME four_avx2
#define LANES 4
#define TARGET TARGET_AVX2
#include "keccak_lanes.h"
/* Half-wide vectors cost half where a 512-bit operation is two of 256 bits, and are never slower for few columns. */
#define NAME four_avx512
#define LANES 4
#define TARGET TARGET_AVX512
#include "keccak_lanes.h"
#define NAME eight_avx512
#define LANES 8
#define TARGET TARGET_AVX512
#include "keccak_lanes.h"
#endif
