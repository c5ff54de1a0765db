#include "engine/duplicates/exact.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "tests/support/check.h"

/* A digest that differs from others in all its bytes. */
static const unsigned char *digest_of(uint64_t n)
{
    static unsigned char digest[EXACT_DIGEST_BYTES];
    uint64_t words[3];
    for (int i = 0; i < 3; i++) {
        words[i] = (n * 3 + (uint64_t)i + 1) * UINT64_C(0x9E3779B97F4A7C15);
        words[i] = (words[i] ^ words[i] >> 29) * UINT64_C(0xBF58476D1CE4E5B9);
        words[i] ^= words[i] >> 32;
    }
    memcpy(digest, words, sizeof(digest));
    return digest;
}

static struct slice url_of(uint64_t n, size_t len)
{
    static char text[URL_BYTES_MAX];
    int head = snprintf(text, sizeof(text), "http://example.org/%llu/", (unsigned long long)n);
    memset(text + head, 'a' + (int)(n % 26), sizeof(text) - (size_t)head);
    return (struct slice){text, len < (size_t)head ? (size_t)head : len};
}

static void check_copy(struct exact *exact, uint64_t n, size_t len)
{
    static struct exact_copy copy;
    struct slice url = url_of(n, len);
    CHECK(exact_find(exact, digest_of(n), &copy));
    CHECK_INT(copy.date_us, 1000 + n);
    CHECK(slice_equals((struct slice){copy.url, copy.url_len}, url));
}

static void add(struct exact *exact, unsigned loop, uint64_t n, size_t len)
{
    exact_add(exact, loop, digest_of(n), (struct exact_source){url_of(n, len), 1000 + n});
}

TEST(a_copy_is_found_as_it_was_added)
{
    struct exact exact;
    static struct exact_copy copy;
    CHECK_INT(exact_init(&exact, &(struct exact_options){.bytes = 1u << 22, .loops = 3}), 0);
    CHECK(!exact_find(&exact, digest_of(0), &copy));
    for (uint64_t n = 0; n < 2000; n++)
        add(&exact, (unsigned)(n % 3), n, n % 300);
    for (uint64_t n = 0; n < 2000; n++)
        check_copy(&exact, n, n % 300);
    for (uint64_t n = 2000; n < 4000; n++)
        CHECK(!exact_find(&exact, digest_of(n), &copy));
    CHECK_INT(exact_added(&exact), 2000);
    CHECK_INT(exact_overwritten(&exact), 0);
    CHECK_INT(exact_displaced(&exact), 0);
    exact_fini(&exact);
}

/* A digest is compared as a whole: each changed bit is another payload. */
TEST(no_digest_is_taken_for_another)
{
    struct exact exact;
    static struct exact_copy copy;
    unsigned char other[EXACT_DIGEST_BYTES];
    CHECK_INT(exact_init(&exact, &(struct exact_options){.bytes = EXACT_LOOP_BYTES_MIN, .loops = 1}), 0);
    add(&exact, 0, 7, 50);
    for (unsigned bit = 0; bit < 8 * EXACT_DIGEST_BYTES; bit++) {
        memcpy(other, digest_of(7), sizeof(other));
        other[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK(!exact_find(&exact, other, &copy));
    }
    check_copy(&exact, 7, 50);
    exact_fini(&exact);
}

TEST(urls_of_every_length)
{
    struct exact exact;
    CHECK_INT(exact_init(&exact, &(struct exact_options){.bytes = 1u << 20, .loops = 1}), 0);
    for (size_t len = 21; len <= URL_BYTES_MAX; len += len < 100 ? 1 : 511) {
        add(&exact, 0, len, len);
        check_copy(&exact, len, len);
    }
    add(&exact, 0, 1, URL_BYTES_MAX);
    check_copy(&exact, 1, URL_BYTES_MAX);
    exact_add(&exact, 0, digest_of(2), (struct exact_source){{"", 0}, 3});
    static struct exact_copy copy;
    CHECK(exact_find(&exact, digest_of(2), &copy));
    CHECK_INT(copy.url_len, 0);
    exact_fini(&exact);
}

/* When a log is full its oldest copies go, in order; all others are found. What is counted adds up. */
TEST(a_full_log_forgets_its_oldest_copies)
{
    struct exact exact;
    static struct exact_copy copy;
    CHECK_INT(exact_init(&exact, &(struct exact_options){.bytes = 2 * EXACT_LOOP_BYTES_MIN, .loops = 2}), 0);
    for (uint64_t n = 0; n < 20000; n++) {
        add(&exact, (unsigned)(n % 2), n, 30 + n % 170);
        check_copy(&exact, n, 30 + n % 170);
        if (n % 1000 != 999)
            continue;
        uint64_t found[2] = {0}, oldest[2] = {n, n};
        for (uint64_t i = n + 1; i-- > 0;)
            if (exact_find(&exact, digest_of(i), &copy)) {
                check_copy(&exact, i, 30 + i % 170);
                found[i % 2]++;
                oldest[i % 2] = i;
            }
        uint64_t both = found[0] + found[1];
        CHECK_INT(exact_added(&exact), n + 1);
        /* A displaced copy is overwritten later, so that both counts have it. */
        CHECK(both + exact_overwritten(&exact) + exact_displaced(&exact) >= n + 1);
        CHECK(both + exact_overwritten(&exact) <= n + 1);
        for (unsigned loop = 0; loop < 2; loop++)
            CHECK((n - oldest[loop]) / 2 <= found[loop] + exact_displaced(&exact));
        CHECK(n < 2000 || both > 1000);
    }
    CHECK(exact_overwritten(&exact) > 15000);
    exact_fini(&exact);
}

TEST(memory_that_is_not_there_is_an_error)
{
    struct exact exact;
    struct rlimit before, little = {.rlim_cur = 1u << 20};
    CHECK_INT(getrlimit(RLIMIT_AS, &before), 0);
    little.rlim_max = before.rlim_max;
    CHECK_INT(setrlimit(RLIMIT_AS, &little), 0);
    int error = exact_init(&exact, &(struct exact_options){.bytes = UINT64_C(1) << 36, .loops = 1});
    CHECK_INT(setrlimit(RLIMIT_AS, &before), 0);
    CHECK_INT(error, -ENOMEM);
}
