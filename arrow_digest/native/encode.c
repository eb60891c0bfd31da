/* Encoders: how they start, and which generation of encode_rows.h they run. */
#include "encoder.h"

static void start_level(level *lv, const ad_node *node)
{
    memset(lv, 0, offsetof(level, slots));
    lv->first = node;
    while (node->kind == DICTIONARY || node->kind == RUN_END) node++;
    lv->base = node;
    lv->item_width = 1;
    if (node->kind == NULLS_ONLY) lv->what = NULLS;
    else if (node->kind == BOOL) lv->what = WORDS_OF_BITS;
    else if (node->kind == FIXED) lv->what = FIXED_WIDTH;
    else if (node->kind == VIEW) lv->what = VIEWS;
    else lv->what = BYTES;
    if (node->kind == BINARY) {
        lv->data = node->data;
        lv->data_end = node->data + node->data_size;
    } else if (node->kind == FIXED_BINARY) {
        lv->data = node->values;
        lv->data_end = node->values + node->length * node->width;
    } else if (is_list(node)) {
        const ad_node *item = node + 1;
        if (item->kind == FIXED && !item->validity.data) {
            lv->item_width = item->width;
            lv->data = item->values;
            lv->data_end = item->values + item->length * item->width;
        } else {
            lv->what = ITEMS;
        }
    }
}

/* Looks at every value where there are fewer of them than slots that repeat them. */
static int64_t largest_value(const level *lv)
{
    const ad_node *node = lv->base;
    int64_t largest = 0;
    if (lv->first == node || node->length > lv->first->length || (node->kind != BINARY && node->kind != VIEW)) return -1;
    for (int64_t slot = 0; slot < node->length; slot++) {
        int64_t size = node->kind == VIEW ? load_int(node->values, 4, 4 * slot)
                                          : load_int(node->values, node->width, slot + 1)
                                                - load_int(node->values, node->width, slot);
        /* What a view under a null says was not checked. */
        largest = size > largest ? size : largest;
    }
    return largest;
}

/* Encodes values that many slots repeat, where they are short and few. Where there is no memory for it they are encoded
   one by one. */
static void encode_entries(level *lv, int64_t room)
{
    const ad_node *node = lv->base;
    int64_t count = node->length;
    if (lv->largest < 0 || 8 + lv->largest > LONG || node->kind != BINARY || count == 0 || count > MOST_ENTRIES
        || count > lv->first->length / REPEATS)
        return;
    int64_t size = 1 + 8 * count + load_int(node->values, node->width, count) - load_int(node->values, node->width, 0);
    size_t starts = (size_t)(count + 2) * sizeof *lv->entries;
    if ((int64_t)starts + size + LONG > room) return;
    lv->entries = malloc(starts + (size_t)size + LONG);
    if (!lv->entries) return;
    lv->encoded = (uint8_t *)lv->entries + starts;
    lv->chunk = 8 + lv->largest > SHORT ? LONG : SHORT;
    memset(lv->encoded, 0, (size_t)size + LONG);
    uint32_t at = 1; /* after a null's one byte */
    lv->entries[0] = 0;
    for (int64_t slot = 0; slot < count; slot++) {
        int64_t start = load_int(node->values, node->width, slot);
        int64_t bytes = load_int(node->values, node->width, slot + 1) - start;
        lv->entries[slot + 1] = at;
        store64(lv->encoded + at, (uint64_t)bytes);
        if (bytes) memcpy(lv->encoded + at + 8, node->data + start, (size_t)bytes);
        at += 8 + (uint32_t)bytes;
    }
    lv->entries[count + 1] = at;
}

ad_encoder *ad_encoder_new(const ad_rows *rows, int generation, int64_t together)
{
    const ad_column *column = rows->column;
    int64_t count = 1;
    for (int64_t i = 0; i < column->node_count; i++) count += is_list(column->nodes + i);
    ad_encoder *e = malloc(sizeof *e + (size_t)count * sizeof(level));
    if (!e) return NULL;
    e->top = e->levels;
    e->run = NULL;
    e->run_size = 0;
    e->validity_only = rows->validity_only != 0;
    e->encode = encode_of(generation);
    level *lv = e->levels;
    start_level(lv, column->nodes);
    lv->parents = column->parents;
    lv->parent_count = column->parent_count;
    lv->end = column->nodes->length;
    for (; lv->what == ITEMS; lv++) start_level(lv + 1, lv->base + 1);
    for (lv = e->levels;; lv++) {
        lv->plain = lv->first == lv->base && !lv->first->validity.data && !lv->parent_count && lv->what != NULLS;
        lv->largest = largest_value(lv);
        encode_entries(lv, MOST_AHEAD / together);
        if (lv->what != ITEMS) return e;
    }
}

void ad_encoder_free(ad_encoder *e)
{
    if (!e) return;
    for (level *lv = e->levels;; lv++) {
        free(lv->entries);
        if (lv->what != ITEMS) break;
    }
    free(e);
}

int64_t ad_encode(ad_encoder *e, uint8_t *out, int64_t size)
{
    return size < 2 * SLACK ? -1 : e->encode(e, out, size);
}

int ad_encoder_done(const ad_encoder *e)
{
    return e->run_size == 0 && e->top == e->levels && e->top->next == e->top->end;
}

uintptr_t ad_encoder_ahead(const ad_encoder *e)
{
    const level *lv = e->levels;
    const ad_node *node = lv->first;
    if (e->run_size) return (uintptr_t)e->run;
    if (lv->what == BYTES && lv->plain && node->kind == BINARY)
        return (uintptr_t)node->data + (uintptr_t)load_int(node->values, node->width, lv->next);
    return (uintptr_t)node->values + (uintptr_t)(lv->next * node->width);
}

int64_t ad_encoder_nulls(const ad_encoder *e) { return e->levels->nulls; }

int ad_views_inside(const uint8_t *views, int64_t count, const int64_t *buffer_sizes, int64_t buffer_count)
{
    int64_t wrong = 0;
    for (int64_t slot = 0; slot < count; slot++) {
        uint32_t view[4]; /* size, first bytes, buffer, start: signed, so that large ones are negative */
        memcpy(view, views + 16 * slot, sizeof view);
        int64_t size = view[0], start = view[3], buffer = view[2] < buffer_count ? view[2] : buffer_count;
        wrong |= (size > INLINE_VIEW) & (((size | start) >> 31 != 0) | (start + size > buffer_sizes[buffer]));
    }
    return !wrong;
}

double ad_estimate(const ad_rows *rows)
{
    const ad_column *column = rows->column;
    double slots = (double)column->nodes->length, bytes = 0;
    if (rows->validity_only) return slots;
    for (const ad_node *node = column->nodes; node < column->nodes + column->node_count; node++) {
        double length = node->length ? (double)node->length : 1, size;
        switch (node->kind) {
        case FIXED: return bytes + slots * node->width;
        case FIXED_BINARY: return bytes + slots * (8 + node->width);
        case VIEW: return bytes + slots * (8 + INLINE_VIEW);
        case LIST: case LIST_VIEW: case FIXED_LIST:
            bytes += 8 * slots;
            slots *= (double)node[1].length / length;
            break;
        case BINARY:
            if (node->length == 0) return bytes + slots;
            size = (double)(load_int(node->values, node->width, node->length) - load_int(node->values, node->width, 0));
            return bytes + slots * (8 + size / length);
        case DICTIONARY: case RUN_END: break;
        default: return bytes + slots;
        }
    }
    return bytes;
}
