/* Which of the functions that are compiled for several kinds of CPUs run here. Only dispatch.c asks the CPU. */
#ifndef ARROW_DIGEST_DISPATCH_H
#define ARROW_DIGEST_DISPATCH_H
#include "kernels.h"
#include "simd.h"

/* The generations of instructions, each with all of those before it. */
enum { ANY_CPU, TWO_LANES, WITH_AVX2, WITH_AVX512, WITH_VBMI2 };

/* Feeds blocks to as many Keccak states side by side as the function has lanes. */
typedef void absorb_function(uint64_t *const *states, const uint8_t *const *blocks, const uintptr_t *ahead,
                             int64_t count);
/* Writes on at out, as ad_encode does. */
typedef int64_t encode_function(ad_encoder *e, uint8_t *out, int64_t size);

absorb_function absorb_one, absorb_two, absorb_one_bmi, absorb_four_avx2, absorb_four_avx512, absorb_eight_avx512;
encode_function encode_any_cpu, encode_avx2, encode_avx512;

/* The function that advances `active` states fastest, and how many it advances. */
absorb_function *absorb_of(int generation, int active, int *width);
/* The fastest encoder. */
encode_function *encode_of(int generation);
#endif
