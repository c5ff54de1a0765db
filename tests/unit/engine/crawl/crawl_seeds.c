/* Seeds: which of them let a crawl begin, what is counted of them, and that none is lost on the way to the frontier. */
#include "tests/unit/engine/crawl/crawl_frame.h"

#include "engine/crawl/limits.h"

/* Reads the seeds for the scope, as crawl_run does before it makes the directory. */
static bool scope(struct trial *trial)
{
    struct crawl *crawl = trial_begin(trial);
    CHECK(crawl_check_tuning(crawl, &trial->error));
    bool good = crawl_scope_seeds(crawl, &trial->error);
    trial_end(trial);
    return good;
}

static bool scope_one(struct trial *trial, const char *seed)
{
    trial_forget_seeds(trial);
    trial_seed(trial, seed);
    return scope(trial);
}

/* All that comes before the loops run. */
static void queue(struct trial *trial)
{
    struct crawl *crawl = trial_begin(trial);
    bool made;
    CHECK(crawl_check_tuning(crawl, &trial->error) && crawl_scope_seeds(crawl, &trial->error));
    CHECK(crawl_make_directory(crawl->directory, &made, &trial->error));
    CHECK(crawl_make_places(crawl, &trial->error) && crawl_make_scratch(crawl, &trial->error));
    CHECK(crawl_open_parts(crawl, &trial->error));
    CHECK(crawl_begin_writing(crawl, &trial->error));
    CHECK(crawl_queue_seeds(crawl, &trial->error));
}

static void write_list(struct trial *trial, unsigned count)
{
    char path[TRIAL_PATH_BYTES];
    FILE *out = fopen(trial_path(trial, "list", path), "we");
    CHECK(out != NULL);
    for (unsigned i = 0; i < count; i++)
        fprintf(out, "http://127.%u.%u.1/%u\n", i / 200 % 200 + 1, i % 200 + 1, i / 40000);
    CHECK_INT(fclose(out), 0);
    trial_seed(trial, path);
}

/* Strangers are told who visits them. */
TEST(without_a_contact_only_this_machine_is_visited)
{
    static struct trial trial;
    static const char *const strangers[] = {"http://192.0.2.7/", "http://10.1.2.3/", "http://[2001:db8::1]/"};
    static const char *const own[] = {"http://127.0.0.1:8080/", "http://127.200.3.4/", "http://[::1]/x"};
    static const char *const names[] = {"192.0.2.7", "10.1.2.3", "2001:db8::1"};
    trial_init(&trial);
    for (size_t i = 0; i < 3; i++) {
        CHECK(scope_one(&trial, own[i]));
        trial_seed(&trial, strangers[i]); /* one is enough */
        CHECK(!scope(&trial));
        CHECK(trial_said(&trial, "crawl.contact-url is not set") && trial_said(&trial, names[i]));
        CHECK_INT(trial.crawl.end.why, CRAWL_END_BAD_TUNING);
    }
    trial_fini(&trial);
}

/* The crawl would end at once without a page; the operator has to be told why. */
TEST(with_a_contact_a_crawl_of_private_addresses_alone_is_refused)
{
    static struct trial trial;
    static const char *const private[] = {"http://127.0.0.1/", "http://[::1]:8080/", "http://192.168.1.1/",
                                          "http://localhost/", "http://wiki.localhost/"};
    static const char *const open[] = {"http://example.org/", "http://notlocalhost/",
                                       "http://localhost.example/"};
    trial_init(&trial);
    snprintf(trial.tuning.fixed.crawl.contact_url, TUNING_TEXT_BYTES, "https://example.org/bot");
    for (size_t i = 0; i < sizeof private / sizeof private[0]; i++) {
        CHECK(!scope_one(&trial, private[i]));
        CHECK(trial_said(&trial, "crawl.private-addresses = yes"));
        CHECK_INT(trial.crawl.end.why, CRAWL_END_BAD_TUNING);
        trial_seed(&trial, open[0]); /* now there is something to visit */
        CHECK(scope(&trial));
        trial.tuning.fixed.crawl.private_addresses = true;
        CHECK(scope_one(&trial, private[i]));
        trial.tuning.fixed.crawl.private_addresses = false;
    }
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        CHECK(scope_one(&trial, open[i]));
    trial_fini(&trial);
}

TEST(a_bad_seed_is_named_with_its_line)
{
    static struct trial trial;
    char path[TRIAL_PATH_BYTES];
    trial_init(&trial);
    trial_write(&trial, "list", "# mine\n\nhttp://127.0.0.1/\nhttp://127.0.0.1:port/\n");
    CHECK(!scope_one(&trial, trial_path(&trial, "list", path)));
    CHECK(trial_said(&trial, "/list:4: 'http://127.0.0.1:port/'"));
    CHECK(!scope_one(&trial, "seeds.txt.gone"));
    CHECK(trial_said(&trial, "seeds.txt.gone"));
    trial_fini(&trial);
}

TEST(a_file_of_remarks_is_nothing_to_start_from)
{
    static struct trial trial;
    char path[TRIAL_PATH_BYTES];
    trial_init(&trial);
    trial_write(&trial, "list", "# none yet\n\n");
    trial_seed(&trial, trial_path(&trial, "list", path));
    CHECK(!trial_run(&trial));
    CHECK_STR(trial.error.message, "no seeds: nothing to start from");
    CHECK(!trial_has(&trial, "crawl"));
    trial_fini(&trial);
}

static void stop_at_once(void *owner, struct crawl *crawl)
{
    (void)owner;
    crawl_stop(crawl);
}

/* Ctrl-C must not have to wait until a list of millions is read. */
TEST(a_crawl_can_be_stopped_while_its_seeds_are_read)
{
    static struct trial trial;
    trial_init(&trial);
    trial.options.hooks.on_tick = stop_at_once;
    write_list(&trial, 2 * CRAWL_SEEDS_PER_TICK);
    CHECK(!trial_run(&trial));
    CHECK_STR(trial.error.message, "stopped while the seeds were read");
    CHECK_INT(trial.crawl.seeds.count, CRAWL_SEEDS_PER_TICK);
    CHECK(!trial_has(&trial, "crawl"));
    trial_fini(&trial);
}

TEST(every_seed_is_counted_once_by_what_became_of_it)
{
    static struct trial trial;
    trial_init(&trial);
    snprintf(trial.tuning.fixed.scope.exclude, TUNING_LIST_BYTES, "/private/");
    trial_seed(&trial, "http://127.0.0.1/a");
    trial_seed(&trial, "http://127.0.0.1/b#top");
    trial_seed(&trial, "http://127.0.0.1/b");
    trial_seed(&trial, "http://127.0.0.2/private/x");
    trial_seed(&trial, "http://127.0.0.3/private/y");
    queue(&trial);
    const struct status_seeds *seeds = &trial.crawl.seeds;
    CHECK_INT(seeds->count, 5);
    CHECK_INT(seeds->queued, 2);
    CHECK_INT(seeds->out_of_scope, 2);
    CHECK_INT(seeds->scope[SCOPE_EXCLUDE], 2);
    CHECK_INT(seeds->lost, 0);
    trial_end(&trial);
    trial_fini(&trial);
}

/* Memory is for few hosts, and the journal's buffer for few records: both have to be emptied on the way. */
TEST(seeds_for_which_memory_has_no_room_wait_on_disk)
{
    static struct trial trial;
    enum { SEEDS = 120000 };
    trial_init(&trial);
    trial.tuning.fixed.memory.sieve_bytes = 4 << 20;
    write_list(&trial, SEEDS);
    queue(&trial);
    CHECK_INT(trial.crawl.seeds.count, SEEDS);
    CHECK_INT(trial.crawl.seeds.queued, SEEDS);
    CHECK_INT(trial.crawl.seeds.lost, 0);
    CHECK(stats_get(&trial.crawl.loops[0].stats.urls_spilled) >= SEEDS - 16 * 3);
    CHECK_INT(commit_now(&trial.crawl.commit), 0);
    trial_end(&trial);
    CHECK(!trial_has(&trial, "crawl/scratch"));
    trial_fini(&trial);
}

/* They would fill memory ten times over. */
TEST(many_seeds_of_one_host_leave_memory_to_others)
{
    static struct trial trial;
    enum { SEEDS = 100000 };
    char path[TRIAL_PATH_BYTES];
    trial_init(&trial);
    trial.tuning.fixed.memory.sieve_bytes = 4 << 20;
    FILE *out = fopen(trial_path(&trial, "list", path), "we");
    CHECK(out != NULL);
    for (unsigned i = 0; i < SEEDS; i++)
        fprintf(out, "http://127.0.0.1/%u\n", i);
    fprintf(out, "http://127.0.0.2/\n");
    CHECK_INT(fclose(out), 0);
    trial_seed(&trial, path);
    queue(&trial);
    CHECK_INT(trial.crawl.seeds.queued, SEEDS + 1);
    CHECK_INT(stats_get(&trial.crawl.loops[0].stats.urls_spilled), 0);
    CHECK(trial.crawl.loops[0].frontier.stock.stowed > SEEDS / 2);
    CHECK(slots_count(&trial.crawl.frontier.slots).writes > 100);
    trial_end(&trial);
    trial_fini(&trial);
}

TEST(without_spill_seeds_are_lost_and_counted)
{
    static struct trial trial;
    trial_init(&trial);
    trial.tuning.fixed.state.spill = false;
    write_list(&trial, 300);
    queue(&trial);
    const struct status_seeds *seeds = &trial.crawl.seeds;
    CHECK(seeds->queued >= 16 && seeds->lost > 0);
    CHECK_INT(seeds->queued + seeds->lost, 300);
    trial_end(&trial);
    trial_fini(&trial);
}

/* crawl.log names the seed that led to a page; the journal has only its number. */
TEST(a_resumed_crawl_gives_its_seeds_the_numbers_they_had)
{
    static struct trial trial;
    trial_init(&trial);
    trial.tuning.fixed.log.source = true;
    trial_seed(&trial, "http://127.0.0.1/a#part");
    trial_seed(&trial, "http://127.0.0.1/a"); /* known already, and still a number */
    trial_seed(&trial, "http://user:secret@127.0.0.2/b");
    queue(&trial);
    struct sources first = trial.crawl.sources;
    memset(&trial.crawl.sources, 0, sizeof first);
    CHECK(crawl_name_seeds(&trial.crawl, &trial.error));
    CHECK_INT(trial.crawl.seeds.count, 3);
    CHECK_INT(trial.crawl.sources.count, 3);
    for (uint32_t number = 1; number <= 3; number++)
        CHECK(slice_equals(sources_url(&first, number), sources_url(&trial.crawl.sources, number)));
    CHECK_SLICE(sources_url(&first, 1), "http://127.0.0.1/a");
    CHECK_SLICE(sources_url(&first, 3), "http://127.0.0.2/b");
    sources_fini(&first);
    trial_end(&trial);
    trial_fini(&trial);
}
