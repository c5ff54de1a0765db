#include "engine/crawl/buffer.h"

#include "tests/support/check.h"

enum { LEAST = 1 << BUFFER_BYTES_MIN_LOG2 };

TEST(grows_keep_their_bytes)
{
    struct buffer_pool pool;
    struct buffer buffer = {NULL, 0};
    buffer_pool_init(&pool, 1 << 22);
    CHECK(buffer_reserve(&pool, &buffer, 1, 0));
    CHECK_INT(buffer.size, LEAST);
    memset(buffer.bytes, 'a', LEAST);
    CHECK(buffer_reserve(&pool, &buffer, 5 * LEAST, LEAST));
    CHECK_INT(buffer.size, 8 * LEAST);
    for (int i = 0; i < LEAST; i++)
        CHECK(buffer.bytes[i] == 'a');
    CHECK_INT(pool.bytes_used, 8 * LEAST);
    buffer_release(&pool, &buffer);
    CHECK_INT(pool.bytes_used, 0);
    buffer_release(&pool, &buffer);
    buffer_pool_fini(&pool);
}

TEST(the_budget_holds_kept_buffers_included)
{
    struct buffer_pool pool;
    struct buffer many[64] = {{NULL, 0}};
    buffer_pool_init(&pool, 64 * LEAST);
    int count = 0;
    CHECK(buffer_pool_has_room(&pool));
    while (count < 64 && buffer_reserve(&pool, &many[count], LEAST, 0))
        count++;
    CHECK_INT(count, 64);
    CHECK(!buffer_pool_has_room(&pool));
    struct buffer one = {NULL, 0};
    CHECK(!buffer_reserve(&pool, &one, 1, 0));
    for (int i = 0; i < 64; i++)
        buffer_release(&pool, &many[i]);
    CHECK(buffer_reserve(&pool, &one, 40 * LEAST, 0));
    CHECK(pool.bytes_used + pool.bytes_kept <= pool.bytes_max);
    CHECK(!buffer_reserve(&pool, &one, 65 * LEAST, 0));
    CHECK_INT(one.size, 64 * LEAST);
    buffer_release(&pool, &one);
    buffer_pool_fini(&pool);
}

TEST(what_could_fit_is_told_from_what_never_will)
{
    struct buffer_pool pool;
    struct buffer large = {0}, other = {0};
    buffer_pool_init(&pool, 1 << 20);
    CHECK(buffer_pool_could_fit(&pool, 1 << 20, 0) && !buffer_pool_could_fit(&pool, (1 << 20) + 1, 0));
    /* Only the buffer is rounded up, not what is beside it. */
    CHECK(buffer_pool_could_fit(&pool, 1 << 18, 3 << 18) &&
          !buffer_pool_could_fit(&pool, 1 << 18, (3 << 18) + 1));
    CHECK(buffer_reserve(&pool, &other, 100, 0));
    CHECK(!buffer_reserve(&pool, &large, 1 << 20, 0) && buffer_pool_could_fit(&pool, 1 << 20, 0));
    buffer_release(&pool, &other);
    CHECK(buffer_reserve(&pool, &large, 1 << 20, 0));
    buffer_release(&pool, &large);
    buffer_pool_fini(&pool);
}

TEST(promises_are_believed_up_to_a_length_and_while_there_is_room)
{
    struct buffer_pool pool;
    struct buffer buffer = {0};
    buffer_pool_init(&pool, 16 * LEAST);
    CHECK_INT(buffer_pool_trusts(&pool, 100), 100);
    CHECK_INT(buffer_pool_trusts(&pool, SIZE_MAX), BUFFER_PROMISE_BYTES);
    CHECK(buffer_reserve(&pool, &buffer, 8 * LEAST, 0));
    CHECK_INT(buffer_pool_trusts(&pool, 100), 0);
    buffer_release(&pool, &buffer);
    CHECK_INT(buffer_pool_trusts(&pool, 100), 100);
    buffer_pool_fini(&pool);
}

/* A short buffer that grows is copied: what it was before must not stay over the budget. */
TEST(the_budget_holds_after_a_buffer_has_grown)
{
    struct buffer_pool pool;
    struct buffer buffer = {0}, other = {0};
    buffer_pool_init(&pool, 12 * LEAST);
    CHECK(buffer_reserve(&pool, &other, 4 * LEAST, 0));
    CHECK(buffer_reserve(&pool, &buffer, 4 * LEAST, 0));
    CHECK(buffer_reserve(&pool, &buffer, 8 * LEAST, 0));
    CHECK_INT(pool.bytes_used, 12 * LEAST);
    CHECK(pool.bytes_used + pool.bytes_kept <= pool.bytes_max);
    buffer_release(&pool, &buffer);
    buffer_release(&pool, &other);
    CHECK_INT(pool.bytes_kept, 12 * LEAST);
    buffer_pool_fini(&pool);
}

TEST(what_was_released_is_used_again)
{
    struct buffer_pool pool;
    struct buffer first = {0}, second = {0}, third = {0};
    buffer_pool_init(&pool, 1 << 22);
    CHECK(buffer_reserve(&pool, &first, 2 * LEAST, 0) && buffer_reserve(&pool, &second, 2 * LEAST, 0));
    char *one = first.bytes, *two = second.bytes;
    buffer_release(&pool, &first);
    buffer_release(&pool, &second);
    CHECK_INT(pool.bytes_kept, 4 * LEAST);
    CHECK(buffer_reserve(&pool, &third, LEAST, 0)); /* another size: none of them */
    CHECK(third.bytes != one && third.bytes != two);
    CHECK(buffer_reserve(&pool, &first, LEAST + 1, 0) && first.bytes == two);
    CHECK(buffer_reserve(&pool, &second, 2 * LEAST, 0) && second.bytes == one);
    CHECK_INT(pool.bytes_kept, 0);
    CHECK_INT(pool.bytes_used, 5 * LEAST);
    buffer_release(&pool, &first);
    buffer_release(&pool, &second);
    buffer_release(&pool, &third);
    buffer_pool_fini(&pool);
}

TEST(long_buffers_keep_their_bytes_and_leave_nothing_behind)
{
    struct buffer_pool pool;
    struct buffer buffer = {0};
    buffer_pool_init(&pool, 8 * BUFFER_LONG_BYTES);
    CHECK(buffer_reserve(&pool, &buffer, BUFFER_LONG_BYTES, 0));
    for (size_t i = 0; i < BUFFER_LONG_BYTES; i++)
        buffer.bytes[i] = (char)(i * 31);
    CHECK(buffer_reserve(&pool, &buffer, BUFFER_LONG_BYTES + 1, BUFFER_LONG_BYTES));
    CHECK_INT(buffer.size, 2 * BUFFER_LONG_BYTES);
    for (size_t i = 0; i < BUFFER_LONG_BYTES; i++)
        CHECK(buffer.bytes[i] == (char)(i * 31));
    CHECK_INT(pool.bytes_used, 2 * BUFFER_LONG_BYTES);
    CHECK_INT(pool.bytes_kept, 0);
    buffer_release(&pool, &buffer);
    buffer_pool_fini(&pool);
}

/* A visit goes on with what it has: the page so far is still there. */
TEST(a_buffer_that_cannot_grow_is_as_it_was)
{
    struct buffer_pool pool;
    struct buffer buffer = {0}, other = {0};
    buffer_pool_init(&pool, 4 * LEAST);
    CHECK(buffer_reserve(&pool, &buffer, 2 * LEAST, 0) && buffer_reserve(&pool, &other, LEAST, 0));
    memset(buffer.bytes, 'b', 2 * LEAST);
    char *bytes = buffer.bytes;
    CHECK(!buffer_reserve(&pool, &buffer, 2 * LEAST + 1, 2 * LEAST));
    CHECK(buffer.bytes == bytes && buffer.bytes[2 * LEAST - 1] == 'b');
    CHECK_INT(buffer.size, 2 * LEAST);
    CHECK_INT(pool.bytes_used, 3 * LEAST);
    CHECK(buffer_reserve(&pool, &buffer, 2 * LEAST, 2 * LEAST) && buffer.bytes == bytes); /* it has that */
    buffer_release(&pool, &other);
    CHECK(buffer_reserve(&pool, &buffer, 2 * LEAST + 1, 2 * LEAST) && buffer.bytes[2 * LEAST - 1] == 'b');
    buffer_release(&pool, &buffer);
    buffer_pool_fini(&pool);
}

TEST(beyond_the_largest_size_there_is_no_buffer)
{
    struct buffer_pool pool;
    struct buffer buffer = {0};
    const size_t largest = (size_t)1 << (BUFFER_BYTES_MIN_LOG2 + BUFFER_CLASSES - 1);
    buffer_pool_init(&pool, 4 * largest);
    CHECK(!buffer_reserve(&pool, &buffer, largest + 1, 0));
    CHECK(!buffer.bytes && pool.bytes_used == 0);
    buffer_pool_fini(&pool);
}

/* Room is made from the largest: small ones are what most pages need. */
TEST(the_largest_kept_buffers_are_freed_first)
{
    struct buffer_pool pool;
    struct buffer small = {0}, large = {0}, one = {0};
    buffer_pool_init(&pool, 8 * LEAST);
    CHECK(buffer_reserve(&pool, &small, LEAST, 0) && buffer_reserve(&pool, &large, 4 * LEAST, 0));
    buffer_release(&pool, &small);
    buffer_release(&pool, &large);
    CHECK(buffer_reserve(&pool, &one, 2 * LEAST, 0)); /* it fits beside both */
    CHECK_INT(pool.bytes_kept, 5 * LEAST);
    CHECK(buffer_reserve(&pool, &large, 2 * LEAST, 0)); /* the kept one of four has to go */
    CHECK_INT(pool.bytes_kept, LEAST);
    buffer_release(&pool, &one);
    buffer_release(&pool, &large);
    buffer_pool_fini(&pool);
}
