/* Records go in until there are enough, the training is on a thread of its own, and its result is good for something. */
#include "engine/store/dictionary.h"

#include <sched.h>
#include <stdlib.h>
#include <zstd.h>

#include "engine/store/limits.h"
#include "tests/support/check.h"

static uint64_t random_state = 88172645463325252;

static uint64_t draw(void)
{
    random_state ^= random_state << 13, random_state ^= random_state >> 7, random_state ^= random_state << 17;
    return random_state >> 16;
}

/* A page of a site: the same frame around other words. */
static struct slice make_record(void)
{
    static char text[8192];
    int len = snprintf(
        text, sizeof text,
        "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%016llx>\r\n\r\n"
        "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
        "<!doctype html><html lang=it><head><title>%llu</title></head><body><nav><a href=\"/\">home</a>",
        (unsigned long long)draw(), (unsigned long long)draw());
    for (int i = 0; i < 40; i++)
        len += snprintf(text + len, sizeof text - (size_t)len,
                        "<li class=\"entry\"><a href=\"/item/%llu\">item</a></li>",
                        (unsigned long long)draw() % 100000);
    return (struct slice){text, (size_t)len};
}

static void gather(struct dictionary *dictionary)
{
    while (lf_load(&dictionary->stage, relaxed) == DICTIONARY_GATHERS)
        dictionary_add(dictionary, make_record());
    CHECK_INT(lf_load(&dictionary->stage, relaxed), DICTIONARY_GATHERED);
    CHECK(dictionary->used <= DICTIONARY_SAMPLES_BYTES && dictionary->count <= DICTIONARY_SAMPLES_MAX);
}

static void wait_for(struct dictionary *dictionary)
{
    while (lf_load(&dictionary->stage, relaxed) == DICTIONARY_TRAINS)
        sched_yield();
}

static size_t pack(ZSTD_CCtx *zstd, struct slice record, char *out)
{
    size_t len = ZSTD_compress2(zstd, out, 1 << 14, record.ptr, record.len);
    CHECK(!ZSTD_isError(len));
    return len;
}

TEST(records_become_a_dictionary_that_pays)
{
    struct dictionary dictionary;
    static char out[1 << 14], back[1 << 14];
    CHECK(dictionary_init(&dictionary, 1));
    dictionary_serve(&dictionary); /* too early: nothing happens */
    CHECK_INT(lf_load(&dictionary.stage, relaxed), DICTIONARY_GATHERS);
    gather(&dictionary);
    CHECK(!dictionary_ready(&dictionary));
    size_t used = dictionary.used;
    dictionary_add(&dictionary, make_record()); /* not the loop's any more */
    CHECK_INT(dictionary.used, used);
    dictionary_serve(&dictionary);
    dictionary_serve(&dictionary); /* one thread is enough */
    wait_for(&dictionary);
    CHECK(dictionary_ready(&dictionary));
    CHECK(dictionary.bytes <= DICTIONARY_BYTES && !dictionary.samples);
    unsigned id = ZSTD_getDictID_fromDict(dictionary.text, dictionary.bytes);
    CHECK(id >= 32768 && id <= INT32_MAX); /* the range for private use */

    ZSTD_CCtx *plain = ZSTD_createCCtx(), *learned = ZSTD_createCCtx();
    ZSTD_DCtx *unpack = ZSTD_createDCtx();
    ZSTD_CCtx_refCDict(learned, dictionary.digested);
    struct slice record = make_record();
    size_t before = pack(plain, record, out), after = pack(learned, record, out);
    CHECK(after < before * 3 / 4);
    CHECK_INT(
        ZSTD_decompress_usingDict(unpack, back, sizeof back, out, after, dictionary.text, dictionary.bytes),
        record.len);
    CHECK(memcmp(back, record.ptr, record.len) == 0);
    ZSTD_freeCCtx(plain);
    ZSTD_freeCCtx(learned);
    ZSTD_freeDCtx(unpack);
    dictionary_fini(&dictionary);
    dictionary_fini(&dictionary); /* again */
}

TEST(of_long_records_the_start_is_taken)
{
    struct dictionary dictionary;
    char *record = calloc(1, 1 << 20);
    CHECK(dictionary_init(&dictionary, 1));
    dictionary_add(&dictionary, (struct slice){record, 1 << 20});
    CHECK_INT(dictionary.used, DICTIONARY_SAMPLE_BYTES);
    dictionary_fini(&dictionary);
    free(record);
}

TEST(a_crawl_may_end_at_any_stage)
{
    struct dictionary dictionary = {0};
    dictionary_add(&dictionary, SLICE("none is wanted"));
    dictionary_serve(&dictionary);
    CHECK(!dictionary_ready(&dictionary));
    dictionary_fini(&dictionary);
    CHECK(dictionary_init(&dictionary, 1));
    dictionary_add(&dictionary, make_record());
    dictionary_fini(&dictionary); /* while it gathers */
    CHECK(dictionary_init(&dictionary, 1));
    gather(&dictionary);
    dictionary_fini(&dictionary); /* before the housekeeper has seen it */
    CHECK(dictionary_init(&dictionary, 1));
    gather(&dictionary);
    dictionary_serve(&dictionary);
    dictionary_fini(&dictionary); /* while it trains */
}
