/* SHA3-256 (FIPS 202) of many columns at once.

   Every column has its own sponge, and all sponges do the same steps, so up to eight are advanced by one instruction
   stream, each in one lane of the CPU's vectors. States live in memory between turns: a turn takes the columns with
   the most data left, encodes a piece of each into scratch that stays in the CPU's cache (or takes it from Arrow's own
   memory), and absorbs the pieces side by side. */
#include "dispatch.h"
#include <stdlib.h>
#include <string.h>

/* RATE is the block length; a turn absorbs up to TURN blocks of a column. */
enum { RATE = 136, MAX_LANES = 8, TURN = 256, SCRATCH = (TURN + 1) * RATE + 128 };

static void absorb(int generation, ad_sha3 *const *digests, const uint8_t *const *blocks, const uintptr_t *ahead,
                   int active, int64_t count)
{
    int width;
    absorb_function *function = absorb_of(generation, active, &width);
    uint64_t spare[25] = {0}, *states[MAX_LANES];
    const uint8_t *data[MAX_LANES];
    uintptr_t next[MAX_LANES];
    for (int i = 0; i < width; i++) {
        /* Lanes without work repeat another's on a state that nobody reads. */
        states[i] = i < active ? digests[i]->state : spare;
        data[i] = blocks[i < active ? i : 0];
        if (ahead) next[i] = ahead[i < active ? i : 0];
    }
    function(states, data, ahead ? next : NULL, count);
}

static void feed(ad_sha3 *digest, const uint8_t *data, int64_t size, int generation)
{
    if (digest->fill) {
        int64_t taken = size < RATE - digest->fill ? size : RATE - digest->fill;
        memcpy(digest->block + digest->fill, data, (size_t)taken);
        digest->fill += taken;
        data += taken;
        size -= taken;
        if (digest->fill < RATE) return;
        const uint8_t *block = digest->block;
        absorb(generation, &digest, &block, NULL, 1, 1);
        digest->fill = 0;
    }
    if (size >= RATE) absorb(generation, &digest, &data, NULL, 1, size / RATE);
    digest->fill = size % RATE;
    if (digest->fill) memcpy(digest->block, data + (size - digest->fill), (size_t)digest->fill);
}

void ad_sha3_feed(ad_sha3 *digest, const uint8_t *data, int64_t size)
{
    if (size > 0) feed(digest, data, size, ANY_CPU);
}

void ad_sha3_finish(const ad_sha3 *digest, uint8_t *out)
{
    ad_sha3 last = *digest, *digests = &last;
    const uint8_t *block = last.block;
    memset(last.block + last.fill, 0, (size_t)(RATE - last.fill));
    last.block[last.fill] = 0x06; /* SHA-3's suffix, and the first bit of the padding */
    last.block[RATE - 1] |= 0x80;
    absorb(ANY_CPU, &digests, &block, NULL, 1, 1);
    memcpy(out, last.state, 32);
}

/* The rows of a column on their way. */
typedef struct {
    const ad_rows *rows;
    ad_result *result;
    ad_encoder *encoder; /* NULL where Arrow's memory is already what arrow0 wants: */
    const uint8_t *data; /* then the bytes to come, */
    int64_t size;        /* and how many they are */
    double left;         /* about how many bytes are to come; 0 when there are none */
} job;

/* A column's share of a turn: a block that was begun earlier, and what follows it. */
typedef struct {
    ad_sha3 *digest;
    const uint8_t *data[2];
    int64_t blocks[2];
    uintptr_t ahead; /* what the column's next turn will read */
} share;

/* arrow0's bytes of plain fixed-width values are the values as they lie in memory. */
static int is_plain(const ad_rows *rows)
{
    const ad_node *node = rows->column->nodes;
    return node->kind == FIXED && !node->validity.data && !rows->column->parent_count && !rows->validity_only;
}

static void keep(ad_sha3 *digest, const uint8_t *data, int64_t size)
{
    if (size) memcpy(digest->block, data, (size_t)size);
    digest->fill = size;
}

static void take_plain(job *j, uint8_t *scratch, share *s)
{
    ad_sha3 *digest = s->digest;
    int64_t taken = 0;
    if (digest->fill) {
        taken = j->size < RATE - digest->fill ? j->size : RATE - digest->fill;
        memcpy(scratch, digest->block, (size_t)digest->fill);
        memcpy(scratch + digest->fill, j->data, (size_t)taken);
        keep(digest, scratch, digest->fill + taken);
        if (digest->fill == RATE) {
            s->data[0] = scratch;
            s->blocks[0] = 1;
            digest->fill = 0;
        }
    }
    if (digest->fill == 0) {
        s->data[1] = j->data + taken;
        s->blocks[1] = (j->size - taken) / RATE < TURN ? (j->size - taken) / RATE : TURN;
        taken += s->blocks[1] * RATE;
        if (j->size - taken < RATE) {
            keep(digest, j->data + taken, j->size - taken);
            taken = j->size;
        }
    }
    j->data += taken;
    s->ahead = (uintptr_t)j->data;
    j->size -= taken;
    j->left = (double)j->size;
}

static void take_encoded(job *j, uint8_t *scratch, share *s)
{
    ad_sha3 *digest = s->digest;
    memcpy(scratch, digest->block, (size_t)digest->fill);
    int64_t written = ad_encode(j->encoder, scratch + digest->fill, SCRATCH - digest->fill);
    int64_t size = digest->fill + written;
    s->data[0] = scratch;
    s->blocks[0] = size / RATE;
    keep(digest, scratch + size / RATE * RATE, size % RATE);
    j->left -= (double)written;
    if (j->left < 1) j->left = 1; /* the estimate was low */
    if (ad_encoder_done(j->encoder)) j->left = 0;
    s->ahead = ad_encoder_ahead(j->encoder);
}

static void absorb_shares(share *shares, int count, int generation, int prefetch)
{
    for (;;) {
        ad_sha3 *digests[MAX_LANES];
        const uint8_t *blocks[MAX_LANES];
        uintptr_t ahead[MAX_LANES];
        share *with_work[MAX_LANES];
        int active = 0;
        int64_t step = TURN + 1;
        for (share *s = shares; s < shares + count; s++) {
            if (s->blocks[0] == 0) {
                s->data[0] = s->data[1];
                s->blocks[0] = s->blocks[1];
                s->blocks[1] = 0;
            }
            if (s->blocks[0] == 0) continue;
            digests[active] = s->digest;
            blocks[active] = s->data[0];
            ahead[active] = s->ahead;
            with_work[active++] = s;
            if (s->blocks[0] < step) step = s->blocks[0];
        }
        if (!active) return;
        absorb(generation, digests, blocks, prefetch ? ahead : NULL, active, step);
        for (int i = 0; i < active; i++) {
            with_work[i]->data[0] += step * RATE;
            with_work[i]->blocks[0] -= step;
        }
    }
}

/* Moves the jobs with the most left to the front. */
static void most_left_first(job *jobs, int64_t count, int wanted)
{
    for (int i = 0; i < wanted; i++) {
        int64_t most = i;
        for (int64_t k = i + 1; k < count; k++)
            if (jobs[k].left > jobs[most].left) most = k;
        job moved = jobs[i];
        jobs[i] = jobs[most];
        jobs[most] = moved;
    }
}

static void run(job *jobs, int64_t count, int generation, uint8_t *scratch)
{
    int lanes = ad_lanes(generation);
    while (count > 0) {
        share shares[MAX_LANES] = {{0}};
        /* Eight lanes only where all are in use: five to seven columns go faster by turns in four. */
        int width = lanes == 8 && count < 8 ? 4 : lanes, turn = count < width ? (int)count : width;
        if (count > turn) most_left_first(jobs, count, turn);
        int encoded = 0;
        for (int i = 0; i < turn; i++) {
            shares[i].digest = jobs[i].rows->digest;
            encoded |= jobs[i].encoder != NULL;
            if (jobs[i].encoder) take_encoded(jobs + i, scratch + i * SCRATCH, shares + i);
            else take_plain(jobs + i, scratch + i * SCRATCH, shares + i);
        }
        absorb_shares(shares, turn, generation, encoded);
        for (int i = turn; i-- > 0;) {
            if (jobs[i].left > 0) continue;
            if (jobs[i].encoder) jobs[i].result->null_count = ad_encoder_nulls(jobs[i].encoder);
            ad_encoder_free(jobs[i].encoder);
            jobs[i] = jobs[--count];
        }
    }
}

int ad_sha3_update(const ad_rows *rows, ad_result *results, int64_t count, int generation)
{
    job *jobs = calloc((size_t)count + 1, sizeof *jobs);
    uint8_t *scratch = malloc((size_t)ad_lanes(generation) * SCRATCH);
    int64_t ready = 0;
    int failed = !jobs || !scratch;
    for (int64_t i = 0; i < count && !failed; i++) {
        const ad_node *top = rows[i].column->nodes;
        job *j = jobs + ready;
        *j = (job){rows + i, results + i, NULL, NULL, 0, 0};
        results[i].null_count = 0;
        if (top->length == 0) continue;
        if (is_plain(rows + i)) {
            j->data = top->values;
            j->size = top->length * top->width;
            j->left = (double)j->size;
        } else {
            j->encoder = ad_encoder_new(rows + i, generation, count);
            j->left = ad_estimate(rows + i) + 1;
            failed = !j->encoder;
        }
        ready++;
    }
    if (failed)
        for (int64_t i = 0; i < ready; i++) ad_encoder_free(jobs[i].encoder);
    else
        run(jobs, ready, generation, scratch);
    free(scratch);
    free(jobs);
    return failed ? -1 : 0;
}
