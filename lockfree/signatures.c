/* Open addressing with linear probing in one array; a slot goes from 0 to a signature once and stays.
 *
 * Why exactly one add is told NEW: a signature's probe sequence is fixed, and every add of it walks that
 * sequence from its start, over slots that hold other signatures, to the first slot that holds the signature
 * or 0. Slots never change once they are not 0, so no add can walk past the slot in which another put the
 * signature: when it was there it stops at it; when the slot was 0 its CAS from 0 must succeed to go on, and
 * only one CAS from 0 does. The losers look at the same slot again.
 *
 * Why a walk ends: at most count_max < slots_count slots are ever filled, because each add pays with a place
 * taken from `reserved`, which never passes count_max.
 *
 * Pairs: R1 publishes what the adding thread wrote before; A1, A2 and A3 (the loads that find the signature)
 * pair with it. R4 and A4 do the same for signature 0. */
#include "lockfree/signatures.h"

#include <assert.h>

/* Enough to cover the latency of a line from memory with the work on the group before. */
#define GROUP 32

size_t signatures_bytes(uint64_t count_max)
{
    uint64_t slots = (count_max * SIGNATURES_LOAD_DEN + SIGNATURES_LOAD_NUM - 1) / SIGNATURES_LOAD_NUM;
    return (slots * sizeof(uint64_t) + LF_CACHE_LINE - 1) / LF_CACHE_LINE * LF_CACHE_LINE +
           (slots == 0) * LF_CACHE_LINE;
}

void signatures_init(struct signatures *set, void *memory, size_t bytes)
{
    assert(bytes && bytes % LF_CACHE_LINE == 0 && (uintptr_t)memory % LF_CACHE_LINE == 0);
    set->slots = memory;
    set->slots_count = bytes / sizeof(uint64_t);
    set->count_max = set->slots_count * SIGNATURES_LOAD_NUM / SIGNATURES_LOAD_DEN;
    lf_store(&set->reserved, 0, relaxed);
    lf_store(&set->zero, 0, relaxed);
}

void signatures_writer_init(struct signatures_writer *writer, struct signatures *set)
{
    *writer = (struct signatures_writer){.set = set};
}

void signatures_writer_fini(struct signatures_writer *writer)
{
    lf_fetch_sub(&writer->set->reserved, writer->credit, relaxed);
    writer->credit = 0;
}

/* The product's high bits depend on the whole signature, whatever part of it a caller has already used to
 * divide the signatures among sets. */
static inline uint64_t home_of(const struct signatures *set, uint64_t signature)
{
    uint64_t mixed = signature * UINT64_C(0x9E3779B97F4A7C15);
    return (uint64_t)(((unsigned __int128)mixed * set->slots_count) >> 64);
}

static bool reserve(struct signatures_writer *writer)
{
    struct signatures *set = writer->set;
    uint64_t reserved = lf_load(&set->reserved, relaxed);
    while (reserved < set->count_max) {
        uint64_t room = set->count_max - reserved;
        uint64_t credit = room < SIGNATURES_CREDIT ? room : SIGNATURES_CREDIT;
        if (lf_cas_weak(&set->reserved, &reserved, reserved + credit, relaxed, relaxed)) {
            writer->credit = credit;
            return true;
        }
        writer->losses++;
    }
    return false;
}

static enum signatures_answer add_zero(struct signatures *set)
{
    if (lf_load(&set->zero, acquire)) /* A4 pairs with R4 */
        return SIGNATURES_KNOWN;
    return lf_exchange(&set->zero, 1, acq_rel) ? SIGNATURES_KNOWN : SIGNATURES_NEW; /* R4, A4 */
}

enum signatures_answer signatures_add(struct signatures_writer *writer, uint64_t signature)
{
    struct signatures *set = writer->set;
    if (!signature)
        return add_zero(set);
    for (uint64_t slot = home_of(set, signature);; slot = slot + 1 < set->slots_count ? slot + 1 : 0) {
        uint64_t seen = lf_load(&set->slots[slot], acquire); /* A1 pairs with R1 */
        if (!seen) {
            if (!writer->credit && !reserve(writer))
                return SIGNATURES_FULL;
            if (lf_cas(&set->slots[slot], &seen, signature, release, acquire)) { /* R1; A2 pairs with R1 */
                writer->credit--;
                return SIGNATURES_NEW;
            }
            writer->losses++;
            seen = LF_BUG(signatures_no_second_look, seen, 0);
        }
        if (seen == signature)
            return SIGNATURES_KNOWN;
    }
}

bool signatures_has(struct signatures *set, uint64_t signature)
{
    if (!signature)
        return lf_load(&set->zero, acquire); /* A4 pairs with R4 */
    for (uint64_t slot = home_of(set, signature);; slot = slot + 1 < set->slots_count ? slot + 1 : 0) {
        uint64_t seen = lf_load(&set->slots[slot], acquire); /* A3 pairs with R1 */
        if (seen == signature)
            return true;
        if (!seen)
            return false;
    }
}

static inline void prefetch(const struct signatures *set, const uint64_t *signatures, size_t count)
{
    for (size_t i = 0; i < count; i++)
        __builtin_prefetch((const void *)&set->slots[home_of(set, signatures[i])], 1);
}

static inline size_t group_at(size_t from, size_t count)
{
    if (from >= count)
        return 0;
    return count - from < GROUP ? count - from : GROUP;
}

size_t signatures_add_batch(struct signatures_writer *writer, const uint64_t *signatures, size_t count,
                            enum signatures_answer *answers)
{
    size_t added = 0;
    prefetch(writer->set, signatures, group_at(0, count));
    for (size_t from = 0; from < count; from += GROUP) {
        size_t group = group_at(from, count), ahead = from + GROUP;
        prefetch(writer->set, signatures + ahead, group_at(ahead, count));
        for (size_t i = from; i < from + group; i++) {
            answers[i] = signatures_add(writer, signatures[i]);
            added += answers[i] == SIGNATURES_NEW;
        }
    }
    return added;
}

size_t signatures_has_batch(struct signatures *set, const uint64_t *signatures, size_t count, bool *found)
{
    size_t present = 0;
    prefetch(set, signatures, group_at(0, count));
    for (size_t from = 0; from < count; from += GROUP) {
        size_t group = group_at(from, count), ahead = from + GROUP;
        prefetch(set, signatures + ahead, group_at(ahead, count));
        for (size_t i = from; i < from + group; i++)
            present += found[i] = signatures_has(set, signatures[i]);
    }
    return present;
}

uint64_t signatures_count(struct signatures *set)
{
    return lf_load(&set->reserved, relaxed) + lf_load(&set->zero, relaxed);
}

bool signatures_next(struct signatures *set, uint64_t *cursor, uint64_t *signature)
{
    while (*cursor < set->slots_count) {
        *signature = lf_load(&set->slots[(*cursor)++], acquire); /* A3 pairs with R1 */
        if (*signature)
            return true;
    }
    if (*cursor > set->slots_count || !lf_load(&set->zero, acquire)) /* A4 pairs with R4 */
        return false;
    (*cursor)++;
    *signature = 0;
    return true;
}
