/* inbox: everything pushed is taken once and in order, and a parked consumer is called by exactly one
 * push. */
#include "lockfree/inbox.h"
#include "tests/support/check.h"
#include "tests/support/model.h"

#define ITEMS 16

struct item {
    struct inbox_node node;
    int payload;
};

static struct inbox inbox;
static struct item items[ITEMS];
static _Atomic(unsigned) calls; /* the right to consume: given by a push that found the inbox parked */
static int role;                /* touched by whoever consumes */
static unsigned taken[ITEMS], taken_count, last_of[MODEL_THREADS_MAX];

static void begin(void)
{
    inbox_init(&inbox);
    memset(items, MODEL_FRESH, sizeof items);
    lf_store(&calls, 0, relaxed);
    memset(taken, 0, sizeof taken);
    memset(last_of, 0, sizeof last_of);
    taken_count = 0;
    role = 0;
}

static void push_two(void)
{
    for (unsigned i = 1; i <= 2; i++) {
        struct item *item = &items[4 * model_self() + i];
        model_write(item->payload, 7);
        if (inbox_push(&inbox, &item->node))
            lf_fetch_add(&calls, 1, release);
    }
}

static void take_all(void)
{
    struct inbox_node *node = inbox_take(&inbox);
    while (node) {
        struct item *item = (struct item *)node;
        unsigned index = (unsigned)(item - items);
        node = lf_plain_read(node->next);
        model_check(model_read(item->payload) == 7);
        model_check(!taken[index]++);
        model_check(last_of[index / 4] < index % 4);
        last_of[index / 4] = index % 4;
        taken_count++;
    }
}

/* Consumes while it has the right, parks, and waits to be called again. */
static void consume_four(void)
{
    unsigned seen = 0;
    while (taken_count < 4) {
        unsigned now = lf_load(&calls, acquire);
        if (now == seen) {
            lf_pause();
            continue;
        }
        model_check(now == seen + 1);
        seen = now;
        do
            take_all();
        while (!inbox_park(&inbox));
    }
}

static void finish(void)
{
    model_check(taken_count == 4 && !inbox_has_some(&inbox));
}

TEST(taken_once_in_order)
{
    struct model_case c = {.name = "inbox",
                           .begin = begin,
                           .threads = {push_two, push_two, consume_four},
                           .finish = finish,
                           .preemptions = 3};
    model_verify(&c);
    c.name = "inbox_weak";
    c.preemptions = 2;
    c.weak = 1;
    model_verify(&c);
}

/* The push that ends the parking takes over the consumer's role, with all that the last consumer did. */
static void push_and_consume(void)
{
    for (unsigned i = 1; i <= 2; i++) {
        struct item *item = &items[4 * model_self() + i];
        model_write(item->payload, 7);
        if (!inbox_push(&inbox, &item->node))
            continue;
        do {
            take_all();
            model_write(role, model_read(role) + 1);
        } while (!inbox_park(&inbox));
    }
}

TEST(consumer_changes)
{
    struct model_case c = {.name = "inbox_role",
                           .begin = begin,
                           .threads = {push_and_consume, push_and_consume},
                           .finish = finish,
                           .preemptions = 3,
                           .weak = 1};
    model_verify(&c);
}

static uint64_t losses[MODEL_THREADS_MAX], losses_most;

static void begin_counted(void)
{
    begin();
    memset(losses, 0, sizeof losses);
}

static void push_counted(void)
{
    unsigned self = model_self();
    inbox_push_counted(&inbox, &items[4 * self].node, &losses[self]);
}

/* Whoever loses has lost to the other's only push. */
static void finish_counted(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < MODEL_THREADS_MAX; i++)
        sum += losses[i];
    model_check(sum <= 1);
    losses_most = sum > losses_most ? sum : losses_most;
}

TEST(lost_races_are_counted)
{
    struct model_case c = {.name = "inbox_losses",
                           .begin = begin_counted,
                           .threads = {push_counted, push_counted},
                           .finish = finish_counted,
                           .preemptions = 2};
    model_verify(&c);
    CHECK_INT(losses_most, 1);
}

/* An inbox that may be closed: what cannot be pushed there goes to the next. Beside the producers, somebody
 * takes the consumer's role whenever it finds the inbox parked, and closes it. */
static struct inbox next_inbox;
static int last_words; /* written by the consumer that closes, read by who finds it closed */
static unsigned refused;

static void begin_closing(void)
{
    begin();
    inbox_init_open(&next_inbox);
    last_words = 0;
    refused = 0;
}

static void push_anywhere(void)
{
    uint64_t lost_here = 0;
    bool was_parked = false;
    struct item *item = &items[4 * model_self() + 1];
    model_write(item->payload, 7);
    if (!inbox_try_push(&inbox, &item->node, &was_parked, &lost_here)) {
        model_check(model_read(last_words) == 1 && inbox_is_closed(&inbox));
        inbox_push(&next_inbox, &item->node);
        return;
    }
    if (!was_parked)
        return;
    do {
        take_all();
        model_write(role, model_read(role) + 1);
    } while (!inbox_park(&inbox));
}

static void retire(void)
{
    if (!inbox_unpark(&inbox))
        return;
    model_write(role, model_read(role) + 1);
    if (model_read(role) == 1) /* nothing has come yet: these are the last words */
        model_write(last_words, 1);
    if (model_read(last_words) && inbox_close(&inbox))
        return;
    do {
        take_all();
        model_write(role, model_read(role) + 1);
    } while (!inbox_park(&inbox));
}

/* Searches pass over what is closed. */
static void look(void)
{
    if (inbox_is_closed(&inbox))
        model_check(model_read(last_words) == 1);
}

static void finish_closing(void)
{
    for (struct inbox_node *node = inbox_take(&next_inbox); node; node = lf_plain_read(node->next))
        refused++;
    model_check(taken_count + refused == 2);
    model_check(!refused || inbox_is_closed(&inbox));
    model_check(!inbox_has_some(&inbox));
}

TEST(a_closed_inbox_takes_nothing_and_loses_nothing)
{
    struct model_case c = {.name = "inbox_close",
                           .begin = begin_closing,
                           .threads = {push_anywhere, push_anywhere, retire},
                           .finish = finish_closing,
                           .preemptions = 3};
    model_verify(&c);
    c.name = "inbox_close_weak";
    c.preemptions = 2;
    c.weak = 2;
    model_verify(&c);
}

static void finish_looking(void)
{
    model_check(!inbox_has_some(&inbox));
}

TEST(who_sees_it_closed_sees_what_came_before)
{
    struct model_case c = {.name = "inbox_closed_seen",
                           .begin = begin_closing,
                           .threads = {look, retire},
                           .finish = finish_looking,
                           .preemptions = 2,
                           .weak = 1};
    model_verify(&c);
}
