/* Hosts with more URLs than their share of the memory, in the frontier alone. One thread plays loop and housekeeper by
 * turns, and the processor time of each is measured apart.
 *
 * The first table: URLs of 1,000 hosts at random, as many as memory could never hold, within memory.frontier = 256 MiB. Then all
 * of them are taken, and each host's must come in the order in which they were pushed. Beside it the same with
 * memory for all of them.
 *
 * The second: 10,000 hosts that are visited as often as their rests allow, by a clock of the benchmark's own, while one
 * host gets millions of URLs that it cannot be rid of. What the others are asked for must not become less.
 *
 * The third, whole crawls with seeds of more hosts than memory holds, is crawl_seeds.c. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "macro/crawl_alone.h"
#include "macro/crawl_parts.h"
#include "macro/crawl_seeds.h"

enum { PUSHES = 4096, POPPED_PER_VISIT = 10, HOSTS = 1000, SMALL_HOSTS = 10000, SMALL_URLS = 5 };
#define BUDGET ((uint64_t)256 << 20)
/* What the file takes for a URL, more or less; the rows say how much it was. */
enum { DISK_BYTES_PER_URL = 66 };
/* Rows with so many URLs take minutes: they say what they need, and how far they are. */
enum { LONG_URLS = 100000000, PROGRESS_TIMES = 20 };

static const struct crawl_report_column columns[] = {
    {"push ns", "push_loop_ns", "%.0f"},    {"write ns", "push_housekeeper_ns", "%.0f"},
    {"pop ns", "pop_loop_ns", "%.0f"},      {"read ns", "pop_housekeeper_ns", "%.0f"},
    {"on disk", "share_on_disk", "%.4f"},   {"RSS MB", "rss_megabytes", "%.1f"},
    {"grown", "rss_by_first_size", "%.3f"}, {"file MB", "file_megabytes", "%.0f"},
};

static const struct crawl_report_column whale_columns[] = {
    {"pages", "pages_of_others", "%.0f"},
    {"of alone", "pages_by_those_alone", "%.4f"},
    {"lost", "urls_of_others_without_memory", "%.0f"},
    {"whale", "urls_of_the_whale", "%.0f"},
};

struct disk_bench {
    struct crawl_alone alone;
    char directory[CRAWL_WEB_DIRECTORY_BYTES], path[CRAWL_WEB_PATH_BYTES];
    bool on_disk, is_full;
    uint64_t pushed, popped;
    uint64_t expected; /* URLs, of a long row; 0: it tells no progress */
    uint64_t told;     /* times */
    uint64_t last[SMALL_HOSTS + 1]; /* by host: the number of the URL taken last */
    uint32_t left[SMALL_HOSTS + 1]; /* URLs that wait */
    double push_ns, write_ns, pop_ns, read_ns;
};

/* Processor time: neighbours on a busy machine do not count. */
static double cpu_ns(void)
{
    return (double)clock_thread_ns();
}

static double rss_megabytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * 4096 / 1e6;
}

static struct disk_bench *begin(uint64_t frontier_bytes, bool on_disk)
{
    struct disk_bench *bench = aligned_alloc(128, (sizeof *bench + 127) / 128 * 128);
    if (!bench)
        return NULL;
    memset(bench, 0, sizeof *bench);
    struct tuning *tuning = &bench->alone.tuning;
    crawl_alone_init(&bench->alone);
    tuning->fixed.memory.hosts_max = 2 * SMALL_HOSTS;
    tuning->fixed.memory.frontier_bytes = frontier_bytes;
    tuning->fixed.state.spill = on_disk;
    bench->on_disk = on_disk;
    if (!crawl_web_make_directory("bench_disk", bench->directory))
        return NULL;
    snprintf(bench->path, sizeof bench->path, "%s/slots", bench->directory);
    if (!crawl_alone_open(&bench->alone, on_disk ? bench->path : NULL)) {
        fprintf(stderr, "bench_crawl: no memory for the frontier, or no file %s\n", bench->path);
        return NULL;
    }
    return bench;
}

static void finish(struct disk_bench *bench)
{
    crawl_alone_close(&bench->alone);
    rmdir(bench->directory);
    free(bench);
}

struct candidate {
    uint32_t host;
    char text[128];
    struct url url;
};

/* "http://www.0001234.example/topic-NNNN/page-NNNNNNNNNN.html" and up to 15 bytes more: the number is the URL's own. */
static void make_url(struct disk_bench *bench, struct candidate *made, uint32_t host)
{
    uint64_t random = crawl_alone_random(&bench->alone);
    int len = snprintf(made->text, sizeof made->text,
                       "http://www.%07u.example/topic-%04u/page-%010llu.html?of=abcdefghijkl", host,
                       (unsigned)(random >> 52), (unsigned long long)++bench->pushed);
    made->host = host;
    url_open(&made->url, (struct slice){made->text, (size_t)len - (random >> 40) % 16});
}

static bool push(struct disk_bench *bench, const struct candidate *made)
{
    struct frontier_place place = {.url = &made->url, .hash = frontier_hash(&bench->alone.loop, &made->url)};
    struct host_item *item = host_item_acquire(&bench->alone.loop.urls, url_path_query(&made->url));
    bool good = item && frontier_push(&bench->alone.loop, &place, item);
    if (item && !good)
        host_item_release(&bench->alone.loop.urls, item);
    bench->left[made->host] += good;
    return good;
}

static bool push_one(struct disk_bench *bench, uint32_t host)
{
    struct candidate made;
    make_url(bench, &made, host);
    return push(bench, &made);
}

/* A turn of the loop and one of the housekeeper. */
static void turn(struct disk_bench *bench, double *loop_ns, double *housekeeper_ns)
{
    bench->alone.now_ns += CLOCK_NS_PER_MS;
    double begin_ns = cpu_ns();
    frontier_turn(&bench->alone.loop, bench->alone.now_ns);
    double end_ns = cpu_ns();
    *loop_ns += end_ns - begin_ns;
    if (bench->on_disk && slots_serve(&bench->alone.frontier.slots) < 0)
        bench->is_full = true;
    *housekeeper_ns += cpu_ns() - end_ns;
}

/* A visit. False if a URL was not the next of its host. */
static bool visit(struct disk_bench *bench, struct host *host)
{
    bool good = true;
    struct host_item *item;
    unsigned number = (unsigned)strtoul(host->key + 11, NULL, 10);
    for (int i = 0; i < POPPED_PER_VISIT && (item = host_pop(host, false)); i++) {
        uint64_t url = strtoull(item->path + 17, NULL, 10);
        good = good && url > bench->last[number];
        bench->last[number] = url;
        bench->left[number]--;
        bench->popped++;
        frontier_done(&bench->alone.loop, host, item);
    }
    frontier_return(&bench->alone.loop, host, &(struct politeness_visit){.spent_ns = 1000}, bench->alone.now_ns);
    return good;
}

static void tell_progress(struct disk_bench *bench)
{
    if (!bench->expected || (bench->pushed + bench->popped) * PROGRESS_TIMES / (2 * bench->expected) <= bench->told)
        return;
    bench->told++;
    fprintf(stderr, "bench_crawl: disk: %llu of %llu million URLs pushed, %llu million taken\n",
            (unsigned long long)bench->pushed / 1000000, (unsigned long long)bench->expected / 1000000,
            (unsigned long long)bench->popped / 1000000);
}

/* Whole turns. The time that it takes to think of URLs is not counted. */
static bool push_many(struct disk_bench *bench, uint64_t count)
{
    static struct candidate made[PUSHES];
    bench->push_ns = bench->write_ns = 0;
    for (uint64_t done = 0; done < count && !bench->is_full; done += PUSHES) {
        for (int i = 0; i < PUSHES; i++)
            make_url(bench, &made[i], (uint32_t)(crawl_alone_random(&bench->alone) % HOSTS));
        double begin_ns = cpu_ns();
        for (int i = 0; i < PUSHES; i++)
            bench->is_full |= !push(bench, &made[i]);
        bench->push_ns += cpu_ns() - begin_ns;
        turn(bench, &bench->push_ns, &bench->write_ns);
        tell_progress(bench);
    }
    return !bench->is_full;
}

/* Takes so many; false if one came out of order. */
static bool pop_many(struct disk_bench *bench, uint64_t count)
{
    uint64_t until = bench->popped + count;
    bool good = true;
    bench->pop_ns = bench->read_ns = 0;
    while (bench->popped < until && good && !bench->is_full) {
        turn(bench, &bench->pop_ns, &bench->read_ns);
        tell_progress(bench);
        double begin_ns = cpu_ns();
        struct host *host;
        while (bench->popped < until && good && (host = frontier_take(&bench->alone.loop, bench->alone.now_ns)))
            good = visit(bench, host);
        bench->pop_ns += cpu_ns() - begin_ns;
    }
    return good && !bench->is_full;
}

static uint64_t on_disk(const struct disk_bench *bench)
{
    uint64_t count = 0;
    for (uint32_t id = 1; id <= HOSTS; id++)
        count += slots_waiting(&bench->alone.frontier.hosts.records[id].stowed);
    return count;
}

struct grown {
    uint64_t urls, frontier_bytes;
    bool on_disk;
};

static const char *name_of(const struct grown *grown, char name[64])
{
    snprintf(name, 64, "%g million URLs, %llu MiB%s", (double)grown->urls / 1e6,
             (unsigned long long)grown->frontier_bytes >> 20, grown->on_disk ? "" : ", all in memory");
    return name;
}

/* False, with a message, if the disk has no room for them. A long row says what it needs in any case. */
static bool has_room(const struct disk_bench *bench, const struct grown *grown)
{
    struct statvfs disk;
    double need_gb = (double)grown->urls * DISK_BYTES_PER_URL / 1e9;
    if (!grown->on_disk || statvfs(bench->directory, &disk) != 0)
        return true;
    double free_gb = (double)disk.f_bavail * (double)disk.f_frsize / 1e9;
    if (grown->urls >= LONG_URLS || free_gb < need_gb)
        fprintf(stderr, "bench_crawl: disk: %g million URLs need some %.0f GB in %s, where %.0f GB are free\n",
                (double)grown->urls / 1e6, need_gb, bench->directory, free_gb);
    return free_gb >= need_gb;
}

/* Pushes all URLs, in two steps, and takes them. The first step is a tenth: what RSS is compared with. */
static bool run_grown(struct disk_bench *bench, const struct grown *grown, double values[8])
{
    bool good = has_room(bench, grown) && push_many(bench, grown->urls / 10);
    double first_mb = rss_megabytes();
    good = good && push_many(bench, grown->urls - grown->urls / 10);
    double push_ns = bench->push_ns, write_ns = bench->write_ns, rss_mb = rss_megabytes();
    double stowed = (double)on_disk(bench), count = (double)bench->pushed;
    good = good && pop_many(bench, bench->pushed);
    for (unsigned i = 0; i < HOSTS; i++)
        good = good && bench->left[i] == 0;
    double file_mb = (double)slots_count(&bench->alone.frontier.slots).begun * SLOTS_BYTES_SMALL / 1e6;
    const double found[8] = {push_ns / count / 0.9,   write_ns / count / 0.9, bench->pop_ns / count,
                             bench->read_ns / count,  stowed / count,         rss_mb,
                             rss_mb / first_mb,       grown->on_disk ? file_mb : 0};
    memcpy(values, found, sizeof found);
    return good;
}

static bool measure(struct crawl_report *report, const struct grown *grown)
{
    char name[64];
    double values[8];
    struct disk_bench *bench = begin(grown->frontier_bytes, grown->on_disk);
    if (!bench)
        return false;
    bench->expected = grown->urls >= LONG_URLS ? grown->urls : 0;
    bool good = run_grown(bench, grown, values);
    finish(bench);
    if (good)
        crawl_report_add(report, name_of(grown, name), values);
    else
        fprintf(stderr, "bench_crawl: %s: out of order, or no room\n", name_of(grown, name));
    return good;
}

struct scene {
    const char *name;
    uint64_t whale; /* URLs */
    bool on_disk;
};

/* Pages that the small hosts are asked for within 60 s of the benchmark's clock; *lost: URLs without memory. */
static double run_scene(const struct scene *scene, uint64_t *lost)
{
    struct disk_bench *bench = begin(BUDGET, scene->on_disk);
    if (!bench)
        return -1;
    struct tuning_live *live = &bench->alone.tuning.live;
    live->politeness.host_min_idle_ns = live->politeness.address_min_idle_ns = 1 * CLOCK_NS_PER_S;
    uint64_t turns = 60000, pages = 0;
    double unused;
    bool good = true;
    for (uint64_t t = 0; t < turns && good && !bench->is_full; t++) {
        for (uint64_t i = 0; i < scene->whale * 2 / turns && t < turns / 2; i++)
            push_one(bench, SMALL_HOSTS);
        /* each small host always has some to fetch, as long as they find memory */
        for (uint32_t i = 0; i < 10; i++) {
            uint32_t number = (uint32_t)((t * 10 + i) % SMALL_HOSTS);
            while (bench->left[number] < SMALL_URLS && good)
                if (!push_one(bench, number)) {
                    ++*lost;
                    break;
                }
        }
        turn(bench, &unused, &unused);
        struct host *host;
        while (good && (host = frontier_take(&bench->alone.loop, bench->alone.now_ns))) {
            unsigned number = (unsigned)strtoul(host->key + 11, NULL, 10);
            uint64_t before = bench->popped;
            good = visit(bench, host);
            pages += number < SMALL_HOSTS ? bench->popped - before : 0;
        }
    }
    good = good && !bench->is_full;
    finish(bench);
    return good ? (double)pages : -1;
}

static bool measure_whale(const struct crawl_settings *settings, struct crawl_report *report)
{
    uint64_t whale = settings->is_quick ? 4000000 : 10000000;
    const struct scene scenes[] = {{"10,000 hosts alone", 0, true},
                                   {"beside a long queue on disk", whale, true},
                                   {"beside a long queue in memory", whale, false}};
    double alone = 0;
    bool is_wanted = false;
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        is_wanted |= crawl_filter_wants(&settings->filter, scenes[i].name);
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0] && is_wanted; i++) {
        uint64_t lost = 0;
        double pages = run_scene(&scenes[i], &lost);
        if (pages < 0)
            return false;
        alone = i == 0 ? pages : alone;
        crawl_report_add(report, scenes[i].name,
                         (const double[]){pages, pages / alone, (double)lost, (double)scenes[i].whale});
    }
    return true;
}

static bool measure_sizes(const struct crawl_settings *settings, struct crawl_report *report)
{
    const uint64_t million = 1000000;
    const struct grown sizes[] = {{2 * million, BUDGET, true},
                                  {2 * million, 1 << 30, false},
                                  {settings->is_quick ? 0 : 20 * million, BUDGET, true},
                                  {settings->urls, BUDGET, true}};
    bool good = true;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0] && good; s++) {
        char name[64];
        if (sizes[s].urls && crawl_filter_wants(&settings->filter, name_of(&sizes[s], name)))
            good = measure(report, &sizes[s]);
    }
    return good;
}

bool crawl_disk(const struct crawl_settings *settings, struct crawl_report *report)
{
    static struct crawl_report whales, seeds;
    report->title = "Long queues on disk: 1,000 hosts, the frontier alone";
    report->columns = columns;
    report->column_count = sizeof columns / sizeof columns[0];
    whales.title = "One host with very many URLs beside 10,000 with few, memory.frontier 256 MiB";
    whales.columns = whale_columns;
    whales.column_count = sizeof whale_columns / sizeof whale_columns[0];
    report->below = &whales;
    whales.below = &seeds;
    bool good = true;
    for (unsigned i = 0; i < settings->repeats && good; i++)
        good = measure_sizes(settings, report) && measure_whale(settings, &whales) && crawl_seeds(settings, &seeds);
    return good;
}
