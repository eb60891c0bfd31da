#define GENERATION any_cpu
#define WIDE 0
#include "encode_rows.h"
