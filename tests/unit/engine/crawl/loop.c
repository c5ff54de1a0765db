/* Loops in whole crawls of a host that refuses connections: what they take up, publish and give up. */
#include "engine/crawl/loop.h"

#include "tests/unit/engine/crawl/crawl_frame.h"

/* A crawl, and what is looked for in it while it runs. */
struct watched {
    struct trial trial;
    int listener;                          /* bound and not listening */
    bool (*has_seen)(struct crawl *crawl); /* then the crawl is stopped; NULL: it ends by itself */
    bool wants_reload, was_seen;
};

static void on_tick(void *owner, struct crawl *crawl)
{
    struct watched *watched = owner;
    if (!watched->has_seen || !crawl->loops)
        return;
    if (watched->wants_reload)
        crawl_reload(crawl);
    watched->wants_reload = false;
    watched->was_seen = watched->was_seen || watched->has_seen(crawl);
    if (watched->was_seen)
        crawl_stop(crawl);
}

static void prepare(struct watched *watched)
{
    struct trial *trial = &watched->trial;
    memset(watched, 0, sizeof *watched);
    trial_init(trial);
    watched->listener = trial_seed_in_vain(trial);
    trial->tuning.fixed.net.connections = 5;
    trial->tuning.fixed.crawl.threads = 3;
    trial->tuning.live.crawl.max_time_ns = 30 * CLOCK_NS_PER_S;
    trial->options.hooks = (struct crawl_hooks){.owner = watched, .on_tick = on_tick};
}

static void clean_up(struct watched *watched)
{
    close(watched->listener);
    trial_fini(&watched->trial);
}

static void run(struct watched *watched)
{
    if (!trial_run(&watched->trial))
        check_failed(__FILE__, __LINE__, "%s", watched->trial.error.message);
    CHECK(watched->was_seen || !watched->has_seen);
}

/* The shares of connections and of memory add up; all loops turn, sleep in their rings and say so. */
static bool all_loops_turn(struct crawl *crawl)
{
    uint64_t connections = 0;
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        const struct loop *loop = &crawl->loops[i];
        connections += loop->visits.max;
        CHECK(loop->index == i && (loop->visits.max == 1 || loop->visits.max == 2));
        if (stats_get(&loop->stats.turns) < 2 || !stats_get(&loop->stats.ring_enters))
            return false;
        CHECK(lf_load(&loop->is_up, acquire));
    }
    CHECK_INT(connections, 5);
    return crawl->loop_count == 3;
}

TEST(loops_share_what_there_is_and_turn)
{
    static struct watched watched;
    prepare(&watched);
    watched.has_seen = all_loops_turn;
    run(&watched);
    clean_up(&watched);
}

/* Each loop takes up the new file in a turn of its own. */
static bool all_loops_have_reloaded(struct crawl *crawl)
{
    const struct tuning *live = lf_load(&crawl->live, acquire);
    for (unsigned i = 0; i < crawl->loop_count; i++)
        if (live == &crawl->tuning || lf_load(&crawl->loops[i].adopted, acquire) != live)
            return false;
    CHECK_INT(live->live.retry.retries_max, 17);
    return true;
}

static const struct tuning *tuning_of_parts(const struct loop *loop)
{
    CHECK(loop->names.tuning == loop->tuning && loop->frontier.tuning == loop->tuning);
    CHECK(loop->visits.tuning == loop->tuning && loop->harvest.tuning == loop->tuning);
    return loop->tuning;
}

static bool all_parts_have_reloaded(struct crawl *crawl)
{
    if (!all_loops_have_reloaded(crawl))
        return false;
    for (unsigned i = 0; i < crawl->loop_count; i++) /* nobody writes these before the next reload */
        CHECK(tuning_of_parts(&crawl->loops[i]) == lf_load(&crawl->live, acquire));
    return true;
}

TEST(a_reloaded_file_reaches_every_part_of_every_loop)
{
    static struct watched watched;
    prepare(&watched);
    char path[TRIAL_PATH_BYTES];
    trial_write(&watched.trial, "reloaded.ini", "[retry]\ntimes = 17\n");
    watched.trial.options.tuning_path = trial_path(&watched.trial, "reloaded.ini", path);
    watched.wants_reload = true;
    watched.has_seen = all_parts_have_reloaded;
    run(&watched);
    clean_up(&watched);
}

/* A host that is given up takes its URLs with it, each with a line; then nothing is left to do. */
TEST(the_urls_of_a_host_that_is_given_up_get_their_verdict)
{
    static struct watched watched;
    char path[TRIAL_PATH_BYTES];
    size_t len;
    prepare(&watched);
    watched.trial.tuning.live.retry.wait_ns = watched.trial.tuning.live.retry.wait_max_ns = CLOCK_NS_PER_MS;
    watched.trial.tuning.live.retry.host_failures_max = 3;
    watched.trial.tuning.live.retry.host_time_max_ns = 0;
    watched.trial.tuning.live.politeness.host_min_idle_ns =
        watched.trial.tuning.live.politeness.address_min_idle_ns = 0;
    run(&watched);
    CHECK_STR(end_name(watched.trial.crawl.end.why), "nothing"); /* all is done, and no page came */
    char *log = check_read_file(trial_path(&watched.trial, "crawl/crawl.log", path), &len);
    CHECK(strstr(log, watched.trial.seeds[0]) != NULL);
    CHECK(strstr(log, "3t,host-given-up ") != NULL);
    free(log);
    clean_up(&watched);
}
