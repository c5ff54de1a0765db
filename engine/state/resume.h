/* What a crawl's directory holds, and how it is brought back to its last commit.
 *
 *     resume_look     reads the journal and chooses the commit to go back to; changes nothing
 *     resume_restore  cuts journal and files back to that commit. May be killed and called again
 *     resume_replay   hands out the records up to it, in the order in which they were written
 *
 * Which commit: the last one, if the machine has not been restarted since it was written and no write had
 * failed; what a dead process has written is still there. Else the last one that is known to be synced. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/disk/disk.h"
#include "engine/state/journal.h"
#include "engine/state/journal_read.h"
#include "engine/state/lengths.h"

enum resume_result {
    RESUME_READY,   /* there is a commit to go on from */
    RESUME_NOTHING, /* nothing was committed: the crawl can begin anew from its seeds */
    RESUME_REFUSED, /* `message` says why */
};

enum resume_trust {
    RESUME_TRUST_LAST,   /* as said above */
    RESUME_TRUST_SYNCED, /* only what is synced: the machine's memory is not to be trusted */
};

struct resume {
    const struct disk *disk;
    const char *directory; /* of the crawl */
    char state[FILES_PATH_BYTES];
    char message[512];
    int error; /* of the disk, if that is why it cannot be restored: a negative errno */

    uint64_t epoch;              /* of the commit */
    uint64_t commit_us;          /* when it was made, by the wall clock */
    uint64_t covers_us;          /* all that happened before this moment is in it, and some of what came later */
    uint64_t last_us;            /* when the last whole frame was written */
    struct journal_place commit; /* where it ends */
    struct journal_place end;    /* where the next session goes on, once all is restored */
    bool is_marked;              /* a SYNCED frame for the commit stands right before `end` */
    bool has_failed;             /* a write or a sync, in the last session */
    enum resume_trust trust;
    struct journal_place torn; /* where the journal ends in the middle of a frame; number 0: it does not */
    struct journal_session session; /* the last one before the commit */
    uint64_t lag_max_us; /* for so long the last process may have made requests after its last commit */
    bool is_same_boot;
    bool has_ended; /* in order */
    uint64_t synced_epoch;
    uint64_t synced_us;
    uint64_t journal_bytes;

    struct journal_files journal; /* which there are */
    uint64_t base_epoch;          /* up to which the journal was folded; 0: it was not */
    uint64_t base_bytes;

    struct lengths files; /* of the crawl */
};

/* The path outlives the resume. */
enum resume_result resume_look(struct resume *resume, const struct disk *disk, const char *directory,
                               enum resume_trust trust);
void resume_fini(struct resume *resume);
/* The last commit is the one; else it is the last that was synced. */
bool resume_trusts_last(const struct resume *resume);

/* Also if nothing was committed: then all that was written is removed. When it is done the commit is durable, and the
 * journal says so. False: `message` says why. */
bool resume_restore(struct resume *resume);

/* `via` is empty if none is known. False: stop. */
typedef bool resume_take(void *owner, const struct record *record, struct slice via);
/* False: stopped, or `message` says what is wrong. */
bool resume_replay(struct resume *resume, resume_take *take, void *owner);

/* Writes the id of this boot of the machine, for SESSION frames, to `id` of 40 bytes. */
void resume_boot_id(char *id);
