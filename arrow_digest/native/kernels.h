/* The whole interface of the C library. build.py hands everything but the preprocessor lines to cffi, so this file
   is the one place where it is declared. Nothing here knows of Python. */
#ifndef ARROW_DIGEST_KERNELS_H
#define ARROW_DIGEST_KERNELS_H
#include <stdint.h>

/* The layouts, numbered as nodes.Kind, whose NULL is NULLS_ONLY here, because C has another NULL. */
enum { NULLS_ONLY, FIXED, BOOL, FIXED_BINARY, BINARY, VIEW, LIST, FIXED_LIST, LIST_VIEW, DICTIONARY, RUN_END };

/* Bits, least significant first: slot i is bit offset + i. No bits where data is NULL. */
typedef struct {
    const uint8_t *data;
    int64_t offset;
} ad_bits;

/* One level of an array, as nodes.Node describes it; the node's child is the next one in memory. The description
   is believed: every slot in 0..length must have been checked to stay inside its buffers. */
typedef struct {
    int32_t kind;            /* nodes.Kind */
    int32_t width;           /* bytes of a value, an offset, an index or a run end; items of a fixed-size list */
    int64_t length;          /* slots */
    ad_bits validity;
    const uint8_t *values;   /* fixed-width values, bits, offsets, views, indices or run ends */
    const uint8_t *sizes;    /* list views: item counts, as wide as their offsets */
    int64_t origin;          /* lists: the offset that is the child's slot 0; runs: the row that is slot 0;
                                bool: the first bit */
    const uint8_t *data;     /* binary: what offsets count from */
    int64_t data_size;
    const uint8_t *const *buffers;  /* views: what they point into */
    const int64_t *buffer_sizes;
} ad_node;

/* SHA3-256 in progress: the Keccak state, and the bytes that do not fill a block yet. */
typedef struct {
    uint64_t state[25];
    uint8_t block[136];
    int64_t fill;
} ad_sha3;

/* One leaf column. */
typedef struct {
    const ad_node *nodes;
    int64_t node_count;
    const ad_bits *parents;  /* validity of the structs above */
    int64_t parent_count;
} ad_column;

/* What is fed of a column, and to which digest (NULL where none is fed). */
typedef struct {
    const ad_column *column;
    int64_t validity_only;   /* 1: one byte a row, 1 for a value and 0 for a null, instead of the values */
    ad_sha3 *digest;
} ad_rows;

/* What was seen on the way. */
typedef struct {
    int64_t null_count;      /* how many rows are null */
} ad_result;

typedef struct ad_encoder ad_encoder;

/* The most lanes that this CPU runs at once: 8, 4, 2 or 1. */
int ad_max_lanes(void);

/* The newest generation of instructions that this CPU runs and that advances so many states at once, or fewer. */
int ad_generation(int lanes);

/* How many states a generation advances at once. */
int ad_lanes(int generation);

/* Starts to encode rows with instructions of a generation that this CPU runs; NULL if there is no memory. The rows and
   the column's description must outlive the encoder. How many encoders there are together bounds the memory that each
   takes. */
ad_encoder *ad_encoder_new(const ad_rows *rows, int generation, int64_t together);
void ad_encoder_free(ad_encoder *encoder);
/* Writes on at out, never past out + size, and returns how many bytes; 0 when all rows are written. -1: size is less
   than 256. Fewer bytes than there was room for do not mean the end. */
int64_t ad_encode(ad_encoder *encoder, uint8_t *out, int64_t size);

/* Whether all rows are written. */
int ad_encoder_done(const ad_encoder *encoder);

/* Where it will read next, as a hint for prefetching. */
uintptr_t ad_encoder_ahead(const ad_encoder *encoder);
/* How many of the rows that it wrote are null. */
int64_t ad_encoder_nulls(const ad_encoder *encoder);

/* Whether all views, also those under nulls, stay inside their buffers. The sizes of the buffers end with one more,
   which is 0. */
int ad_views_inside(const uint8_t *views, int64_t count, const int64_t *buffer_sizes, int64_t buffer_count);

/* About how many bytes rows encode to. */
double ad_estimate(const ad_rows *rows);

void ad_sha3_feed(ad_sha3 *digest, const uint8_t *data, int64_t size);
void ad_sha3_finish(const ad_sha3 *digest, uint8_t *out);
/* Feeds rows to their digests, as many side by side as the generation has lanes, and writes one result for each. 0, or
   -1 if there is no memory: then nothing was fed. */
int ad_sha3_update(const ad_rows *rows, ad_result *results, int64_t count, int generation);
#endif
