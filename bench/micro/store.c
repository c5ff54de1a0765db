/* bench_store: what storing a page costs the loop, and how long it becomes.
 *
 *     bench_store [--corpora DIR] [--page BYTES] [--rounds N] [--only NAME]
 *
 * Pages are pieces of real ones (../shared/corpora/html), and beside them websim's, whole. A row stores all of them: both
 * digests, the headers of two records, and their compression; what the housekeeper does with the blocks is not counted.
 * Rows take turns, so that a noisy moment hits all of them; the figure is the least of all rounds, by processor time of the
 * thread. */
#include <dirent.h>
#include <getopt.h>
#include <isa-l.h>
#include <libdeflate.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zstd.h>

#include "engine/store/store.h"
#include "lockfree/clock.h"
#include "micro/pages.h"

enum { PAGES_MAX = PAGES_OF_WEBSIM, HEAD_BYTES_MAX = 256, REQUEST_BYTES = 512, PAGE_BYTES_MAX = 1 << 18 };

struct page {
    char *memory;
    struct store_page page;
    char url[128], request[REQUEST_BYTES];
};

enum { REAL, WEBSIM, KINDS };

struct pages {
    const char *name;
    struct page all[PAGES_MAX];
    unsigned count;
    size_t bytes, longest;
};

static struct pages kinds[KINDS] = {{.name = "pieces of real pages"}, {.name = "websim's pages"}};
static size_t page_bytes = 10240;
static const char *corpora = "../shared/corpora", *only;
static unsigned rounds = 9;

struct row {
    const char *name;
    enum tuning_compress compress;
    unsigned level;
    bool block_digest, dictionary;
    /* a library on its own: compresses the plain records as they are; NULL: the store */
    size_t (*peer)(struct slice record, char *out, size_t room);
    struct {
        double least_us, bytes;
    } of[KINDS];
};

static uint64_t cpu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

static void add_page(struct pages *pages, const char *name, struct slice text)
{
    struct page *it = &pages->all[pages->count];
    const unsigned number = pages->count;
    const size_t len = text.len;
    if (number == PAGES_MAX)
        return;
    pages->bytes += len;
    pages->longest = len > pages->longest ? len : pages->longest;
    it->memory = malloc(STORE_HEADROOM + HEAD_BYTES_MAX + len + STORE_TAILROOM);
    char *response = it->memory + STORE_HEADROOM;
    int head = snprintf(response, HEAD_BYTES_MAX,
                        "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/html; charset=utf-8\r\n"
                        "Content-Length: %zu\r\nConnection: keep-alive\r\n\r\n",
                        len);
    memcpy(response + head, text.ptr, len);
    int host = (int)(number % 32);
    snprintf(it->url, sizeof it->url, "http://www.host%d.example/%.60s/%u", host, name, number);
    int request = snprintf(it->request, sizeof it->request,
                           "GET /%.60s/%u HTTP/1.1\r\nHost: www.host%d.example\r\n"
                           "User-Agent: lycosa/%s (+https://crawler.example/about)\r\n"
                           "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
                           "Accept-Encoding: gzip, deflate, br, zstd\r\n\r\n",
                           name, number, host, LYCOSA_VERSION);
    it->page = (struct store_page){.url = slice_of(it->url),
                                   .request = {it->request, (size_t)request},
                                   .response = response,
                                   .head_len = (size_t)head,
                                   .body_len = len,
                                   .address = SLICE("127.0.0.1"),
                                   .date_us = clock_wall_us()};
    pages->count++;
}

static void add_websim(void *context, const char *html, size_t len)
{
    if (len <= PAGE_BYTES_MAX)
        add_page(context, "websim", (struct slice){html, len});
}

static void load_real(void)
{
    char path[1024];
    struct dirent **entries;
    snprintf(path, sizeof path, "%s/html", corpora);
    int count = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/html/%s", corpora, entries[i]->d_name);
        FILE *file = entries[i]->d_name[0] == '.' ? NULL : fopen(path, "rb");
        char *text = malloc(page_bytes);
        while (file && fread(text, 1, page_bytes, file) == page_bytes)
            add_page(&kinds[REAL], entries[i]->d_name, (struct slice){text, page_bytes});
        if (file)
            fclose(file);
        free(text);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (kinds[REAL].count == 0)
        fprintf(stderr, "bench_store: no real pages below %s/html: websim's alone\n", corpora);
}

/* In the housekeeper's place; nothing is written. */
static void drain(struct store *store)
{
    for (struct outlet_block *block; (block = outlet_next(&store->outlet));)
        outlet_done(&store->outlet, block);
}

/* As engine/crawl/visit_store.c does it. */
static void store_one(struct store *store, const struct store_page *from)
{
    unsigned char block[FINGERPRINT_SHA1_BYTES], payload[FINGERPRINT_SHA1_BYTES];
    struct store_page page = *from;
    struct slice head = {page.response, page.head_len}, body = {page.response + page.head_len, page.body_len};
    page.payload_digest = payload;
    if (store->tuning->fixed.store.block_digest) {
        store_hide_chunks(page.response, page.head_len);
        fingerprint_sha1_pair(head, body, block, payload);
        page.block_digest = block;
    } else {
        struct fingerprint_sha1 sha1;
        fingerprint_sha1_init(&sha1);
        fingerprint_sha1_push(&sha1, body);
        fingerprint_sha1_finish(&sha1, payload);
    }
    if (!store_add(store, &page))
        abort();
}

static void take_figure(struct row *row, int kind, uint64_t ns, uint64_t bytes)
{
    double us = (double)ns / 1000 / kinds[kind].count;
    if (!row)
        return;
    row->of[kind].least_us = row->of[kind].least_us == 0 || us < row->of[kind].least_us ? us : row->of[kind].least_us;
    row->of[kind].bytes = (double)bytes / kinds[kind].count;
}

/* All pages of a kind; `row` is NULL if it is for nothing. */
static void pass(struct store *store, struct row *row, int kind)
{
    uint64_t ns = 0, before_bytes = lf_load(&store->outlet.appended, relaxed);
    const struct pages *pages = &kinds[kind];
    for (unsigned i = 0; i < pages->count; i++) {
        uint64_t before = cpu_now_ns();
        for (unsigned end = i + 16 < pages->count ? i + 16 : pages->count; i < end; i++)
            store_one(store, &pages->all[i].page);
        ns += cpu_now_ns() - before;
        i--;
        drain(store);
    }
    take_figure(row, kind, ns, lf_load(&store->outlet.appended, relaxed) - before_bytes);
}

static void train(struct store *store, int kind)
{
    while (!dictionary_ready(&store->dictionary)) {
        pass(store, NULL, kind);
        store_serve(store);
    }
    pass(store, NULL, kind); /* begins the file with it */
}

static void run_store(struct row *row, int kind)
{
    static struct tuning tuning;
    static struct files files;
    static struct store store;
    tuning_init(&tuning);
    tuning.fixed.net.body_bytes_max = kinds[kind].longest;
    tuning.fixed.store.buffer_bytes = 1 << 20; /* little, so that all of it is in use after the first pass */
    tuning.fixed.store.compress = row->compress;
    tuning.fixed.store.level = row->level;
    tuning.fixed.store.block_digest = row->block_digest;
    tuning.fixed.store.dictionary = row->dictionary;
    files_init(&files, &disk_system, "/nonexistent");
    if (store_init(&store, &tuning, &files, 0) != 0)
        abort();
    if (row->dictionary)
        train(&store, kind);
    pass(&store, NULL, kind); /* caches, codes */
    pass(&store, row, kind);
    store_fini(&store);
}

/* Response and request as plain text, about as long as the store makes them. */
static void run_peer(struct row *row, int kind)
{
    static char out[1 << 20];
    size_t bytes = 0;
    uint64_t before = cpu_now_ns();
    for (unsigned i = 0; i < kinds[kind].count; i++) {
        const struct page *it = &kinds[kind].all[i];
        const struct store_page *page = &it->page;
        bytes += row->peer((struct slice){page->response - 600, 600 + page->head_len + page->body_len}, out,
                           sizeof out);
        bytes += row->peer((struct slice){it->url, 600}, out, sizeof out);
    }
    take_figure(row, kind, cpu_now_ns() - before, bytes);
}

static size_t deflate_by_igzip(struct slice record, char *out, size_t room, uint32_t level)
{
    static struct isal_zstream igzip;
    static uint8_t level_buf[ISAL_DEF_LVL1_DEFAULT];
    isal_deflate_stateless_init(&igzip);
    igzip.level = level;
    igzip.level_buf = level ? level_buf : NULL;
    igzip.level_buf_size = level ? sizeof level_buf : 0;
    igzip.gzip_flag = IGZIP_GZIP;
    igzip.end_of_stream = 1;
    igzip.next_in = (uint8_t *)(uintptr_t)record.ptr;
    igzip.avail_in = (uint32_t)record.len;
    igzip.next_out = (uint8_t *)out;
    igzip.avail_out = (uint32_t)room;
    isal_deflate_stateless(&igzip);
    return igzip.total_out;
}

static size_t peer_igzip(struct slice record, char *out, size_t room)
{
    return deflate_by_igzip(record, out, room, 1);
}

static size_t peer_igzip_0(struct slice record, char *out, size_t room)
{
    return deflate_by_igzip(record, out, room, 0);
}

static size_t peer_libdeflate(struct slice record, char *out, size_t room)
{
    static struct libdeflate_compressor *compressor;
    if (!compressor)
        compressor = libdeflate_alloc_compressor(1);
    return libdeflate_gzip_compress(compressor, record.ptr, record.len, out, room);
}

static size_t compress_by_zstd(struct slice record, char *out, size_t room, int level)
{
    static ZSTD_CCtx *context;
    if (!context)
        context = ZSTD_createCCtx();
    return ZSTD_compressCCtx(context, out, room, record.ptr, record.len, level);
}

static size_t peer_zstd(struct slice record, char *out, size_t room)
{
    return compress_by_zstd(record, out, room, 1);
}

static size_t peer_zstd_fast(struct slice record, char *out, size_t room)
{
    return compress_by_zstd(record, out, room, -1);
}

static size_t peer_zstd_faster(struct slice record, char *out, size_t room)
{
    return compress_by_zstd(record, out, room, -5);
}

static size_t peer_copy(struct slice record, char *out, size_t room)
{
    (void)room;
    memcpy(out, record.ptr, record.len);
    return record.len;
}

static struct row rows[] = {
    {.name = "plain", .compress = TUNING_COMPRESS_NONE, .level = 1, .block_digest = true},
    {.name = "plain, no block digest", .compress = TUNING_COMPRESS_NONE, .level = 1},
    {.name = "gzip 1", .compress = TUNING_COMPRESS_GZIP, .level = 1, .block_digest = true},
    {.name = "gzip 1, no block digest", .compress = TUNING_COMPRESS_GZIP, .level = 1},
    {.name = "gzip 6", .compress = TUNING_COMPRESS_GZIP, .level = 6, .block_digest = true},
    {.name = "gzip 6, no block digest", .compress = TUNING_COMPRESS_GZIP, .level = 6},
    {.name = "zstd 1", .compress = TUNING_COMPRESS_ZSTD, .level = 1, .block_digest = true},
    {.name = "zstd 1, no block digest", .compress = TUNING_COMPRESS_ZSTD, .level = 1},
    {.name = "zstd 1, dictionary",
     .compress = TUNING_COMPRESS_ZSTD,
     .level = 1,
     .block_digest = true,
     .dictionary = true},
    {.name = "zstd 3", .compress = TUNING_COMPRESS_ZSTD, .level = 3, .block_digest = true},
    {.name = "zstd 3, no block digest", .compress = TUNING_COMPRESS_ZSTD, .level = 3},
    {.name = "zstd 3, dictionary",
     .compress = TUNING_COMPRESS_ZSTD,
     .level = 3,
     .block_digest = true,
     .dictionary = true},
    {.name = "igzip 1 alone (peer)", .peer = peer_igzip},
    {.name = "igzip 0 alone (peer)", .peer = peer_igzip_0},
    {.name = "libdeflate 1 alone (peer)", .peer = peer_libdeflate},
    {.name = "zstd 1 alone (peer)", .peer = peer_zstd},
    {.name = "zstd -1 alone (peer)", .peer = peer_zstd_fast},
    {.name = "zstd -5 alone (peer)", .peer = peer_zstd_faster},
    {.name = "a copy (baseline)", .peer = peer_copy},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static bool read_options(int count, char **arguments)
{
    static const struct option options[] = {{"corpora", required_argument, NULL, 'c'},
                                            {"page", required_argument, NULL, 'p'},
                                            {"rounds", required_argument, NULL, 'r'},
                                            {"only", required_argument, NULL, 'o'},
                                            {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(count, arguments, "", options, NULL)) != -1;)
        switch (option) {
        case 'c':
            corpora = optarg;
            break;
        case 'p':
            page_bytes = strtoul(optarg, NULL, 10);
            break;
        case 'r':
            rounds = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'o':
            only = optarg;
            break;
        default:
            return false;
        }
    return page_bytes >= 64 && page_bytes <= PAGE_BYTES_MAX && rounds > 0;
}

static void run_rows(void)
{
    for (int i = 0; i < ROWS; i++)
        for (int kind = 0; kind < KINDS; kind++)
            if (kinds[kind].count && (!only || strstr(rows[i].name, only)))
                (rows[i].peer ? run_peer : run_store)(&rows[i], kind);
}

static void print_rows(void)
{
    printf("%s, least of %u rounds\n", BENCH_FLAGS, rounds);
    for (int kind = 0; kind < KINDS; kind++)
        if (kinds[kind].count)
            printf("%s: %u of %zu bytes, mean\n", kinds[kind].name, kinds[kind].count, kinds[kind].bytes / kinds[kind].count);
    printf("\n%-28s", "");
    for (int kind = 0; kind < KINDS; kind++)
        printf(" %24s", kinds[kind].name);
    printf("\n%-28s %11s %12s %11s %12s\n", "", "us/page", "bytes/page", "us/page", "bytes/page");
    for (int i = 0; i < ROWS; i++) {
        if (only && !strstr(rows[i].name, only))
            continue;
        printf("%-28s", rows[i].name);
        for (int kind = 0; kind < KINDS; kind++)
            printf(" %11.2f %12.0f", rows[i].of[kind].least_us, rows[i].of[kind].bytes);
        printf("\n");
    }
}

int main(int count, char **arguments)
{
    if (!read_options(count, arguments)) {
        fprintf(stderr,
                "usage: bench_store [--corpora DIR] [--page 64..262144] [--rounds N] [--only NAME]\n");
        return 2;
    }
    load_real();
    pages_each_of_websim(add_websim, &kinds[WEBSIM]);
    for (unsigned round = 0; round < rounds; round++)
        run_rows();
    print_rows();
    for (int kind = 0; kind < KINDS; kind++)
        for (unsigned i = 0; i < kinds[kind].count; i++)
            free(kinds[kind].all[i].memory);
    return 0;
}
