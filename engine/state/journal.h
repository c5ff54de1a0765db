/* The journal of a crawl: which URLs were admitted, what is done, which visits were made, and how long each of the
 * crawl's files was when all of that was true. It is append-only, DIR/state/journal-000001 and so on, and made of
 * frames:
 *
 *   DATA     records of one loop (record.h), of one epoch
 *   COMMIT   every frame up to here counts, and the files of the crawl have these lengths
 *   SYNCED   the commit of this epoch, and all that it names, is on the disk even if the machine dies
 *   SESSION  a process begins to write: in which format, on which boot of the machine
 *   FAILED   a write or a sync has failed: what came after the last SYNCED cannot be trusted
 *   END      the crawl has ended in order
 *   BASE     the file begins with this: all that was in earlier files is in here, in other words (fold.h)
 *   FILES    the files of the crawl and their lengths, as of the COMMIT that follows
 *
 * Each frame has a checksum. A file that ends in the middle of a frame is normal: the process was killed.
 *
 * | call                                   | by whom         |
 * |----------------------------------------|-----------------|
 * | journal_has_room, journal_add_*, seal  | the loop        |
 * | all others                             | the housekeeper | */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/disk/outlet.h"
#include "engine/state/record.h"

enum journal_kind {
    JOURNAL_DATA = 1,
    JOURNAL_COMMIT,
    JOURNAL_SYNCED,
    JOURNAL_SESSION,
    JOURNAL_FAILED,
    JOURNAL_END,
    JOURNAL_BASE,
    JOURNAL_FILES,
    JOURNAL_KINDS, /* how many there are, and 1 */
};

/* A frame as it lies in the file. */
struct journal_frame {
    uint32_t magic;
    uint32_t bytes; /* of what follows */
    uint64_t epoch;
    uint64_t wall_us; /* when it was written */
    uint16_t kind;    /* enum journal_kind */
    uint16_t writer;
    uint32_t checksum; /* CRC-32C of the frame and what follows, with 0 here */
};

/* Where in the journal. */
struct journal_place {
    unsigned number; /* of the file; the first is 1 */
    uint64_t offset;
};

enum { JOURNAL_MAGIC = 0x31636c79 }; /* "ylc1" */

/* What frames and records are and mean. It changes when a version would misread the journal of another: then that one is
 * refused. */
enum { JOURNAL_FORMAT = 2 };

uint32_t journal_checksum(const struct journal_frame *frame, const char *payload);

/* A loop's part: records on their way to the journal. */
struct journal_loop {
    struct outlet outlet;
    uint64_t epoch;
    uint16_t writer;
    uint64_t via; /* hash of the last VIA record in the frame at hand; 0: none */
};

int journal_loop_init(struct journal_loop *loop, unsigned index);
void journal_loop_fini(struct journal_loop *loop);

/* Whether there is room for a batch of new URLs and the verdict on their page. If not, what can wait waits. */
bool journal_has_room(struct journal_loop *loop);
/* `via` may be empty. */
void journal_add_url(struct journal_loop *loop, const struct record_url *url, struct slice via);
void journal_add_done(struct journal_loop *loop, const struct record_done *done);
void journal_add_visit(struct journal_loop *loop, const struct record_visit *visit);
/* What was added so far belongs to its epoch; what follows belongs to the next. */
void journal_seal(struct journal_loop *loop, uint64_t next_epoch);

struct journal {
    const struct disk *disk;
    const char *directory; /* DIR/state */
    int fd;                /* -1: none is open */
    struct journal_place end;
    uint64_t bytes;          /* written by this process */
    uint64_t file_bytes_max; /* JOURNAL_FILE_BYTES_MAX, unless a test says otherwise */
    uint64_t reserve_bytes;  /* JOURNAL_RESERVE_BYTES, likewise; 0: the file system cannot do it */
    uint64_t reserved;       /* end of the space that is taken in this file, or was asked for in vain */
    bool has_failed;
    bool has_lost; /* a sync has failed: what was written before may be gone */
};

/* What a SESSION frame says. The number of the format comes first, whatever else a format has. */
struct journal_session {
    uint32_t format;    /* journal_begin_session sets it */
    uint32_t canonical; /* enum canonical_rule */
    uint32_t sieve;     /* enum tuning_sieve */
    char version[28];   /* of lycosa, for people: the format is what counts */
    char boot_id[40];
    uint64_t opens_us;   /* by the wall clock: no visit begins before this moment */
    uint64_t lag_max_us; /* for so long the process makes requests without a commit */
};

void journal_init(struct journal *journal, const struct disk *disk, const char *directory);
/* Goes on at a place, which is the end of its file. 0 or a negative errno, as all that follow. */
int journal_open(struct journal *journal, struct journal_place place);
void journal_close(struct journal *journal);

/* Writes one block of a loop, as outlet_write does. */
int journal_write(struct journal *journal, struct journal_loop *loop);
/* Writes a COMMIT frame. It lists the files that have changed since the last commit, with their lengths. */
int journal_commit(struct journal *journal, uint64_t epoch, const struct files *files);
/* Goes on in the next file if this one is long. Right behind a commit, while no sync uses the file: what it has is made
 * durable before another file tells of it. */
int journal_turn_over(struct journal *journal);
int journal_synced(struct journal *journal, uint64_t epoch);
int journal_begin_session(struct journal *journal, uint64_t epoch, const struct journal_session *session);
/* Also behind a write that has failed: what is torn is skipped by who reads. */
int journal_failed(struct journal *journal);
/* Also gives back the space that was reserved. */
int journal_end(struct journal *journal, uint64_t epoch);

/* Below DIR/state: a base that is being written, before it takes the name of a file of the journal. */
#define JOURNAL_FOLD_NAME "fold.open"

/* The name of file `number`, below DIR/state, to `name` of 32 bytes. */
void journal_name(char *name, unsigned number);
