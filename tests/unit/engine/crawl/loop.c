/* Loops in whole crawls of a host that refuses connections: what they take up, publish and give up. */
#include "engine/crawl/loop.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/crawl/crawl_parts.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

/* A crawl, and what is looked for in it while it runs. */
struct trial {
    struct crawl crawl;
    struct tuning tuning;
    struct tuning_error error;
    char directory[64], seed[64], file[96];
    int listener;                          /* bound and not listening */
    bool (*has_seen)(struct crawl *crawl); /* then the crawl is stopped; NULL: it ends by itself */
    bool wants_reload, was_seen;
};

static void prepare(struct trial *trial)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    memset(trial, 0, sizeof *trial);
    snprintf(trial->directory, sizeof trial->directory, "/tmp/lycosa-loop-XXXXXX");
    CHECK(mkdtemp(trial->directory) != NULL);
    snprintf(trial->file, sizeof trial->file, "%s.ini", trial->directory);
    trial->listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(trial->listener, (struct sockaddr *)&address, len) == 0);
    CHECK(getsockname(trial->listener, (struct sockaddr *)&address, &len) == 0);
    snprintf(trial->seed, sizeof trial->seed, "http://127.0.0.1:%u/", ntohs(address.sin_port));
    tuning_init(&trial->tuning);
    trial->tuning.fixed.memory.sieve_bytes = trial->tuning.fixed.memory.frontier_bytes = 1 << 20;
    trial->tuning.fixed.memory.hosts_max = 16;
    trial->tuning.fixed.net.connections = 5;
    trial->tuning.fixed.crawl.threads = 3;
    trial->tuning.fixed.crawl.pin = false;
    trial->tuning.fixed.store.kind = TUNING_STORE_NONE;
    trial->tuning.live.crawl.max_time_ns = 30 * CLOCK_NS_PER_S;
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
    remove(trial->file);
    CHECK_INT(rmdir(trial->directory), 0);
}

static void on_tick(void *owner, struct crawl *crawl)
{
    struct trial *trial = owner;
    if (!trial->has_seen || !crawl->loops)
        return;
    if (trial->wants_reload)
        crawl_reload(crawl);
    trial->wants_reload = false;
    trial->was_seen = trial->was_seen || trial->has_seen(crawl);
    if (trial->was_seen)
        crawl_stop(crawl);
}

static void run(struct trial *trial)
{
    char *seeds[] = {trial->seed};
    struct crawl_options options = {.tuning = &trial->tuning,
                                    .tuning_path = trial->wants_reload ? trial->file : NULL,
                                    .directory = trial->directory,
                                    .seeds = seeds,
                                    .seed_count = 1,
                                    .hooks = {.owner = trial, .on_tick = on_tick}};
    if (!crawl_run(&trial->crawl, &options, &trial->error))
        check_failed(__FILE__, __LINE__, "%s", trial->error.message);
    CHECK(trial->was_seen || !trial->has_seen);
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
    static struct trial trial;
    prepare(&trial);
    trial.has_seen = all_loops_turn;
    run(&trial);
    clean_up(&trial);
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
    static struct trial trial;
    prepare(&trial);
    FILE *file = fopen(trial.file, "w");
    CHECK(file && fputs("[retry]\ntimes = 17\n", file) >= 0 && fclose(file) == 0);
    trial.wants_reload = true;
    trial.has_seen = all_parts_have_reloaded;
    run(&trial);
    clean_up(&trial);
}

/* A host that is given up takes its URLs with it, each with a line; then nothing is left to do. */
TEST(the_urls_of_a_host_that_is_given_up_get_their_verdict)
{
    static struct trial trial;
    char path[128];
    size_t len;
    prepare(&trial);
    trial.tuning.live.retry.wait_ns = trial.tuning.live.retry.wait_max_ns = CLOCK_NS_PER_MS;
    trial.tuning.live.retry.host_failures_max = 3;
    trial.tuning.live.retry.host_time_max_ns = 0;
    trial.tuning.live.politeness.host_min_idle_ns = trial.tuning.live.politeness.address_min_idle_ns = 0;
    run(&trial);
    CHECK_STR(end_name(trial.crawl.end.why), "nothing"); /* all is done, and no page came */
    snprintf(path, sizeof path, "%s/crawl.log", trial.directory);
    char *log = check_read_file(path, &len);
    CHECK(strstr(log, trial.seed) != NULL);
    CHECK(strstr(log, "3t,host-given-up\n") != NULL);
    free(log);
    clean_up(&trial);
}
