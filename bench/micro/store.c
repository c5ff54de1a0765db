/* bench_store: what storing a page costs the loop, and how long it becomes.
 *
 *     bench_store [--corpora DIR] [--page BYTES] [--rounds N] [--only NAME]
 *
 * Pages are pieces of real ones (../shared/corpora/html). A row stores all of them: both digests, the headers of two
 * records, and their compression; what the housekeeper does with the blocks is not counted. Rows take turns, so that a
 * noisy moment hits all of them; the figure is the least of all rounds, by processor time of the thread. */
#include <dirent.h>
#include <getopt.h>
#include <isa-l.h>
#include <libdeflate.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/store/store.h"
#include "lockfree/clock.h"

enum { PAGES_MAX = 512, HEAD_BYTES_MAX = 256, REQUEST_BYTES = 512 };

struct page {
    char *memory;
    struct store_page page;
    char url[128], request[REQUEST_BYTES];
};

static struct page pages[PAGES_MAX];
static unsigned page_count;
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
    double least_us;
    double bytes;
};

static uint64_t cpu_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

static void add_page(const char *name, const char *text, size_t len)
{
    struct page *it = &pages[page_count];
    if (page_count == PAGES_MAX)
        return;
    it->memory = malloc(STORE_HEADROOM + HEAD_BYTES_MAX + len + STORE_TAILROOM);
    char *response = it->memory + STORE_HEADROOM;
    int head = snprintf(response, HEAD_BYTES_MAX,
                        "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/html; charset=utf-8\r\n"
                        "Content-Length: %zu\r\nConnection: keep-alive\r\n\r\n",
                        len);
    memcpy(response + head, text, len);
    int host = (int)(page_count % 32);
    snprintf(it->url, sizeof it->url, "http://www.host%d.example/%.60s/%u", host, name, page_count);
    int request = snprintf(it->request, sizeof it->request,
                           "GET /%.60s/%u HTTP/1.1\r\nHost: www.host%d.example\r\n"
                           "User-Agent: lycosa/%s (+https://crawler.example/about)\r\n"
                           "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
                           "Accept-Encoding: gzip, deflate, br, zstd\r\n\r\n",
                           name, page_count, host, LYCOSA_VERSION);
    it->page = (struct store_page){.url = slice_of(it->url),
                                   .request = {it->request, (size_t)request},
                                   .response = response,
                                   .head_len = (size_t)head,
                                   .body_len = len,
                                   .address = SLICE("127.0.0.1"),
                                   .date_us = clock_wall_us()};
    page_count++;
}

static bool load_pages(void)
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
            add_page(entries[i]->d_name, text, page_bytes);
        if (file)
            fclose(file);
        free(text);
        free(entries[i]);
    }
    return page_count > 0;
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

static void pass(struct store *store, struct row *row)
{
    uint64_t ns = 0, before_bytes = lf_load(&store->outlet.appended, relaxed);
    for (unsigned i = 0; i < page_count; i++) {
        uint64_t before = cpu_now_ns();
        for (unsigned end = i + 16 < page_count ? i + 16 : page_count; i < end; i++)
            store_one(store, &pages[i].page);
        ns += cpu_now_ns() - before;
        i--;
        drain(store);
    }
    double us = (double)ns / 1000 / page_count;
    row->least_us = row->least_us == 0 || us < row->least_us ? us : row->least_us;
    row->bytes = (double)(lf_load(&store->outlet.appended, relaxed) - before_bytes) / page_count;
}

static void train(struct store *store)
{
    struct row unused = {0};
    while (!dictionary_ready(&store->dictionary)) {
        pass(store, &unused);
        store_serve(store);
    }
    pass(store, &unused); /* begins the file with it */
}

static void run_store(struct row *row)
{
    static struct tuning tuning;
    static struct files files;
    static struct store store;
    struct row unused = {0};
    tuning_init(&tuning);
    tuning.fixed.net.body_bytes_max = page_bytes;
    tuning.fixed.store.buffer_bytes = 1 << 20; /* little, so that all of it is in use after the first pass */
    tuning.fixed.store.compress = row->compress;
    tuning.fixed.store.level = row->level;
    tuning.fixed.store.block_digest = row->block_digest;
    tuning.fixed.store.dictionary = row->dictionary;
    files_init(&files, &disk_system, "/nonexistent");
    if (store_init(&store, &tuning, &files, 0) != 0)
        abort();
    if (row->dictionary)
        train(&store);
    pass(&store, &unused); /* caches, codes */
    pass(&store, row);
    store_fini(&store);
}

/* Response and request as plain text, about as long as the store makes them. */
static void run_peer(struct row *row)
{
    static char out[1 << 20];
    size_t bytes = 0;
    uint64_t before = cpu_now_ns();
    for (unsigned i = 0; i < page_count; i++) {
        const struct store_page *page = &pages[i].page;
        bytes += row->peer((struct slice){page->response - 600, 600 + page->head_len + page->body_len}, out,
                           sizeof out);
        bytes += row->peer((struct slice){pages[i].url, 600}, out, sizeof out);
    }
    double us = (double)(cpu_now_ns() - before) / 1000 / page_count;
    row->least_us = row->least_us == 0 || us < row->least_us ? us : row->least_us;
    row->bytes = (double)bytes / page_count;
}

static size_t peer_igzip(struct slice record, char *out, size_t room)
{
    static struct isal_zstream igzip;
    static uint8_t level_buf[ISAL_DEF_LVL1_DEFAULT];
    isal_deflate_stateless_init(&igzip);
    igzip.level = 1;
    igzip.level_buf = level_buf;
    igzip.level_buf_size = sizeof level_buf;
    igzip.gzip_flag = IGZIP_GZIP;
    igzip.end_of_stream = 1;
    igzip.next_in = (uint8_t *)(uintptr_t)record.ptr;
    igzip.avail_in = (uint32_t)record.len;
    igzip.next_out = (uint8_t *)out;
    igzip.avail_out = (uint32_t)room;
    isal_deflate_stateless(&igzip);
    return igzip.total_out;
}

static size_t peer_libdeflate(struct slice record, char *out, size_t room)
{
    static struct libdeflate_compressor *compressor;
    if (!compressor)
        compressor = libdeflate_alloc_compressor(1);
    return libdeflate_gzip_compress(compressor, record.ptr, record.len, out, room);
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
    {.name = "libdeflate 1 alone (peer)", .peer = peer_libdeflate},
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
    return page_bytes >= 64 && page_bytes <= 1 << 18 && rounds > 0;
}

int main(int count, char **arguments)
{
    if (!read_options(count, arguments)) {
        fprintf(stderr,
                "usage: bench_store [--corpora DIR] [--page 64..262144] [--rounds N] [--only NAME]\n");
        return 2;
    }
    if (!load_pages()) {
        fprintf(stderr, "bench_store: no pages below %s/html\n", corpora);
        return 77;
    }
    for (unsigned round = 0; round < rounds; round++)
        for (int i = 0; i < ROWS; i++)
            if (!only || strstr(rows[i].name, only))
                (rows[i].peer ? run_peer : run_store)(&rows[i]);
    printf("%u pages of %zu bytes, %s, least of %u rounds\n\n", page_count, page_bytes, BENCH_FLAGS, rounds);
    printf("%-28s %10s %12s\n", "", "us/page", "bytes/page");
    for (int i = 0; i < ROWS; i++)
        if (rows[i].bytes > 0)
            printf("%-28s %10.2f %12.0f\n", rows[i].name, rows[i].least_us, rows[i].bytes);
    for (unsigned i = 0; i < page_count; i++)
        free(pages[i].memory);
    return 0;
}
