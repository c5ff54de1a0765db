/* Whole crawls in this process: of a port where nobody listens, so that they last until they are told to end. */
#include "engine/crawl/crawl.h"

#include <pthread.h>

#include "tests/unit/engine/crawl/crawl_frame.h"

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
