#include "encoder.h"
#if HAVE_X86
COMPILE_FOR_AVX2
#define GENERATION avx2
#define VECTOR 256
#include "encode_rows.h"
COMPILE_FOR_END
#endif
