/* Reads pages for their links: unpacks a body, finds its links, hands them to the frontier.
 *
 * One page at a time, in steps: a long page takes many turns of its loop, so that responses of other hosts
 * do not wait for it. One per loop. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/content/scan.h"
#include "engine/content/unpack.h"
#include "engine/crawl/buffer.h"
#include "engine/crawl/harvest.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/outlinks.h"
#include "engine/crawl/repeats.h"
#include "engine/outcome/fetch_outcome.h"
#include "net/http_head.h"

/* A response and its origin. Must stay unchanged until the page is read. */
struct reader_page {
    struct harvest_source source; /* its url and base are those of the page, copied by reader_begin */
    struct slice head;            /* all of it, if it has Link or Refresh fields; else empty */
    struct unpack_body body;
    unsigned tags; /* enum robots_tag, of the head */
    bool is_cut;   /* the body is known to be incomplete */
};

struct reader_options {
    struct slice agent; /* as for struct scan_options, all of them */
    bool css;
    bool noscript;
    size_t entries_max;
    bool obeys_meta; /* meta robots elements are obeyed */
    struct repeats *repeats;
    bool is_copy;              /* the body is that of an earlier page: no similar text is looked for */
    size_t outlinks_bytes_max; /* of the list of its links; 0: none is made */
};

enum reader_phase {
    READER_IDLE,
    READER_UNPACKS,
    READER_SCANS,
    READER_LISTS,    /* lists the links that the scan has found so far */
    READER_HARVESTS, /* queues the links that the scan has found so far */
};

/* A buffer that grows while a body is unpacked. */
struct reader_room {
    struct unpack_room room;
    struct buffer_pool *pages;
    struct buffer *buffer;
};
struct reader_room reader_room_of(struct buffer_pool *pages, struct buffer *buffer);

/* The outcome of a page with this result. `is_cut`: the body is known to be incomplete. */
enum fetch_outcome reader_outcome(enum unpack_result result, bool is_cut);

struct reader {
    struct buffer_pool *pages;
    struct harvest *harvest;
    struct decode *decode;
    const void *owner; /* of the page that is being read; NULL: none */
    enum reader_phase phase;

    /* The result, once it is idle again. */
    enum fetch_outcome outcome;
    unsigned tags;     /* enum robots_tag, of head and body */
    size_t body_bytes; /* without content codings */
    size_t outlinks;   /* all that were found, also what is not followed */
    bool is_near;      /* a near-duplicate of `near` */
    struct near_match near;
    struct outlinks list; /* of its links; the owner may take it */

    /* The page at hand. */
    struct reader_page page;
    struct reader_options options;
    enum scan_progress progress;
    bool has_fingerprint; /* for which the index has not been asked yet */
    uint64_t fingerprint; /* of the text */
    size_t listed;    /* links that were listed, of those that the scan has found */
    size_t harvested; /* links that were queued, of those that the scan has found */
    struct buffer decoded;
    struct buffer converted;
    struct reader_room memory;
    struct url url;
    struct url base;
    struct unpack unpack;
    struct slice link_fields[READER_LINK_FIELDS_MAX];
    struct scan scan;
    char url_text[URL_BYTES_MAX];
    char base_text[URL_BYTES_MAX];
};

/* False: no memory. `decode` sets the limits for decoded bodies. */
bool reader_init(struct reader *reader, struct buffer_pool *pages, struct harvest *harvest,
                 const struct decode_options *decode);
void reader_fini(struct reader *reader);

/* Begins a page; the reader must be idle. `owner` identifies the visit that continues it. */
void reader_begin(struct reader *reader, const void *owner, const struct reader_page *page,
                  const struct reader_options *options);

/* Reads until the end of the page, until `until_ns`, or until the journal is full. After harvest_has_room. True if the page
 * is read and the reader idle. */
bool reader_run(struct reader *reader, uint64_t until_ns);
