#include "engine/crawl.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "engine/canonical.h"
#include "engine/loop.h"
#include "engine/status.h"
#include "lockfree/clock.h"

/* How often the housekeeper looks after the loops. */
enum { HOUSEKEEPING_MS = 10 };

static bool fail(struct tuning_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct tuning_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return false;
}

const char *crawl_end_name(enum crawl_end end)
{
    switch (end) {
    case CRAWL_END_NONE:
        return "running";
    case CRAWL_END_COMPLETE:
        return "complete";
    case CRAWL_END_PAGES:
        return "pages";
    case CRAWL_END_TIME:
        return "time";
    case CRAWL_END_SIGNAL:
        return "signal";
    case CRAWL_END_DISK_FULL:
        return "disk-full";
    case CRAWL_END_FAILED:
        return "failed";
    case CRAWL_END_BAD_TUNING:
        return "bad-tuning";
    }
    return "";
}

/* An RFC 9309 product token: letters, '_' and '-'. */
static bool is_token(const char *name)
{
    for (const char *at = name; *at; at++)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_' || *at == '-'))
            return false;
    return *name;
}

bool crawl_canonical_rules(const struct tuning *tuning, unsigned *rules, struct tuning_error *error)
{
    char names[TUNING_LIST_BYTES];
    struct slice bad;
    snprintf(names, sizeof names, "%s", tuning->canonical_rules);
    for (char *at = names; (at = strchr(at, '\n'));)
        *at = ',';
    if (!canonical_parse(rules, names[0] ? slice_of(names) : SLICE("none"), &bad))
        return fail(error, "scope.canonical: unknown rule '%.*s'", (int)bad.len, bad.ptr);
    *rules |= CANONICAL_USERINFO; /* a host's key has none, and no secret is sent */
    return true;
}

static bool check_identity(struct crawl *crawl, struct tuning_error *error)
{
    const struct tuning *tuning = &crawl->tuning;
    char text[URL_BYTES_MAX];
    struct url url;
    url_init(&url, text, sizeof text);
    if (!is_token(tuning->agent_name))
        return fail(error, "crawl.agent-name: '%s' is no product token: letters, '_' and '-' only",
                    tuning->agent_name);
    if (tuning->contact_url[0] && url_parse(&url, NULL, slice_of(tuning->contact_url)) != URL_OK)
        return fail(error, "crawl.contact-url: '%s' is no http or https URL", tuning->contact_url);
    if (!crawl_canonical_rules(tuning, &crawl->canonical, error))
        return false;
    crawl->agent = slice_of(tuning->agent_name);
    tuning_user_agent(tuning, crawl->user_agent, sizeof crawl->user_agent);
    return true;
}

/* Seeds go through the same door as links: loop 0's, before it runs. */
static void take_seed(void *owner, const struct url *url)
{
    struct crawl *crawl = owner;
    struct harvest_source source = {.url = url, .base = url};
    harvest_link(&crawl->loops[0], &source, url_text(url), HOST_ITEM_SEED);
}

static void scope_seed(void *owner, const struct url *url)
{
    struct crawl *crawl = owner;
    scope_add_seed(crawl->scope, url);
}

static bool each_seed(struct crawl *crawl, const struct crawl_options *options,
                      void (*take)(void *owner, const struct url *url), struct tuning_error *error)
{
    struct seeds_sink sink = {.take = take, .owner = crawl};
    for (unsigned i = 0; i < options->seed_count; i++)
        if (!seeds_take_argument(&sink, options->seeds[i], error))
            return false;
    return sink.count || fail(error, "no seeds: nothing to start from");
}

static bool is_empty_directory(const char *path)
{
    DIR *directory = opendir(path);
    unsigned entries = 0;
    if (!directory)
        return false;
    while (entries < 3 && readdir(directory))
        entries++;
    closedir(directory);
    return entries <= 2; /* "." and ".." */
}

/* True: the directory is there, empty and ours to write to; `*made` tells whether we made it. */
static bool make_directory(const char *path, bool *made, struct tuning_error *error)
{
    *made = mkdir(path, 0755) == 0;
    if (!*made && errno != EEXIST)
        return fail(error, "%s: %s", path, strerror(errno));
    if (!*made && !is_empty_directory(path))
        return fail(error, "%s: is not an empty directory; a crawl needs one of its own", path);
    if (access(path, W_OK | X_OK) != 0)
        return fail(error, "%s: %s", path, strerror(errno));
    return true;
}

static bool write_file(const struct crawl *crawl, const char *name, struct slice text,
                       struct tuning_error *error)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/%s", crawl->directory, name);
    FILE *file = fopen(path, "we");
    bool good = file && fwrite(text.ptr, 1, text.len, file) == text.len;
    if (file && fclose(file) != 0)
        good = false;
    return good || fail(error, "%s: %s", path, strerror(errno));
}

static bool copy_file(const struct crawl *crawl, const char *name, const char *from, FILE *out,
                      struct tuning_error *error)
{
    char bytes[65536];
    size_t len;
    FILE *in = fopen(from, "re");
    if (!in)
        return fail(error, "%s: %s", from, strerror(errno));
    while ((len = fread(bytes, 1, sizeof bytes, in)) > 0)
        fwrite(bytes, 1, len, out);
    fclose(in);
    return !ferror(out) || fail(error, "%s/%s: %s", crawl->directory, name, strerror(errno));
}

/* What the crawl was started with, verbatim. */
static bool keep_inputs(const struct crawl *crawl, const struct crawl_options *options,
                        struct tuning_error *error)
{
    char path[1100];
    bool good = true;
    snprintf(path, sizeof path, "%s/seeds.txt", crawl->directory);
    FILE *seeds = fopen(path, "we");
    if (!seeds)
        return fail(error, "%s: %s", path, strerror(errno));
    for (unsigned i = 0; i < options->seed_count && good; i++) {
        if (strstr(options->seeds[i], "://"))
            fprintf(seeds, "%s\n", options->seeds[i]);
        else
            good = copy_file(crawl, "seeds.txt", options->seeds[i], seeds, error);
        if (i + 1 < options->seed_count)
            fputc('\n', seeds); /* the last line of a file may have no end */
    }
    if (fclose(seeds) != 0 && good)
        good = fail(error, "%s: %s", path, strerror(errno));
    if (!good || !options->tuning_path)
        return good && write_file(crawl, "tuning.ini", SLICE("# all defaults\n"), error);
    snprintf(path, sizeof path, "%s/tuning.ini", crawl->directory);
    FILE *tuning = fopen(path, "we");
    if (!tuning)
        return fail(error, "%s: %s", path, strerror(errno));
    good = copy_file(crawl, "tuning.ini", options->tuning_path, tuning, error);
    return fclose(tuning) == 0 && good;
}

static bool make_places(struct crawl *crawl, const struct crawl_options *options, struct tuning_error *error)
{
    snprintf(crawl->warc_directory, sizeof crawl->warc_directory, "%s/warc", crawl->directory);
    if (crawl->tuning.store_kind == TUNING_STORE_WARC && mkdir(crawl->warc_directory, 0755) != 0)
        return fail(error, "%s: %s", crawl->warc_directory, strerror(errno));
    return keep_inputs(crawl, options, error);
}

static void remove_places(struct crawl *crawl, bool made)
{
    static const char *const names[] = {"warc", "seeds.txt", "tuning.ini", "crawl.log", "summary.json"};
    char path[1100];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", crawl->directory, names[i]);
        remove(path);
    }
    if (made)
        rmdir(crawl->directory);
}

/* All is done when every URL that was let out is done with. The done are counted first: what they led to is
 * then among those let out. */
static bool is_complete(const struct crawl *crawl)
{
    uint64_t in = 0, out = 0;
    for (unsigned i = 0; i < crawl->loop_count; i++)
        out += lf_load(&crawl->loops[i].stats.urls_out, acquire);
    for (unsigned i = 0; i < crawl->loop_count; i++)
        in += lf_load(&crawl->loops[i].stats.urls_in, acquire);
    return in == out;
}

static bool drain(struct crawl *crawl)
{
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        struct loop *loop = &crawl->loops[i];
        int error = outlet_drain(&loop->log);
        if (!error && crawl->tuning.store_kind == TUNING_STORE_WARC)
            error = outlet_drain(&loop->store.outlet);
        if (error && !crawl->error)
            crawl->error = error;
    }
    return crawl->error == 0;
}

static const struct tuning *live_tuning(const struct crawl *crawl)
{
    return lf_load(&crawl->live, relaxed); /* only the housekeeper writes it */
}

static void override(struct tuning *tuning, const struct crawl_overrides *overrides)
{
    tuning->max_pages = overrides->max_pages ? overrides->max_pages : tuning->max_pages;
    tuning->max_time_ns = overrides->max_time_ns ? overrides->max_time_ns : tuning->max_time_ns;
    tuning->threads = overrides->threads ? overrides->threads : tuning->threads;
}

static void reload(struct crawl *crawl)
{
    struct crawl_reload *reload = calloc(1, sizeof *reload);
    struct tuning *next = malloc(sizeof *next);
    struct tuning_error error = {"there is no file"};
    const char *refused = NULL;
    if (next)
        tuning_init(next);
    if (!reload || !next || !crawl->tuning_path || !tuning_load(next, crawl->tuning_path, &error)) {
        fprintf(stderr, "lycosa: tuning not reloaded: %s\n", error.message);
        free(reload);
        free(next);
        return;
    }
    override(next, &crawl->overrides);
    reload->tuning = *live_tuning(crawl);
    unsigned count = tuning_reload(&reload->tuning, next, &refused);
    if (count)
        fprintf(stderr, "lycosa: tuning reloaded; %u keys cannot change while running, '%s' first\n", count,
                refused);
    free(next);
    reload->next = crawl->reloads;
    crawl->reloads = reload;
    lf_store(&crawl->live, &reload->tuning, release); /* R1 pairs with A2 in the loops' turn */
}

static void free_reloads(struct crawl *crawl)
{
    while (crawl->reloads) {
        struct crawl_reload *next = crawl->reloads->next;
        free(crawl->reloads);
        crawl->reloads = next;
    }
}

/* The first reason stands, unless what was crawled could not be kept. */
static void set_phase(struct crawl *crawl, enum crawl_phase phase, enum crawl_end why)
{
    if (crawl->end == CRAWL_END_NONE || why == CRAWL_END_DISK_FULL || why == CRAWL_END_FAILED)
        crawl->end = why;
    lf_store(&crawl->phase, (int)phase, relaxed);
}

static void on_signal(struct crawl *crawl, int number)
{
    if (number == SIGHUP)
        reload(crawl);
    else if (lf_load(&crawl->phase, relaxed) == CRAWL_RUNNING)
        set_phase(crawl, CRAWL_STOPPING, CRAWL_END_SIGNAL);
    else
        set_phase(crawl, CRAWL_ENDING, CRAWL_END_SIGNAL);
}

static unsigned visits_open(const struct crawl *crawl)
{
    uint64_t open = 0;
    for (unsigned i = 0; i < crawl->loop_count; i++)
        open += stats_get(&crawl->loops[i].stats.connections);
    return (unsigned)open;
}

static uint64_t pages_of(const struct crawl *crawl)
{
    uint64_t pages = 0;
    for (unsigned i = 0; i < crawl->loop_count; i++)
        pages += stats_get(&crawl->loops[i].stats.pages);
    return pages;
}

/* Whether it is time to stop, and why. */
static void look(struct crawl *crawl, uint64_t now_ns)
{
    const struct tuning *tuning = live_tuning(crawl);
    if (crawl->error)
        set_phase(crawl, CRAWL_ENDING,
                  crawl->error == -ENOSPC || crawl->error == -EDQUOT || crawl->error == -EFBIG
                      ? CRAWL_END_DISK_FULL
                      : CRAWL_END_FAILED);
    else if (is_complete(crawl))
        set_phase(crawl, CRAWL_ENDING, CRAWL_END_COMPLETE);
    else if (tuning->max_time_ns && now_ns - crawl->begin_ns >= tuning->max_time_ns)
        set_phase(crawl, CRAWL_STOPPING, CRAWL_END_TIME);
    else if (tuning->max_pages && pages_of(crawl) >= tuning->max_pages)
        set_phase(crawl, CRAWL_STOPPING, CRAWL_END_PAGES);
}

/* From here on nothing ends the process by a signal: what it makes, it also closes. The mask is inherited by
 * the loops, so that only the housekeeper is told. */
static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE); /* nobody reads the status */
    sigaddset(&set, SIGXFSZ); /* a file may not grow: the write says so, too */
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The main thread while the loops run. */
static void keep_house(struct crawl *crawl)
{
    static struct status status;
    uint64_t stop_by_ns = 0, print_ns = crawl->begin_ns;
    status_update(&status, crawl);
    status_write_summary(&status, crawl); /* its blocks serve the last one, too, if the disk is full then */
    while (lf_load(&crawl->phase, relaxed) != CRAWL_ENDING) {
        struct signalfd_siginfo info;
        struct pollfd watched = {.fd = crawl->signals, .events = POLLIN};
        poll(&watched, 1, HOUSEKEEPING_MS);
        while (read(crawl->signals, &info, sizeof info) == sizeof info)
            on_signal(crawl, (int)info.ssi_signo);
        uint64_t now_ns = clock_now_ns();
        drain(crawl);
        if (lf_load(&crawl->phase, relaxed) == CRAWL_RUNNING)
            look(crawl, now_ns);
        if (lf_load(&crawl->phase, relaxed) == CRAWL_STOPPING) {
            stop_by_ns = stop_by_ns ? stop_by_ns : now_ns + live_tuning(crawl)->stop_within_ns;
            if (now_ns >= stop_by_ns || visits_open(crawl) == 0)
                set_phase(crawl, CRAWL_ENDING, CRAWL_END_SIGNAL);
        }
        uint64_t interval_ns = crawl->is_live ? CLOCK_NS_PER_S / 2 : live_tuning(crawl)->status_interval_ns;
        if (now_ns - print_ns >= interval_ns) {
            print_ns = now_ns;
            status_update(&status, crawl);
            status_print(&status, crawl, stderr);
            status_write_summary(&status, crawl);
        }
    }
}

/* The loops have ended: the rest goes to the disk. */
static void finish(struct crawl *crawl)
{
    static struct status status;
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        struct loop *loop = &crawl->loops[i];
        int error = outlet_finish(&loop->log);
        if (crawl->tuning.store_kind == TUNING_STORE_WARC) {
            int of_store = outlet_finish(&loop->store.outlet);
            error = error ? error : of_store;
        }
        crawl->error = crawl->error ? crawl->error : error;
        if (loop->error)
            crawl->end = CRAWL_END_FAILED;
    }
    if (crawl->error)
        look(crawl, clock_now_ns());
    status_update(&status, crawl);
    status_write_summary(&status, crawl);
    if (crawl->end != CRAWL_END_FAILED)
        status_print(&status, crawl, stderr);
}

/* The threads run while the housekeeper does; a loop that could not begin ends them all. */
static bool run(struct crawl *crawl, struct tuning_error *error)
{
    struct timeval wall;
    gettimeofday(&wall, NULL);
    crawl->begin_us = (int64_t)wall.tv_sec * 1000000 + wall.tv_usec;
    crawl->begin_ns = clock_now_ns();
    unsigned started = 0;
    while (started < crawl->loop_count &&
           pthread_create(&crawl->loops[started].thread, NULL, loop_run, &crawl->loops[started]) == 0)
        started++;
    if (started == crawl->loop_count)
        keep_house(crawl);
    lf_store(&crawl->phase, CRAWL_ENDING, relaxed);
    for (unsigned i = 0; i < started; i++)
        while (pthread_tryjoin_np(crawl->loops[i].thread, NULL) == EBUSY) {
            drain(crawl);
            poll(NULL, 0, 1);
        }
    finish(crawl);
    for (unsigned i = 0; i < started; i++)
        if (crawl->loops[i].error)
            return fail(error, "%s", crawl->loops[i].message);
    return started == crawl->loop_count ||
           fail(error, "cannot start %u threads: %s", crawl->loop_count, strerror(EAGAIN));
}

/* Memory of all parts; whatever it returns, close_parts gives back what there is. */
static bool open_parts(struct crawl *crawl, struct tuning_error *error)
{
    const struct tuning *tuning = &crawl->tuning;
    int failed = frontier_init(&crawl->frontier, tuning);
    if (failed)
        return fail(error, "memory.hosts, memory.frontier: %s", strerror(-failed));
    failed = sieve_init(&crawl->sieve, tuning);
    if (failed)
        return fail(error, "memory.sieve: %s", strerror(-failed));
    crawl->loops = aligned_alloc(128, crawl->loop_count * sizeof *crawl->loops);
    if (!crawl->loops)
        return fail(error, "no memory for %u loops", crawl->loop_count);
    memset(crawl->loops, 0, crawl->loop_count * sizeof *crawl->loops);
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        failed = loop_init(&crawl->loops[i], crawl, i);
        if (failed)
            return fail(error, "cannot set up loop %u: %s", i, strerror(-failed));
    }
    return true;
}

static void close_parts(struct crawl *crawl)
{
    for (uint32_t id = 1; id <= lf_load(&crawl->frontier.host_count, relaxed); id++) {
        struct host *host = frontier_host_by_id(&crawl->frontier, id);
        free(host->robots);
        free(host->robots_path);
        free(lf_load(&host->robots_mail, relaxed));
    }
    for (unsigned i = 0; crawl->loops && i < crawl->loop_count; i++)
        if (crawl->loops[i].crawl)
            loop_fini(&crawl->loops[i]);
    free(crawl->loops);
    sieve_fini(&crawl->sieve);
    frontier_fini(&crawl->frontier);
    free_reloads(crawl);
}

/* What can be wrong with a tuning file whose every value is well-formed. */
static bool check_tuning(struct crawl *crawl, struct tuning_error *error)
{
    const char *ca_file = crawl->tuning.tls_ca_file[0] ? crawl->tuning.tls_ca_file : NULL;
    char why[256];
    if (!check_identity(crawl, error))
        return false;
    if (crawl->tuning.page_bytes / crawl->loop_count < BUFFER_ROOM_BYTES)
        return fail(error, "memory.pages: %u threads need at least %u KiB", crawl->loop_count,
                    crawl->loop_count * (BUFFER_ROOM_BYTES / 1024));
    crawl->scope = scope_create(&crawl->tuning, error);
    if (!crawl->scope)
        return false;
    crawl->trust = tls_trust_create(ca_file, why, sizeof why);
    if (!crawl->trust)
        return fail(error, "net.tls-ca-file: %s", why);
    return loop_check_names(&crawl->tuning, why, sizeof why) || fail(error, "net.dns-servers: %s", why);
}

/* The directory is ours: fill it. */
static bool begin(struct crawl *crawl, const struct crawl_options *options, struct tuning_error *error)
{
    bool good = make_places(crawl, options, error) && open_parts(crawl, error) &&
                each_seed(crawl, options, take_seed, error);
    if (good) {
        harvest_flush(&crawl->loops[0]);
        good = run(crawl, error);
    }
    close_parts(crawl);
    return good;
}

bool crawl_run(struct crawl *crawl, const struct crawl_options *options, struct tuning_error *error)
{
    bool made = false, good = false;
    memset(crawl, 0, sizeof *crawl);
    crawl->tuning = *options->tuning;
    crawl->overrides = options->overrides;
    override(&crawl->tuning, &crawl->overrides);
    lf_store(&crawl->live, &crawl->tuning, relaxed);
    crawl->tuning_path = options->tuning_path;
    crawl->directory = options->directory;
    crawl->is_live = options->is_live;
    crawl->loop_count = (unsigned)crawl->tuning.threads;
    crawl->signals = open_signals();
    if (!check_tuning(crawl, error)) {
        crawl->end = CRAWL_END_BAD_TUNING;
    } else if (each_seed(crawl, options, scope_seed, error) &&
               make_directory(crawl->directory, &made, error)) {
        good = begin(crawl, options, error);
        if (!good)
            remove_places(crawl, made);
    }
    if (crawl->trust)
        tls_trust_destroy(crawl->trust);
    if (crawl->scope)
        scope_destroy(crawl->scope);
    close(crawl->signals);
    return good;
}
