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
