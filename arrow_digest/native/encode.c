/* arrow0's byte stream of one leaf column, written piece by piece into a caller's buffer.

   A leaf is a chain of levels: lists around values, each possibly behind dictionaries and runs. For every level the
   encoder keeps which slots are still to be written; that is all there is to remember between two pieces, but for a
   run of bytes that is being copied. Loops that write without looking at the room left run only where a bound on what
   they write was compared with it before; they may store up to SLACK bytes more than they advance. */
#include "kernels.h"
#include "simd.h"
#include <stdlib.h>
#include <string.h>

enum { SLACK = 128, BATCH = 128, INLINE_VIEW = 12, COPY = 32 };

typedef struct {
    const ad_node *first, *base; /* encodings, and the list or the values under them */
    const ad_bits *parents;
    int64_t parent_count;
    int64_t next, end;           /* slots still to write */
    int64_t cached, cached_end;  /* slots that are resolved below */
    int64_t slots[BATCH];        /* their slots in base, -1 for a null */
} level;

struct ad_encoder {
    level *top;          /* the level being written */
    const uint8_t *run;  /* bytes being copied */
    int64_t run_size;
    int rows_only, wide;
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

static inline int bit_at(const uint8_t *data, int64_t bit) { return data[bit >> 3] >> (bit & 7) & 1; }

/* The n bits (1 to 64) from a bit on; reads no byte that holds none of them. */
static inline uint64_t bits_at(const uint8_t *data, int64_t bit, int n)
{
    const uint8_t *p = data + (bit >> 3);
    int shift = (int)(bit & 7), bytes = (shift + n + 7) >> 3;
    uint64_t low = 0;
    if (bytes >= 8)
        low = load64(p);
    else
        for (int i = 0; i < bytes; i++) low |= (uint64_t)p[i] << 8 * i;
    low >>= shift;
    if (bytes > 8) low |= (uint64_t)p[8] << (64 - shift);
    return n < 64 ? low & (((uint64_t)1 << n) - 1) : low;
}

/* Eight bits as eight bytes of 0 or 1. */
static inline uint64_t spread(uint64_t bits)
{
    uint64_t one_in_each = (bits & 0xff) * 0x0101010101010101u & 0x8040201008040201u;
    return (one_in_each + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

/* Copies size bytes; short ones as whole chunks, where the source has as many bytes. */
static inline uint8_t *copy(uint8_t *out, const uint8_t *from, int64_t size, const uint8_t *from_end)
{
    if (size <= COPY && from_end - from >= COPY) {
        memcpy(out, from, COPY);
    } else if (size <= 8 * COPY && from_end - from >= 9 * COPY) {
        for (int64_t done = 0; done < size; done += COPY) memcpy(out + done, from + done, COPY);
    } else if (size) {
        memcpy(out, from, (size_t)size);
    }
    return out + size;
}

/* Validity: which slots of a level hold a value, and where. */

static inline int is_list(const ad_node *node) { return node->kind >= LIST && node->kind <= LIST_VIEW; }

/* The level's slots are those of its values: no encoding in between. */
static inline int direct(const level *lv) { return lv->first == lv->base; }

static inline int without_nulls(const level *lv)
{
    return direct(lv) && !lv->parent_count && !lv->first->validity.data && lv->first->kind != NONE;
}

static inline uint64_t valid_bits(const level *lv, int64_t from, int n)
{
    uint64_t valid = n < 64 ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
    const ad_bits *own = &lv->first->validity;
    if (own->data) valid &= bits_at(own->data, own->offset + from, n);
    for (int64_t i = 0; i < lv->parent_count; i++)
        valid &= bits_at(lv->parents[i].data, lv->parents[i].offset + from, n);
    return valid;
}

static inline void follow_indices(const ad_node *node, int width, int64_t *slots, int n)
{
    for (int k = 0; k < n; k++) {
        int64_t null = slots[k] >> 63;
        slots[k] = load_int(node->values, width, slots[k] & ~null) | null;
    }
}

static void follow_runs(const ad_node *runs, int64_t run_count, int64_t *slots, int n)
{
    int64_t run = -1;
    for (int k = 0; k < n; k++) {
        if (slots[k] < 0) continue;
        int64_t row = runs->origin + slots[k];
        /* Rows mostly come in order: the same run, or the next one. */
        if (run >= 0 && row >= load_int(runs->values, runs->width, run) && run + 1 < run_count) run++;
        if (run < 0 || row >= load_int(runs->values, runs->width, run)
            || (run > 0 && row < load_int(runs->values, runs->width, run - 1))) {
            int64_t low = 0, high = run_count - 1;
            while (low < high) {
                int64_t middle = low + (high - low) / 2;
                if (row < load_int(runs->values, runs->width, middle)) high = middle;
                else low = middle + 1;
            }
            run = low;
        }
        slots[k] = run;
    }
}

static void resolve(const level *lv, int64_t from, int64_t *slots, int n)
{
    for (int k = 0; k < n; k += 64) {
        int count = n - k < 64 ? n - k : 64;
        uint64_t valid = valid_bits(lv, from + k, count);
        for (int j = 0; j < count; j++) slots[k + j] = (from + k + j) | -(int64_t)(~valid >> j & 1);
    }
    for (const ad_node *node = lv->first; node != lv->base; node++) {
        const ad_node *child = node + 1;
        if (node->length == 0) continue; /* then every slot is null */
        if (node->kind == RUN_END) follow_runs(node, child->length, slots, n);
        else if (node->width == 1) follow_indices(node, 1, slots, n);
        else if (node->width == 2) follow_indices(node, 2, slots, n);
        else if (node->width == 4) follow_indices(node, 4, slots, n);
        else follow_indices(node, 8, slots, n);
        if (child->validity.data)
            for (int k = 0; k < n; k++)
                if (slots[k] >= 0 && !bit_at(child->validity.data, child->validity.offset + slots[k])) slots[k] = -1;
    }
    if (lv->base->kind == NONE)
        for (int k = 0; k < n; k++) slots[k] = -1;
}

/* Resolves at least one more slot, and returns how many there are. */
static inline int cached_slots(level *lv, const int64_t **slots)
{
    if (lv->next < lv->cached || lv->next >= lv->cached_end) {
        /* Slots in order are worth a batch, also beyond the list at hand; after a jump only those that are needed. */
        int64_t wanted = lv->next == lv->cached_end ? lv->first->length - lv->next : lv->end - lv->next;
        lv->cached = lv->next;
        lv->cached_end = lv->next + (wanted < BATCH ? wanted : BATCH);
        resolve(lv, lv->cached, lv->slots, (int)(lv->cached_end - lv->cached));
    }
    *slots = lv->slots + (lv->next - lv->cached);
    return (int)((lv->cached_end < lv->end ? lv->cached_end : lv->end) - lv->next);
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

static inline int64_t binary_value(const ad_node *node, int64_t slot, const uint8_t **value, const uint8_t **end)
{
    int64_t start, size;
    if (node->kind == VIEW) {
        const uint8_t *view = node->values + 16 * slot;
        size = load_int(view, 4, 0);
        *value = view + 4;
        *end = view + 16;
        if (size > INLINE_VIEW) {
            int64_t buffer = load_int(view, 4, 2);
            *value = node->buffers[buffer] + load_int(view, 4, 3);
            *end = node->buffers[buffer] + node->buffer_sizes[buffer];
        }
        return size;
    }
    size = extent(node, slot, &start);
    *value = (node->kind == BINARY ? node->data : node->values) + start;
    *end = node->kind == BINARY ? node->data + node->data_size : node->values + node->length * node->width;
    return size;
}

/* Values of slots that are known to fit. */

static inline uint8_t *put_fixed(const ad_node *node, int width, const int64_t *slots, int n, uint8_t *out)
{
    for (int k = 0; k < n; k++) {
        int64_t null = slots[k] >> 63;
        const uint8_t *value = node->values + (slots[k] & ~null) * width;
        if (width < 8) {
            uint64_t v = (uint64_t)load_int(value, width, 0) & ~(uint64_t)null;
            memcpy(out, &v, 8);
        } else {
            for (int i = 0; i < width; i += 8) store64(out + i, load64(value + i) & ~(uint64_t)null);
        }
        out += 1 + ((width - 1) & ~null);
    }
    return out;
}

static inline uint8_t *put_binary(const ad_node *node, int width, const int64_t *slots, int n, uint8_t *out)
{
    const uint8_t *end = node->data + node->data_size;
    for (int k = 0; k < n; k++) {
        int64_t null = slots[k] >> 63, slot = slots[k] & ~null;
        int64_t start = load_int(node->values, width, slot);
        int64_t size = (load_int(node->values, width, slot + 1) - start) & ~null;
        store64(out, (uint64_t)size);
        out = copy(out + 1 + (7 & ~null), node->data + start, size, end);
    }
    return out;
}

static uint8_t *put_slots(const ad_node *node, const int64_t *slots, int n, uint8_t *out)
{
    const uint8_t *value, *end;
    if (node->length == 0 || node->kind == NONE) {
        memset(out, 0, (size_t)n);
        return out + n;
    }
    switch (node->kind) {
    case FIXED:
        if (node->width == 8) return put_fixed(node, 8, slots, n, out);
        if (node->width == 4) return put_fixed(node, 4, slots, n, out);
        if (node->width == 2) return put_fixed(node, 2, slots, n, out);
        if (node->width == 1) return put_fixed(node, 1, slots, n, out);
        return put_fixed(node, node->width, slots, n, out);
    case BOOL:
        for (int k = 0; k < n; k++)
            *out++ = slots[k] < 0 ? 0 : (uint8_t)(1 + bit_at(node->values, node->origin + slots[k]));
        return out;
    case BINARY:
        return node->width == 4 ? put_binary(node, 4, slots, n, out) : put_binary(node, 8, slots, n, out);
    default:
        for (int k = 0; k < n; k++) {
            if (slots[k] < 0) {
                *out++ = 0;
                continue;
            }
            int64_t size = binary_value(node, slots[k], &value, &end);
            store64(out, (uint64_t)size);
            if (node->kind == VIEW && size <= INLINE_VIEW) {
                memcpy(out + 8, value, INLINE_VIEW);
                out += 8 + size;
            } else {
                out = copy(out + 8, value, size, end);
            }
        }
        return out;
    }
}

/* Fixed-width values with nulls, without a branch on validity: a null's first byte is written as 0 and kept. */
static inline uint8_t *put_nullable(const uint8_t *values, int width, uint64_t valid, int n, uint8_t *out)
{
    for (int k = 0; k < n; k++, valid >>= 1, values += width) {
        uint64_t mask = -(valid & 1);
        if (width < 8) {
            uint64_t v = (uint64_t)load_int(values, width, 0) & mask;
            memcpy(out, &v, 8);
        } else {
            for (int i = 0; i < width; i += 8) store64(out + i, load64(values + i) & mask);
        }
        out += 1 + ((uint64_t)(width - 1) & mask);
    }
    return out;
}

#if HAVE_X86
/* The same, 64 bytes of values at a time: the bytes that stay are compressed to the front. */
TARGET_COMPRESS
static uint8_t *put_nullable_wide(const uint8_t *values, int width, uint64_t valid, int n, uint8_t *out)
{
    static const uint64_t first_bytes[] = {0x0101010101010101u, 0x0001000100010001u, 0x0000000100000001u};
    int rows = 64 / width;
    uint64_t firsts = width == 1 ? ~(uint64_t)0 : width == 2 ? 0x5555555555555555u : width == 4 ? 0x1111111111111111u
                      : first_bytes[width >> 4];
    uint64_t whole = ((uint64_t)1 << width) - 1;
    for (; n > 0; n -= rows, values += 64) {
        uint64_t present = n < rows ? ((uint64_t)1 << n * width) - 1 : ~(uint64_t)0;
        uint64_t filled = _pdep_u64(valid, firsts) * whole & present;
        uint64_t kept = (filled | firsts) & present;
        _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(kept, _mm512_maskz_loadu_epi8(filled, values)));
        out += _mm_popcnt_u64(kept);
        valid = rows < 64 ? valid >> rows : 0;
    }
    return out;
}
#endif

/* Up to 64 slots of fixed-width or bool values behind no encoding, or their validity. */
static uint8_t *put_word(const ad_encoder *e, const level *lv, int64_t from, int n, uint8_t *out)
{
    const ad_node *node = lv->base;
    uint64_t valid = valid_bits(lv, from, n);
    if (e->rows_only || node->kind == BOOL) {
        uint64_t bits = e->rows_only ? 0 : bits_at(node->values, node->origin + from, n);
        for (int k = 0; k < n; k += 8) {
            uint64_t rows = spread(valid >> k);
            store64(out + k, e->rows_only ? rows : rows + (spread(bits >> k) & rows));
        }
        return out + n;
    }
    const uint8_t *values = node->values + from * node->width;
#if HAVE_X86
    if (e->wide) return put_nullable_wide(values, node->width, valid, n, out);
#endif
    if (node->width == 8) return put_nullable(values, 8, valid, n, out);
    if (node->width == 4) return put_nullable(values, 4, valid, n, out);
    if (node->width == 2) return put_nullable(values, 2, valid, n, out);
    if (node->width == 1) return put_nullable(values, 1, valid, n, out);
    if (node->width == 16) return put_nullable(values, 16, valid, n, out);
    return put_nullable(values, 32, valid, n, out);
}

static inline int by_words(const ad_encoder *e, const level *lv)
{
    return direct(lv) && lv->base->kind != NONE && (e->rows_only || lv->base->kind == FIXED || lv->base->kind == BOOL);
}

/* No less than what n slots from one on are encoded to, where that is known without looking at each; else -1. */
static inline int64_t quick_bound(const level *lv, int64_t from, int64_t n)
{
    const ad_node *node = lv->base;
    switch (node->kind) {
    case FIXED: return n * node->width;
    case FIXED_BINARY: return n * (8 + (int64_t)node->width);
    case BINARY:
        if (!direct(lv)) return -1;
        return 8 * n + load_int(node->values, node->width, from + n) - load_int(node->values, node->width, from);
    case VIEW: return -1;
    default: return n;
    }
}

static int64_t bound(const level *lv, const int64_t *slots, int64_t n)
{
    int64_t size = lv->base->length ? quick_bound(lv, lv->next, n) : n;
    if (size >= 0) return size;
    const uint8_t *value, *end;
    size = 8 * n;
    for (int64_t k = 0; k < n; k++)
        if (slots[k] >= 0) size += binary_value(lv->base, slots[k], &value, &end);
    return size;
}

/* Items of a list that are known to fit, behind no encoding. */
static inline uint8_t *put_items(const ad_encoder *e, level *lv, int64_t start, int64_t count, uint8_t *out)
{
    const ad_node *node = lv->base;
    if (node->kind == FIXED && without_nulls(lv)) {
        const uint8_t *end = node->values + node->length * node->width;
        return count ? copy(out, node->values + start * node->width, count * node->width, end) : out;
    }
    lv->next = start;
    lv->end = start + count;
    while (lv->next < lv->end) {
        const int64_t *slots;
        int64_t n = lv->end - lv->next;
        if (by_words(e, lv)) {
            n = n < 64 ? n : 64;
            out = put_word(e, lv, lv->next, (int)n, out);
        } else {
            n = cached_slots(lv, &slots);
            out = put_slots(node, slots, (int)n, out);
        }
        lv->next += n;
    }
    return out;
}

/* The two steps of the encoder. Each writes what there is room for, and returns NULL if there was room for nothing. */

static uint8_t *write_lists(ad_encoder *e, level *lv, uint8_t *out, const uint8_t *limit)
{
    level *items = lv + 1;
    int quick = direct(items) && !is_list(items->base) && items->base->kind != VIEW;
    uint8_t *begin = out;
    while (lv->next < lv->end) {
        const int64_t *slots;
        int n = cached_slots(lv, &slots);
        for (int k = 0; k < n; k++) {
            int64_t start, room = limit - out;
            if (room < 8) return out == begin ? NULL : out;
            lv->next++;
            if (slots[k] < 0) {
                *out++ = 0;
                continue;
            }
            int64_t count = extent(lv->base, slots[k], &start);
            store64(out, (uint64_t)count);
            out += 8;
            if (count == 0) continue;
            if (quick && count < room && quick_bound(items, start, count) <= room - 8) {
                out = put_items(e, items, start, count, out);
                continue;
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
    const ad_node *node = lv->base;
    int64_t room = limit - out, n = lv->end - lv->next;
    const int64_t *slots;
    if (!e->rows_only && node->kind == FIXED && without_nulls(lv)) {
        e->run = node->values + lv->next * node->width;
        e->run_size = n * node->width;
        lv->next = lv->end;
        return out;
    }
    if (by_words(e, lv)) {
        int64_t width = e->rows_only || node->kind == BOOL ? 1 : node->width;
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
    n = cached_slots(lv, &slots);
    if (e->rows_only) {
        if (room < 1) return NULL;
        n = n < room ? n : room;
        for (int64_t k = 0; k < n; k++) *out++ = slots[k] >= 0;
        lv->next += n;
        return out;
    }
    while (n > 1 && bound(lv, slots, n) > room) n /= 2;
    if (n > 1 || bound(lv, slots, 1) <= room) {
        out = put_slots(node, slots, (int)n, out);
    } else if (slots[0] < 0) {
        if (room < 1) return NULL;
        *out++ = 0;
    } else {
        /* One value that does not fit: its length now, its bytes piece by piece. */
        const uint8_t *end;
        if (room < 8 || node->kind == FIXED || node->kind == BOOL) return NULL;
        e->run_size = binary_value(node, slots[0], &e->run, &end);
        store64(out, (uint64_t)e->run_size);
        out += 8;
    }
    lv->next += n;
    return out;
}

int64_t ad_encode(ad_encoder *e, uint8_t *out, int64_t size)
{
    if (size < 2 * SLACK) return -1;
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
            uint8_t *q = is_list(lv->base) && !e->rows_only ? write_lists(e, lv, p, limit)
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

int ad_encoder_done(const ad_encoder *e)
{
    return e->run_size == 0 && e->top == e->levels && e->top->next == e->top->end;
}

ad_encoder *ad_encoder_new(const ad_column *column, int lanes)
{
    int64_t count = 1;
    for (int64_t i = 0; i < column->node_count; i++) count += is_list(column->nodes + i);
    ad_encoder *e = malloc(sizeof *e + (size_t)count * sizeof(level));
    if (!e) return NULL;
    e->top = e->levels;
    e->run = NULL;
    e->run_size = 0;
    e->rows_only = column->rows_only != 0;
    e->wide = lanes == 8 && can_compress_bytes();
    const ad_node *node = column->nodes;
    for (level *lv = e->levels; lv < e->levels + count; lv++, node++) {
        lv->first = node;
        while (node->kind == DICTIONARY || node->kind == RUN_END) node++;
        lv->base = node;
        lv->parents = NULL;
        lv->parent_count = lv->next = lv->end = lv->cached = lv->cached_end = 0;
    }
    e->levels->parents = column->parents;
    e->levels->parent_count = column->parent_count;
    e->levels->end = column->nodes->length;
    return e;
}

void ad_encoder_free(ad_encoder *e) { free(e); }

double ad_estimate(const ad_column *column)
{
    double slots = (double)column->nodes->length, bytes = 0;
    if (column->rows_only) return slots;
    for (const ad_node *node = column->nodes; node < column->nodes + column->node_count; node++) {
        double length = node->length ? (double)node->length : 1, width = node->width;
        switch (node->kind) {
        case FIXED: return bytes + slots * width;
        case FIXED_BINARY: return bytes + slots * (8 + width);
        case VIEW: return bytes + slots * (8 + INLINE_VIEW);
        case LIST: case LIST_VIEW: case FIXED_LIST:
            bytes += 8 * slots;
            slots *= (double)node[1].length / length;
            break;
        case BINARY:
            if (node->length == 0) return bytes + slots;
            double size = (double)(load_int(node->values, node->width, node->length)
                                   - load_int(node->values, node->width, 0));
            return bytes + slots * (8 + size / length);
        case DICTIONARY: case RUN_END: break;
        default: return bytes + slots;
        }
    }
    return bytes;
}

int64_t ad_null_count(const ad_column *column)
{
    int64_t nulls = 0, slots[BATCH];
    level lv = {column->nodes, column->nodes, column->parents, column->parent_count, 0, 0, 0, 0, {0}};
    while (lv.base->kind == DICTIONARY || lv.base->kind == RUN_END) lv.base++;
    if (without_nulls(&lv)) return 0;
    for (int64_t from = 0, length = column->nodes->length; from < length; from += BATCH) {
        int n = (int)(length - from < BATCH ? length - from : BATCH);
        resolve(&lv, from, slots, n);
        for (int k = 0; k < n; k++) nulls += slots[k] < 0;
    }
    return nulls;
}
