/* Writing values that are known to fit; a part of the template encode_rows.h. */

/* Values of the slots from one on, as `slots` resolves them; all are valid where it is NULL. */

static inline uint8_t *put_fixed(const ad_node *node, int width, const int64_t *slots, int64_t n, uint8_t *out)
{
    for (int64_t k = 0; k < n; k++) {
        int64_t null = slots[k] >> 63;
        const uint8_t *value = node->values + (slots[k] & ~null) * width;
        if (width < 8) {
            store64(out, (uint64_t)load_int(value, width, 0) & ~(uint64_t)null);
        } else {
            for (int i = 0; i < width; i += 8) store64(out + i, load64(value + i) & ~(uint64_t)null);
        }
        out += 1 + ((width - 1) & ~null);
    }
    return out;
}

/* One length and its bytes; a null is one byte 0. Offsets are `width` bytes wide. */
static inline uint8_t *put_run(const uint8_t *offsets, int width, int64_t slot, int64_t null, const uint8_t *data,
                               const uint8_t *data_end, int64_t item_width, uint8_t *out)
{
    int64_t start = load_int(offsets, width, slot), count = (load_int(offsets, width, slot + 1) - start) & ~null;
    store64(out, (uint64_t)count);
    return copy(out + 1 + (7 & ~null), data + start * item_width, count * item_width, data_end,
                item_width == 1 ? SHORT : LONG);
}

/* The same of slots side by side, whose bytes fill no more than a chunk: of up to 64 if some may be null. */
static inline uint8_t *put_short_runs(const uint8_t *offsets, int width, int nullable, uint64_t valid, int64_t from,
                                      int64_t n, const uint8_t *data, int64_t item_width, int chunk, uint8_t *out)
{
    int64_t start = load_int(offsets, width, from);
    for (int64_t k = 0; k < n; k++, valid >>= 1) {
        int64_t null = nullable ? (int64_t)(valid & 1) - 1 : 0, end = load_int(offsets, width, from + k + 1);
        int64_t count = (end - start) & ~null;
        store64(out, (uint64_t)count);
        out += 1 + (7 & ~null);
        copy_chunk(out, data + start * item_width, chunk);
        out += count * item_width;
        start = end;
    }
    return out;
}

static inline uint8_t *put_short(const uint8_t *offsets, int width, int nullable, uint64_t valid, int64_t from,
                                 int64_t n, const uint8_t *data, int64_t item_width, int chunk, uint8_t *out)
{
    if (chunk == 16) return put_short_runs(offsets, width, nullable, valid, from, n, data, item_width, 16, out);
    if (chunk == 32) return put_short_runs(offsets, width, nullable, valid, from, n, data, item_width, 32, out);
    return put_short_runs(offsets, width, nullable, valid, from, n, data, item_width, 64, out);
}

/* The smallest chunk that holds the bytes of each of n slots side by side and can be read from where the last one
   begins; 0 where there is none. */
static inline int chunk_for(const uint8_t *offsets, int width, int64_t from, int64_t n, const uint8_t *data,
                            const uint8_t *data_end, int64_t item_width)
{
    if (n == 0) return 0;
    int64_t largest = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t count = load_int(offsets, width, from + k + 1) - load_int(offsets, width, from + k);
        largest = count > largest ? count : largest;
    }
    int64_t left = data_end - (data + load_int(offsets, width, from + n - 1) * item_width);
    for (int chunk = 16; chunk <= LONG; chunk *= 2)
        if (largest * item_width <= chunk) return chunk <= left ? chunk : 0;
    return 0;
}

static inline uint8_t *put_bytes(const level *lv, int width, int64_t item_width, const int64_t *slots, int64_t from,
                                 int64_t n, uint8_t *out)
{
    const uint8_t *offsets = lv->base->values, *data = lv->data - lv->base->origin * item_width, *end = lv->data_end;
    if (!slots) {
        int chunk = chunk_for(offsets, width, from, n, data, end, item_width);
        if (chunk) return put_short(offsets, width, 0, 0, from, n, data, item_width, chunk, out);
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t null = slots ? slots[k] >> 63 : 0;
        out = put_run(offsets, width, slots ? slots[k] & ~null : from + k, null, data, end, item_width, out);
    }
    return out;
}

static inline uint8_t *put_bytes_of(const level *lv, const int64_t *slots, int64_t from, int64_t n, uint8_t *out)
{
    if (lv->base->width == 4 && lv->item_width == 1) return put_bytes(lv, 4, 1, slots, from, n, out);
    if (lv->base->width == 4 && lv->item_width == 8) return put_bytes(lv, 4, 8, slots, from, n, out);
    if (lv->base->width == 4) return put_bytes(lv, 4, lv->item_width, slots, from, n, out);
    return put_bytes(lv, 8, lv->item_width, slots, from, n, out);
}

static uint8_t *put_views(const level *lv, const int64_t *slots, int64_t from, int64_t n, uint8_t *out)
{
    const ad_node node = *lv->base;
    for (int64_t k = 0; k < n; k++) {
        int64_t null = slots ? slots[k] >> 63 : 0, slot = slots ? slots[k] & ~null : from + k;
        const uint8_t *value, *end;
        int64_t count = view_bytes(node.values, node.length, node.buffers, node.buffer_sizes, slot, null, &value, &end);
        store64(out, (uint64_t)count);
        out = copy(out + 1 + (7 & ~null), value, count, end, SHORT);
    }
    return out;
}

/* Values whose encodings lie ready. */
static inline uint8_t *put_entry(const level *lv, int64_t entry, int chunk, uint8_t *out)
{
    uint32_t start = lv->entries[entry];
    copy_chunk(out, lv->encoded + start, chunk);
    return out + (lv->entries[entry + 1] - start);
}

static inline uint8_t *put_entries(const level *lv, const int64_t *slots, int64_t n, int chunk, uint8_t *out)
{
    for (int64_t k = 0; k < n; k++) out = put_entry(lv, slots[k] + 1, chunk, out);
    return out;
}

/* The same of up to 64 slots of a dictionary whose indices are `width` bytes wide, and whose values are all valid. */
static inline uint8_t *put_indexed(const level *lv, int width, uint64_t valid, int64_t from, int n, int chunk,
                                   uint8_t *out)
{
    const uint8_t *indices = lv->first->values;
    for (int64_t k = from; k < from + n; k++, valid >>= 1) {
        int64_t one = (int64_t)(valid & 1); /* what lies under a null may be too large to add to */
        out = put_entry(lv, (load_int(indices, width, k) & -one) + one, chunk, out);
    }
    return out;
}

static uint8_t *put_dictionary(level *lv, int64_t from, int n, uint8_t *out)
{
    uint64_t valid = valid_bits(lv, from, n);
    lv->nulls += n - count_bits(valid);
    if (lv->first->width == 4 && lv->chunk == SHORT) return put_indexed(lv, 4, valid, from, n, SHORT, out);
    if (lv->first->width == 2 && lv->chunk == SHORT) return put_indexed(lv, 2, valid, from, n, SHORT, out);
    return put_indexed(lv, lv->first->width, valid, from, n, LONG, out);
}

static uint8_t *put_slots(const level *lv, const int64_t *slots, int64_t from, int64_t n, uint8_t *out)
{
    const ad_node *node = lv->base;
    if (lv->what == NULLS || node->length == 0) {
        memset(out, 0, (size_t)n);
        return out + n;
    }
    if (lv->entries)
        return lv->chunk == SHORT ? put_entries(lv, slots, n, SHORT, out) : put_entries(lv, slots, n, LONG, out);
    if (lv->what == BYTES && (node->kind == BINARY || node->kind == LIST))
        return slots ? put_bytes_of(lv, slots, from, n, out) : put_bytes_of(lv, NULL, from, n, out);
    if (lv->what == VIEWS) return put_views(lv, slots, from, n, out);
    if (lv->what == FIXED_WIDTH) {
        if (node->width == 8) return put_fixed(node, 8, slots, n, out);
        if (node->width == 4) return put_fixed(node, 4, slots, n, out);
        if (node->width == 2) return put_fixed(node, 2, slots, n, out);
        if (node->width == 1) return put_fixed(node, 1, slots, n, out);
        return put_fixed(node, node->width, slots, n, out);
    }
    if (lv->what == WORDS_OF_BITS) {
        for (int64_t k = 0; k < n; k++)
            *out++ = slots[k] < 0 ? 0 : (uint8_t)(1 + bit_at(node->values, node->origin + slots[k]));
        return out;
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t slot = slots ? slots[k] : from + k;
        const uint8_t *value, *end;
        int64_t count = slot_bytes(lv, slot, &value, &end);
        store64(out, (uint64_t)count);
        out = copy(out + (slot < 0 ? 1 : 8), value, count * lv->item_width, end, SHORT);
    }
    return out;
}

#if VECTOR == 512
/* 64 bytes of fixed-width values at a time: a null's first byte is zeroed, its others are squeezed out. */
static inline uint8_t *put_nullable(const uint8_t *values, int width, uint64_t valid, int n, uint8_t *out)
{
    int rows = 64 / width;
    uint64_t whole = ((uint64_t)1 << width) - 1;
    uint64_t firsts = ~(uint64_t)0 / whole; /* the first byte of each value */
    for (; n > 0; n -= rows, values += 64) {
        uint64_t present = n < rows ? ((uint64_t)1 << n * width) - 1 : ~(uint64_t)0;
        uint64_t filled = _pdep_u64(valid, firsts) * whole & present, kept = (filled | firsts) & present;
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(kept, _mm512_maskz_loadu_epi8(filled, values)));
        out += _mm_popcnt_u64(kept);
        valid = rows < 64 ? valid >> rows : 0;
    }
    return out;
}

/* 0, or 1 and the bit. */
static inline void put_bits(uint64_t valid, uint64_t bits, uint8_t *out)
{
    __m512i one = _mm512_set1_epi8(1);
    _mm512_storeu_si512(out, _mm512_mask_add_epi8(_mm512_maskz_mov_epi8(valid, one), valid & bits, one, one));
}
#else
/* Without a branch on validity: a null's first byte is written as 0 and kept. */
static inline uint8_t *put_nullable(const uint8_t *values, int width, uint64_t valid, int n, uint8_t *out)
{
    for (int k = 0; k < n; k++, valid >>= 1, values += width) {
        uint64_t mask = -(valid & 1);
        if (width < 8) {
            store64(out, (uint64_t)load_int(values, width, 0) & mask);
        } else {
            for (int i = 0; i < width; i += 8) store64(out + i, load64(values + i) & mask);
        }
        out += 1 + ((uint64_t)(width - 1) & mask);
    }
    return out;
}

#if VECTOR == 256
/* 32 bits as bytes: -1 where they are set. */
static inline __m256i spread(uint64_t bits)
{
    __m256i in_bytes = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    __m256i bit_of_byte = _mm256_set1_epi64x((int64_t)0x8040201008040201u);
    __m256i repeated = _mm256_shuffle_epi8(_mm256_set1_epi32((int32_t)(uint32_t)bits), in_bytes);
    return _mm256_cmpeq_epi8(_mm256_and_si256(repeated, bit_of_byte), bit_of_byte);
}

static inline void put_bits(uint64_t valid, uint64_t bits, uint8_t *out)
{
    for (int k = 0; k < 64; k += 32) {
        __m256i counted = _mm256_add_epi8(spread(valid >> k), spread((valid & bits) >> k));
        _mm256_storeu_si256((__m256i *)(out + k), _mm256_sub_epi8(_mm256_setzero_si256(), counted));
    }
}
#else
/* Eight bits as eight bytes of 0 or 1. */
static inline uint64_t spread(uint64_t bits)
{
    uint64_t one_in_each = (bits & 0xff) * 0x0101010101010101u & 0x8040201008040201u;
    return (one_in_each + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

static inline void put_bits(uint64_t valid, uint64_t bits, uint8_t *out)
{
    for (int k = 0; k < 64; k += 8) store64(out + k, spread(valid >> k) + spread((valid & bits) >> k));
}
#endif
#endif

/* Up to 64 slots of fixed-width or bool values behind no encoding, or their validity. */
static uint8_t *put_word(const ad_encoder *e, level *lv, int64_t from, int n, uint8_t *out)
{
    const ad_node *node = lv->base;
    uint64_t valid = valid_bits(lv, from, n);
    lv->nulls += n - count_bits(valid);
    if (e->validity_only || lv->what == WORDS_OF_BITS) {
        put_bits(valid, e->validity_only ? 0 : bits_at(node->values, node->origin, from, n, node->length), out);
        return out + n;
    }
    const uint8_t *values = node->values + from * node->width;
    if (node->width == 8) return put_nullable(values, 8, valid, n, out);
    if (node->width == 4) return put_nullable(values, 4, valid, n, out);
    if (node->width == 2) return put_nullable(values, 2, valid, n, out);
    if (node->width == 1) return put_nullable(values, 1, valid, n, out);
    if (node->width == 16) return put_nullable(values, 16, valid, n, out);
    return put_nullable(values, 32, valid, n, out);
}
