/* Pages that repeat another: what all loops know of the pages so far, and what the tuning file makes of a repeat.
 *
 * There are two kinds. A duplicate has the same body as an earlier page, byte by byte. It is found by its digest, and
 * `exact` knows where the first copy is. A near-duplicate is an HTML page whose text hardly differs from that of an
 * earlier page. It is found by its SimHash. Both kinds are kept in memory only, so a resumed crawl does not know
 * those of its earlier lives.
 *
 * A page is looked up before its verdict begins, and added within its verdict (ledger.h). So the epoch of a revisit
 * is never earlier than that of its first copy, and no commit holds a revisit without the record that it refers to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/duplicates/exact.h"
#include "engine/duplicates/near.h"
#include "engine/tuning/tuning.h"

struct repeats {
    bool has_exact, has_near;
    bool follows;   /* links of repeats are followed */
    uint64_t store; /* enum tuning_duplicates_store */
    struct exact exact;
    struct near near;
};

/* "near-duplicate:3:0123456789abcdef" */
enum { REPEATS_NOTE_CHARS = 40 };

/* Takes memory only for the kinds that this tuning needs: without a store, for example, no digests are kept. 0 or a
 * negative errno; call repeats_fini in either case. */
int repeats_init(struct repeats *repeats, const struct tuning *tuning);
/* Memory that is filled. Any thread. */
uint64_t repeats_bytes(struct repeats *repeats);
/* No-op if nothing was initialised. */
void repeats_fini(struct repeats *repeats);

/* Whether there is a first copy of this body; *copy is it. */
bool repeats_find(struct repeats *repeats, const unsigned char *digest, size_t body_len,
                  struct exact_copy *copy);
/* This page is a first copy, and has been stored. */
void repeats_add(struct repeats *repeats, unsigned loop, const unsigned char *digest,
                 const struct exact_source *source);

/* Pages that were forgotten because memory was full. */
uint64_t repeats_forgotten(struct repeats *repeats);

/* The annotations of crawl.log: the distance, and the hash of the URL of the first page. `note` has
 * REPEATS_NOTE_CHARS. */
void repeats_note_exact(const struct exact_copy *copy, char *note);
void repeats_note_near(const struct near_match *match, char *note);
