#include "encoder.h"
#if HAVE_X86
COMPILE_FOR_AVX512
#define GENERATION avx512
#define VECTOR 512
#include "encode_rows.h"
COMPILE_FOR_END
#endif
