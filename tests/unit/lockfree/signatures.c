#include "lockfree/arena.h"
#include "lockfree/signatures.h"
#include "tests/support/check.h"

#include <stdlib.h>

struct fixture {
    struct arena arena;
    struct signatures set;
    struct signatures_writer writer;
};

static void fixture_init(struct fixture *fixture, size_t bytes)
{
    CHECK_INT(arena_init(&fixture->arena, &(struct arena_options){.bytes = bytes}), 0);
    signatures_init(&fixture->set, arena_take(&fixture->arena, bytes, LF_CACHE_LINE), bytes);
    static unsigned fixtures; /* every other one goes the plain way */
    fixture->set.plain |= fixtures++ % 2;
    signatures_writer_init(&fixture->writer, &fixture->set);
}

static uint64_t signature_at(uint64_t n)
{
    uint64_t z = n * UINT64_C(0xD1342543DE82EF95) + UINT64_C(0x632BE59BD9B4E019);
    return (z ^ z >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
}

static void check_new_once(bool plain)
{
    static struct fixture fixture;
    fixture_init(&fixture, signatures_bytes(10000));
    fixture.set.plain |= plain;
    for (uint64_t n = 0; n < 10000; n++) {
        CHECK(!signatures_has(&fixture.set, signature_at(n)));
        CHECK_INT(signatures_add(&fixture.writer, signature_at(n)), SIGNATURES_NEW);
        CHECK_INT(signatures_add(&fixture.writer, signature_at(n)), SIGNATURES_KNOWN);
        CHECK(signatures_has(&fixture.set, signature_at(n)));
    }
    for (uint64_t n = 0; n < 10000; n++)
        CHECK_INT(signatures_add(&fixture.writer, signature_at(n)), SIGNATURES_KNOWN);
    arena_fini(&fixture.arena);
}

TEST(a_signature_is_new_once)
{
    check_new_once(false);
    check_new_once(true);
}

/* Zero marks an empty slot; as a signature it must work all the same and be mistaken for no other. */
TEST(zero_is_a_signature)
{
    static struct fixture fixture;
    fixture_init(&fixture, 64);
    CHECK(!signatures_has(&fixture.set, 0));
    CHECK_INT(signatures_add(&fixture.writer, 0), SIGNATURES_NEW);
    CHECK_INT(signatures_add(&fixture.writer, 0), SIGNATURES_KNOWN);
    CHECK(signatures_has(&fixture.set, 0));
    for (uint64_t n = 1; n < 7; n++)
        CHECK_INT(signatures_add(&fixture.writer, n), SIGNATURES_NEW);
    CHECK_INT(signatures_add(&fixture.writer, UINT64_MAX), SIGNATURES_FULL);
    signatures_writer_fini(&fixture.writer);
    CHECK_INT(signatures_count(&fixture.set), 7);
    arena_fini(&fixture.arena);
}

TEST(a_full_set_refuses_at_the_stated_load)
{
    const size_t sizes[] = {64, 128, 64 * 100, 64 * 1001};
    for (unsigned i = 0; i < 4; i++) {
        static struct fixture fixture;
        fixture_init(&fixture, sizes[i]);
        uint64_t limit = sizes[i] / 8 * SIGNATURES_LOAD_NUM / SIGNATURES_LOAD_DEN;
        for (uint64_t n = 0; n < limit; n++)
            CHECK_INT(signatures_add(&fixture.writer, signature_at(n)), SIGNATURES_NEW);
        for (uint64_t n = limit; n < limit + 100; n++) {
            CHECK_INT(signatures_add(&fixture.writer, signature_at(n)), SIGNATURES_FULL);
            CHECK(!signatures_has(&fixture.set, signature_at(n)));
        }
        for (uint64_t n = 0; n < limit; n++)
            CHECK_INT(signatures_add(&fixture.writer, signature_at(n)), SIGNATURES_KNOWN);
        CHECK_INT(signatures_count(&fixture.set), limit);
        arena_fini(&fixture.arena);
    }
}

TEST(sizing_leaves_room_for_what_was_asked)
{
    for (uint64_t count = 0; count < 2000; count += 7) {
        static struct fixture fixture;
        fixture_init(&fixture, signatures_bytes(count));
        CHECK(fixture.set.count_max >= count && fixture.set.count_max <= count + 8);
        arena_fini(&fixture.arena);
    }
    CHECK(signatures_bytes(750000000) == 8000000000);
}

TEST(unused_places_come_back)
{
    static struct fixture fixture;
    fixture_init(&fixture, signatures_bytes(SIGNATURES_CREDIT));
    struct signatures_writer second;
    signatures_writer_init(&second, &fixture.set);
    CHECK_INT(signatures_add(&fixture.writer, 1), SIGNATURES_NEW);
    uint64_t rest = fixture.set.count_max - SIGNATURES_CREDIT;
    for (uint64_t n = 0; n < rest; n++)
        CHECK_INT(signatures_add(&second, 100 + n), SIGNATURES_NEW);
    CHECK_INT(signatures_add(&second, 2), SIGNATURES_FULL);
    CHECK_INT(signatures_add(&second, 1), SIGNATURES_KNOWN);
    signatures_writer_fini(&fixture.writer);
    CHECK_INT(signatures_add(&second, 2), SIGNATURES_NEW);
    signatures_writer_fini(&second);
    CHECK_INT(signatures_count(&fixture.set), 2 + rest);
    arena_fini(&fixture.arena);
}

/* What does not fit into the last line goes on at the first. */
TEST(probing_wraps_round)
{
    static struct fixture fixture;
    fixture_init(&fixture, 128);
    uint64_t inverse =
        UINT64_C(0xF1DE83E19937733D); /* of the multiplier: these have the last line as their home */
    CHECK_INT(inverse * UINT64_C(0x9E3779B97F4A7C15), 1);
    for (uint64_t i = 0; i < 12; i++)
        CHECK_INT(signatures_add(&fixture.writer, inverse * (UINT64_MAX - i)), SIGNATURES_NEW);
    for (uint64_t i = 0; i < 12; i++)
        CHECK(signatures_has(&fixture.set, inverse * (UINT64_MAX - i)));
    CHECK(!signatures_has(&fixture.set, inverse * (UINT64_MAX - 12)));
    for (unsigned slot = 0; slot < 16; slot++)
        CHECK(!lf_load(&fixture.set.slots[slot], relaxed) == (slot >= 4 && slot < 8));
    CHECK_INT(signatures_add(&fixture.writer, 1), SIGNATURES_FULL);
    arena_fini(&fixture.arena);
}

TEST(a_batch_answers_like_single_calls)
{
    static struct fixture single, batch;
    fixture_init(&single, signatures_bytes(5000));
    fixture_init(&batch, signatures_bytes(5000));
    uint64_t some[150];
    enum signatures_answer answers[150];
    bool found[150];
    for (size_t count = 0, n = 0; count <= 150; count++, n += 60) {
        size_t added = 0, present = 0;
        for (size_t i = 0; i < count; i++)
            some[i] = (n + i) % 97 == 0 ? 0 : signature_at((n + i) / 2);
        for (size_t i = 0; i < count; i++)
            present += signatures_has(&single.set, some[i]);
        CHECK_INT(signatures_has_batch(&batch.set, some, count, found), present);
        for (size_t i = 0; i < count; i++)
            CHECK_INT(found[i], signatures_has(&single.set, some[i]));
        size_t answered = signatures_add_batch(&batch.writer, some, count, answers);
        for (size_t i = 0; i < count; i++) {
            enum signatures_answer answer = signatures_add(&single.writer, some[i]);
            CHECK_INT(answers[i], answer);
            added += answer == SIGNATURES_NEW;
        }
        CHECK_INT(answered, added);
    }
    arena_fini(&single.arena);
    arena_fini(&batch.arena);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

TEST(a_walk_meets_each_signature_once)
{
    enum { COUNT = 3001 };
    static struct fixture fixture;
    static uint64_t in[COUNT], out[COUNT + 1];
    fixture_init(&fixture, signatures_bytes(COUNT));
    uint64_t cursor = 0, walked = 0;
    CHECK(!signatures_next(&fixture.set, &cursor, &out[0]));
    CHECK(!signatures_next(&fixture.set, &cursor, &out[0]));
    for (uint64_t n = 0; n < COUNT; n++) {
        in[n] = n ? signature_at(n) : 0;
        CHECK_INT(signatures_add(&fixture.writer, in[n]), SIGNATURES_NEW);
    }
    for (cursor = 0; walked <= COUNT && signatures_next(&fixture.set, &cursor, &out[walked]);)
        walked++;
    CHECK_INT(walked, COUNT);
    CHECK(!signatures_next(&fixture.set, &cursor, &out[0]));
    qsort(in, COUNT, sizeof *in, compare);
    qsort(out, COUNT, sizeof *out, compare);
    CHECK(memcmp(in, out, sizeof in) == 0);
    arena_fini(&fixture.arena);
}
