/* Pages and bytes by a name that strangers choose: a MIME type, a top-level domain. The table is of fixed size, and the names
 * that come when it is full are counted as others. Names consist of letters, digits and -./+_ alone, so that they can be
 * written anywhere.
 *
 * A loop counts in its own table without atomic read-modify-writes; any thread may read it meanwhile (census_sum). */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "lockfree/atomic.h"
#include "net/slice.h"

enum {
    CENSUS_NAME_BYTES = 48, /* with the 0; a longer name is one of the others */
    CENSUS_NAMES_MAX = 256,
    CENSUS_SLOTS = 512,
    CENSUS_MEMOS = 64,
    CENSUS_MEMO_BYTES = 60,
};
/* The number of all names that have none of their own. */
#define CENSUS_OTHERS 0u

struct census_entry {
    char name[CENSUS_NAME_BYTES]; /* filled up with 0 */
    _Atomic(uint64_t) pages, bytes;
};

/* A field as it came, and its number. */
struct census_memo {
    uint16_t number;
    uint16_t len;
    char field[CENSUS_MEMO_BYTES];
};

/* Zeroed memory is an empty one. */
struct census {
    _Atomic(uint32_t) count;      /* of names, the others left out. R1 in add: release; pairs with A1 in census_sum */
    uint16_t slots[CENSUS_SLOTS]; /* numbers by hash; 0: free */
    struct census_entry entries[CENSUS_NAMES_MAX + 1];
    struct census_memo memos[CENSUS_MEMOS]; /* by how the field looks */
};

/* The number of a name, which has a place among the first `max`. By the owner. */
unsigned census_find(struct census *census, struct slice name, unsigned max);
/* The number of the type in a field Content-Type. */
unsigned census_find_type(struct census *census, struct slice field, unsigned max);
/* The number of a host's top-level domain; literal addresses share one. */
unsigned census_find_domain(struct census *census, struct slice host, unsigned max);

/* By the owner. */
static inline void census_count(struct census *census, unsigned number, uint64_t bytes)
{
    struct census_entry *entry = &census->entries[number];
    lf_store(&entry->pages, lf_load(&entry->pages, relaxed) + 1, relaxed);
    lf_store(&entry->bytes, lf_load(&entry->bytes, relaxed) + bytes, relaxed);
}

/* Adds `part`, whose owner may be counting, to `sum`, which only the caller uses. */
void census_sum(struct census *sum, const struct census *part);
/* {"text/html": {"pages": 7, "bytes": 70000}, ...}: the `rows` names with most pages, and all others as "other". */
void census_print(const struct census *census, unsigned rows, FILE *out);
