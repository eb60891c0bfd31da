/* arrow0's byte stream of one leaf column, written piece by piece into a caller's buffer. A template: defines
   encode_<GENERATION>.

   A leaf is a chain of levels: lists around values, each possibly behind dictionaries and runs. For every level the
   encoder keeps which slots are still to be written; that is all there is to remember between two pieces, but for a
   run of bytes that is being copied. Loops that write without looking at the room left run only where a bound on what
   they write was compared with it before; they may store up to SLACK bytes more than they advance. */
#include "encoder.h"

static inline int bit_at(const uint8_t *data, int64_t bit) { return data[bit >> 3] >> (bit & 7) & 1; }

/* The n bits (1 to 64) from slot `from` on, of `length` slots; reads no byte that holds none of them all. */
static inline uint64_t bits_at(const uint8_t *data, int64_t offset, int64_t from, int n, int64_t length)
{
    int64_t first = (offset + from) >> 3, end = (offset + length + 7) >> 3;
    int shift = (int)((offset + from) & 7);
    uint64_t low = 0;
    if (end - first >= 8)
        low = load64(data + first);
    else
        for (int i = 0; i < end - first; i++) low |= (uint64_t)data[first + i] << 8 * i;
    low >>= shift;
    if (shift + n > 64) low |= (uint64_t)data[first + 8] << (64 - shift);
    return n < 64 ? low & (((uint64_t)1 << n) - 1) : low;
}

static inline int64_t count_bits(uint64_t bits)
{
#if VECTOR == 512
    return _mm_popcnt_u64(bits);
#else
    bits -= bits >> 1 & 0x5555555555555555u;
    bits = (bits & 0x3333333333333333u) + (bits >> 2 & 0x3333333333333333u);
    return (int64_t)(((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
#endif
}

/* A chunk of constant size: compilers make slow string instructions of one large memcpy. */
static inline void copy_chunk(uint8_t *out, const uint8_t *from, int chunk)
{
    if (chunk == 16) memcpy(out, from, 16);
    else
        for (int i = 0; i < chunk; i += 32) memcpy(out + i, from + i, 32);
}

/* Copies size bytes; short ones as one chunk of constant size, whose part beyond them is not read where the CPU can
   leave it out, and is known to lie in the source elsewhere. */
static inline uint8_t *copy(uint8_t *out, const uint8_t *from, int64_t size, const uint8_t *from_end, int chunk)
{
#if VECTOR == 512
    if (size <= chunk && chunk == 32) {
        _mm256_storeu_si256((__m256i *)out, _mm256_maskz_loadu_epi8(_bzhi_u32(~0u, (unsigned)size), from));
        return out + size;
    }
#endif
    if (size <= chunk && from_end - from >= chunk) {
        copy_chunk(out, from, chunk);
    } else if (size <= 8 * chunk && from_end - from >= 9 * chunk) {
        for (int64_t done = 0; done < size; done += chunk) copy_chunk(out + done, from + done, chunk);
    } else if (size) {
        memcpy(out, from, (size_t)size);
    }
    return out + size;
}

/* Which slots of a level hold a value, and where. */

static inline int direct(const level *lv) { return lv->first == lv->base; }

static inline uint64_t valid_bits(const level *lv, int64_t from, int n)
{
    uint64_t valid = n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
    const ad_bits *own = &lv->first->validity;
    if (own->data) valid &= bits_at(own->data, own->offset, from, n, lv->first->length);
    for (int64_t i = 0; i < lv->parent_count; i++)
        valid &= bits_at(lv->parents[i].data, lv->parents[i].offset, from, n, lv->first->length);
    return valid;
}

/* Indices of dictionary slots: of those from one on where it is no less than 0, which lie side by side, else of each.
   Reading under a null is harmless, following is not. */
static inline void follow_indices(const ad_node *node, int width, int64_t from, int64_t *slots, int n)
{
    if (from >= 0) {
        for (int k = 0; k < n; k++) slots[k] = load_int(node->values, width, from + k) | slots[k] >> 63;
        return;
    }
    for (int k = 0; k < n; k++) {
        int64_t null = slots[k] >> 63;
        slots[k] = load_int(node->values, width, slots[k] & ~null) | null;
    }
}

static void follow_runs(const ad_node *runs, int64_t run_count, int64_t *slots, int n)
{
    int64_t run = 0, begin = 1, end = 0; /* rows begin to end are in the run */
    for (int k = 0; k < n; k++) {
        if (slots[k] < 0) continue;
        int64_t row = runs->origin + slots[k];
        if (row < begin || row >= end) {
            int64_t low = 0, high = run_count - 1;
            if (row == end && end) low = high = run + 1; /* rows mostly come in order */
            while (low < high) {
                int64_t middle = low + (high - low) / 2;
                if (row < load_int(runs->values, runs->width, middle)) high = middle;
                else low = middle + 1;
            }
            run = low;
            begin = run ? load_int(runs->values, runs->width, run - 1) : 0;
            end = load_int(runs->values, runs->width, run);
        }
        slots[k] = run;
    }
}

/* Slot numbers from one on, -1 for those without a bit; may write up to seven more than n. */
static inline void number_slots(uint64_t valid, int64_t from, int64_t *slots, int n)
{
#if VECTOR == 512
    __m512i numbers = _mm512_add_epi64(_mm512_set1_epi64(from), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
    for (int k = 0; k < n; k += 8, valid >>= 8) {
        _mm512_storeu_si512(slots + k, _mm512_mask_mov_epi64(_mm512_set1_epi64(-1), (__mmask8)valid, numbers));
        numbers = _mm512_add_epi64(numbers, _mm512_set1_epi64(8));
    }
#else
    for (int k = 0; k < n; k++) slots[k] = (from + k) | ((int64_t)(valid >> k & 1) - 1);
#endif
}

static void resolve(const level *lv, int64_t from, int64_t *slots, int n)
{
    for (int k = 0; k < n; k += 64) {
        int count = n - k < 64 ? n - k : 64;
        number_slots(valid_bits(lv, from + k, count), from + k, slots + k, count);
    }
    for (const ad_node *node = lv->first; node != lv->base; node++, from = -1) {
        const ad_node *child = node + 1;
        if (node->length == 0) continue; /* then every slot is null */
        if (node->kind == RUN_END) follow_runs(node, child->length, slots, n);
        else if (node->width == 1) follow_indices(node, 1, from, slots, n);
        else if (node->width == 2) follow_indices(node, 2, from, slots, n);
        else if (node->width == 4) follow_indices(node, 4, from, slots, n);
        else follow_indices(node, 8, from, slots, n);
        if (child->validity.data && child->length)
            for (int k = 0; k < n; k++) {
                int64_t null = slots[k] >> 63;
                slots[k] |= bit_at(child->validity.data, child->validity.offset + (slots[k] & ~null)) - (int64_t)1;
            }
    }
    if (lv->what == NULLS)
        for (int k = 0; k < n; k++) slots[k] = -1;
}

/* Resolves at least one more slot, and returns how many there are. */
static inline int64_t cached_slots(level *lv, const int64_t **slots)
{
    if (lv->next < lv->cached || lv->next >= lv->cached_end) {
        /* Slots in order are worth a batch, also beyond the list at hand; after a jump only those that are needed. */
        int64_t wanted = lv->next == lv->cached_end ? lv->first->length - lv->next : lv->end - lv->next;
        lv->cached = lv->next;
        lv->cached_end = lv->next + (wanted < BATCH ? wanted : BATCH);
        resolve(lv, lv->cached, lv->slots, (int)(lv->cached_end - lv->cached));
        for (int64_t k = 0; k < lv->cached_end - lv->cached; k++) lv->nulls -= lv->slots[k] >> 63;
    }
    *slots = lv->slots + (lv->next - lv->cached);
    return (lv->cached_end < lv->end ? lv->cached_end : lv->end) - lv->next;
}

/* Where a slot's items or bytes start, and how many there are. */
static inline int64_t extent(const ad_node *node, int64_t slot, int64_t *start)
{
    if (node->kind == FIXED_LIST || node->kind == FIXED_BINARY) {
        *start = slot * node->width;
        return node->width;
    }
    int64_t first = load_int(node->values, node->width, slot);
    *start = first - node->origin;
    if (node->kind == LIST_VIEW) return load_int(node->sizes, node->width, slot);
    return load_int(node->values, node->width, slot + 1) - first;
}

/* a where the mask is all ones, b where it is 0; without a branch, which compilers make of a conditional. */
static inline int64_t pick(int64_t mask, int64_t a, int64_t b) { return (a & mask) | (b & ~mask); }

/* The bytes of a view: in the views themselves where they are few. What the view under a null says is not followed. */
static inline int64_t view_bytes(const uint8_t *views, int64_t length, const uint8_t *const *buffers,
                                 const int64_t *sizes, int64_t slot, int64_t null, const uint8_t **value,
                                 const uint8_t **end)
{
    const uint8_t *view = views + 16 * slot;
    int64_t count = load_int(view, 4, 0) & ~null, outside = -(int64_t)(count > INLINE_VIEW);
    int64_t buffer = load_int(view, 4, 2) & outside;
    const uint8_t *data = (const uint8_t *)(intptr_t)pick(outside, (intptr_t)buffers[buffer], (intptr_t)views);
    *value = data + pick(outside, load_int(view, 4, 3), 16 * slot + 4);
    *end = data + pick(outside, sizes[buffer], 16 * length);
    return count;
}

/* The bytes of a slot, how many items its header counts, and where its buffer ends; nothing for a null. */
static inline int64_t slot_bytes(const level *lv, int64_t slot, const uint8_t **value, const uint8_t **end)
{
    const ad_node *node = lv->base;
    int64_t null = slot >> 63, start;
    slot &= ~null;
    if (lv->what == BYTES) {
        int64_t count = extent(node, slot, &start) & ~null;
        *value = lv->data + (start & ~null) * lv->item_width;
        *end = lv->data_end;
        return count;
    }
    return view_bytes(node->values, node->length, node->buffers, node->buffer_sizes, slot, null, value, end);
}

/* Values that are known to fit: of the slots from one on, as `slots` resolves them; all are valid where it is NULL. */

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
    for (; n > 0; n -= rows, values += 64, out += 0) {
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
    if (e->rows_only || lv->what == WORDS_OF_BITS) {
        put_bits(valid, e->rows_only ? 0 : bits_at(node->values, node->origin, from, n, node->length), out);
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

static inline int by_words(const ad_encoder *e, const level *lv)
{
    return direct(lv) && lv->what != NULLS && (e->rows_only || lv->what == FIXED_WIDTH || lv->what == WORDS_OF_BITS);
}

/* Whether slots are runs of bytes side by side, some of them null. */
static inline int runs_by_words(const level *lv)
{
    return direct(lv) && !lv->plain && lv->what == BYTES && (lv->base->kind == BINARY || lv->base->kind == LIST);
}

/* Whether slots are indices into the values, and nothing else. */
static inline int by_indices(const level *lv)
{
    return lv->first->kind == DICTIONARY && lv->first + 1 == lv->base && !lv->base->validity.data;
}

/* No less than what n slots from one on are encoded to, where that is known without looking at each; else -1. */
static inline int64_t quick_bound(const level *lv, int64_t from, int64_t n)
{
    const ad_node *node = lv->base;
    if (lv->what == FIXED_WIDTH) return n * node->width;
    if (lv->what == NULLS || lv->what == WORDS_OF_BITS || node->length == 0) return n;
    if (lv->what == VIEWS && direct(lv)) {
        int64_t size = 8 * n;
        for (int64_t k = 0; k < n; k++) size += load_int(node->values, 4, 4 * (from + k)); /* a null's size may be any */
        return size;
    }
    if (lv->what != BYTES || node->kind == LIST_VIEW) return -1;
    if (node->kind == FIXED_BINARY || node->kind == FIXED_LIST) return n * (8 + node->width * lv->item_width);
    if (!direct(lv)) return -1;
    int64_t count = load_int(node->values, node->width, from + n) - load_int(node->values, node->width, from);
    return 8 * n + count * lv->item_width;
}

/* Writes slots as long as they fit, for those without a quick bound, and returns how many. */
static int64_t put_fitting(const level *lv, const int64_t *slots, int64_t from, int64_t n, uint8_t **out,
                           const uint8_t *limit)
{
    const ad_node node = *lv->base;
    const int64_t item_width = lv->item_width;
    uint8_t *p = *out;
    for (int64_t k = 0; k < n; k++) {
        int64_t slot = slots ? slots[k] : from + k, null = slot >> 63, count;
        const uint8_t *value, *end;
        if (lv->what == VIEWS)
            count = view_bytes(node.values, node.length, node.buffers, node.buffer_sizes, slot & ~null, null, &value, &end);
        else
            count = slot_bytes(lv, slot, &value, &end);
        int64_t size = count * item_width;
        if (limit - p < 8 || size > limit - p - 8) {
            n = k;
            break;
        }
        store64(p, (uint64_t)count);
        p = copy(p + 1 + (7 & ~null), value, size, end, SHORT);
    }
    *out = p;
    return n;
}

/* Runs of bytes of up to 64 slots, some of them null, that are known to fit; NULL if one is long. */
static inline uint8_t *put_nullable_runs(level *lv, int width, int64_t item_width, int64_t from, int n, uint8_t *out)
{
    const uint8_t *offsets = lv->base->values, *data = lv->data - lv->base->origin * item_width;
    int chunk = chunk_for(offsets, width, from, n, data, lv->data_end, item_width);
    if (!chunk) return NULL;
    uint64_t valid = valid_bits(lv, from, n);
    lv->nulls += n - count_bits(valid);
    return put_short(offsets, width, 1, valid, from, n, data, item_width, chunk, out);
}

/* Writes as long as slots hold nothing that asks for a closer look, and the room lasts. */
static uint8_t *write_nullable_runs(level *lv, uint8_t *out, const uint8_t *limit)
{
    while (lv->next < lv->end) {
        int n = (int)(lv->end - lv->next < 64 ? lv->end - lv->next : 64);
        if (quick_bound(lv, lv->next, n) > limit - out) break;
        uint8_t *q = lv->base->width == 4 && lv->item_width == 1
                         ? put_nullable_runs(lv, 4, 1, lv->next, n, out)
                         : put_nullable_runs(lv, lv->base->width, lv->item_width, lv->next, n, out);
        if (!q) break;
        out = q;
        lv->next += n;
    }
    return out;
}

/* Items of a list that are known to fit. */
static inline uint8_t *put_items(const ad_encoder *e, level *lv, int64_t start, int64_t count, uint8_t *out)
{
    if (lv->plain && lv->what == BYTES) return put_slots(lv, NULL, start, count, out);
    lv->next = start;
    lv->end = start + count;
    if (runs_by_words(lv)) out = write_nullable_runs(lv, out, out + quick_bound(lv, start, count));
    while (lv->next < lv->end) {
        const int64_t *slots;
        int64_t n = lv->end - lv->next;
        if (by_words(e, lv)) {
            n = n < 64 ? n : 64;
            out = put_word(e, lv, lv->next, (int)n, out);
        } else {
            n = cached_slots(lv, &slots);
            out = put_slots(lv, slots, lv->next, n, out);
        }
        lv->next += n;
    }
    return out;
}

/* Lists of short BYTES, all side by side and none null: items first, with room before each for the headers of the lists
   that begin there, then the headers. No loop ends after an unforeseen number of turns. */
static inline uint8_t *put_lists(const level *lv, int width, const level *items, int item_offset_width,
                                 int64_t item_width, int chunk, int64_t first, int64_t n, uint8_t *out)
{
    const uint8_t *begins = lv->base->values, *data = items->data - items->base->origin * item_width;
    int64_t begin = load_int(begins, width, first), count = load_int(begins, width, first + n) - begin;
    const uint8_t *offsets = items->base->values + (begin - lv->base->origin) * item_offset_width;
    uint8_t headers[MOST_ITEMS + 1], *p = out;
    memset(headers, 0, (size_t)count + 1);
    for (int64_t k = 0; k < n; k++) headers[load_int(begins, width, first + k) - begin]++;
    int64_t start = load_int(offsets, item_offset_width, 0), origin = start;
    for (int64_t k = 0; k < count; k++) {
        int64_t end = load_int(offsets, item_offset_width, k + 1), size = end - start;
        p += 8 * headers[k];
        store64(p, (uint64_t)size);
        copy_chunk(p + 8, data + start * item_width, chunk);
        p += 8 + size * item_width;
        start = end;
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t here = load_int(begins, width, first + k), item = here - begin;
        int64_t bytes = (load_int(offsets, item_offset_width, item) - origin) * item_width;
        store64(out + 8 * (k + item) + bytes, (uint64_t)(load_int(begins, width, first + k + 1) - here));
    }
    return p + 8 * headers[count];
}

/* The same of items of any size: header by header. */
static uint8_t *put_lists_of_bytes(const level *lv, const level *items, int64_t first, int64_t n, uint8_t *out)
{
    const ad_node *list = lv->base, *item = items->base;
    int64_t start, count = load_int(list->values, list->width, first + n);
    extent(list, first, &start);
    count -= start + list->origin;
    if (list->width == 4 && item->width == 4 && count <= MOST_ITEMS) {
        const uint8_t *data = items->data - item->origin * items->item_width;
        int chunk = chunk_for(item->values, 4, start, count, data, items->data_end, items->item_width);
        if (chunk == 16 && items->item_width == 1) return put_lists(lv, 4, items, 4, 1, 16, first, n, out);
        if (chunk == 16) return put_lists(lv, 4, items, 4, items->item_width, 16, first, n, out);
        if (chunk == 32) return put_lists(lv, 4, items, 4, items->item_width, 32, first, n, out);
        if (chunk == 64) return put_lists(lv, 4, items, 4, items->item_width, 64, first, n, out);
    }
    for (int64_t k = first; k < first + n; k++) {
        count = extent(list, k, &start);
        store64(out, (uint64_t)count);
        out = put_slots(items, NULL, start, count, out + 8);
    }
    return out;
}

static uint8_t *write_lists_of_bytes(level *lv, const level *items, uint8_t *out, const uint8_t *limit)
{
    while (lv->next < lv->end) {
        int64_t start, n = lv->end - lv->next, room = limit - out;
        n = n < BATCH ? n : BATCH;
        for (;; n /= 2) {
            if (n == 0) return out;
            extent(lv->base, lv->next, &start);
            int64_t end = load_int(lv->base->values, lv->base->width, lv->next + n) - lv->base->origin;
            if (8 * n + quick_bound(items, start, end - start) <= room) break;
        }
        out = put_lists_of_bytes(lv, items, lv->next, n, out);
        lv->next += n;
    }
    return out;
}

/* The two steps of the encoder. Each writes what there is room for, and returns NULL if there was room for nothing. */

static uint8_t *write_lists(ad_encoder *e, level *lv, uint8_t *out, const uint8_t *limit)
{
    level *items = lv + 1;
    int quick = items->what != ITEMS && direct(items);
    uint8_t *begin = out;
    if (lv->plain && lv->base->kind == LIST && items->plain && items->what == BYTES
        && (items->base->kind == BINARY || items->base->kind == LIST))
        out = write_lists_of_bytes(lv, items, out, limit);
    while (lv->next < lv->end) {
        const int64_t *slots;
        int64_t n = cached_slots(lv, &slots);
        for (int64_t k = 0; k < n; k++) {
            int64_t start, room = limit - out - 8;
            if (room < 0) return out == begin ? NULL : out;
            lv->next++;
            if (slots[k] < 0) {
                *out++ = 0;
                continue;
            }
            int64_t count = extent(lv->base, slots[k], &start);
            store64(out, (uint64_t)count);
            out += 8;
            if (count == 0) continue;
            if (quick && count <= room) {
                int64_t size = quick_bound(items, start, count);
                if (size >= 0 && size <= room) {
                    out = put_items(e, items, start, count, out);
                    continue;
                }
            }
            items->next = start;
            items->end = start + count;
            e->top = items;
            return out;
        }
    }
    return out;
}

static uint8_t *write_values(ad_encoder *e, level *lv, uint8_t *out, const uint8_t *limit)
{
    int64_t room = limit - out, n = lv->end - lv->next;
    const int64_t *slots = NULL;
    if (!e->rows_only && lv->plain && lv->what == FIXED_WIDTH) {
        e->run = lv->base->values + lv->next * lv->base->width;
        e->run_size = n * lv->base->width;
        lv->next = lv->end;
        return out;
    }
    if (by_words(e, lv)) {
        int64_t width = e->rows_only || lv->what == WORDS_OF_BITS ? 1 : lv->base->width;
        if (room < width) return NULL;
        for (; lv->next < lv->end && room >= width; room = limit - out) {
            n = lv->end - lv->next;
            n = n < 64 ? n : 64;
            if (n * width > room) n = room / width;
            out = put_word(e, lv, lv->next, (int)n, out);
            lv->next += n;
        }
        return out;
    }
    if (lv->entries && !e->rows_only && by_indices(lv)) {
        if (room < lv->chunk) return NULL;
        for (; lv->next < lv->end && room >= lv->chunk; room = limit - out) {
            n = lv->end - lv->next;
            n = n < 64 ? n : 64;
            if (n * lv->chunk > room) n = room / lv->chunk;
            out = put_dictionary(lv, lv->next, (int)n, out);
            lv->next += n;
        }
        return out;
    }
    /* Slots that are resolved already, their nulls counted, are written as such. */
    if (!e->rows_only && runs_by_words(lv) && (lv->next < lv->cached || lv->next >= lv->cached_end)) {
        uint8_t *q = write_nullable_runs(lv, out, limit);
        if (q != out) return q;
    }
    if (lv->plain) n = n < BATCH ? n : BATCH;
    else n = cached_slots(lv, &slots);
    if (e->rows_only) {
        if (room < 1) return NULL;
        n = n < room ? n : room;
        for (int64_t k = 0; k < n; k++) *out++ = slots[k] >= 0;
        lv->next += n;
        return out;
    }
    if (lv->largest >= 0 && 8 + lv->largest <= SLACK) {
        /* No value is large: rather end the piece early than look at each. Any piece has room for one. */
        int64_t fitting = room / (8 + lv->largest);
        if (fitting == 0) return NULL;
        n = n < fitting ? n : fitting;
        lv->next += n;
        return put_slots(lv, slots, lv->next - n, n, out);
    }
    int64_t size = lv->base->length ? quick_bound(lv, lv->next, n) : n;
    while (n > 1 && size > room) {
        n /= 2;
        size = quick_bound(lv, lv->next, n);
    }
    int64_t fitting = size >= 0 ? 0 : put_fitting(lv, slots, lv->next, n, &out, limit);
    if (fitting) {
        n = fitting;
    } else if (size >= 0 && size <= room) {
        out = put_slots(lv, slots, lv->next, n, out);
    } else if (slots && slots[0] < 0) {
        if (room < 1) return NULL;
        *out++ = 0;
        n = 1;
    } else {
        /* One value that does not fit: its length now, its bytes piece by piece. */
        n = 1;
        const uint8_t *end;
        if (room < 8 || lv->what == FIXED_WIDTH || lv->what == WORDS_OF_BITS) return NULL;
        int64_t count = slot_bytes(lv, slots ? slots[0] : lv->next, &e->run, &end);
        e->run_size = count * lv->item_width;
        store64(out, (uint64_t)count);
        out += 8;
    }
    lv->next += n;
    return out;
}

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

int64_t JOIN(encode_, GENERATION)(ad_encoder *e, uint8_t *out, int64_t size)
{
    uint8_t *p = out;
    const uint8_t *limit = out + size - SLACK;
    for (;;) {
        if (e->run_size) {
            int64_t n = e->run_size < limit - p ? e->run_size : limit - p;
            memcpy(p, e->run, (size_t)n);
            p += n;
            e->run += n;
            e->run_size -= n;
            if (e->run_size) break;
        }
        level *lv = e->top;
        if (lv->next < lv->end) {
            uint8_t *q = lv->what == ITEMS && !e->rows_only ? write_lists(e, lv, p, limit)
                                                            : write_values(e, lv, p, limit);
            if (!q) break;
            p = q;
        } else if (lv > e->levels) {
            e->top--;
        } else {
            break;
        }
    }
    return p - out;
}
