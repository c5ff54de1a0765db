/* signatures: of all who add a signature exactly one is told NEW, and who is told KNOWN sees what that one
 * wrote. */
#include "lockfree/signatures.h"
#include "tests/support/check.h"
#include "tests/support/model.h"

#define KEYS 3

static struct signatures set;
static _Alignas(LF_CACHE_LINE) _Atomic(uint64_t) memory[8];
/* The same home slot for two of them, since they differ in low bits alone; and the one without a slot. */
static const uint64_t keys[KEYS] = {8, 9, 0};
static int payload[MODEL_THREADS_MAX][KEYS];
static unsigned told_new[KEYS], told_full;
static int winner[KEYS];

static void begin(void)
{
    memset(memory, 0, sizeof memory);
    signatures_init(&set, memory, sizeof memory);
    memset(payload, 0, sizeof payload);
    memset(told_new, 0, sizeof told_new);
    told_full = 0;
    for (unsigned k = 0; k < KEYS; k++)
        winner[k] = -1;
}

static void add(struct signatures_writer *writer, unsigned k)
{
    unsigned self = model_self();
    model_write(payload[self][k], 1);
    switch (signatures_add(writer, keys[k])) {
    case SIGNATURES_NEW:
        told_new[k]++;
        winner[k] = (int)self;
        model_check(signatures_has(&set, keys[k]));
        break;
    case SIGNATURES_KNOWN:
        if (winner[k] >= 0)
            model_check(model_read(payload[winner[k]][k]) == 1);
        model_check(signatures_has(&set, keys[k]));
        break;
    case SIGNATURES_FULL:
        told_full++;
        break;
    }
}

static void add_upward(void)
{
    struct signatures_writer writer;
    signatures_writer_init(&writer, &set);
    for (unsigned k = 0; k < KEYS; k++)
        add(&writer, k);
    signatures_writer_fini(&writer);
}

static void add_downward(void)
{
    struct signatures_writer writer;
    signatures_writer_init(&writer, &set);
    for (unsigned k = KEYS; k-- > 0;)
        add(&writer, k);
    signatures_writer_fini(&writer);
}

static void add_second(void)
{
    struct signatures_writer writer;
    signatures_writer_init(&writer, &set);
    add(&writer, 1);
    signatures_writer_fini(&writer);
}

static void finish(void)
{
    for (unsigned k = 0; k < KEYS; k++) {
        model_check(told_new[k] == 1);
        model_check(signatures_has(&set, keys[k]));
    }
    model_check(told_full == 0);
    model_check(signatures_count(&set) == KEYS);
    uint64_t cursor = 0, signature;
    unsigned met = 0;
    while (signatures_next(&set, &cursor, &signature))
        met++;
    model_check(met == KEYS);
}

TEST(one_is_told_new)
{
    struct model_case c = {.name = "signatures_2",
                           .begin = begin,
                           .threads = {add_upward, add_downward},
                           .finish = finish,
                           .preemptions = 4};
    model_verify(&c);
    c.name = "signatures_2_weak";
    c.preemptions = 2;
    c.weak = 2;
    model_verify(&c);
    c = (struct model_case){.name = "signatures_3_weak",
                            .begin = begin,
                            .threads = {add_upward, add_downward, add_second},
                            .finish = finish,
                            .preemptions = 2,
                            .weak = 1};
    model_verify(&c);
    c.name = "signatures_3_lock_free";
    c.weak = 0;
    c.preemptions = 3;
    c.lock_free = true;
    model_verify(&c);
}

/* Who finds a signature, by name or on a walk, sees what was written before it was added. */
static void add_alone(void)
{
    struct signatures_writer writer;
    signatures_writer_init(&writer, &set);
    for (unsigned k = 0; k < KEYS; k++) {
        model_write(payload[0][k], 1);
        model_check(signatures_add(&writer, keys[k]) == SIGNATURES_NEW);
    }
    signatures_writer_fini(&writer);
}

static void look_up(void)
{
    for (unsigned k = KEYS; k-- > 0;)
        if (signatures_has(&set, keys[k]))
            model_check(model_read(payload[0][k]) == 1);
}

static void walk(void)
{
    uint64_t cursor = 0, signature;
    while (signatures_next(&set, &cursor, &signature))
        for (unsigned k = 0; k < KEYS; k++)
            if (keys[k] == signature)
                model_check(model_read(payload[0][k]) == 1);
}

TEST(readers)
{
    struct model_case c = {.name = "signatures_look_up",
                           .begin = begin,
                           .threads = {add_alone, look_up},
                           .preemptions = 6,
                           .weak = 2};
    model_verify(&c);
    c.name = "signatures_walk";
    c.threads[1] = walk;
    model_verify(&c);
}

/* Full: with room for six, eight signatures by two writers; nobody overfills, and a walk ends. */
static unsigned news;

static void begin_full(void)
{
    begin();
    news = 0;
    struct signatures_writer writer;
    signatures_writer_init(&writer, &set);
    for (uint64_t s = 100; s < 104; s++)
        model_check(signatures_add(&writer, s) == SIGNATURES_NEW);
    signatures_writer_fini(&writer);
}

static void fill(void)
{
    struct signatures_writer writer;
    signatures_writer_init(&writer, &set);
    for (uint64_t s = 200; s < 202; s++)
        news += signatures_add(&writer, s + 10 * model_self()) == SIGNATURES_NEW;
    signatures_writer_fini(&writer);
}

static void finish_full(void)
{
    uint64_t cursor = 0, signature;
    unsigned met = 0;
    while (signatures_next(&set, &cursor, &signature))
        met++;
    model_check(met == 4 + news && met <= 6);
    model_check(signatures_count(&set) == met);
    model_check(!signatures_has(&set, 999));
}

TEST(full)
{
    struct model_case c = {.name = "signatures_full",
                           .begin = begin_full,
                           .threads = {fill, fill},
                           .finish = finish_full,
                           .preemptions = 3,
                           .weak = 1};
    model_verify(&c);
}
