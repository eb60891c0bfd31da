/* The one place that asks what the CPU can do. */
#include "dispatch.h"

#if HAVE_X86
static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")
           && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

static int can_compress_bytes(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("popcnt");
}
#else
static int has_avx2(void) { return 0; }
static int has_avx512(void) { return 0; }
static int can_compress_bytes(void) { return 0; }
#endif

int ad_generation(int lanes)
{
    if (lanes >= 8 && can_compress_bytes()) return WITH_VBMI2;
    if (lanes >= 8 && has_avx512()) return WITH_AVX512;
    if (lanes >= 4 && has_avx2()) return WITH_AVX2;
    return HAVE_VECTORS && lanes >= 2 ? TWO_LANES : ANY_CPU;
}

int ad_lanes(int generation)
{
    if (generation >= WITH_AVX512) return 8;
    if (generation == WITH_AVX2) return 4;
    return generation == TWO_LANES ? 2 : 1;
}

int ad_max_lanes(void) { return ad_lanes(ad_generation(8)); }

absorb_function *absorb_of(int generation, int active, int *width)
{
#if HAVE_X86
    if (generation >= WITH_AVX512) {
        *width = active > 4 ? 8 : 4;
        return active > 4 ? absorb_eight_avx512 : absorb_four_avx512;
    }
    if (generation == WITH_AVX2 && active > 1) {
        *width = 4;
        return absorb_four_avx2;
    }
#endif
#if HAVE_VECTORS
    if (generation >= TWO_LANES && active > 1) {
        *width = 2;
        return absorb_two;
    }
#endif
    *width = 1;
#if HAVE_X86
    /* One state has no lanes to fill, and so newer rotations serve it in every generation. */
    if (has_avx2()) return absorb_one_bmi;
#endif
    return absorb_one;
}

encode_function *encode_of(int generation)
{
#if HAVE_X86
    if (generation == WITH_VBMI2) return encode_avx512;
    if (generation >= WITH_AVX2) return encode_avx2;
#else
    (void)generation;
#endif
    return encode_any_cpu;
}
