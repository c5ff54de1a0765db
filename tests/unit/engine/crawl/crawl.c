/* Whole crawls in this process, most of a port where nobody listens, so that they last until they are told to end. */
#include "engine/crawl/crawl.h"

#include <pthread.h>

#include "tests/unit/engine/crawl/crawl_frame.h"
#include "tests/unit/engine/crawl/crawl_web.h"

/* A crawl and what its hooks were told. */
struct told {
    struct trial trial;
    int listener; /* bound and not listening: connections are refused */
    unsigned ticks, statuses;
    unsigned statuses_wanted; /* before it is stopped */
    bool wants_reload;
    char note[256];
};

static void on_tick(void *owner, struct crawl *crawl)
{
    struct told *told = owner;
    told->ticks++;
    if (told->wants_reload)
        crawl_reload(crawl);
    told->wants_reload = false;
    if (told->statuses_wanted && told->statuses >= told->statuses_wanted)
        crawl_stop(crawl);
}

static void on_status(void *owner, const struct status *status)
{
    struct told *told = owner;
    told->statuses++;
    CHECK_STR(status->directory, told->trial.directory);
}

static void on_note(void *owner, const char *line)
{
    struct told *told = owner;
    snprintf(told->note, sizeof told->note, "%s", line);
}

static void prepare(struct told *told)
{
    memset(told, 0, sizeof *told);
    trial_init(&told->trial);
    told->listener = trial_seed_in_vain(&told->trial);
    told->trial.options.status_interval_ns = 20 * CLOCK_NS_PER_MS;
    told->trial.options.hooks =
        (struct crawl_hooks){.owner = told, .on_tick = on_tick, .on_status = on_status, .on_note = on_note};
}

static void clean_up(struct told *told)
{
    close(told->listener);
    trial_fini(&told->trial);
}

/* Where a loop's share has no room for one page, no visit would ever begin. */
TEST(every_loop_needs_memory_for_a_page)
{
    static struct told told;
    prepare(&told);
    told.trial.tuning.fixed.crawl.threads = 16;
    told.trial.tuning.fixed.memory.page_bytes = 1 << 20;
    CHECK(!trial_run(&told.trial));
    CHECK_INT(told.trial.crawl.end.why, CRAWL_END_BAD_TUNING);
    CHECK(trial_said(&told.trial, "memory.pages"));
    CHECK(!trial_has(&told.trial, "crawl")); /* nothing was left behind */
    clean_up(&told);
}

TEST(a_program_can_stop_its_crawl)
{
    static struct told told;
    prepare(&told);
    told.statuses_wanted = 3;
    CHECK(trial_run(&told.trial));
    CHECK_STR(end_name(told.trial.crawl.end.why), "signal");
    CHECK(told.ticks >= 3 && told.statuses >= 3);
    CHECK_INT(told.trial.crawl.status.queued, 1);
    clean_up(&told);
}

TEST(time_ends_a_crawl_and_its_failing_host_is_told)
{
    static struct told told;
    prepare(&told);
    told.trial.tuning.live.crawl.max_time_ns = 300 * CLOCK_NS_PER_MS;
    CHECK(trial_run(&told.trial));
    CHECK_STR(end_name(told.trial.crawl.end.why), "time");
    CHECK_INT(told.trial.crawl.status.failing_count, 1);
    CHECK_INT(told.trial.crawl.status.failing[FETCH_CONNECT_REFUSED], 1);
    clean_up(&told);
}

TEST(a_reload_without_a_file_is_answered)
{
    static struct told told;
    prepare(&told);
    told.wants_reload = true;
    told.statuses_wanted = 5;
    CHECK(trial_run(&told.trial));
    CHECK(strstr(told.note, "tuning not reloaded: ") != NULL);
    clean_up(&told);
}

static void *run_thread(void *argument)
{
    struct told *told = argument;
    CHECK(trial_run(&told->trial));
    return NULL;
}

TEST(two_crawls_run_in_one_process)
{
    static struct told told[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        prepare(&told[i]);
        told[i].statuses_wanted = 3;
        CHECK(pthread_create(&threads[i], NULL, run_thread, &told[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        CHECK_STR(end_name(told[i].trial.crawl.end.why), "signal");
        clean_up(&told[i]);
    }
}

/* A crawl whose watch stands still, and whose disk has nothing committed any more. */
struct stood {
    struct trial trial;
    struct web web;
    bool has_stood;
    uint64_t asked, asked_later; /* requests after state.lag-max, and half as long after that */
};

static void wait_until(uint64_t ns)
{
    while (clock_now_ns() < ns)
        poll(NULL, 0, 5);
}

static void stand_still(void *owner, struct crawl *crawl)
{
    struct stood *stood = owner;
    uint64_t committed_ns = lf_load(&crawl->commit.last_ns, relaxed);
    uint64_t lag_max_ns = crawl->tuning.fixed.state.lag_max_ns;
    if (!crawl->begin_ns || committed_ns == crawl->begin_ns || stood->has_stood ||
        stats_get(&crawl->loops[0].stats.requests) == 0)
        return;
    stood->has_stood = true;
    wait_until(committed_ns + lag_max_ns);
    stood->asked = stats_get(&crawl->loops[0].stats.requests);
    wait_until(committed_ns + lag_max_ns * 3 / 2);
    stood->asked_later = stats_get(&crawl->loops[0].stats.requests);
    CHECK_INT(lf_load(&crawl->commit.last_ns, relaxed), committed_ns);
    crawl_stop(crawl);
}

/* After a kill it is taken for granted that nothing was asked for later than state.lag-max after the last commit. */
TEST(nothing_is_asked_for_without_commits_though_nobody_watches)
{
    static struct stood stood;
    struct tuning *tuning = &stood.trial.tuning;
    char url[64];
    trial_init(&stood.trial);
    web_begin(&stood.web, 1, WEB_PAGES_MAX);
    web_url(&stood.web, 0, url);
    trial_seed(&stood.trial, url);
    tuning->live.politeness.host_ratio = tuning->live.politeness.address_ratio = 1e9;
    tuning->live.politeness.host_min_idle_ns = 50 * CLOCK_NS_PER_MS; /* so the pages last for seconds */
    tuning->live.politeness.address_min_idle_ns = 0;
    tuning->fixed.state.commit_ns = 3600 * CLOCK_NS_PER_S;
    tuning->fixed.state.lag_max_ns = 1200 * CLOCK_NS_PER_MS;
    stood.trial.options.hooks = (struct crawl_hooks){.owner = &stood, .on_tick = stand_still};
    CHECK(trial_run(&stood.trial));
    CHECK_STR(end_name(stood.trial.crawl.end.why), "signal");
    CHECK(stood.has_stood && stood.asked > 0);
    CHECK_INT(stood.asked_later, stood.asked);
    CHECK(lf_load(&stood.web.served, relaxed) < WEB_PAGES_MAX); /* there was something left to ask for */
    web_end(&stood.web);
    trial_fini(&stood.trial);
}
