/* map whose nodes have an inbox each and are retired when that is idle, as the table of hosts does it: a node
 * is closed first, which searches take for its removal, and taken out of the map after. There is never more
 * than one node that is open, and what is pushed is in it. */
#include "lockfree/inbox.h"
#include "lockfree/container_of.h"
#include "lockfree/map.h"
#include "lockfree/reclaim.h"
#include "tests/support/check.h"
#include "tests/support/model.h"

enum { BUCKETS = 2, ITEMS = MODEL_THREADS_MAX };

#define HASH 0x8100000000000000

struct record {
    struct map_node node;
    struct inbox incoming;
    struct reclaim_node retirement;
    int payload;
};

static struct map map;
static _Alignas(LF_CACHE_LINE) struct list_node buckets[BUCKETS];
static struct map_thread threads[MODEL_THREADS_MAX + 1];
static struct reclaim domain;
static struct reclaim_thread slots[MODEL_THREADS_MAX];
static struct reclaim_thread *reclaims[MODEL_THREADS_MAX];
static struct inbox_node items[ITEMS];
static unsigned consumed; /* by those who had the role */

static bool matches(const struct list_node *node, const void *exactly)
{
    const struct record *record = (const struct record *)node;
    return exactly ? record == exactly : !inbox_is_closed(&record->incoming);
}

static unsigned self(void)
{
    return model_is_running() ? model_self() : MODEL_THREADS_MAX;
}

static void take_all(struct record *record)
{
    do
        for (struct inbox_node *node = inbox_take(&record->incoming); node; node = lf_plain_read(node->next))
            consumed++;
    while (!inbox_park(&record->incoming));
}

static struct record *make(void)
{
    struct record *record = model_alloc(sizeof *record);
    model_write(record->payload, 7);
    inbox_init_open(&record->incoming);
    struct record *there = (struct record *)map_insert(&threads[self()], &record->node, HASH, NULL);
    if (there)
        return there;
    take_all(record);
    return record;
}

static void begin(void)
{
    memset(buckets, 0, sizeof buckets);
    map_init(&map,
             &(struct map_options){
                 .buckets = buckets, .buckets_max = BUCKETS, .buckets_initial = BUCKETS, .match = matches});
    reclaim_init(&domain, slots, MODEL_THREADS_MAX, 8);
    for (unsigned i = 0; i <= MODEL_THREADS_MAX; i++) {
        map_thread_init(&threads[i], &map, i);
        if (i < MODEL_THREADS_MAX)
            reclaims[i] = reclaim_claim(&domain, NULL);
    }
    memset(items, MODEL_FRESH, sizeof items);
    consumed = 0;
    make();
}

static void on_release(struct reclaim_node *node, void *context)
{
    (void)context;
    model_free(container_of(node, struct record, retirement));
}

static void retire(void)
{
    reclaim_online(reclaims[self()]);
    struct record *record = (struct record *)map_find(&map, HASH, NULL);
    if (record && inbox_unpark(&record->incoming)) {
        if (inbox_close(&record->incoming)) {
            model_check(map_remove(&threads[self()], HASH, record) == &record->node);
            model_check(reclaim_retire(reclaims[self()], &record->retirement, on_release));
        } else {
            take_all(record);
        }
    }
    reclaim_quiescent(reclaims[self()]);
    reclaim_offline(reclaims[self()]);
}

static void push(void)
{
    uint64_t losses = 0;
    bool was_parked = false;
    reclaim_online(reclaims[self()]);
    struct record *record;
    do {
        record = (struct record *)map_find(&map, HASH, NULL);
        if (!record)
            record = make();
        model_check(model_read(record->payload) == 7);
    } while (!inbox_try_push(&record->incoming, &items[self()], &was_parked, &losses));
    if (was_parked)
        take_all(record);
    reclaim_quiescent(reclaims[self()]);
    reclaim_offline(reclaims[self()]);
}

static void finish(void)
{
    unsigned open = 0;
    for (struct map_node *node = map_first(&map); node; node = map_next(node)) {
        model_check(!inbox_is_closed(&((struct record *)node)->incoming));
        model_check(!inbox_has_some(&((struct record *)node)->incoming));
        open++;
    }
    model_check(open <= 1);
    reclaim_fini(&domain);
}

static unsigned pushes;

static void finish_pushes(void)
{
    finish();
    model_check(consumed == pushes);
}

TEST(nothing_is_lost_and_no_record_is_there_twice)
{
    struct model_case c = {.name = "map_retire_two",
                           .begin = begin,
                           .threads = {retire, push},
                           .finish = finish_pushes,
                           .preemptions = 4,
                           .weak = 1};
    pushes = 1;
    model_verify(&c);
    c = (struct model_case){.name = "map_retire_three",
                            .begin = begin,
                            .threads = {retire, push, push},
                            .finish = finish_pushes,
                            .preemptions = 2};
    pushes = 2;
    model_verify(&c);
    c.name = "map_retire_three_weak";
    c.preemptions = 1;
    c.weak = 1;
    model_verify(&c);
    c.name = "map_retire_lock_free";
    c.preemptions = 2;
    c.weak = 0;
    c.lock_free = true;
    model_verify(&c);
    c = (struct model_case){.name = "map_retire_random",
                            .begin = begin,
                            .threads = {retire, push, push, retire},
                            .finish = finish_pushes,
                            .preemptions = 5,
                            .weak = 2,
                            .random = 20000,
                            .seed = 3};
    model_verify(&c);
}
