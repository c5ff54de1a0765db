#include "engine/sieve/sieve_sort.h"

#include <stdlib.h>

#include "tests/support/check.h"

static uint64_t state;

static uint64_t random_word(void)
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* As qsort does it. */
static void check_sorted(const uint64_t *signatures, size_t count)
{
    uint64_t *expected = malloc((count + 1) * sizeof *expected), *words = malloc((count + 1) * sizeof *words);
    for (size_t i = 0; i < count; i++)
        expected[i] = words[i] = signatures[i];
    words[count] = 77; /* behind the end: it stays as it is */
    qsort(expected, count, sizeof *expected, compare);
    sieve_sort(words, count);
    for (size_t i = 0; i < count; i++)
        CHECK(words[i] == expected[i]);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || expected[i] != expected[i - 1])
            expected[kept++] = expected[i];
    CHECK_INT(sieve_sort_unique(words, count), kept);
    for (size_t i = 0; i < kept; i++)
        CHECK(words[i] == expected[i]);
    CHECK(count == 0 || words[count] == 77);
    free(expected);
    free(words);
}

TEST(hashes_of_all_counts)
{
    static const size_t counts[] = {0, 1, 2, 3, 31, 32, 33, 100, 1000, 4095, 4096, 4097, 50000, 300000};
    uint64_t *signatures = malloc(300000 * sizeof *signatures);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (size_t j = 0; j < counts[i]; j++)
            signatures[j] = random_word();
        check_sorted(signatures, counts[i]);
    }
    free(signatures);
}

TEST(many_duplicates)
{
    enum { COUNT = 200000 };
    uint64_t *signatures = malloc(COUNT * sizeof *signatures);
    for (unsigned distinct = 1; distinct < 100000; distinct *= 10) {
        for (size_t i = 0; i < COUNT; i++) {
            state = random_word() % distinct;
            signatures[i] = random_word();
            state += i;
        }
        check_sorted(signatures, COUNT);
    }
    /* one that is everywhere, among others */
    for (size_t i = 0; i < COUNT; i++)
        signatures[i] = i % 3 ? UINT64_C(0x123456789abcdef0) : random_word();
    check_sorted(signatures, COUNT);
    free(signatures);
}

/* What a good hash does not give: all in one bin, in order, in reverse, at both ends. */
TEST(signatures_that_are_no_hashes)
{
    enum { COUNT = 100000 };
    uint64_t *signatures = malloc(COUNT * sizeof *signatures);
    for (size_t i = 0; i < COUNT; i++)
        signatures[i] = i;
    check_sorted(signatures, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        signatures[i] = COUNT - i;
    check_sorted(signatures, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        signatures[i] = i % 2 ? UINT64_MAX - i % 7 : i % 5;
    check_sorted(signatures, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        signatures[i] = random_word() >> 30;
    check_sorted(signatures, COUNT);
    free(signatures);
}
