/* The files of a crawl that hold its pages: WARC files, or lines of JSON (see the end). Each loop writes a file of its
 * own, DIR/warc/NAME.warc.gz, named as store.name says, or .warc.zst, or .warc.
 *
 * A page becomes a response record and a request record that names it, each a gzip member or a zstd frame of
 * its own. The loop makes and compresses them (press.h) and hands blocks of them to the housekeeper through an
 * outlet. A body whose transfer was chunked is stored without the chunks, and its field "Transfer-Encoding" is
 * renamed to "X-Transfer-Coding", so that readers do not look for chunks.
 *
 * Files of zstd follow the IIPC's "Zstandard Compression for WARC Files 1.0". A file has a dictionary for all its
 * frames or none at all. The first file of a loop has none, since the dictionary is trained on what goes there; once it
 * is ready the next file begins, and that has it.
 *
 * Most pages are stored by one call, store_add. A long page (store_is_long) would hold its loop for too long. Its
 * digests and its response record are made in steps (store_prepare), one page at a time, beside the stream of the
 * outlet; store_finish then adds both records to the stream at once. So records come from one epoch either way.
 *
 * store.kind = jsonl: the files are DIR/pages/NAME.jsonl.gz, and a page is a line in a member or
 * frame of its own (page_line.h), without a request and without a dictionary. Lines are always made in steps: the digest
 * comes first (store_prepare of a page that is unwanted, or the caller's), and store_add is not for them.
 *
 * store.kind = directory: the files are DIR/incoming/NAME.warc, plain, and have responses only. Another thread makes a
 * file of each page and removes them (crawl/unpacker.h); when it is far behind, no new file is begun. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/disk/draft.h"
#include "engine/disk/outlet.h"
#include "engine/store/dictionary.h"
#include "engine/duplicates/exact.h"
#include "engine/store/note.h"
#include "engine/store/packer.h"
#include "engine/store/page_line.h"
#include "engine/store/press.h"
#include "engine/store/warc.h"
#include "engine/tuning/tuning.h"
#include "net/ip.h"
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
    int status;
    struct slice address;
    uint64_t date_us;
    struct slice truncated;    /* empty: whole */
    struct slice tls_protocol; /* "tls/1.2"; empty: plain */
    struct slice tls_suite;
    unsigned char *payload_digest; /* SHA-1 of the body; store_prepare writes it */
    /* SHA-1 of head and body, after store_hide_chunks. NULL: the store makes it if it is wanted, as store_prepare does. */
    const unsigned char *block_digest;
    struct slice
        fields; /* of its metadata record: via and the like, lines that end in CR LF; empty: it has none */
    struct slice outlinks;     /* likewise; up to store_outlinks_bytes_max */
    bool is_unwanted;          /* store_prepare makes the digest and nothing else */
    struct unpack_body packed; /* the body and how it is packed: for a line */
    const struct exact_copy
        *repeats; /* the first copy of the body: a revisit record is written. NULL: none */
};

enum store_progress {
    STORE_MORE,  /* to be called again in the loop's next turn */
    STORE_FULL,  /* there is no room until more has been written to the disk */
    STORE_READY, /* store_finish may follow */
};

enum store_phase {
    STORE_IDLE,
    STORE_DIGESTS, /* of block and payload */
    STORE_LINES,   /* makes the line */
    STORE_LINED,   /* has a short line, and waits for store_finish */
    STORE_OPENS,   /* a file, if none is open, and writes the header of the record */
    STORE_PACKS,
    STORE_PACKED, /* waits for store_finish */
};

/* The long page that is being stored. */
struct store_job {
    const char *response; /* tells pages apart */
    enum store_phase phase;
    bool is_unwanted;
    bool has_block_digest;
    bool is_full;      /* the last step found no room */
    bool is_awaited;   /* by another long page, since the last store_turn */
    struct slice rest; /* of what the phase works on */
    struct fingerprint_sha1 block, payload;
    struct warc_id id;
    uint64_t date_us; /* of both records: the caller's clock may be adjusted meanwhile */
    struct packer packer;
    struct draft draft;
};

struct store {
    const struct tuning *tuning;
    struct outlet outlet;
    struct warc_ids ids;
    struct warc_id warcinfo; /* of the open file */
    char filename[FILES_NAME_BYTES];
    unsigned loop;
    unsigned serial;
    uint64_t first;     /* where the first record of the open file is: behind the dictionary */
    uint64_t offset;    /* behind the last record of the open file, counted from the first one */
    uint64_t opened_ns; /* when it was opened */
    bool is_open;
    struct slice
        tuning_text; /* the tuning file, for warcinfo records; set after store_init, outlives the store */
    struct press press;
    struct dictionary dictionary; /* of zstd */
    bool uses_dictionary;         /* all frames of the open file do */
    char *scratch;                /* a compressed record that does not fit the rest of a block */
    size_t scratch_bytes;
    char *metadata;                 /* a metadata record before it is compressed; NULL: none are written */
    const _Atomic(bool) *is_behind; /* set after store_init: no file is begun while it is true; NULL: never */
    size_t whole_bytes;             /* longer responses are long */
    struct page_line line;          /* of store.kind = jsonl */
    struct store_job job;
    struct outlet notes; /* for indexes, if notes are kept: a name and notes (note.h) per file */
    bool keeps_notes;
    bool is_noted; /* all of the open file, so far */
};

/* Sets the keys that do not count with store.kind = directory: its files are small, and soon unpacked and gone. */
void store_adapt_tuning(struct tuning *tuning);
/* The folder below the crawl's directory that pages are stored in: "warc", "pages", "incoming". NULL: they are not
 * stored. */
const char *store_folder(const struct tuning *tuning);
/* Its files are in store_folder among `files`, which must outlive the store. 0 or a negative errno. */
int store_init(struct store *store, const struct tuning *tuning, struct files *files, unsigned loop);
void store_fini(struct store *store);
/* Notes what the index of each file will tell, in `notes`, for a thread that takes them from there. After store_init; 0 or a
 * negative errno. */
int store_keep_notes(struct store *store);
/* Nothing more is stored: hands over what is in hand. */
void store_flush(struct store *store);

/* The housekeeper's: starts what takes too long for the loop. */
void store_serve(struct store *store);

/* Whether a response of this length, head and body, is stored in steps. */
static inline bool store_is_long(const struct store *store, size_t response_bytes)
{
    return response_bytes > store->whole_bytes;
}

/* What a name server answered. */
struct store_answer {
    struct slice name; /* without a dot at its end */
    const struct ip *addresses;
    unsigned count;
    uint64_t ttl_s;
    uint64_t date_us;
};
/* Stores it as text, by RFC 4027. False if there is no room: then it is left out. */
bool store_add_answer(struct store *store, const struct store_answer *answer);

/* The most bytes of links that a metadata record takes: it is compressed at once. 0: there are no such records. */
size_t store_outlinks_bytes_max(const struct store *store);

/* Whether pages become lines of JSON. */
static inline bool store_has_lines(const struct store *store)
{
    return store->tuning->fixed.store.kind == TUNING_STORE_JSONL;
}

/* Whether requests, robots.txt files and the like are stored beside the pages. */
static inline bool store_has_records(const struct store *store)
{
    return store->tuning->fixed.store.kind == TUNING_STORE_WARC;
}

/* Whether only the head of the page is stored: the body is in the archive, or did not come because it has not changed. */
bool store_is_revisit(const struct store_page *page);
/* Stores a page that is not long, or that repeats another. False if there is no room until more has been written to the disk; try again
 * later. */
bool store_add(struct store *store, const struct store_page *page);

/* Works on a long page until `until_ns`. The page and its response stay as they are until store_finish or
 * store_cancel; if it is unwanted, until STORE_READY. While another page is at hand it only tells how that gets on. */
enum store_progress store_prepare(struct store *store, const struct store_page *page, uint64_t until_ns);
/* Adds a page that is ready. False if there is no room now; try again later. */
bool store_finish(struct store *store, const struct store_page *page);
/* Whether the page with this response is at hand. */
bool store_holds(const struct store *store, const char *response);
/* Forgets that page. No-op if it is not at hand. */
void store_cancel(struct store *store, const char *response);
/* To be called at the start of a turn, before the pages that wait are tried again. Closes a file that is old. */
void store_turn(struct store *store);
/* Whether store_prepare has work, for the page at hand or one that waits, that need not wait for the disk. */
bool store_has_work(const struct store *store);

/* Renames the field Transfer-Encoding of a head in place: both names have 17 letters. */
void store_hide_chunks(char *head, size_t len);

/* Shared by store*.c only. */

/* The caller has checked that the outlet has room. */
void store_write_record(struct store *store, enum press_kind kind, struct slice record);
/* A page at hand becomes a line: begins it, makes a step, adds a short line to the outlet (false: no room now). */
void store_begin_line(struct store *store, const struct store_page *page);
void store_step_line(struct store *store, const struct store_page *page);
bool store_finish_line(struct store *store);

/* Notes the record of this page, which is the last one that was written and begins at this offset. No-op if no notes are kept. */
void store_note(struct store *store, enum note_kind kind, const struct store_page *page, uint64_t offset);
/* Notes that a file begins, which ends the file before it; and that the last file ends. */
void store_note_begin(struct store *store);
void store_note_end(struct store *store);

/* Opens a file if none is open or the open one is long enough. False: no room now. */
bool store_open(struct store *store);
/* Closes the open file if it is older than store.file-age. */
void store_close_old(struct store *store);
/* A record with what all records of a page have in common, or all records of anything that has a URL and a date. The
 * caller adds id and block. */
struct warc_record store_record(const struct store *store, enum warc_type type, const struct store_page *page);
/* Writes header and end of the response record around the response. `block_digest` may be NULL. */
struct slice store_frame(struct store *store, const struct store_page *page, const struct warc_id *id,
                         const unsigned char *block_digest);
/* The longest metadata record, without compression; 0: there are none. */
size_t store_metadata_bytes_max(const struct store *store);
/* What the metadata record of a page takes in the outlet at most; 0: it has none. */
size_t store_metadata_room(const struct store_page *page);
/* Adds it behind the other records of the page. The caller has checked that the outlet has room. */
void store_add_metadata(struct store *store, const struct store_page *page, const struct warc_id *response);
/* The caller has checked that the outlet has room. */
void store_add_request(struct store *store, const struct store_page *page, const struct warc_id *response);
