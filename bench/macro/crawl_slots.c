/* Queues on disk alone: records of 48 bytes, spread over 10,000 queues at random, are pushed, and then taken
 * in batches from queues at random. One thread plays loop and housekeeper by turns, and the processor time of
 * each is measured apart. In the first row memory stands in for the file: what the others have more is the
 * kernel's part. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "engine/frontier/slots.h"
#include "lockfree/clock.h"
#include "macro/crawl_parts.h"

enum {
    QUEUES = 10000,
    SPARE = 1024, /* buffers on their way to the disk */
    LOADS = 64,   /* batches at a time */
    RECORD_BYTES = 48,
    PUSHES = 16384, /* between two passes of the housekeeper */
};

static const struct crawl_report_column columns[] = {
    {"push ns", "push_loop_ns", "%.0f"},
    {"write ns", "push_housekeeper_ns", "%.0f"},
    {"pop ns", "pop_loop_ns", "%.0f"},
    {"read ns", "pop_housekeeper_ns", "%.0f"},
    {"pop wall ns", "pop_wall_ns", "%.0f"},
    {"reads/URL", "reads_per_url", "%.4f"},
    {"written", "bytes_written_per_byte", "%.3f"},
    {"memory MB", "memory_megabytes", "%.0f"},
};

struct timing {
    double push, write, pop, read, pop_wall; /* nanoseconds for all records */
};

struct row {
    const char *name;
    bool is_memory, is_cold;
};

struct bench {
    char path[CRAWL_WEB_PATH_BYTES];
    struct slots slots;
    struct slots_queue queues[QUEUES];
    uint32_t left[QUEUES]; /* queues that are not empty */
    uint32_t left_count;
    uint64_t random, records, popped, sum;
    struct timing timing;
};

static double clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * (double)CLOCK_NS_PER_S + (double)now.tv_nsec;
}

/* Processor time: neighbours on a busy machine do not count. */
static double cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint32_t next_random(struct bench *bench, uint32_t bound)
{
    uint64_t z = bench->random += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (uint32_t)((z ^ (z >> 31)) % bound);
}

/* The records of one turn; the last number in each is its own. */
static void make_records(struct bench *bench, uint64_t first, char records[PUSHES][RECORD_BYTES],
                         uint32_t *queues)
{
    for (uint64_t i = 0; i < PUSHES; i++) {
        uint64_t number = first + i;
        memset(records[i], 'x', RECORD_BYTES);
        memcpy(records[i] + RECORD_BYTES - sizeof number, &number, sizeof number);
        queues[i] = next_random(bench, QUEUES);
    }
}

static bool serve(struct bench *bench, double *spent_ns)
{
    double begin_ns = cpu_ns();
    int served = slots_serve(&bench->slots);
    *spent_ns += cpu_ns() - begin_ns;
    if (served < 0)
        fprintf(stderr, "bench_crawl: %s: %s\n", bench->path, strerror(-served));
    return served >= 0;
}

static bool push_all(struct bench *bench)
{
    static char records[PUSHES][RECORD_BYTES];
    static uint32_t queues[PUSHES];
    struct slots_loop *loop = &bench->slots.loops[0];
    bool good = true;
    for (uint64_t first = 0; first < bench->records && good; first += PUSHES) {
        make_records(bench, first, records, queues);
        double begin_ns = cpu_ns();
        for (int i = 0; i < PUSHES && good; i++)
            good = slots_push(loop, &bench->queues[queues[i]], (struct slice){records[i], RECORD_BYTES});
        bench->timing.push += cpu_ns() - begin_ns;
        good = good && serve(bench, &bench->timing.write);
    }
    return good;
}

/* Begins to load from other queues, as many as can be. */
static void load_some(struct bench *bench)
{
    uint32_t loads = bench->left_count < LOADS ? bench->left_count : LOADS;
    for (uint32_t i = 0; i < loads; i++) {
        uint32_t chosen = i + next_random(bench, bench->left_count - i), queue = bench->left[chosen];
        bench->left[chosen] = bench->left[i];
        bench->left[i] = queue;
        slots_load(&bench->slots.loops[0], &bench->queues[queue]);
    }
}

static void take_loaded(struct bench *bench)
{
    struct slots_loop *loop = &bench->slots.loops[0];
    struct slots_buffer *batch;
    while ((batch = slots_loaded(loop))) {
        struct slice record;
        uint64_t number;
        slots_accept(loop, batch);
        for (; slots_next(batch, &record); bench->popped++) {
            memcpy(&number, record.ptr + RECORD_BYTES - sizeof number, sizeof number);
            bench->sum += number;
        }
        slots_release(loop, batch);
    }
    for (uint32_t i = bench->left_count < LOADS ? bench->left_count : LOADS; i-- > 0;)
        if (!slots_waiting(&bench->queues[bench->left[i]]))
            bench->left[i] = bench->left[--bench->left_count];
}

static bool pop_all(struct bench *bench)
{
    bool good = true;
    double begin_wall_ns = clock_ns(CLOCK_MONOTONIC), begin_ns = cpu_ns();
    while (bench->left_count && good) {
        load_some(bench);
        good = serve(bench, &bench->timing.read);
        take_loaded(bench);
    }
    bench->timing.pop = cpu_ns() - begin_ns - bench->timing.read;
    bench->timing.pop_wall = clock_ns(CLOCK_MONOTONIC) - begin_wall_ns;
    return good && bench->popped == bench->records && bench->sum == bench->records * (bench->records - 1) / 2;
}

/* Nothing of the file stays in the page cache. */
static bool make_cold(const struct bench *bench)
{
    int fd = open(bench->path, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && fdatasync(fd) == 0 && posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

/* Enough for all records and a place reserved for each queue. */
static uint32_t slots_for(uint64_t records)
{
    return (uint32_t)(records * (RECORD_BYTES + 2) / (SLOTS_BYTES_SMALL - 100)) + 2 * QUEUES;
}

/* A disk in memory. `owner` is where the file's bytes are. */

static int memory_open(void *owner, const char *path, int flags)
{
    (void)owner;
    (void)path;
    (void)flags;
    return 0;
}

static int64_t memory_write_at(void *owner, int fd, uint64_t offset, struct slice bytes)
{
    (void)fd;
    memcpy((char *)owner + offset, bytes.ptr, bytes.len);
    return (int64_t)bytes.len;
}

static int64_t memory_read(void *owner, int fd, uint64_t offset, struct disk_room room)
{
    (void)fd;
    memcpy(room.bytes, (const char *)owner + offset, room.size);
    return (int64_t)room.size;
}

static int memory_close(void *owner, int fd)
{
    (void)owner;
    (void)fd;
    return 0;
}

static int memory_unlink(void *owner, const char *path)
{
    (void)owner;
    (void)path;
    return 0;
}

static bool measure_on(struct bench *bench, struct crawl_report *report, const struct row *row,
                       const struct disk *disk)
{
    struct slots_options options = {.disk = disk,
                                    .path = bench->path,
                                    .loops = 1,
                                    .buffers = QUEUES + SPARE,
                                    .loads = LOADS,
                                    .slots_max = slots_for(bench->records),
                                    .record_bytes_max = RECORD_BYTES};
    int error = slots_init(&bench->slots, &options);
    if (error) {
        fprintf(stderr, "bench_crawl: %s: %s\n", bench->path, strerror(-error));
        return false;
    }
    bool good = push_all(bench) && (!row->is_cold || make_cold(bench)) && pop_all(bench);
    struct slots_counts counts = slots_count(&bench->slots);
    const struct timing *timing = &bench->timing;
    double n = (double)bench->records;
    crawl_report_add(report, row->name,
                     (const double[]){timing->push / n, timing->write / n, timing->pop / n, timing->read / n,
                                      timing->pop_wall / n, (double)counts.reads / n,
                                      (double)counts.writes * SLOTS_BYTES_SMALL / (n * RECORD_BYTES),
                                      (double)slots_memory_bytes(&options) / 1e6});
    slots_fini(&bench->slots);
    return good;
}

static bool measure_file(struct bench *bench, struct crawl_report *report, const struct row *row)
{
    char directory[CRAWL_WEB_DIRECTORY_BYTES];
    if (!crawl_web_make_directory("bench_slots", directory))
        return false;
    snprintf(bench->path, sizeof bench->path, "%s/slots", directory);
    bool good = measure_on(bench, report, row, &disk_system);
    rmdir(directory);
    return good;
}

/* The memory is touched before, as that of a file that is written for the second time. */
static bool measure_memory(struct bench *bench, struct crawl_report *report, const struct row *row)
{
    struct disk disk = {.open = memory_open,
                        .write_at = memory_write_at,
                        .read = memory_read,
                        .close = memory_close,
                        .unlink = memory_unlink};
    size_t bytes = (size_t)slots_for(bench->records) * SLOTS_BYTES_SMALL;
    disk.owner = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (disk.owner == MAP_FAILED) {
        perror("bench_crawl: memory in place of the file");
        return false;
    }
    bool good = measure_on(bench, report, row, &disk);
    munmap(disk.owner, bytes);
    return good;
}

static bool measure(struct crawl_report *report, const struct row *row, uint64_t records)
{
    struct bench *bench = aligned_alloc(_Alignof(struct bench), sizeof *bench);
    if (!bench)
        return false;
    *bench = (struct bench){.random = 1, .records = records, .left_count = QUEUES};
    for (uint32_t i = 0; i < QUEUES; i++) {
        bench->queues[i].host = i;
        bench->left[i] = i;
    }
    bool good = row->is_memory ? measure_memory(bench, report, row) : measure_file(bench, report, row);
    free(bench);
    return good;
}

bool crawl_slots(const struct crawl_settings *settings, struct crawl_report *report)
{
    static const struct row rows[] = {{.name = "memory in place of the file", .is_memory = true},
                                      {.name = "file in the page cache"},
                                      {.name = "file not in the page cache", .is_cold = true}};
    uint64_t turns = settings->is_quick ? 100 : 1221; /* 20 million records */
    report->title = "Queues on disk: 10,000 queues, records of 48 bytes";
    report->columns = columns;
    report->column_count = sizeof columns / sizeof columns[0];
    bool good = true;
    for (unsigned i = 0; i < settings->repeats && good; i++)
        for (size_t r = 0; r < sizeof rows / sizeof rows[0] && good; r++)
            good = measure(report, &rows[r], turns * PUSHES);
    return good;
}
