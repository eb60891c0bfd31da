/* arrow0's byte stream of one leaf column, written piece by piece into a caller's buffer. A template: defines
   encode_<GENERATION>.

   A leaf is a chain of levels: lists around values, each possibly behind dictionaries and runs. For every level the
   encoder keeps which slots are still to be written; that is all there is to remember between two pieces, but for a
   run of bytes that is being copied. Loops that write without looking at the room left run only where a bound on what
   they write was compared with it before; they may store up to SLACK bytes more than they advance. */
#include "encoder.h"
#include "slots.h"
#include "values.h"

static inline int by_words(const ad_encoder *e, const level *lv)
{
    return direct(lv) && lv->what != NULLS && (e->validity_only || lv->what == FIXED_WIDTH || lv->what == WORDS_OF_BITS);
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
    if (!e->validity_only && lv->plain && lv->what == FIXED_WIDTH) {
        e->run = lv->base->values + lv->next * lv->base->width;
        e->run_size = n * lv->base->width;
        lv->next = lv->end;
        return out;
    }
    if (by_words(e, lv)) {
        int64_t width = e->validity_only || lv->what == WORDS_OF_BITS ? 1 : lv->base->width;
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
    if (lv->entries && !e->validity_only && by_indices(lv)) {
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
    if (!e->validity_only && runs_by_words(lv) && (lv->next < lv->cached || lv->next >= lv->cached_end)) {
        uint8_t *q = write_nullable_runs(lv, out, limit);
        if (q != out) return q;
    }
    if (lv->plain) n = n < BATCH ? n : BATCH;
    else n = cached_slots(lv, &slots);
    if (e->validity_only) {
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
            uint8_t *q = lv->what == ITEMS && !e->validity_only ? write_lists(e, lv, p, limit)
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
