/* What the compiler and the CPU offer. One binary holds the code for every CPU of its architecture: functions for
   newer ones are compiled with target attributes, and called only where the CPU has the instructions. */
#ifndef ARROW_DIGEST_SIMD_H
#define ARROW_DIGEST_SIMD_H

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "arrow0 hashes little-endian bytes, and this package takes them as they lie in memory"
#endif

/* Vectors of 64-bit integers with operators, whatever the CPU makes of them: GCC and Clang. */
#if defined(__GNUC__)
#define HAVE_VECTORS 1
#else
#define HAVE_VECTORS 0
#endif

/* The address is a number: what lies there need not be part of any object. */
#if HAVE_VECTORS
#define PREFETCH(address) __builtin_prefetch((const void *)(address))
#else
#define PREFETCH(address) ((void)(address))
#endif

#if HAVE_VECTORS && defined(__x86_64__)
#define HAVE_X86 1
#include <immintrin.h>
#define TARGET_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq")))
#define TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2")))

/* For whole files. */
#if defined(__clang__)
#define COMPILE_FOR_(features) \
    PRAGMA_(clang attribute push(__attribute__((target(features))), apply_to = function))
#define COMPILE_FOR_END PRAGMA_(clang attribute pop)
#else
#define COMPILE_FOR_(features) PRAGMA_(GCC push_options) PRAGMA_(GCC target(features))
#define COMPILE_FOR_END PRAGMA_(GCC pop_options)
#endif
#define PRAGMA_(text) _Pragma(#text)
#define COMPILE_FOR_AVX2 COMPILE_FOR_("avx2,bmi,bmi2")
#define COMPILE_FOR_AVX512 COMPILE_FOR_("avx512f,avx512vl,avx512bw,avx512dq,avx512vbmi2,bmi,bmi2,popcnt")
#else
#define HAVE_X86 0
#endif
#endif
