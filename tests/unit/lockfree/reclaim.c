/* Several threads of a domain are played by one: a slot does not care who calls. */
#include "lockfree/reclaim.h"

#include "lockfree/container_of.h"
#include "tests/support/check.h"

#include <stdlib.h>

#define THREADS 4

struct thing {
    struct reclaim_node node;
    int released;
    void *context;
};

static struct reclaim domain;
static struct reclaim_thread slots[THREADS];

static void on_release(struct reclaim_node *node, void *context)
{
    struct thing *thing = container_of(node, struct thing, node);
    thing->released++;
    thing->context = context;
}

static void turn(struct reclaim_thread *thread)
{
    reclaim_quiescent(thread);
}

/* `count` threads, online. */
static void set_up(struct reclaim_thread **threads, size_t count, size_t limbo_max)
{
    reclaim_init(&domain, slots, THREADS, limbo_max);
    for (size_t i = 0; i < count; i++) {
        threads[i] = reclaim_claim(&domain, NULL);
        reclaim_online(threads[i]);
    }
}

TEST(own_pointers_hold_until_own_quiescent_state)
{
    struct reclaim_thread *t;
    struct thing thing = {0};
    set_up(&t, 1, 100);
    CHECK(reclaim_retire(t, &thing.node, on_release));
    for (int i = 0; i < 5; i++)
        CHECK_INT(reclaim_poll(t), 1);
    CHECK_INT(thing.released, 0);
    turn(t);
    turn(t);
    CHECK_INT(thing.released, 1);
    CHECK_INT(reclaim_poll(t), 0);
    turn(t);
    CHECK_INT(thing.released, 1);
}

TEST(waits_for_every_online_thread)
{
    struct reclaim_thread *t[3];
    struct thing thing = {0};
    set_up(t, 3, 100);
    CHECK(reclaim_retire(t[0], &thing.node, on_release));
    for (int i = 0; i < 4; i++) {
        turn(t[0]);
        turn(t[1]);
    }
    CHECK_INT(thing.released, 0);
    turn(t[2]);
    turn(t[0]);
    CHECK_INT(thing.released, 1);
}

TEST(a_quiescent_state_before_retirement_does_not_count)
{
    struct reclaim_thread *t[2];
    struct thing thing = {0};
    set_up(t, 2, 100);
    turn(t[1]);
    CHECK(reclaim_retire(t[0], &thing.node, on_release));
    turn(t[0]);
    turn(t[0]);
    turn(t[0]);
    CHECK_INT(thing.released, 0);
}

TEST(offline_threads_hold_up_nobody)
{
    struct reclaim_thread *t[2];
    struct thing thing = {0};
    set_up(t, 2, 100);
    reclaim_offline(t[1]);
    CHECK(!reclaim_is_online(t[1]) && reclaim_is_online(t[0]));
    CHECK(reclaim_retire(t[0], &thing.node, on_release));
    turn(t[0]);
    turn(t[0]);
    CHECK_INT(thing.released, 1);
}

TEST(going_offline_lets_go)
{
    struct reclaim_thread *t[2];
    struct thing thing = {0};
    set_up(t, 2, 100);
    CHECK(reclaim_retire(t[0], &thing.node, on_release));
    turn(t[0]);
    turn(t[0]);
    CHECK_INT(thing.released, 0);
    reclaim_offline(t[1]);
    turn(t[0]);
    CHECK_INT(thing.released, 1);
}

TEST(who_comes_online_later_is_not_waited_for)
{
    struct reclaim_thread *t[2];
    struct thing thing = {0};
    set_up(t, 2, 100);
    reclaim_offline(t[1]);
    CHECK(reclaim_retire(t[0], &thing.node, on_release));
    turn(t[0]); /* the batch has its epoch */
    reclaim_online(t[1]);
    turn(t[0]);
    CHECK_INT(thing.released, 1);
}

TEST(an_offline_thread_may_poll)
{
    struct reclaim_thread *t;
    struct thing thing = {0};
    set_up(&t, 1, 100);
    CHECK(reclaim_retire(t, &thing.node, on_release));
    reclaim_offline(t);
    CHECK_INT(reclaim_poll(t), 1);
    CHECK_INT(reclaim_poll(t), 0);
    CHECK_INT(thing.released, 1);
}

/* One thread stalls online: the limbo of the others fills, they are refused, and nothing is released. */
TEST(a_stalled_thread_fills_the_limbo)
{
    enum { LIMBO = 200 };
    struct reclaim_thread *t[2];
    struct thing *things = calloc(LIMBO + 1, sizeof *things);
    set_up(t, 2, LIMBO);
    for (int i = 0; i < LIMBO; i++) {
        CHECK(reclaim_has_room(t[0], (size_t)(LIMBO - i)));
        CHECK(!reclaim_has_room(t[0], (size_t)(LIMBO - i + 1)));
        CHECK(reclaim_retire(t[0], &things[i].node, on_release));
        turn(t[0]);
    }
    for (int i = 0; i < 3; i++) {
        CHECK(!reclaim_retire(t[0], &things[LIMBO].node, on_release));
        turn(t[0]);
    }
    for (int i = 0; i <= LIMBO; i++)
        CHECK_INT(things[i].released, 0);
    CHECK_INT(reclaim_poll(t[0]), LIMBO);

    for (int i = 0; i < 3; i++) {
        turn(t[1]);
        turn(t[0]);
    }
    CHECK_INT(reclaim_poll(t[0]), 0);
    CHECK(reclaim_retire(t[0], &things[LIMBO].node, on_release));
    for (int i = 0; i < LIMBO; i++)
        CHECK_INT(things[i].released, 1);
    CHECK_INT(things[LIMBO].released, 0);
    free(things);
}

TEST(retiring_alone_begins_epochs)
{
    struct reclaim_thread *t;
    static struct thing things[3 * RECLAIM_BATCH];
    memset(things, 0, sizeof things);
    set_up(&t, 1, 1000);
    for (int i = 0; i < RECLAIM_BATCH; i++)
        CHECK(reclaim_retire(t, &things[i].node, on_release));
    CHECK_INT(t->open.count, 0);
    CHECK_INT(t->closed.count, RECLAIM_BATCH);
    turn(t); /* releases the batch that the retirements closed */
    for (int i = 0; i < RECLAIM_BATCH; i++)
        CHECK_INT(things[i].released, 1);
}

TEST(slots_run_out_and_come_back)
{
    struct reclaim_thread *t[THREADS];
    reclaim_init(&domain, slots, THREADS, 1);
    for (int i = 0; i < THREADS; i++) {
        t[i] = reclaim_claim(&domain, NULL);
        CHECK(t[i]);
        for (int j = 0; j < i; j++)
            CHECK(t[i] != t[j]);
    }
    CHECK(!reclaim_claim(&domain, NULL));
    reclaim_leave(t[2]);
    CHECK(reclaim_claim(&domain, NULL) == t[2]);
}

TEST(the_next_owner_inherits_the_limbo)
{
    struct reclaim_thread *t;
    struct thing thing = {0};
    int first, second;
    reclaim_init(&domain, slots, 1, 10);
    t = reclaim_claim(&domain, &first);
    reclaim_online(t);
    CHECK(reclaim_retire(t, &thing.node, on_release));
    reclaim_offline(t);
    reclaim_leave(t);
    t = reclaim_claim(&domain, &second);
    while (reclaim_poll(t) > 0)
        ;
    CHECK_INT(thing.released, 1);
    CHECK(thing.context == &second);
}

TEST(fini_releases_what_is_left)
{
    struct reclaim_thread *t[2];
    struct thing things[3] = {0};
    set_up(t, 2, 100);
    CHECK(reclaim_retire(t[0], &things[0].node, on_release));
    turn(t[0]);
    CHECK(reclaim_retire(t[0], &things[1].node, on_release));
    CHECK(reclaim_retire(t[1], &things[2].node, on_release));
    reclaim_offline(t[0]);
    reclaim_offline(t[1]);
    reclaim_fini(&domain);
    for (int i = 0; i < 3; i++)
        CHECK_INT(things[i].released, 1);
}

/* Random histories against the definition. Time counts steps; a node unlinked at time u may be released only
 * when every thread that is online has been quiescent, or come online, after u. */
enum { HISTORY_NODES = 3000 };
static struct history {
    uint64_t now;
    uint64_t safe_since[THREADS]; /* the thread holds nothing that was unlinked before; UINT64_MAX: offline */
    uint64_t unlinked[HISTORY_NODES];
    struct thing things[HISTORY_NODES];
    size_t released;
} history;

static void on_history_release(struct reclaim_node *node, void *context)
{
    struct thing *thing = container_of(node, struct thing, node);
    on_release(node, context);
    CHECK_INT(thing->released, 1);
    history.released++;
    for (int i = 0; i < THREADS; i++)
        CHECK(history.safe_since[i] > history.unlinked[thing - history.things]);
}

static void step(struct reclaim_thread *t, size_t *used)
{
    size_t i = (size_t)(t - slots);
    history.now++;
    bool online = reclaim_is_online(t);
    switch (random() % 8) {
    case 0:
        if (online) {
            history.safe_since[i] = UINT64_MAX;
            reclaim_offline(t);
        } else {
            history.safe_since[i] = history.now;
            reclaim_online(t);
        }
        break;
    case 1:
        if (online) {
            history.safe_since[i] = history.now;
            reclaim_quiescent(t);
        }
        break;
    case 2:
        reclaim_poll(t);
        break;
    default:
        if (online && *used < HISTORY_NODES) {
            history.unlinked[*used] = history.now;
            if (reclaim_retire(t, &history.things[*used].node, on_history_release))
                ++*used;
        }
    }
}

TEST(random_histories_never_release_early)
{
    for (unsigned seed = 0; seed < 20; seed++) {
        srandom(seed);
        memset(&history, 0, sizeof history);
        reclaim_init(&domain, slots, THREADS, 100);
        size_t used = 0;
        for (int i = 0; i < THREADS; i++) {
            history.safe_since[i] = UINT64_MAX;
            CHECK(reclaim_claim(&domain, NULL) == &slots[i]);
        }
        for (int i = 0; i < 20000; i++)
            step(&slots[random() % THREADS], &used);
        CHECK(used > 1000);
        CHECK(history.released + THREADS * 100 >= used);
        for (int i = 0; i < THREADS; i++) {
            history.safe_since[i] = UINT64_MAX;
            if (reclaim_is_online(&slots[i]))
                reclaim_offline(&slots[i]);
        }
        reclaim_fini(&domain);
        CHECK_INT(history.released, used);
    }
}
