/* Which slots of a level hold a value, and where; a part of the template encode_rows.h. */

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
