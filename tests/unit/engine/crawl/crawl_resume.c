/* Crawls of two lives: what was done in the first is not done again in the second, and nothing is forgotten. */
#include "tests/unit/engine/crawl/crawl_frame.h"
#include "tests/unit/engine/crawl/crawl_web.h"

#include "engine/crawl/limits.h"

struct scene {
    struct trial trial;
    struct web web;
    bool has_copy;
    uint64_t copied_us;      /* by the wall clock */
    unsigned commits_wanted; /* after the web is held and before the copy */
    uint64_t commit_ns;      /* the last one that was seen */
};

static void be_rude(struct tuning *tuning)
{
    struct politeness_tuning_live *live = &tuning->live.politeness;
    live->host_ratio = live->address_ratio = 1e9;
    live->host_min_idle_ns = live->address_min_idle_ns = 0;
    live->burst_ns = 3600 * CLOCK_NS_PER_S;
    tuning->fixed.politeness.connections_per_address = 16;
}

static void scene_init(struct scene *scene, unsigned hosts, unsigned pages)
{
    struct trial *trial = &scene->trial;
    char url[64];
    memset(scene, 0, sizeof *scene);
    trial_init(trial);
    web_begin(&scene->web, hosts, pages);
    for (unsigned i = 0; i < hosts; i++) {
        web_url(&scene->web, i, url);
        trial_seed(trial, url);
    }
    be_rude(&trial->tuning);
    trial->tuning.fixed.log.via = trial->tuning.fixed.log.source = false;
    trial->tuning.live.log.robots = false;
    trial->tuning.fixed.state.commit_ns = 20 * CLOCK_NS_PER_MS;
    trial->options.hooks.owner = scene;
}

static void scene_fini(struct scene *scene)
{
    web_end(&scene->web);
    trial_fini(&scene->trial);
}

static uint64_t pages(const struct scene *scene)
{
    return stats_get(&scene->trial.crawl.status.now.pages);
}

static const char *run(struct scene *scene)
{
    if (!trial_run(&scene->trial))
        check_failed(__FILE__, __LINE__, "%s", scene->trial.error.message);
    return end_name(scene->trial.crawl.end.why);
}

/* Every page has one line in crawl.log, over both lives. */
static void check_log(struct scene *scene)
{
    char path[TRIAL_PATH_BYTES], url[64], field[80];
    size_t len;
    snprintf(path, sizeof path, "%s/crawl.log", scene->trial.directory);
    char *log = check_read_file(path, &len);
    for (unsigned host = 0; host < scene->web.hosts; host++)
        for (unsigned page = 0; page < scene->web.pages; page++) {
            web_url(&scene->web, host, url);
            int at = snprintf(field, sizeof field, " %s", url);
            snprintf(field + at, sizeof field - (size_t)at, page ? "%u " : " ", page);
            const char *line = strstr(log, field);
            CHECK(line != NULL && strstr(line + 1, field) == NULL);
        }
    free(log);
}

/* Ends the first life after `count` pages, in order; the second goes on to the end. */
static void live_twice(struct scene *scene, unsigned count)
{
    unsigned total = scene->web.hosts * scene->web.pages;
    scene->trial.tuning.live.crawl.max_pages = count;
    CHECK_STR(run(scene), "pages");
    CHECK_INT(pages(scene), count);
    scene->trial.options.resumes = true;
    scene->trial.tuning.live.crawl.max_pages = 0;
    CHECK_STR(run(scene), "complete");
    CHECK_INT(stats_get(&scene->trial.crawl.before.pages), count);
    CHECK_INT(pages(scene), total);
    CHECK_INT(web_repeats(&scene->web), 0);
    CHECK_INT(stats_get(&scene->trial.crawl.status.now.statuses[2]), total);
    CHECK_INT(stats_get(&scene->trial.crawl.status.now.urls_in), total);
    CHECK_INT(scene->trial.crawl.status.queued, 0);
    check_log(scene);
}

TEST(a_crawl_goes_on_where_it_was_stopped)
{
    static struct scene scene;
    scene_init(&scene, 1, 40);
    live_twice(&scene, 10);
    CHECK_STR(run(&scene), "complete"); /* and where nothing is left to do, nothing is done */
    CHECK_INT(pages(&scene), 40);
    CHECK_INT(lf_load(&scene.web.served, relaxed), 40);
    scene_fini(&scene);
}

TEST(a_bloom_filter_goes_on_like_an_exact_sieve)
{
    static struct scene scene;
    scene_init(&scene, 1, 60);
    scene.trial.tuning.fixed.memory.sieve_kind = TUNING_SIEVE_BLOOM;
    live_twice(&scene, 20);
    scene_fini(&scene);
}

/* What is done comes back to the filter before what waits, although it had come later: of some URLs that wait the filter
 * says now that it knows them. They must not be dropped for that. */
TEST(a_bloom_filter_loses_none_of_those_that_wait)
{
    static struct scene scene;
    enum { URLS = 1500 };
    char path[TRIAL_PATH_BYTES], url[64];
    scene_init(&scene, 1, 1);
    web_url(&scene.web, 0, url);
    trial_forget_seeds(&scene.trial);
    int port = trial_seed_in_vain(&scene.trial);
    FILE *out = fopen(trial_path(&scene.trial, "list", path), "we");
    CHECK(out != NULL);
    for (unsigned i = 0; i < 2 * URLS; i++)
        fprintf(out, "%s?%u\n", i < URLS ? scene.trial.seeds[0] : url, i);
    CHECK_INT(fclose(out), 0);
    trial_seed(&scene.trial, path);
    scene.trial.tuning.fixed.memory.sieve_kind = TUNING_SIEVE_BLOOM;
    scene.trial.tuning.fixed.memory.sieve_bytes = 4096;
    scene.trial.tuning.live.crawl.max_pages = URLS - 200; /* the filter has dropped some seeds of this host */
    CHECK_STR(run(&scene), "pages");
    uint64_t waiting = scene.trial.crawl.status.queued;
    CHECK(waiting > URLS - 200);
    scene.trial.options.resumes = true;
    CHECK_STR(run(&scene), "pages");
    CHECK_INT(scene.trial.crawl.status.queued, waiting);
    const struct stats *before = &scene.trial.crawl.before; /* what is not done waits, and is none of this */
    CHECK_INT(stats_get(&before->urls_in), stats_get(&before->urls_out));
    close(port);
    scene_fini(&scene);
}

TEST(several_loops_share_what_is_brought_back)
{
    static struct scene scene;
    scene_init(&scene, 8, 8);
    scene.trial.tuning.fixed.crawl.threads = 3;
    live_twice(&scene, 20);
    scene_fini(&scene);
}

TEST(hosts_for_which_there_is_less_memory_now_wait_on_disk)
{
    static struct scene scene;
    scene_init(&scene, 20, 4);
    scene.trial.tuning.fixed.memory.hosts_max = 64;
    scene.trial.tuning.live.crawl.max_pages = 5;
    CHECK_STR(run(&scene), "pages");
    CHECK_INT(stats_get(&scene.trial.crawl.status.now.urls_spilled), 0);
    scene.trial.options.resumes = true;
    scene.trial.tuning.live.crawl.max_pages = 0;
    scene.trial.tuning.fixed.memory.hosts_max = 16;
    CHECK_STR(run(&scene), "complete");
    CHECK(stats_get(&scene.trial.crawl.status.now.urls_spilled) > 0);
    CHECK_INT(pages(&scene), 80);
    CHECK_INT(web_repeats(&scene.web), 0);
    check_log(&scene);
    scene_fini(&scene);
}

static void copy(const struct trial *trial, const char *name)
{
    char from[TRIAL_PATH_BYTES], to[TRIAL_PATH_BYTES];
    size_t len;
    snprintf(from, sizeof from, "%s/%s", trial->directory, name);
    snprintf(to, sizeof to, "%s/copy/%s", trial->base, name);
    char *bytes = check_read_file(from, &len);
    FILE *out = fopen(to, "we");
    CHECK(out && fwrite(bytes, 1, len, out) == len && fclose(out) == 0);
    free(bytes);
}

static bool has_commits(struct scene *scene, const struct crawl *crawl)
{
    uint64_t last_ns = lf_load(&crawl->commit.last_ns, relaxed);
    if (scene->commits_wanted && last_ns != scene->commit_ns)
        scene->commits_wanted--;
    scene->commit_ns = last_ns;
    return scene->commits_wanted == 0;
}

/* While the web is held. The journal first, because what it says of other files must be in them: so the copy is what a
 * killed process would have left. */
static void copy_in_the_middle(void *owner, struct crawl *crawl)
{
    struct scene *scene = owner;
    char path[TRIAL_PATH_BYTES];
    if (scene->has_copy || !crawl->loops || stats_get(&crawl->loops[0].stats.pages) < 12 ||
        !lf_load(&scene->web.is_held, relaxed) || !has_commits(scene, crawl))
        return;
    CHECK_INT(mkdir(trial_path(&scene->trial, "copy", path), 0755), 0);
    CHECK_INT(mkdir(trial_path(&scene->trial, "copy/state", path), 0755), 0);
    copy(&scene->trial, "state/journal-000001");
    copy(&scene->trial, "crawl.log");
    copy(&scene->trial, "seeds.txt");
    copy(&scene->trial, "tuning.ini");
    scene->has_copy = true;
    scene->copied_us = clock_wall_us();
    web_go_on(&scene->web);
}

/* How many pages the copy has, taken after so many more commits. */
static uint64_t be_killed(unsigned commits)
{
    static struct scene scene;
    scene_init(&scene, 1, 40);
    scene.commits_wanted = commits;
    scene.trial.tuning.fixed.state.lag_max_ns = 600 * CLOCK_NS_PER_S;
    lf_store(&scene.web.hold_after, 12, relaxed);
    scene.trial.options.hooks.on_tick = copy_in_the_middle;
    CHECK_STR(run(&scene), "complete");
    CHECK(scene.has_copy);
    CHECK_INT(lf_load(&scene.web.served, relaxed), 40);
    scene.trial.options.hooks.on_tick = NULL;
    snprintf(scene.trial.directory, sizeof scene.trial.directory, "%s/copy", scene.trial.base);
    scene.trial.options.resumes = true;
    /* The process that was killed went by its own lag-max, whatever that of this one is. */
    scene.trial.tuning.fixed.state.lag_max_ns = 500 * CLOCK_NS_PER_MS;
    while (clock_wall_us() < scene.copied_us + 501000)
        poll(NULL, 0, 10);
    uint64_t resumed_us = clock_wall_us();
    CHECK_STR(run(&scene), "complete");
    CHECK(!scene.trial.crawl.resume.has_ended);
    /* Its connections may not be closed yet. */
    CHECK(scene.trial.crawl.past.end_us >= resumed_us + PAST_TEARDOWN_US);
    uint64_t before = stats_get(&scene.trial.crawl.before.pages);
    CHECK(before <= 12);
    CHECK_INT(lf_load(&scene.web.served, relaxed), 40 + 40 - before); /* only what was not committed again */
    CHECK_INT(pages(&scene), 40);
    check_log(&scene);
    CHECK(!trial_has(&scene.trial, "copy/scratch"));
    scene_fini(&scene);
    return before;
}

TEST(what_a_killed_process_leaves_is_enough)
{
    be_killed(0);
    CHECK(be_killed(3) > 0);
}

TEST(limits_hold_over_both_lives)
{
    static struct scene scene;
    scene_init(&scene, 2, 30);
    scene.trial.tuning.live.limits.pages_per_host_max = 9;
    scene.trial.tuning.live.crawl.max_pages = 5;
    CHECK_STR(run(&scene), "pages");
    scene.trial.options.resumes = true;
    scene.trial.tuning.live.crawl.max_pages = 12;
    CHECK_STR(run(&scene), "pages");
    CHECK_INT(pages(&scene), 12);
    CHECK_INT(lf_load(&scene.web.served, relaxed), 12);
    CHECK_STR(run(&scene), "pages"); /* a third life may fetch nothing */
    CHECK_INT(lf_load(&scene.web.served, relaxed), 12);
    scene.trial.tuning.live.crawl.max_pages = 0;
    CHECK_STR(run(&scene), "complete");
    for (unsigned host = 0; host < 2; host++) {
        unsigned asked = 0;
        for (unsigned page = 0; page < 30; page++)
            asked += lf_load(&scene.web.asked[host][page], relaxed);
        CHECK_INT(asked, 9);
    }
    CHECK_INT(web_repeats(&scene.web), 0);
    scene_fini(&scene);
}

/* A process that is started again must not be a way around the rest that a host is granted. Of visits after the last commit
 * nothing is known, so that the rest is granted to all hosts: also to the one that was not visited. */
TEST(the_rest_of_a_host_outlasts_the_process)
{
    static struct scene scene;
    const uint64_t rest_ns = 400 * CLOCK_NS_PER_MS;
    scene_init(&scene, 2, 3);
    scene.trial.tuning.fixed.net.connections = 1;
    scene.trial.tuning.fixed.robots.obey = false; /* the first life asks for one page, and for nothing else */
    scene.trial.tuning.live.politeness.host_min_idle_ns = rest_ns;
    scene.trial.tuning.live.crawl.max_pages = 1;
    CHECK_STR(run(&scene), "pages");
    uint64_t last_ns = lf_load(&scene.web.last_ns, relaxed);
    scene.trial.options.resumes = true;
    scene.trial.tuning.live.crawl.max_pages = 2;
    CHECK_STR(run(&scene), "pages");
    CHECK(lf_load(&scene.web.last_ns, relaxed) - last_ns >= rest_ns);
    scene_fini(&scene);
}

/* The journal has URLs as the old rules wrote them. */
TEST(other_canonical_rules_are_refused)
{
    static struct scene scene;
    scene_init(&scene, 1, 10);
    scene.trial.tuning.live.crawl.max_pages = 3;
    CHECK_STR(run(&scene), "pages");
    scene.trial.options.resumes = true;
    scene.trial.tuning.live.crawl.max_pages = 0;
    struct tuning before = scene.trial.tuning;
    snprintf(scene.trial.tuning.fixed.scope.canonical_rules, TUNING_LIST_BYTES, "www");
    CHECK(!trial_run(&scene.trial));
    CHECK_STR(scene.trial.error.message, "scope.canonical: cannot change when a crawl is resumed");
    scene.trial.tuning = before; /* the refusal has changed nothing: with the old rules all is well */
    CHECK_STR(run(&scene), "complete");
    CHECK_INT(web_repeats(&scene.web), 0);
    check_log(&scene);
    scene_fini(&scene);
}

static void stop_in_the_journal(void *owner, struct crawl *crawl)
{
    (void)owner;
    if (crawl->replayed)
        crawl_stop(crawl);
}

TEST(a_crawl_can_be_stopped_while_its_journal_is_read)
{
    static struct scene scene;
    char path[TRIAL_PATH_BYTES], url[64];
    scene_init(&scene, 1, 1);
    web_url(&scene.web, 0, url);
    FILE *out = fopen(trial_path(&scene.trial, "list", path), "we");
    CHECK(out != NULL);
    for (unsigned i = 0; i < CRAWL_RECORDS_PER_TICK + 1000; i++)
        fprintf(out, "%s?%u\n", url, i);
    CHECK_INT(fclose(out), 0);
    trial_seed(&scene.trial, path);
    scene.trial.tuning.fixed.memory.sieve_bytes = 4 << 20;
    scene.trial.tuning.live.crawl.max_pages = 1;
    CHECK_STR(run(&scene), "pages");
    scene.trial.options.resumes = true;
    scene.trial.options.hooks.on_tick = stop_in_the_journal;
    CHECK(!trial_run(&scene.trial));
    CHECK_STR(scene.trial.error.message, "stopped while the journal was read");
    CHECK_INT(lf_load(&scene.web.served, relaxed), 1);
    scene_fini(&scene);
}
