/* Answers come in the order of the questions, and of all loops exactly one is told that a signature is new. */
#include "engine/sieve/mill.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check.h"

enum { QUESTIONS = 60000, DISTINCT = 20000 };

static char directory[64], sieve_directory[80];
static struct mill mill;

static void begin(enum sieve_disk_kind kind, unsigned loops, size_t bytes)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-mill-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(sieve_directory, sizeof sieve_directory, "%s/sieve", directory);
    CHECK_INT(mill_init(&mill, &(struct mill_options){.kind = kind,
                                                      .disk = &disk_system,
                                                      .directory = sieve_directory,
                                                      .runs = 3,
                                                      .bytes = bytes,
                                                      .loops = loops}),
              0);
    CHECK_INT(mill_open(&mill), 0);
}

/* Nothing is left behind. */
static void finish(void)
{
    mill_fini(&mill);
    CHECK_INT(rmdir(directory), 0);
}

/* The n-th question; its signature is asked about three times or so. */
static uint64_t question(uint64_t n)
{
    return (n * 7919 % DISTINCT + 1) * UINT64_C(0x9E3779B97F4A7C15);
}

static _Atomic(uint8_t) told_new[DISTINCT];

static void reset(void)
{
    for (unsigned i = 0; i < DISTINCT; i++)
        lf_store(&told_new[i], 0, relaxed);
}

/* Takes what answers there are. */
static void take(struct mill_loop *loop, uint64_t *answered, uint64_t first)
{
    bool is_new;
    while (mill_next(loop, &is_new)) {
        uint64_t number = (first + *answered) * 7919 % DISTINCT;
        if (is_new)
            lf_fetch_add(&told_new[number], 1, relaxed);
        else if (mill.options.loops == 1)
            CHECK(lf_load(&told_new[number], relaxed) == 1); /* an earlier one was new */
        ++*answered;
    }
}

struct asker {
    struct mill_loop *loop;
    uint64_t first;
};

static void *ask_all(void *argument)
{
    const struct asker *asker = argument;
    uint64_t asked = 0, answered = 0;
    while (answered < QUESTIONS) {
        while (asked < QUESTIONS && mill_has_room(asker->loop, 1))
            mill_push(asker->loop, question(asker->first + asked++));
        uint64_t before = answered;
        take(asker->loop, &answered, asker->first);
        if (before == answered)
            poll(NULL, 0, 1);
        CHECK(!lf_load(&mill.error, relaxed));
    }
    return NULL;
}

static void check_each_once(void)
{
    for (unsigned i = 0; i < DISTINCT; i++)
        CHECK_INT(lf_load(&told_new[i], relaxed), 1);
}

static bool has_kind(enum sieve_disk_kind kind)
{
    return sieve_disk_has(kind);
}

TEST(one_loop_gets_its_answers_in_order)
{
    for (int kind = SIEVE_DISK_MERCATOR; kind <= SIEVE_DISK_ROCKS; kind++) {
        if (!has_kind((enum sieve_disk_kind)kind))
            continue;
        begin((enum sieve_disk_kind)kind, 1, 0);
        reset();
        mill_hurry(&mill, true);
        CHECK_INT(mill_start(&mill), 0);
        ask_all(&(struct asker){&mill.loops[0], 0});
        check_each_once();
        CHECK_INT(lf_load(&mill.known, relaxed), DISTINCT);
        finish();
    }
}

TEST(of_two_loops_one_is_told)
{
    for (int kind = SIEVE_DISK_MERCATOR; kind <= SIEVE_DISK_OFFLINE; kind++) {
        pthread_t threads[2];
        begin((enum sieve_disk_kind)kind, 2, 0);
        reset();
        mill_hurry(&mill, true);
        CHECK_INT(mill_start(&mill), 0);
        struct asker askers[2] = {{&mill.loops[0], 0}, {&mill.loops[1], 5000}};
        for (unsigned i = 0; i < 2; i++)
            CHECK_INT(pthread_create(&threads[i], NULL, ask_all, &askers[i]), 0);
        for (unsigned i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        check_each_once();
        finish();
    }
}

/* What an earlier process has fetched is known, however much it is. */
TEST(what_was_learnt_is_known)
{
    for (int kind = SIEVE_DISK_MERCATOR; kind <= SIEVE_DISK_OFFLINE; kind++) {
        uint64_t answered = 0, learnt = 4 * MILL_BATCH_MIN + 5;
        begin((enum sieve_disk_kind)kind, 1, 0);
        for (uint64_t i = 1; i <= learnt; i++)
            CHECK_INT(mill_learn(&mill, i * i * UINT64_C(0x9E3779B97F4A7C15)), 0);
        for (uint64_t i = 1; i <= 10; i++) { /* the first one, and the last five */
            uint64_t number = i % 2 ? 1 : learnt + 1 - i / 2;
            mill_push(&mill.loops[0], number * number * UINT64_C(0x9E3779B97F4A7C15));
        }
        mill_push(&mill.loops[0], 3);
        mill_hurry(&mill, true);
        CHECK_INT(mill_start(&mill), 0);
        for (bool is_new; answered < 11;)
            if (mill_next(&mill.loops[0], &is_new))
                CHECK_INT(is_new, ++answered == 11);
        finish();
    }
}

/* A block that is not full waits, unless the crawl waits for it. */
TEST(a_block_waits_until_it_is_full_or_wanted)
{
    bool is_new;
    begin(SIEVE_DISK_MERCATOR, 1, 0);
    CHECK_INT(mill_start(&mill), 0);
    size_t pushed = 0;
    for (; pushed < 2 * MILL_BATCH_MIN; pushed++) {
        while (!mill_has_room(&mill.loops[0], 1))
            poll(NULL, 0, 1);
        mill_push(&mill.loops[0], pushed + 1);
    }
    size_t answered = 0;
    while (answered < pushed)
        answered += mill_next(&mill.loops[0], &is_new);
    mill_push(&mill.loops[0], 1);
    CHECK(!mill_next(&mill.loops[0], &is_new));
    CHECK(mill.loops[0].filling != NULL);
    mill_hurry(&mill, true);
    while (answered < pushed + 1)
        answered += mill_next(&mill.loops[0], &is_new);
    CHECK(!is_new);
    finish();
}

/* Without the mill, a loop can ask about so much and no more; nothing is lost when it goes on. */
TEST(room_is_bounded)
{
    uint64_t asked = 0, answered = 0;
    begin(SIEVE_DISK_MERCATOR, 1, 0);
    reset();
    while (mill_has_room(&mill.loops[0], 64))
        for (unsigned i = 0; i < 64; i++)
            mill_push(&mill.loops[0], question(asked++));
    CHECK(asked <= MILL_BLOCKS_MIN * MILL_BLOCK_SIGNATURES);
    CHECK(asked > (MILL_BLOCKS_MIN - 1) * MILL_BLOCK_SIGNATURES);
    mill_hurry(&mill, true);
    CHECK_INT(mill_start(&mill), 0);
    while (answered < asked)
        take(&mill.loops[0], &answered, 0);
    CHECK(mill_has_room(&mill.loops[0], 64));
    finish();
}

TEST(a_directory_that_cannot_be_made_is_named)
{
    static const struct mill_options options = {
        .kind = SIEVE_DISK_MERCATOR, .disk = &disk_system, .directory = "/proc/no-such/sieve", .loops = 1};
    CHECK_INT(mill_init(&mill, &options), 0);
    CHECK_INT(mill_open(&mill), -ENOENT);
    CHECK(strstr(mill.failure.text, "/proc/no-such/sieve"));
    mill_fini(&mill);
}

/* Its files are gone: the batch that needs them fails, and the mill says so and answers nothing more. */
TEST(an_error_of_the_disk_is_told)
{
    char path[128];
    bool is_new;
    begin(SIEVE_DISK_MERCATOR, 1, 0);
    for (uint64_t i = 0; i < 3 * MILL_BATCH_MIN; i++)
        CHECK_INT(mill_learn(&mill, question(0) + i), 0);
    mill_hurry(&mill, true);
    CHECK_INT(mill_start(&mill), 0);
    snprintf(path, sizeof path, "%s/run-01", sieve_directory);
    CHECK_INT(unlink(path), 0);
    mill_push(&mill.loops[0], question(0));
    while (!lf_load(&mill.error, acquire))
        CHECK(!mill_next(&mill.loops[0], &is_new));
    CHECK_INT(lf_load(&mill.error, relaxed), -ENOENT);
    CHECK(strstr(mill.failure.text, "/run-01: cannot open"));
    finish();
}
