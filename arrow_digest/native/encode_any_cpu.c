#define GENERATION any_cpu
#define VECTOR 0
#include "encode_rows.h"
