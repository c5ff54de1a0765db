/* The WARC files of a crawl: each loop writes a file of its own, DIR/warc/PREFIX-TIME-SERIAL-LOOP.warc.gz.
 *
 * A page becomes a response record and a request record that names it, each a gzip member of its own. The
 * loop makes and compresses them (igzip at level 1, libdeflate above) and hands blocks of them to the
 * housekeeper through an outlet. A body whose transfer was chunked is stored without the chunks, and its
 * field "Transfer-Encoding" is renamed to "X-Transfer-Coding", so that readers do not look for chunks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/disk/outlet.h"
#include "engine/tuning/tuning.h"
#include "engine/store/warc.h"
#include "net/slice.h"

enum {
    /* Writable bytes that the caller must leave before and after a response. */
    STORE_HEADROOM = WARC_HEADER_BYTES_MAX,
    STORE_TAILROOM = WARC_TRAILER_BYTES,
};

struct store_page {
    struct slice url;
    struct slice request; /* as sent */
    char *response;       /* head and body, contiguous, with STORE_HEADROOM before and STORE_TAILROOM after */
    size_t head_len;
    size_t body_len;
    struct slice address;
    uint64_t date_us;
    struct slice truncated;    /* empty: whole */
    struct slice tls_protocol; /* "tls/1.2"; empty: plain */
    struct slice tls_suite;
    const unsigned char *payload_digest; /* SHA-1 of the body */
};

struct store {
    const struct tuning *tuning;
    struct outlet outlet;
    struct warc_ids ids;
    struct warc_id warcinfo; /* of the open file */
    char filename[FILES_NAME_BYTES];
    unsigned loop;
    unsigned serial;
    uint64_t offset; /* in the open file */
    struct libdeflate_compressor *compressor;
    struct isal_zstream *igzip;
    char *scratch; /* a compressed record that does not fit the rest of a block */
    size_t scratch_bytes;
};

/* Its files are warc/NAME among `files`, which must outlive the store. 0 or a negative errno. */
int store_init(struct store *store, const struct tuning *tuning, struct files *files, unsigned loop);
void store_fini(struct store *store);

/* False if there is no room until more has been written to the disk; try again later. */
bool store_add(struct store *store, const struct store_page *page);
