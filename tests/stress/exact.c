/* Each thread adds copies to its log, which is small and overwritten again and again, and looks for those of all
 * threads. Whatever is found is whole. */
#include "tests/support/stress.h"

#include "engine/duplicates/exact.c"

#include <stdlib.h>

enum { STEPS = 4000, URL_LEN_MAX = 120 };

static struct {
    struct exact exact;
    _Atomic(uint64_t) step, found, missed;
} all;

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void make_digest(uint64_t n, unsigned char digest[EXACT_DIGEST_BYTES])
{
    uint64_t words[3] = {mix(3 * n + 1), mix(3 * n + 2), mix(3 * n + 3)};
    memcpy(digest, words, EXACT_DIGEST_BYTES);
}

/* Length and letters follow from the number. */
static struct slice make_url(uint64_t n, char url[URL_LEN_MAX])
{
    size_t len = mix(n) % URL_LEN_MAX;
    for (size_t i = 0; i < len; i++)
        url[i] = (char)('a' + (n + i / 8) % 26);
    return (struct slice){url, len};
}

static void begin(void *unused, unsigned threads)
{
    (void)unused;
    CHECK_INT(
        exact_init(&all.exact, &(struct exact_options){.bytes = (uint64_t)threads * EXACT_LOOP_BYTES_MIN,
                                                       .loops = threads}),
        0);
    lf_store(&all.found, 0, relaxed);
    lf_store(&all.missed, 0, relaxed);
    lf_store(&all.step, 0, relaxed);
}

static void look_for(uint64_t n, struct exact_copy *copy)
{
    unsigned char digest[EXACT_DIGEST_BYTES];
    char url[URL_LEN_MAX];
    make_digest(n, digest);
    if (!exact_find(&all.exact, digest, copy)) {
        lf_fetch_add(&all.missed, 1, relaxed);
        return;
    }
    CHECK_INT(copy->date_us, 1000 + n);
    CHECK(slice_equals((struct slice){copy->url, copy->url_len}, make_url(n, url)));
    lf_fetch_add(&all.found, 1, relaxed);
}

static void work(struct stress_worker *worker)
{
    struct exact_copy *copy = malloc(sizeof(*copy));
    for (uint64_t step = 0; step < STEPS; step++) {
        unsigned char digest[EXACT_DIGEST_BYTES];
        char url[URL_LEN_MAX];
        uint64_t n = lf_fetch_add(&all.step, 1, relaxed);
        make_digest(n, digest);
        exact_add(&all.exact, worker->index, digest, (struct exact_source){make_url(n, url), 1000 + n});
        uint64_t back = stress_random(worker, 1500 * worker->threads);
        look_for(n, copy);
        look_for(n > back ? n - back : 0, copy);
    }
    free(copy);
}

static void check(void *unused, unsigned threads)
{
    (void)unused;
    uint64_t total = (uint64_t)threads * STEPS;
    CHECK_INT(exact_added(&all.exact), total);
    CHECK(exact_overwritten(&all.exact) > 0 && exact_overwritten(&all.exact) < total);
    CHECK_INT(lf_load(&all.found, relaxed) + lf_load(&all.missed, relaxed), 2 * total);
    CHECK(lf_load(&all.found, relaxed) > total / 2);
    exact_fini(&all.exact);
}

TEST(whatever_is_found_is_whole)
{
    stress_run(&(struct stress_plan){
        .begin = begin, .work = work, .check = check, .rounds = 4, .yield_every = 300, .seed = 6});
}
