/* Where a URL is, as the loops answer it: in one thread, and as it is used. */
#include "tests/unit/engine/crawl/crawl_frame.h"

#include <pthread.h>

#include "engine/crawl/visit.h"

static struct trial trial;

static struct crawl *begin(unsigned loops)
{
    trial_init(&trial);
    trial.tuning.fixed.crawl.threads = loops;
    trial_seed(&trial, "http://127.0.0.1/a");
    trial_seed(&trial, "http://127.0.0.1/b");
    return trial_open(&trial);
}

static void finish(void)
{
    trial_end(&trial);
    trial_fini(&trial);
}

/* False: the last question is not answered yet. */
static bool put(struct crawl *crawl, const char *text)
{
    char buffer[512];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    return crawl_ask(crawl, &url);
}

static struct crawl_whereabouts ask(struct crawl *crawl, const char *text)
{
    CHECK(put(crawl, text));
    CHECK(!crawl_is_answered(crawl) && !put(crawl, text));
    trial_turn(crawl);
    CHECK(crawl_is_answered(crawl));
    return crawl->question.answer;
}

TEST(loops_know_what_was_admitted)
{
    struct crawl *crawl = begin(1);
    CHECK(crawl_is_answered(crawl));
    struct crawl_whereabouts found = ask(crawl, "http://127.0.0.1/a");
    CHECK(found.is_known && found.is_sure && found.has_host && !found.is_in_flight && !found.is_host_visited);
    CHECK_INT(found.host_queued, 2);
    found = ask(crawl, "http://127.0.0.1/c");
    CHECK(!found.is_known && found.is_sure && found.has_host);
    found = ask(crawl, "http://127.0.0.2/a");
    CHECK(!found.is_known && !found.has_host);
    CHECK_INT(found.host_queued, 0);
    finish();
}

/* Each loop reads what the one before it has written, and nothing is said before the last has. */
TEST(loops_answer_one_after_the_other)
{
    struct crawl *crawl = begin(3);
    CHECK(put(crawl, "http://127.0.0.1/a"));
    crawl_answer_question(&crawl->loops[0]); /* not its turn: nothing happens */
    crawl_answer_question(&crawl->loops[1]);
    CHECK(!crawl->question.answer.is_known);
    for (unsigned i = 3; i-- > 0;) {
        CHECK(!crawl_is_answered(crawl));
        crawl_answer_question(&crawl->loops[i]);
        crawl_answer_question(&crawl->loops[i]); /* once is enough */
    }
    CHECK(crawl_is_answered(crawl) && crawl->question.answer.is_known);
    finish();
}

TEST(a_loop_that_was_not_asked_changes_no_answer)
{
    struct crawl *crawl = begin(1);
    ask(crawl, "http://127.0.0.1/a");
    crawl->question.answer.host_queued = 77;
    for (int i = 0; i < 3; i++)
        crawl_answer_question(&crawl->loops[0]);
    CHECK(crawl->question.answer.is_known);
    CHECK_INT(crawl->question.answer.host_queued, 77);
    struct crawl_whereabouts found = ask(crawl, "http://127.0.0.3/"); /* nothing is left of the last one */
    CHECK(!found.is_known && !found.has_host);
    finish();
}

/* Has a loop visit the host of the seeds; it has not asked for a URL yet. */
static struct visit *pretend_visit(struct loop *loop, unsigned index)
{
    struct visit *visit = &loop->visits.all[index];
    struct url url;
    url_open(&url, SLICE("http://127.0.0.1/a"));
    visit->host = hosts_find(&loop->crawl->frontier.hosts, &url, frontier_hash(&loop->frontier, &url));
    CHECK(visit->host != NULL);
    visit->state = VISIT_FETCHING;
    loop->visits.open++;
    return visit;
}

static void end_visit(struct loop *loop, struct visit *visit)
{
    if (visit->item)
        host_unpop(visit->host, visit->item);
    visit->item = NULL;
    visit->host = NULL;
    visit->state = VISIT_FREE;
    loop->visits.open--;
}

TEST(what_is_being_fetched_is_told)
{
    struct crawl *crawl = begin(2);
    struct loop *loop = &crawl->loops[1];
    struct visit *visit = pretend_visit(loop, loop->visits.max - 1);
    struct crawl_whereabouts found = ask(crawl, "http://127.0.0.1/a");
    CHECK(found.is_host_visited && !found.is_in_flight); /* it has no request yet */
    visit->item = host_pop(visit->host, false);
    CHECK(visit->item && slice_equals(host_item_path(visit->item), SLICE("/a")));
    found = ask(crawl, "http://127.0.0.1/a");
    CHECK(found.is_host_visited && found.is_in_flight && found.is_known);
    CHECK_INT(found.host_queued, 2); /* those that are fetched included */
    found = ask(crawl, "http://127.0.0.1/b");
    CHECK(found.is_host_visited && !found.is_in_flight && found.is_known);
    found = ask(crawl, "http://127.0.0.1:81/a"); /* another host */
    CHECK(!found.is_host_visited && !found.is_in_flight);
    end_visit(loop, visit);
    found = ask(crawl, "http://127.0.0.1/a");
    CHECK(!found.is_host_visited && !found.is_in_flight);
    finish();
}

/* Requests for a robots.txt have the path that it redirected to. */
TEST(a_robots_txt_is_no_page_in_flight)
{
    struct crawl *crawl = begin(1);
    struct visit *visit = pretend_visit(&crawl->loops[0], 0);
    visit->item = host_pop(visit->host, false);
    const enum host_item_kind kind = visit->item->kind;
    visit->item->kind = HOST_ITEM_ROBOTS;
    struct crawl_whereabouts found = ask(crawl, "http://127.0.0.1/a");
    CHECK(found.is_host_visited && !found.is_in_flight);
    visit->item->kind = HOST_ITEM_ANSWER;
    CHECK(!ask(crawl, "http://127.0.0.1/a").is_in_flight);
    visit->item->kind = kind;
    CHECK(ask(crawl, "http://127.0.0.1/a").is_in_flight);
    end_visit(&crawl->loops[0], visit);
    finish();
}

/* Memory has forgotten what was asked long ago: only the disk could tell. */
TEST(with_a_sieve_on_disk_nobody_is_sure)
{
    trial_init(&trial);
    trial.tuning.fixed.memory.sieve_kind = TUNING_SIEVE_MERCATOR;
    trial.tuning.fixed.state.spill = true;
    trial_seed(&trial, "http://127.0.0.1/a");
    struct crawl *crawl = trial_open(&trial);
    struct crawl_whereabouts found = ask(crawl, "http://127.0.0.1/never-seen");
    CHECK(!found.is_known && !found.is_sure);
    finish();
}

TEST(a_question_has_a_copy_of_its_url)
{
    struct crawl *crawl = begin(1);
    char text[] = "http://127.0.0.1/a", buffer[64];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK && crawl_ask(crawl, &url));
    memset(buffer, 'x', sizeof buffer);
    trial_turn(crawl);
    CHECK(crawl->question.answer.is_known);
    finish();
}

static _Atomic(bool) is_over;

static void *run_loop(void *argument)
{
    while (!lf_load(&is_over, relaxed)) {
        crawl_answer_question(argument);
        sched_yield();
    }
    return NULL;
}

/* As it is used: one thread asks, each loop answers in its own. */
TEST(loops_in_threads_agree)
{
    enum { LOOPS = 2, QUESTIONS = 40 };
    static const char *const texts[] = {"http://127.0.0.1/a", "http://127.0.0.1/c", "http://127.0.0.9/"};
    pthread_t threads[LOOPS];
    struct crawl *crawl = begin(LOOPS);
    lf_store(&is_over, false, relaxed);
    for (int i = 0; i < LOOPS; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, run_loop, &crawl->loops[i]), 0);
    for (int i = 0; i < QUESTIONS; i++) {
        CHECK(put(crawl, texts[i % 3]));
        while (!crawl_is_answered(crawl))
            sched_yield();
        CHECK_INT(crawl->question.answer.is_known, i % 3 == 0);
        CHECK_INT(crawl->question.answer.has_host, i % 3 != 2);
    }
    lf_store(&is_over, true, relaxed);
    for (int i = 0; i < LOOPS; i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    finish();
}
