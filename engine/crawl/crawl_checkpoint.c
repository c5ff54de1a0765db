/* A commit and a sync on demand: crawl_checkpoint asks, the housekeeper sees to it.
 *
 * A call that comes while one is under way is answered by the next one: what was done after the first had begun need not be
 * in it. */
#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/limits.h"
#include "lockfree/clock.h"

uint64_t crawl_checkpoint(struct crawl *crawl)
{
    return lf_fetch_add(&crawl->durable.asked, 1, relaxed) + 1;
}

uint64_t crawl_keep_checkpoint(void *owner, uint64_t now_ns)
{
    struct crawl *crawl = owner;
    struct crawl_durable *durable = &crawl->durable;
    const struct commit *commit = &crawl->commit;
    uint64_t asked = lf_load(&durable->asked, relaxed);
    lf_store(&durable->committed, commit->committed, relaxed);
    lf_store(&durable->synced, commit->synced, relaxed);
    if (durable->begun == lf_load(&durable->done, relaxed) && asked > durable->begun) { /* nobody else writes `done` */
        durable->begun = asked;
        durable->begun_ns = now_ns;
        durable->epoch = commit_hurry(&crawl->commit);
    }
    bool has_ended = lf_load(&crawl->has_ended, relaxed) && !commit->has_failed; /* all there is was committed and synced */
    uint64_t reached = commit->options.sync_ns ? commit->synced : commit->committed;
    if (durable->begun == lf_load(&durable->done, relaxed) || (reached < durable->epoch && !has_ended))
        return CRAWL_LOOK_NS;
    lf_store(&durable->done_epoch, durable->epoch, relaxed);
    lf_store(&durable->done_took_ns, clock_now_ns() - durable->begun_ns, relaxed);
    lf_store(&durable->done, durable->begun, release); /* R6 pairs with A6 of who waits for it */
    return CRAWL_LOOK_NS;
}
