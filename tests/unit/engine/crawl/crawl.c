/* Whole crawls in this process: of a port where nobody listens, so that they last until they are told to end. */
#include "engine/crawl/crawl.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"

/* A crawl and what its hooks were told. */
struct trial {
    struct crawl crawl;
    struct tuning tuning;
    struct tuning_error error;
    char directory[64];
    char seed[64];
    int listener; /* bound and not listening: connections are refused */
    unsigned ticks, statuses;
    unsigned statuses_wanted; /* before it is stopped */
    bool wants_reload;
    char note[256];
};

static void prepare(struct trial *trial)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    memset(trial, 0, sizeof *trial);
    snprintf(trial->directory, sizeof trial->directory, "/tmp/lycosa-crawl-XXXXXX");
    CHECK(mkdtemp(trial->directory) != NULL);
    trial->listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(trial->listener, (struct sockaddr *)&address, len) == 0);
    CHECK(getsockname(trial->listener, (struct sockaddr *)&address, &len) == 0);
    snprintf(trial->seed, sizeof trial->seed, "http://127.0.0.1:%u/", ntohs(address.sin_port));
    tuning_init(&trial->tuning);
    trial->tuning.fixed.memory.sieve_bytes = trial->tuning.fixed.memory.frontier_bytes = 1 << 20;
    trial->tuning.fixed.memory.hosts_max = 16;
    trial->tuning.fixed.net.connections = 4;
    trial->tuning.fixed.crawl.pin = false;
    trial->tuning.fixed.store.kind = TUNING_STORE_NONE;
}

static void clean_up(struct trial *trial)
{
    static const char *const names[] = {"seeds.txt",  "tuning.ini",           "crawl.log", "summary.json",
                                        "state/lock", "state/journal-000001", "state"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", trial->directory, names[i]);
        remove(path);
    }
    close(trial->listener);
    CHECK_INT(rmdir(trial->directory), 0);
}

static void on_tick(void *owner, struct crawl *crawl)
{
    struct trial *trial = owner;
    trial->ticks++;
    if (trial->wants_reload)
        crawl_reload(crawl);
    trial->wants_reload = false;
    if (trial->statuses_wanted && trial->statuses >= trial->statuses_wanted)
        crawl_stop(crawl);
}

static void on_status(void *owner, const struct status *status)
{
    struct trial *trial = owner;
    trial->statuses++;
    CHECK_STR(status->directory, trial->directory);
}

static void on_note(void *owner, const char *line)
{
    struct trial *trial = owner;
    snprintf(trial->note, sizeof trial->note, "%s", line);
}

static bool run(struct trial *trial)
{
    char *seeds[] = {trial->seed};
    struct crawl_options options = {
        .tuning = &trial->tuning,
        .directory = trial->directory,
        .seeds = seeds,
        .seed_count = 1,
        .status_interval_ns = 20 * CLOCK_NS_PER_MS,
        .hooks = {.owner = trial, .on_tick = on_tick, .on_status = on_status, .on_note = on_note}};
    return crawl_run(&trial->crawl, &options, &trial->error);
}

/* Where a loop's share has no room for one page, no visit would ever begin. */
TEST(every_loop_needs_memory_for_a_page)
{
    static struct trial trial;
    prepare(&trial);
    trial.tuning.fixed.crawl.threads = 16;
    trial.tuning.fixed.memory.page_bytes = 1 << 20;
    CHECK(!run(&trial));
    CHECK_INT(trial.crawl.end.why, CRAWL_END_BAD_TUNING);
    CHECK(strstr(trial.error.message, "memory.pages") != NULL);
    char path[128];
    snprintf(path, sizeof path, "%s/seeds.txt", trial.directory);
    CHECK(access(path, F_OK) != 0); /* nothing was left behind */
    clean_up(&trial);
}

TEST(a_program_can_stop_its_crawl)
{
    static struct trial trial;
    prepare(&trial);
    trial.statuses_wanted = 3;
    CHECK(run(&trial));
    CHECK_STR(end_name(trial.crawl.end.why), "signal");
    CHECK(trial.ticks >= 3 && trial.statuses >= 3);
    CHECK_INT(trial.crawl.status.queued, 1);
    clean_up(&trial);
}

TEST(time_ends_a_crawl_and_its_failing_host_is_told)
{
    static struct trial trial;
    prepare(&trial);
    trial.tuning.live.crawl.max_time_ns = 300 * CLOCK_NS_PER_MS;
    CHECK(run(&trial));
    CHECK_STR(end_name(trial.crawl.end.why), "time");
    CHECK_INT(trial.crawl.status.failing_count, 1);
    CHECK_INT(trial.crawl.status.failing[FETCH_CONNECT_REFUSED], 1);
    clean_up(&trial);
}

TEST(a_reload_without_a_file_is_answered)
{
    static struct trial trial;
    prepare(&trial);
    trial.wants_reload = true;
    trial.statuses_wanted = 5;
    CHECK(run(&trial));
    CHECK(strstr(trial.note, "tuning not reloaded: ") != NULL);
    clean_up(&trial);
}

static void *run_thread(void *argument)
{
    struct trial *trial = argument;
    CHECK(run(trial));
    return NULL;
}

TEST(two_crawls_run_in_one_process)
{
    static struct trial trials[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        prepare(&trials[i]);
        trials[i].statuses_wanted = 3;
        CHECK(pthread_create(&threads[i], NULL, run_thread, &trials[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        CHECK_STR(end_name(trials[i].crawl.end.why), "signal");
        clean_up(&trials[i]);
    }
}
