/* reclaim: what is retired is freed when nobody can use it, not before, and then does get freed. A free that
 * does not come after every access is a failure of the run, so that the readers only have to read. */
#include "lockfree/reclaim.h"
#include "tests/support/check.h"
#include "tests/support/model.h"

struct box {
    struct reclaim_node retirement;
    int payload;
};

static struct reclaim domain;
static struct reclaim_thread slots[3];
static _Atomic(struct box *) shared[2];
static unsigned allocated, freed;

static struct box *new_box(void)
{
    struct box *box = model_alloc(sizeof *box);
    allocated++;
    model_write(box->payload, 7);
    return box;
}

static void begin(void)
{
    reclaim_init(&domain, slots, 3, 8);
    allocated = freed = 0;
    for (unsigned i = 0; i < 2; i++)
        lf_store(&shared[i], new_box(), relaxed);
}

static void on_release(struct reclaim_node *node, void *context)
{
    (void)context;
    freed++;
    model_free((struct box *)node);
}

static void read_box(unsigned which)
{
    struct box *box = lf_load(&shared[which], acquire);
    model_check(model_read(box->payload) == 7);
}

static void read_in_turns(void)
{
    struct reclaim_thread *self = reclaim_claim(&domain, NULL);
    reclaim_online(self);
    for (int turn = 0; turn < 3; turn++) {
        read_box(0);
        reclaim_quiescent(self);
    }
    reclaim_offline(self);
    reclaim_leave(self);
}

static void read_and_sleep(void)
{
    struct reclaim_thread *self = reclaim_claim(&domain, NULL);
    for (int turn = 0; turn < 2; turn++) {
        reclaim_online(self);
        read_box(0);
        reclaim_offline(self);
    }
    reclaim_leave(self);
}

static void replace(struct reclaim_thread *self, unsigned which)
{
    struct box *old = lf_exchange(&shared[which], new_box(), acq_rel);
    model_check(reclaim_retire(self, &old->retirement, on_release));
}

static void replace_one(void)
{
    struct reclaim_thread *self = reclaim_claim(&domain, NULL);
    reclaim_online(self);
    replace(self, 0);
    reclaim_quiescent(self);
    reclaim_offline(self);
    reclaim_poll(self);
    reclaim_leave(self);
}

/* Waits for the end of the grace period: it must come. */
static void replace_and_wait(void)
{
    struct reclaim_thread *self = reclaim_claim(&domain, NULL);
    for (int turn = 0; turn < 2; turn++) {
        reclaim_online(self);
        replace(self, 0);
        reclaim_offline(self);
        while (reclaim_poll(self))
            lf_pause();
    }
    reclaim_leave(self);
}

static void finish(void)
{
    reclaim_fini(&domain);
    model_check(freed == allocated - 2);
}

static void verify(struct model_case c)
{
    c.begin = begin;
    c.finish = finish;
    model_verify(&c);
}

TEST(reader_in_turns)
{
    verify((struct model_case){.name = "reclaim_turns_weak",
                               .threads = {read_in_turns, replace_and_wait},
                               .preemptions = 2,
                               .weak = 2});
    verify((struct model_case){
        .name = "reclaim_turns", .threads = {read_in_turns, replace_and_wait}, .preemptions = 4});
}

TEST(reader_that_sleeps)
{
    verify((struct model_case){.name = "reclaim_sleep_weak",
                               .threads = {read_and_sleep, replace_and_wait},
                               .preemptions = 3,
                               .weak = 2});
    verify((struct model_case){
        .name = "reclaim_sleep", .threads = {read_and_sleep, replace_and_wait}, .preemptions = 4});
}

TEST(three_threads)
{
    verify((struct model_case){.name = "reclaim_two_writers_weak",
                               .threads = {read_in_turns, replace_one, replace_one},
                               .preemptions = 2,
                               .weak = 1});
    verify((struct model_case){.name = "reclaim_two_readers_weak",
                               .threads = {read_and_sleep, read_in_turns, replace_one},
                               .preemptions = 2,
                               .weak = 1});
}

/* Two epochs begun at once, for garbage of different places: each is a step of its own that all see in
 * turn. */
static void begin_claimed(void)
{
    begin();
    for (unsigned i = 0; i < 3; i++)
        reclaim_claim(&domain, NULL);
}

static void close_first(void)
{
    reclaim_online(&slots[0]);
    replace(&slots[0], 0);
    reclaim_offline(&slots[0]);
    reclaim_poll(&slots[0]);
}

static void close_and_free_second(void)
{
    reclaim_online(&slots[1]);
    replace(&slots[1], 1);
    reclaim_offline(&slots[1]);
    reclaim_poll(&slots[1]);
    reclaim_poll(&slots[1]);
}

static void read_second(void)
{
    reclaim_online(&slots[2]);
    read_box(1);
    reclaim_offline(&slots[2]);
}

TEST(two_epochs)
{
    struct model_case c = {.name = "reclaim_two_epochs_weak",
                           .begin = begin_claimed,
                           .threads = {close_first, close_and_free_second, read_second},
                           .finish = finish,
                           .preemptions = 3,
                           .weak = 1};
    model_verify(&c);
}

/* A stalled reader holds everything back and never the callers: retire refuses when the limbo is full. */
static void fill_limbo(void)
{
    struct reclaim_thread *self = reclaim_claim(&domain, NULL);
    reclaim_online(self);
    for (int i = 0; i < 4; i++) {
        struct box *box = new_box();
        if (!reclaim_retire(self, &box->retirement, on_release)) {
            model_check(!reclaim_has_room(self, 1));
            freed++;
            model_free(box);
        }
        reclaim_quiescent(self);
    }
    reclaim_offline(self);
    reclaim_leave(self);
}

static void begin_small(void)
{
    begin();
    reclaim_init(&domain, slots, 3, 2);
}

TEST(full_limbo)
{
    struct model_case c = {.name = "reclaim_full",
                           .begin = begin_small,
                           .threads = {read_in_turns, fill_limbo},
                           .finish = finish,
                           .preemptions = 2,
                           .weak = 1,
                           .lock_free = true};
    model_verify(&c);
}

/* Slots: nobody gets one that another has. */
static unsigned owners[3];

static void begin_claims(void)
{
    reclaim_init(&domain, slots, 2, 2);
    memset(owners, 0, sizeof owners);
}

static void claim_and_leave(void)
{
    for (int i = 0; i < 2; i++) {
        struct reclaim_thread *self = reclaim_claim(&domain, NULL);
        if (!self)
            continue;
        unsigned *owner = &owners[self - slots];
        model_write(*owner, model_self());
        reclaim_online(self);
        model_check(model_read(*owner) == model_self());
        reclaim_offline(self);
        reclaim_leave(self);
    }
}

TEST(claims)
{
    struct model_case c = {.name = "reclaim_claim",
                           .begin = begin_claims,
                           .threads = {claim_and_leave, claim_and_leave, claim_and_leave},
                           .preemptions = 2,
                           .weak = 1};
    model_verify(&c);
}
