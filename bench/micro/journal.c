/* bench_journal: how fast a crawl is resumed from its journal, and what a fold costs and brings.
 *
 * A journal is written as a crawl writes it: pages of --hosts hosts, ten per visit, each with three new URLs as long as there
 * are some to come. Then each step of a resume is timed, with the sieve that a crawl has by default; the journal is
 * folded; and the steps are timed again. Processor time, so that other load does not matter much. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/crawl/crawl.h"
#include "engine/frontier/sieve.h"
#include "engine/state/commit.h"
#include "engine/state/resume.h"
#include "engine/url/hash.h"
#include "lockfree/arena.h"
#include "lockfree/signatures.h"

enum { PAGES_PER_VISIT = 10, LINKS = 3, PAGES_PER_COMMIT = 5000 };

static struct {
    const char *directory;
    uint64_t urls, hosts;
    unsigned done_percent, repeats;
    bool keeps, is_unfolded;
} settings = {
    .directory = "/tmp/bench_journal", .urls = 4000000, .hosts = 10000, .done_percent = 80, .repeats = 3};

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "bench_journal: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t memory_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss << 10;
}

/* The journal. */

static struct journal journal;
static struct journal_loop loop;
static char state[1024], scratch[1024];

struct text {
    char bytes[128];
    size_t key_len, len;
};

/* URLs of some 60 bytes. */
static struct text text_of(uint64_t url)
{
    struct text text;
    text.key_len = (size_t)snprintf(text.bytes, sizeof text.bytes, "http://www.host%06" PRIu64 ".example",
                                    url / PAGES_PER_VISIT * 7919 % settings.hosts);
    text.len = text.key_len + (size_t)snprintf(text.bytes + text.key_len, sizeof text.bytes - text.key_len,
                                               "/articles/2026/%010" PRIu64 ".html", url);
    return text;
}

static void write_blocks(void)
{
    int result;
    outlet_flush(&loop.outlet);
    while ((result = journal_write(&journal, &loop)) > 0)
        ;
    require(result == 0, "write");
}

static void add_url(uint64_t url, uint64_t from)
{
    struct text text = text_of(url), via = text_of(from);
    struct record_url record = {.signature = hash_bytes(text.bytes, text.len),
                                .kind = 'L',
                                .depth = 3,
                                .text = {text.bytes, text.len}};
    if (!journal_has_room(&loop))
        write_blocks();
    journal_add_url(&loop, &record, (struct slice){via.bytes, via.len});
}

static void add_done(uint64_t url)
{
    struct text text = text_of(url);
    struct record_done done = {.signature = hash_bytes(text.bytes, text.len),
                               .host = record_host_signature((struct slice){text.bytes, text.key_len}),
                               .body_bytes = (uint32_t)(url * 7919 % 100000),
                               .status = 200,
                               .is_page = true,
                               .is_stored = true};
    struct record_visit visit = {.is_end = true, .host_us = 1, .key = {text.bytes, text.key_len}};
    journal_add_done(&loop, &done);
    if (url % PAGES_PER_VISIT == PAGES_PER_VISIT - 1)
        journal_add_visit(&loop, &visit);
}

static void commit(uint64_t epoch)
{
    static const struct files none;
    write_blocks();
    require(journal_commit(&journal, epoch, &none) == 0 && journal_turn_over(&journal) == 0, "commit");
}

static void make_directory(const char *path)
{
    require(mkdir(path, 0755) == 0 || errno == EEXIST, path);
}

/* So that `lycosa crawl --resume` takes the journal for one of its own. */
static unsigned canonical_rules(void)
{
    static struct tuning tuning;
    struct tuning_error error;
    unsigned rules = 0;
    tuning_init(&tuning);
    require(crawl_canonical_rules(&tuning.fixed.scope, &rules, &error), "scope.canonical");
    return rules;
}

/* Returns the last epoch. All files but the last, which is short, can be folded. */
static uint64_t write_journal(void)
{
    struct journal_session session = {.version = "bench", .canonical = canonical_rules()};
    uint64_t done = settings.urls * settings.done_percent / 100, next = 1, epoch = 0;
    journal_init(&journal, &disk_system, state);
    require(journal_loop_init(&loop, 0) == 0 &&
                journal_open(&journal, (struct journal_place){.number = 1}) == 0,
            state);
    resume_boot_id(session.boot_id);
    journal_begin_session(&journal, 1, &session);
    add_url(0, 0);
    for (uint64_t page = 0; page < done; page++) {
        for (unsigned i = 0; i < LINKS && next < settings.urls; i++, next++)
            add_url(next, page);
        add_done(page);
        if (page % PAGES_PER_COMMIT == 0)
            commit(++epoch);
    }
    journal.file_bytes_max = 1;
    commit(++epoch);
    require(journal_synced(&journal, epoch) == 0, "sync");
    journal_close(&journal);
    journal_loop_fini(&loop);
    return epoch;
}

/* The steps of a resume. */

struct replay {
    struct arena arena;
    struct signatures set;
    struct signatures_writer writer;
    uint64_t batch[SIEVE_BATCH_MAX];
    size_t count;
    uint64_t records, waiting;
    struct record_totals totals;
};

static void open_replay(struct replay *replay)
{
    size_t bytes = signatures_bytes(settings.urls + 1000);
    *replay = (struct replay){0};
    require(arena_init(&replay->arena, &(struct arena_options){.bytes = bytes, .populate = true}) == 0,
            "memory");
    signatures_init(&replay->set, arena_take(&replay->arena, bytes, LF_CACHE_LINE), bytes);
    signatures_writer_init(&replay->writer, &replay->set);
}

static void flush(struct replay *replay)
{
    enum signatures_answer answers[SIEVE_BATCH_MAX];
    signatures_add_batch(&replay->writer, replay->batch, replay->count, answers);
    replay->count = 0;
}

static void add(struct replay *replay, uint64_t signature)
{
    replay->batch[replay->count++] = signature;
    if (replay->count == SIEVE_BATCH_MAX)
        flush(replay);
}

static bool take_done(void *owner, const struct record *record, struct slice via)
{
    struct replay *replay = owner;
    (void)via;
    replay->records++;
    if (record->type == RECORD_DONE) {
        add(replay, record->done.signature);
        record_add_done(&replay->totals, &record->done);
    }
    if (record->type == RECORD_TOTALS)
        record_add_totals(&replay->totals, record->totals);
    for (size_t i = 0; record->type == RECORD_KNOWN && i < record->known.count; i++)
        add(replay, record_known_at(&record->known, i));
    return true;
}

static bool take_url(void *owner, const struct record *record, struct slice via)
{
    struct replay *replay = owner;
    (void)via;
    if (record->type == RECORD_URL)
        replay->waiting += signatures_add(&replay->writer, record->url.signature) == SIGNATURES_NEW;
    return true;
}

struct steps {
    double look, done, urls;
    uint64_t bytes, records, waiting, totals;
};

static void run_steps(struct steps *steps)
{
    static struct resume resume;
    struct replay replay;
    open_replay(&replay);
    double begin = cpu_s();
    require(resume_look(&resume, &disk_system, settings.directory, RESUME_TRUST_LAST) == RESUME_READY,
            resume.message);
    double looked = cpu_s();
    require(resume_replay(&resume, take_done, &replay), resume.message);
    flush(&replay);
    double counted = cpu_s();
    require(resume_replay(&resume, take_url, &replay), resume.message);
    double end = cpu_s();
    *steps = (struct steps){looked - begin, counted - looked, end - counted,     resume.journal_bytes,
                            replay.records, replay.waiting,   replay.totals.done};
    signatures_writer_fini(&replay.writer);
    arena_fini(&replay.arena);
    resume_fini(&resume);
}

static struct steps print_steps(const char *name, uint64_t records)
{
    struct steps best = {0};
    for (unsigned i = 0; i < settings.repeats; i++) {
        struct steps steps;
        run_steps(&steps);
        double all = steps.look + steps.done + steps.urls;
        if (i == 0 || all < best.look + best.done + best.urls)
            best = steps;
    }
    double all = best.look + best.done + best.urls;
    records = records ? records : best.records;
    printf("%-8s %8.1f MB  look %6.3f s  done %6.3f s  urls %6.3f s  all %6.3f s  %5.1f M records/s\n", name,
           (double)best.bytes / 1e6, best.look, best.done, best.urls, all, (double)records / all / 1e6);
    return best;
}

static void fold_here(uint64_t epoch, uint64_t records)
{
    static struct fold fold;
    int error = 0;
    fold_init(
        &fold,
        &(struct fold_options){
            .disk = &disk_system, .directory = state, .scratch = scratch, .bytes_min = 1, .is_inline = true});
    uint64_t memory = memory_bytes();
    double begin = cpu_s();
    fold_begin(&fold, journal.end.number - 1, epoch, 0);
    require(fold.is_busy && fold_is_done(&fold, 0, &error) && fold.error == 0, "fold");
    double took = cpu_s() - begin;
    printf("fold     %.3f s, %.3f s per million records, %.1f MB of memory at its peak\n", took,
           took / (double)records * 1e6, (double)(memory_bytes() - memory) / 1e6);
}

/* In a process of its own, whose memory can be told from what the resume has used. */
static void fold_journal(uint64_t epoch, uint64_t records)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    require(child >= 0, "fork");
    if (child == 0) {
        fold_here(epoch, records);
        exit(0);
    }
    require(waitpid(child, &status, 0) == child && status == 0, "fold");
}

static int use(void)
{
    fprintf(stderr,
            "usage: bench_journal [--directory DIR] [--urls N] [--done PERCENT] [--hosts N] [--repeats N] "
            "[--keep] [--unfolded]\n");
    return 2;
}

static bool read_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"directory", required_argument, NULL, 'd'}, {"urls", required_argument, NULL, 'u'},
        {"done", required_argument, NULL, 'p'},      {"hosts", required_argument, NULL, 'h'},
        {"repeats", required_argument, NULL, 'r'},   {"keep", no_argument, NULL, 'k'},
        {"unfolded", no_argument, NULL, 'n'},        {NULL, 0, NULL, 0}};
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (option) {
        case 'd':
            settings.directory = optarg;
            break;
        case 'u':
            settings.urls = strtoull(optarg, NULL, 10);
            break;
        case 'p':
            settings.done_percent = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'h':
            settings.hosts = strtoull(optarg, NULL, 10);
            break;
        case 'r':
            settings.repeats = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'k':
            settings.keeps = true;
            break;
        case 'n':
            settings.is_unfolded = true;
            break;
        default:
            return false;
        }
    return optind == argc && settings.urls && settings.hosts && settings.repeats;
}

static void remove_journal(void *argument, const char *name)
{
    char path[2048];
    (void)argument;
    snprintf(path, sizeof path, "%s/%s", state, name);
    unlink(path);
}

int main(int argc, char **argv)
{
    if (!read_options(argc, argv))
        return use();
    snprintf(state, sizeof state, "%s/state", settings.directory);
    snprintf(scratch, sizeof scratch, "%s/scratch", settings.directory);
    make_directory(settings.directory);
    make_directory(state);
    make_directory(scratch);
    disk_system.list(NULL, state, remove_journal, NULL);
    uint64_t epoch = write_journal();
    printf("gcc " __VERSION__ ", " BENCH_FLAGS "\n%" PRIu64 " URLs, %u%% done, %" PRIu64
           " hosts; processor time, least of %u\n",
           settings.urls, settings.done_percent, settings.hosts, settings.repeats);
    struct steps before = print_steps("journal", 0);
    if (settings.is_unfolded)
        return 0;
    fold_journal(epoch, before.records);
    struct steps after = print_steps("folded", before.records);
    require(before.waiting == after.waiting && before.totals == after.totals,
            "the folded journal tells something else");
    if (!settings.keeps)
        disk_system.list(NULL, state, remove_journal, NULL);
    return 0;
}
