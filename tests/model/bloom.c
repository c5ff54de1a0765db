/* bloom: shared adds lose no bit, and of those who add one hash at most one is told that it was new. */
#include "lockfree/bloom.h"
#include "tests/support/check.h"
#include "tests/support/model.h"

static struct bloom bloom;
static _Alignas(BLOOM_BLOCK_BYTES) _Atomic(uint64_t) memory[BLOOM_BLOCK_BYTES / 8];
static const uint64_t hashes[] = {0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9};
static unsigned told_new[3];

static void begin(void)
{
    memset(memory, 0, sizeof memory);
    memset(told_new, 0, sizeof told_new);
    bloom_init(&bloom, memory, sizeof memory);
    bloom.plain = true;
}

static void add(unsigned k)
{
    told_new[k] += bloom_add_shared(&bloom, hashes[k]);
    model_check(bloom_has(&bloom, hashes[k]));
}

static void add_first_two(void)
{
    add(0);
    add(1);
}

static void add_last_two(void)
{
    add(2);
    add(1);
}

static void add_middle(void)
{
    add(1);
}

static void finish(void)
{
    for (unsigned k = 0; k < 3; k++)
        model_check(bloom_has(&bloom, hashes[k]) && told_new[k] <= 1);
}

static void add_first(void)
{
    add(0);
}

static void finish_alone(void)
{
    model_check(told_new[0] == 1);
}

TEST(no_lost_bit)
{
    struct model_case c = {.name = "bloom",
                           .begin = begin,
                           .threads = {add_first_two, add_last_two},
                           .finish = finish,
                           .preemptions = 3};
    model_verify(&c);
    c.name = "bloom_weak";
    c.preemptions = 2;
    c.weak = 2;
    model_verify(&c);
    c.name = "bloom_three";
    c.threads[2] = add_middle;
    c.preemptions = 2;
    c.weak = 0;
    model_verify(&c);
}

TEST(of_those_who_add_one_hash_exactly_one_is_told)
{
    struct model_case c = {.name = "bloom_one",
                           .begin = begin,
                           .threads = {add_first, add_first},
                           .finish = finish_alone,
                           .preemptions = 3};
    model_verify(&c);
    c.name = "bloom_one_weak";
    c.preemptions = 2;
    c.weak = 2;
    model_verify(&c);
}

/* What a thread did before it added a hash is seen by whoever is told "known". */
static unsigned payload;

static void begin_published(void)
{
    begin();
    payload = 0;
}

static void publish(void)
{
    model_write(payload, 7);
    bloom_add_shared(&bloom, hashes[0]);
}

static void look(void)
{
    if (!bloom_add_shared(&bloom, hashes[0]))
        model_check(model_read(payload) == 7);
}

static void look_without_adding(void)
{
    if (bloom_has(&bloom, hashes[0]))
        model_check(model_read(payload) == 7);
}

TEST(who_is_told_known_sees_what_came_before)
{
    struct model_case c = {
        .name = "bloom_known", .begin = begin_published, .threads = {publish, look}, .preemptions = 3};
    model_verify(&c);
    c.name = "bloom_known_weak";
    c.preemptions = 2;
    c.weak = 2;
    model_verify(&c);
    c.name = "bloom_there_weak";
    c.threads[1] = look_without_adding;
    model_verify(&c);
}
