/* The frontier and the sieve alone, with more URLs than can be fetched in the time of a benchmark: URLs of
 * 60 bytes, spread over the hosts at random, are pushed in batches as a page's links are, and some are taken
 * at each size. Every host has an address of its own and rests not at all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/frontier/sieve.h"
#include "lockfree/clock.h"
#include "macro/crawl_alone.h"
#include "macro/crawl_parts.h"

enum { BATCH = 20, PAGES = 32, POPPED_PER_VISIT = 10, MEASURED = 200000 };

static const struct crawl_report_column columns[] = {
    {"push ns", "push_ns_per_url", "%.0f"},  {"move ns", "move_ns_per_url", "%.0f"},
    {"pop ns", "pop_ns_per_url", "%.0f"},    {"bytes/URL", "bytes_per_url", "%.1f"},
    {"path bytes", "path_bytes", "%.1f"},    {"sieve MB", "sieve_megabytes", "%.0f"},
    {"hosts MB", "hosts_megabytes", "%.0f"},
};

struct queue {
    struct crawl_alone alone;
    struct sieve sieve;
    struct sieve_loop sieve_loop;
    uint64_t hosts, pushed, waiting, path_bytes;
    bool is_full;
};

static bool begin(struct queue *queue, uint64_t hosts, uint64_t urls_max)
{
    struct tuning *tuning = &queue->alone.tuning;
    crawl_alone_init(&queue->alone);
    tuning->fixed.memory.hosts_max =
        2 * hosts; /* a table that is crowded looks for idle hosts, which is another matter */
    tuning->fixed.memory.frontier_bytes = urls_max * 64;
    tuning->fixed.memory.sieve_bytes = urls_max * 16;
    queue->hosts = hosts;
    if (!crawl_alone_open(&queue->alone, NULL) || sieve_init(&queue->sieve, tuning)) {
        fprintf(stderr, "bench_crawl: no memory for %llu URLs\n", (unsigned long long)urls_max);
        return false;
    }
    sieve_loop_init(&queue->sieve_loop, &queue->sieve);
    return true;
}

static void finish(struct queue *queue)
{
    sieve_loop_fini(&queue->sieve_loop);
    sieve_fini(&queue->sieve);
    crawl_alone_close(&queue->alone);
}

static void put_digits(char *end, uint64_t number, int digits)
{
    while (digits-- > 0) {
        *--end = (char)('0' + number % 10);
        number /= 10;
    }
}

/* "http://www.1234567.example/topic-NNNN/title-of-page-NNNNNNNNNN.html" and up to 15 bytes more. */
static void make_url(struct queue *queue, char text[128], struct url *url)
{
    static const char pattern[] =
        "http://www.0000000.example/topic-0000/page-0000000000.html?of=abcdefghijkl";
    uint64_t random = crawl_alone_random(&queue->alone);
    memcpy(text, pattern, sizeof pattern);
    put_digits(text + 18, random % queue->hosts, 7);
    put_digits(text + 37, random >> 50, 4);
    put_digits(text + 53, queue->pushed++, 10);
    url_open(url, (struct slice){text, sizeof pattern - 1 - (random >> 40) % 16});
}

static void push(struct queue *queue, const struct url *url)
{
    struct frontier_place place = {.url = url, .hash = frontier_hash(&queue->alone.loop, url)};
    struct slice path = url_path_query(url);
    struct host_item *item = host_item_acquire(&queue->alone.loop.urls, path);
    if (!item || !frontier_push(&queue->alone.loop, &place, item)) {
        queue->is_full = true;
        return;
    }
    queue->waiting++;
    queue->path_bytes += path.len;
}

static void push_page(struct queue *queue, const struct url *urls)
{
    uint64_t hashes[BATCH];
    enum sieve_answer answers[BATCH];
    for (int i = 0; i < BATCH; i++)
        hashes[i] = url_hash(&urls[i]);
    sieve_add(&queue->sieve_loop, hashes, BATCH, answers);
    for (int i = 0; i < BATCH; i++)
        if (answers[i] == SIEVE_NEW)
            push(queue, &urls[i]);
}

/* Pushes `count` URLs; nanoseconds for one, without the time that it takes to think of it. */
static double push_many(struct queue *queue, uint64_t count)
{
    static char text[PAGES * BATCH][128];
    static struct url urls[PAGES * BATCH];
    uint64_t spent_ns = 0, pushed = 0;
    for (; pushed < count && !queue->is_full; pushed += PAGES * BATCH) {
        for (int i = 0; i < PAGES * BATCH; i++)
            make_url(queue, text[i], &urls[i]);
        uint64_t begin_ns = clock_thread_ns();
        for (int i = 0; i < PAGES; i++)
            push_page(queue, urls + i * BATCH);
        spent_ns += clock_thread_ns() - begin_ns;
    }
    return pushed ? (double)spent_ns / (double)pushed : 0;
}

/* Visits of up to `per_visit` URLs until `count` URLs are taken; nanoseconds for all. */
static double pop_many(struct queue *queue, uint64_t count, unsigned per_visit)
{
    uint64_t begin_ns = clock_thread_ns(), taken = 0;
    while (taken < count) {
        queue->alone.now_ns += CLOCK_NS_PER_MS;
        frontier_turn(&queue->alone.loop, queue->alone.now_ns);
        struct host *host = frontier_take(&queue->alone.loop, queue->alone.now_ns);
        if (!host)
            continue;
        struct host_item *item;
        for (unsigned i = 0; i < per_visit && (item = host_pop(host, false)); i++) {
            queue->path_bytes -= item->len;
            frontier_done(&queue->alone.loop, host, item);
            taken++;
        }
        frontier_return(&queue->alone.loop, host, &(struct politeness_visit){.spent_ns = 1000}, queue->alone.now_ns);
    }
    queue->waiting -= taken;
    return (double)(clock_thread_ns() - begin_ns);
}

/* Grows the queue to each size in turn. */
static bool measure(struct crawl_report *report, uint64_t hosts, const uint64_t *sizes, unsigned count)
{
    struct queue *queue = calloc(1, sizeof *queue);
    if (!queue || !begin(queue, hosts, sizes[count - 1] + 8 * MEASURED))
        return false;
    for (unsigned i = 0; i < count && !queue->is_full; i++) {
        char name[64];
        push_many(queue, sizes[i] - queue->waiting);
        frontier_turn(&queue->alone.loop, queue->alone.now_ns); /* the hosts that the last pushes woke */
        double bytes = (double)pool_region_bytes_used(&queue->alone.frontier.urls) / (double)queue->waiting;
        double path = (double)queue->path_bytes / (double)queue->waiting;
        double push_ns = push_many(queue, MEASURED);
        /* Its first visit moves all of a host's URLs from its inbox to its bands. */
        double move_ns = pop_many(queue, hosts, 1) / (double)queue->waiting;
        double pop_ns = pop_many(queue, MEASURED, POPPED_PER_VISIT) / MEASURED;
        snprintf(name, sizeof name, "%llu hosts, %llu URLs wait", (unsigned long long)hosts,
                 (unsigned long long)sizes[i]);
        crawl_report_add(report, name,
                         (const double[]){push_ns, move_ns, pop_ns, bytes, path,
                                          (double)queue->alone.tuning.fixed.memory.sieve_bytes / 1e6,
                                          (double)(sizeof(struct host) * hosts) / 1e6});
    }
    bool good = !queue->is_full;
    if (!good)
        fprintf(stderr, "bench_crawl: the frontier is full at %llu URLs\n",
                (unsigned long long)queue->waiting);
    finish(queue);
    free(queue);
    return good;
}

bool crawl_queue(const struct crawl_settings *settings, struct crawl_report *report)
{
    static const uint64_t sizes[] = {2000000, 10000000, 50000000};
    const unsigned count = settings->is_quick ? 1 : 3;
    report->title = "URLs that wait: sieve and frontier alone, one loop";
    report->columns = columns;
    report->column_count = sizeof columns / sizeof columns[0];
    bool good = true;
    for (unsigned i = 0; i < settings->repeats && good; i++)
        good = measure(report, 1000, sizes, count) && measure(report, 1000000, sizes, count);
    return good;
}
