/* Commits and syncs on demand: the parts of the threads, taken one after the other in one thread. */
#include "tests/unit/engine/crawl/crawl_fault.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>

static struct trial trial;

/* Nothing is committed or synced unless somebody asks for it. */
static void init(void)
{
    trial_init(&trial);
    trial.tuning.fixed.state.commit_ns = trial.tuning.fixed.state.sync_ns = 60 * CLOCK_NS_PER_S;
    trial_seed(&trial, "http://127.0.0.1/");
}

static void fini(void)
{
    trial_end(&trial);
    trial_fini(&trial);
}

static uint64_t done(const struct crawl *crawl)
{
    return lf_load(&crawl->durable.done, relaxed); /* there is one thread */
}

static void turn_until_done(struct crawl *crawl, uint64_t number)
{
    for (int i = 0; done(crawl) < number; i++) {
        CHECK(i < 20000);
        trial_turn(crawl);
        poll(NULL, 0, 1); /* the sync has a thread of its own */
    }
}

/* The first commit is due at once, and its sync; from then on nothing is. */
static struct crawl *begin(void)
{
    struct crawl *crawl = trial_open(&trial);
    for (int i = 0; crawl->commit.synced == 0; i++) {
        CHECK(i < 20000);
        trial_turn(crawl);
        poll(NULL, 0, 1);
    }
    return crawl;
}

TEST(a_checkpoint_is_a_commit_and_a_sync_at_once)
{
    init();
    struct crawl *crawl = begin();
    uint64_t committed = crawl->commit.committed;
    CHECK_INT(done(crawl), 0);
    CHECK_INT(crawl_checkpoint(crawl), 1);
    trial_turn(crawl);
    CHECK_INT(crawl_checkpoint(crawl), 2); /* while the first is under way: it needs one of its own */
    turn_until_done(crawl, 1);
    CHECK_INT(done(crawl), 1);
    CHECK(crawl->commit.synced > committed);
    uint64_t epoch = lf_load(&crawl->durable.done_epoch, relaxed); /* there is one thread */
    CHECK_INT(lf_load(&crawl->durable.synced, relaxed), epoch);
    turn_until_done(crawl, 2);
    CHECK(lf_load(&crawl->durable.done_epoch, relaxed) > epoch); /* there is one thread */
    fini();
}

TEST(calls_before_a_checkpoint_has_begun_share_it)
{
    init();
    struct crawl *crawl = begin();
    uint64_t commits = crawl->commit.commits;
    for (uint64_t number = 1; number <= 3; number++)
        CHECK_INT(crawl_checkpoint(crawl), number);
    turn_until_done(crawl, 1);
    CHECK_INT(done(crawl), 3);
    CHECK_INT(crawl->commit.commits, commits + 1);
    for (int i = 0; i < 50; i++)
        trial_turn(crawl);
    CHECK_INT(crawl->commit.commits, commits + 1); /* nobody asks any more */
    fini();
}

TEST(without_syncs_a_commit_is_all_there_is)
{
    init();
    trial.tuning.fixed.state.sync_ns = 0;
    struct crawl *crawl = trial_open(&trial);
    for (int i = 0; i < 50; i++)
        trial_turn(crawl);
    uint64_t committed = crawl->commit.committed;
    crawl_checkpoint(crawl);
    turn_until_done(crawl, 1);
    CHECK_INT(crawl->commit.synced, 0);
    CHECK_INT(lf_load(&crawl->durable.done_epoch, relaxed), committed + 1);
    CHECK_INT(crawl->commit.committed, committed + 1);
    fini();
}

/* The loop is in the middle of a verdict, say: what it has done is not in the commit before it seals. */
TEST(a_checkpoint_waits_for_every_loop)
{
    init();
    trial.tuning.fixed.crawl.threads = 2;
    struct crawl *crawl = begin();
    crawl_checkpoint(crawl);
    for (int i = 0; i < 20; i++) {
        crawl_write(crawl, clock_now_ns());
        crawl_keep_checkpoint(crawl, clock_now_ns());
        ledger_adopt(&crawl->loops[0].ledger);
        poll(NULL, 0, 1);
    }
    CHECK_INT(done(crawl), 0);
    turn_until_done(crawl, 1);
    fini();
}

TEST(what_is_permanent_is_told_to_everybody)
{
    init();
    struct crawl *crawl = begin();
    crawl_keep_checkpoint(crawl, 0);
    CHECK_INT(lf_load(&crawl->durable.committed, relaxed), crawl->commit.committed);
    CHECK_INT(lf_load(&crawl->durable.synced, relaxed), crawl->commit.synced);
    CHECK(crawl->commit.committed > 1 && crawl->commit.synced >= 1);
    CHECK_INT(lf_load(&crawl->durable.done_took_ns, relaxed), 0);
    const uint64_t begun_ns = clock_now_ns() - CLOCK_NS_PER_S; /* as if it had begun a second ago */
    crawl_checkpoint(crawl);
    crawl_keep_checkpoint(crawl, begun_ns);
    turn_until_done(crawl, 1);
    uint64_t took_ns = lf_load(&crawl->durable.done_took_ns, relaxed);
    CHECK(took_ns >= CLOCK_NS_PER_S && took_ns <= clock_now_ns() - begun_ns);
    fini();
}

/* The last commit is not made in a turn: its epoch may never be reached by number. */
TEST(the_end_of_the_crawl_answers_what_is_under_way)
{
    init();
    struct crawl *crawl = begin();
    crawl_checkpoint(crawl);
    crawl_keep_checkpoint(crawl, clock_now_ns());
    crawl->durable.epoch += 100;
    crawl_keep_checkpoint(crawl, clock_now_ns());
    CHECK_INT(done(crawl), 0);
    lf_store(&crawl->has_ended, true, relaxed); /* there is one thread */
    crawl_write_rest(crawl);
    crawl_keep_checkpoint(crawl, clock_now_ns());
    CHECK_INT(done(crawl), 1);
    CHECK_INT(crawl_checkpoint(crawl), 2); /* at the last moment: all there is was written */
    crawl_keep_checkpoint(crawl, clock_now_ns());
    CHECK_INT(done(crawl), 2);
    fini();
}

TEST(a_disk_that_fails_answers_nobody)
{
    init();
    struct crawl *crawl = fault_open(&trial);
    crawl_checkpoint(crawl);
    fault = -EIO;
    for (int i = 0; i < 20; i++)
        trial_turn(crawl);
    CHECK_INT(lf_load(&crawl->disk_error, relaxed), -EIO);
    CHECK_INT(done(crawl), 0);
    lf_store(&crawl->has_ended, true, relaxed); /* there is one thread */
    crawl_write_rest(crawl);
    crawl_keep_checkpoint(crawl, clock_now_ns());
    CHECK_INT(done(crawl), 0);
    fini();
}

enum { THREADS = 3, CALLS = 2000 };

static uint64_t numbers[THREADS][CALLS];

static void *ask_often(void *argument)
{
    uint64_t *mine = argument;
    for (int i = 0; i < CALLS; i++)
        mine[i] = crawl_checkpoint(&trial.crawl);
    return NULL;
}

/* Any thread may ask, while the housekeeper answers: each call has a number of its own. */
TEST(threads_ask_at_the_same_time)
{
    static bool seen[THREADS * CALLS + 1];
    pthread_t threads[THREADS];
    init();
    struct crawl *crawl = begin();
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, ask_often, numbers[i]), 0);
    trial_turn(crawl);
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < CALLS; k++) {
            CHECK(numbers[i][k] >= 1 && numbers[i][k] <= THREADS * CALLS && !seen[numbers[i][k]]);
            seen[numbers[i][k]] = true;
        }
    turn_until_done(crawl, THREADS * CALLS);
    CHECK_INT(done(crawl), THREADS * CALLS);
    fini();
}
