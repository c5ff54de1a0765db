/* Seeds that come while a crawl runs: the parts of the threads, taken one after the other in one thread. That the threads
 * agree is seen by whole crawls (tests/integration/console_orders.py). */
#include "tests/unit/engine/crawl/crawl_frame.h"

#include "engine/crawl/limits.h"

static struct trial trial;

static struct added *add(struct crawl *crawl, const char *text)
{
    struct added *added = added_create(slice_of(text));
    bool is_over;
    CHECK(crawl_add_seeds(crawl, added, &is_over));
    return added;
}

static bool is_pending(const struct added *added)
{
    return lf_load(&added->state, relaxed) == ADDED_PENDING; /* there is one thread */
}

static void settle(struct crawl *crawl, const struct added *added)
{
    for (int i = 0; is_pending(added); i++) {
        CHECK(i < 10000);
        trial_turn(crawl);
    }
}

static void finish_all(struct crawl *crawl)
{
    uint64_t in = stats_get(&crawl->loops[0].stats.urls_in);
    while (stats_get(&crawl->loops[0].stats.urls_out) < in)
        stats_count_out(&crawl->loops[0].stats);
}

TEST(each_line_has_its_fate_and_new_hosts_are_in_scope)
{
    trial_init(&trial);
    snprintf(trial.tuning.fixed.scope.exclude, TUNING_LIST_BYTES, "/private/");
    trial.tuning.fixed.scope.mode = TUNING_SCOPE_HOSTS;
    trial_seed(&trial, "http://127.0.0.1/a");
    struct crawl *crawl = trial_open(&trial);
    struct added *added = add(crawl, "http://127.0.0.1/a\nhttp://127.0.0.2/b\n192.0.2.1\nno where\nhttp://127.0.0.2/private/x\n");
    settle(crawl, added);
    CHECK_INT(lf_load(&added->state, relaxed), ADDED_DONE);
    const enum added_fate fates[] = {ADDED_KNOWN, ADDED_ACCEPTED, ADDED_STRANGER, ADDED_BAD, ADDED_OUT_OF_SCOPE};
    for (size_t i = 0; i < sizeof fates / sizeof fates[0]; i++)
        CHECK_STR(added_fate_name((enum added_fate)added->lines[i].fate), added_fate_name(fates[i]));
    CHECK_INT(added->lines[4].rule, SCOPE_EXCLUDE);
    CHECK(added->epoch > 1 && crawl->commit.committed >= added->epoch);
    CHECK_SLICE(sources_url(&crawl->sources, added->lines[1].source), "http://127.0.0.2/b");
    CHECK_INT(lf_load(&crawl->seeds_added, relaxed), 1);
    trial_check_file(&trial, "crawl/seeds-added.txt", "http://127.0.0.1/a\nhttp://127.0.0.2/b\nhttp://127.0.0.2/private/x\n");
    added_destroy(added);
    trial_end(&trial);
    trial_fini(&trial);
}

/* A list longer than what is taken in one turn, beyond the memory for hosts. */
TEST(a_long_list_takes_several_turns)
{
    enum { SEEDS = 3 * CRAWL_ADDED_KEPT };
    char *text = NULL;
    size_t len = 0;
    trial_init(&trial);
    trial_seed(&trial, "http://127.0.0.1/");
    struct crawl *crawl = trial_open(&trial);
    FILE *out = open_memstream(&text, &len);
    for (unsigned i = 0; i < SEEDS; i++)
        fprintf(out, "http://127.%u.%u.1/\n", i / 200 % 200 + 1, i % 200 + 1);
    fclose(out);
    struct added *added = add(crawl, text);
    trial_turn(crawl);
    CHECK(is_pending(added));
    settle(crawl, added);
    CHECK_INT(added_count(added, ADDED_ACCEPTED), SEEDS);
    added_destroy(added);
    free(text);
    trial_end(&trial);
    trial_fini(&trial);
}

/* Each takes a millisecond: the loop takes a few of them in a turn, and not all that it could. */
TEST(seeds_that_expressions_take_long_for_do_not_hold_up_their_loop)
{
    SKIP_IF_SLOWED_DOWN();
    enum { SEEDS = CRAWL_ADDED_TAKEN };
    char *text = NULL;
    size_t len = 0, longest = 0;
    trial_init(&trial);
    snprintf(trial.tuning.fixed.scope.exclude, TUNING_LIST_BYTES, "(.*/)*calendar/.*");
    trial_seed(&trial, "http://127.0.0.1/");
    struct crawl *crawl = trial_open(&trial);
    FILE *out = open_memstream(&text, &len);
    for (unsigned i = 0; i < SEEDS; i++)
        fprintf(out, "http://127.0.0.1/%u/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r\n", i);
    fclose(out);
    struct added *added = add(crawl, text);
    while (is_pending(added)) {
        size_t before = added->taken;
        trial_turn(crawl);
        longest = added->taken - before > longest ? added->taken - before : longest;
    }
    CHECK_INT(added_count(added, ADDED_OUT_OF_SCOPE), SEEDS);
    CHECK(longest < 64);
    added_destroy(added);
    free(text);
    trial_end(&trial);
    trial_fini(&trial);
}

TEST(a_crawl_is_not_complete_while_seeds_are_behind_the_door)
{
    bool is_over = true;
    trial_init(&trial);
    trial_seed(&trial, "http://127.0.0.1/");
    struct crawl *crawl = trial_open(&trial);
    CHECK(!crawl_shut_door(crawl)); /* the seed is not finished: the door stays open */
    finish_all(crawl);
    struct added *added = add(crawl, "http://127.0.0.1/late\n"), *second = added_create(SLICE("http://127.0.0.1/b"));
    CHECK(end_is_complete(crawl->loops, 1) && !crawl_shut_door(crawl));
    CHECK(!crawl_add_seeds(crawl, second, &is_over) && !is_over);
    settle(crawl, added);
    CHECK(!crawl_shut_door(crawl));
    finish_all(crawl);
    CHECK(crawl_shut_door(crawl) && crawl_shut_door(crawl));
    CHECK(!crawl_add_seeds(crawl, second, &is_over) && is_over);
    added_destroy(added);
    added_destroy(second);
    trial_end(&trial);
    trial_fini(&trial);
}

/* The loops end when the list is written down, and not taken: with its end the file is committed. */
TEST(what_was_not_taken_is_kept_for_the_next_process)
{
    trial_init(&trial);
    trial_seed(&trial, "http://127.0.0.1/");
    struct crawl *crawl = trial_open(&trial);
    struct added *added = add(crawl, "http://127.0.0.1/late\nnonsense nonsense\n");
    lf_store(&crawl->has_ended, true, relaxed); /* there is one thread */
    crawl_take_rest(crawl);
    CHECK(is_pending(added));
    crawl_write_rest(crawl);
    crawl_answer_rest(crawl);
    CHECK_INT(lf_load(&added->state, relaxed), ADDED_DONE);
    CHECK_INT(added_count(added, ADDED_KEPT), 1);
    CHECK_INT(added_count(added, ADDED_BAD), 1);
    added_destroy(added);
    trial_end(&trial);

    trial.options.resumes = true;
    crawl = trial_begin(&trial);
    CHECK(crawl_check_tuning(crawl, &trial.error) && crawl_scope_seeds(crawl, &trial.error));
    CHECK(crawl_make_places(crawl, &trial.error) && crawl_look_back(crawl, &trial.error));
    CHECK(crawl_open_parts(crawl, &trial.error) && resume_restore(&crawl->resume));
    CHECK(crawl_begin_writing(crawl, &trial.error) && crawl_name_seeds(crawl, &trial.error));
    CHECK(crawl_replay(crawl, &trial.error));
    CHECK_INT(stats_get(&crawl->loops[0].stats.urls_in), 1);
    CHECK(crawl_restore_added(crawl, &trial.error));
    CHECK_INT(stats_get(&crawl->loops[0].stats.urls_in), 2);
    CHECK_SLICE(sources_url(&crawl->sources, 2), "http://127.0.0.1/late");
    trial_end(&trial);
    trial_fini(&trial);
}

TEST(a_disk_that_fails_is_told)
{
    trial_init(&trial);
    trial_seed(&trial, "http://127.0.0.1/");
    struct crawl *crawl = trial_open(&trial);
    struct added *added = add(crawl, "http://127.0.0.1/late\n");
    lf_store(&crawl->disk_error, -5, relaxed); /* there is one thread */
    crawl_keep_added(crawl, 0);
    CHECK_INT(lf_load(&added->state, relaxed), ADDED_FAILED);
    added_destroy(added);
    trial_end(&trial);
    trial_fini(&trial);
}
