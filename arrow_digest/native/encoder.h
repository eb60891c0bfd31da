/* An encoder between two pieces. encode_rows.h is compiled once for each generation of CPUs. */
#ifndef ARROW_DIGEST_ENCODER_H
#define ARROW_DIGEST_ENCODER_H
#include "dispatch.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A piece may be written up to SLACK bytes further than it reaches; BATCH slots are resolved at a time. Values are
   encoded ahead where each is repeated by REPEATS slots (fewer than four do not pay for it), and where that takes no
   more than MOST_AHEAD bytes for all encoders at hand. */
enum { SLACK = 128, BATCH = 128, INLINE_VIEW = 12, SHORT = 32, LONG = 64, MOST_ITEMS = 2048,
       MOST_ENTRIES = 1 << 16, REPEATS = 8, MOST_AHEAD = 1 << 26 };

/* What is written for the slots of a level. BYTES is a length and one run of bytes: binary values, and lists of
   fixed-width items without nulls, which lie in memory as arrow0 wants them. */
enum what { NULLS, WORDS_OF_BITS, FIXED_WIDTH, BYTES, VIEWS, ITEMS };

typedef struct {
    const ad_node *first, *base; /* encodings, and the list or the values under them */
    const ad_bits *parents;
    int64_t parent_count;
    enum what what;
    int plain;                   /* a slot is a slot of base, and none is null */
    const uint8_t *data, *data_end;
    int64_t item_width;          /* BYTES: of what base counts */
    int64_t largest;             /* no value has more bytes; -1 where that is not known */
    uint32_t *entries;           /* where the encodings of values that slots repeat begin: a null's, then each; */
    uint8_t *encoded;            /* NULL, or those encodings, none longer than a chunk */
    int chunk;
    int64_t next, end;           /* slots still to write */
    int64_t nulls;               /* among the slots that were resolved */
    int64_t cached, cached_end;  /* slots that are resolved below */
    int64_t slots[BATCH + 8];    /* their slots in base, -1 for a null */
} level;

struct ad_encoder {
    level *top;          /* the level being written */
    const uint8_t *run;  /* bytes being copied */
    int64_t run_size;
    int validity_only;
    encode_function *encode;
    level levels[];
};

static inline uint64_t load64(const uint8_t *p) { uint64_t v; memcpy(&v, p, 8); return v; }
static inline void store64(uint8_t *p, uint64_t v) { memcpy(p, &v, 8); }

static inline int64_t load_int(const uint8_t *p, int width, int64_t i)
{
    /* Checked to be no less than 0, so that signed and unsigned read alike. */
    if (width == 4) { uint32_t v; memcpy(&v, p + 4 * i, 4); return v; }
    if (width == 8) { int64_t v; memcpy(&v, p + 8 * i, 8); return v; }
    if (width == 2) { uint16_t v; memcpy(&v, p + 2 * i, 2); return v; }
    return p[i];
}

static inline int is_list(const ad_node *node) { return node->kind >= LIST && node->kind <= LIST_VIEW; }
#endif
