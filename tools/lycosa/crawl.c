/* lycosa crawl: a crawl from the command line. The engine runs it; signals, the terminal and the exit code
 * are ours. */
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "engine/console/console.h"
#include "engine/crawl/crawl.h"
#include "engine/tuning/tuning_value.h"
#include "lockfree/clock.h"
#include "net/ring.h"
#include "tools/lycosa/commands.h"
#include "tools/lycosa/notify.h"
#include "tools/lycosa/on_end.h"
#include "tools/lycosa/remarks.h"
#include "tools/lycosa/terminal.h"

/* How often the block on a terminal is renewed. */
#define TERMINAL_INTERVAL_NS (CLOCK_NS_PER_S / 2)

enum {
    OPTION_PAGES = COMMAND_LONG,
    OPTION_TIME,
    OPTION_THREADS,
    OPTION_PRINT,
    OPTION_RESUME,
    OPTION_CONTINUE,
    OPTION_SYNCED,
    OPTION_DASHBOARD
};

/* What the hooks need. */
struct running {
    struct terminal terminal;
    struct console console;
    struct notify notify;
    int signals;          /* signalfd */
    bool has_terminal[3]; /* standard input, output and error: at the start */
    bool ignores_hangup;  /* started by nohup */
    bool is_stopped;      /* by a signal */
    uint64_t progress_ns; /* of the seeds: when it was shown last */
};

static const struct command_option known[] = {
    {'c', "config", "FILE", "the tuning file: see lycosa.ini(5)"},
    {'o', "output", "DIR", "where the crawl goes; must not exist or be empty (default crawl-TIME)"},
    {OPTION_PAGES, "max-pages", "N", "end after N pages (10k, 5M)"},
    {OPTION_TIME, "max-time", "T", "end after this time (90s, 10m, 2h, 1d; without a unit: seconds)"},
    {OPTION_THREADS, "threads", "N", "event loops, each on a core of its own"},
    {OPTION_RESUME, "resume", "DIR",
     "go on with the crawl in DIR, however it ended; reads DIR/tuning.ini unless -c is given"},
    {OPTION_CONTINUE, "continue", "DIR",
     "resume the crawl in DIR, or begin it there if DIR does not exist or is empty; the seeds count in the beginning only"},
    {OPTION_SYNCED, "trust-synced", NULL,
     "when a crawl is resumed: go back to the last sync (the directory is a copy of a running machine's disk)"},
    {OPTION_DASHBOARD, "dashboard", NULL, "answer browsers on 127.0.0.1, at the address that is printed (control.listen chooses another)"},
    {OPTION_PRINT, "print-tuning", NULL, "print every key of the tuning file with its default and meaning"},
    {0},
};

static const struct command_term signals[] = {
    {"INT, TERM", "end in order: no new requests, what is in flight may finish; again: at once"},
    {"HUP", "read the tuning file again; but if the terminal was closed, end in order (a crawl that is to outlive its "
            "terminal is started with nohup or setsid)"},
    {0},
};

static const struct command_section sections[] = {
    {"Signals", signals},
    {"Exit codes", lycosa_exits},
    {0},
};

static const struct command_term files[] = {
    {"warc/*.warc.gz", "WARC/1.1, a gzip member per record, response and request; .open until closed"},
    {"pages/*.jsonl.gz", "with store.kind = jsonl, in place of WARC files: a line of JSON per page"},
    {"crawl.log", "a line per URL in Heritrix's columns"},
    {"summary.json", "totals, outcomes, rates, percentiles; renewed every few seconds"},
    {"state/", "the journal: what --resume needs"},
    {"scratch/", "URLs for which memory has no room, while the crawl runs"},
    {"tuning.ini, seeds.txt", "what it was started with"},
    {"seeds-added.txt", "seeds that were added while it ran (lycosa ctl DIR seeds)"},
    {0},
};

static const struct command_term examples[] = {
    {"lycosa crawl -c tuning.ini -o DIR seeds.txt", "begins a crawl"},
    {"lycosa crawl --resume DIR", "goes on with it"},
    {"lycosa crawl --continue DIR -c tuning.ini seeds.txt", "begins it or goes on with it: for services"},
    {"lycosa crawl --print-tuning > tuning.ini", "a tuning file with every key, to be edited"},
    {0},
};

static const struct command_section manual[] = {{"Files in the crawl's directory", files}, {"Examples", examples}, {0}};

const struct command lycosa_crawl = {
    .program = "lycosa",
    .name = "crawl",
    .run = lycosa_crawl_main,
    .synopsis = "[OPTIONS] SEED...\n[OPTIONS] --resume DIR\n[OPTIONS] --continue DIR SEED...",
    .summary = "fetches a web from its seeds on, or goes on with a crawl",
    .description = "Fetches the web from the seeds on, which are URLs, files of URLs, or - for URLs on standard input.",
    .options = known,
    .sections = sections,
    .manual = manual,
};

static int complain(const char *message, int code)
{
    fprintf(stderr, "lycosa: %s\n", message);
    return code;
}

/* A number as the tuning file has it, from 1 to `max`. */
static bool read_quantity(enum tuning_type type, const char *text, uint64_t max, uint64_t *number)
{
    double value;
    if (!tuning_value_read(type, slice_of(text), &value) || value < 1 || value > (double)max)
        return false;
    *number = (uint64_t)value;
    return true;
}

static bool read_time(const char *text, uint64_t *ns)
{
    if (read_quantity(TUNING_DURATION, text, INT64_MAX, ns))
        return true;
    if (!read_quantity(TUNING_COUNT, text, INT64_MAX / CLOCK_NS_PER_S, ns))
        return false;
    *ns *= CLOCK_NS_PER_S;
    return true;
}

/* From here on nothing ends the process by a signal: what it makes, it also closes. The mask is inherited by
 * the threads of the crawl, so that only the watch is told. */
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

/* Before SIGHUP is blocked. */
static void look_at_terminal(struct running *running)
{
    struct sigaction hangup;
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        running->has_terminal[fd] = isatty(fd);
    running->ignores_hangup = sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
}

/* SIGHUP has two meanings. A terminal that was closed leaves nobody who would end the crawl. */
static bool is_terminal_gone(const struct running *running)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (running->has_terminal[fd] && !isatty(fd))
            return !running->ignores_hangup;
    return false;
}

/* A long list of seeds takes its time, and so does a long journal. */
static void show_seeds(struct running *running, const struct crawl *crawl)
{
    uint64_t now_ns = clock_now_ns();
    uint64_t interval_ns =
        running->terminal.is_terminal ? TERMINAL_INTERVAL_NS : crawl->tuning.live.status.interval_ns;
    bool is_time = running->progress_ns && now_ns - running->progress_ns >= interval_ns;
    if (is_time && crawl->replayed)
        terminal_progress(&running->terminal, "reading the journal: %" PRIu64 " records so far", crawl->replayed);
    else if (is_time)
        terminal_progress(&running->terminal, "%s seeds: %" PRIu64 " so far",
                         crawl->loops ? "queueing" : "reading", crawl->seeds.count);
    if (!running->progress_ns || now_ns - running->progress_ns >= interval_ns)
        running->progress_ns = now_ns;
}

static void on_tick(void *owner, struct crawl *crawl)
{
    struct running *running = owner;
    struct signalfd_siginfo info;
    while (read(running->signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo == SIGHUP && !is_terminal_gone(running)) {
            crawl_reload(crawl);
        } else {
            running->is_stopped = true;
            crawl_stop(crawl);
        }
    if (crawl->begin_ns == 0)
        show_seeds(running, crawl);
    notify_tick(&running->notify, crawl);
}

static void on_past(void *owner, const struct sample *sample)
{
    struct running *running = owner;
    console_past(&running->console, sample);
}

static void on_keep(void *owner, const struct crawl *crawl)
{
    struct running *running = owner;
    console_keep(&running->console, crawl);
}

/* A crawl without a console is better than none. */
static void on_begin(void *owner, struct crawl *crawl)
{
    struct running *running = owner;
    struct tuning_error error;
    if (!console_start(&running->console, crawl, &error))
        terminal_note(&running->terminal, "lycosa: %s", error.message);
    else if (running->console.url[0])
        terminal_note(&running->terminal, "lycosa: watch and steer this crawl at %s", running->console.url);
}

static void on_end(void *owner, struct crawl *crawl)
{
    struct running *running = owner;
    (void)crawl;
    console_stop(&running->console);
}

static void on_status(void *owner, const struct status *status)
{
    struct running *running = owner;
    struct terminal plain = {.fd = -1};
    char line[TERMINAL_TEXT_BYTES];
    terminal_status(&running->terminal, status);
    line[terminal_write_status(&plain, status, line) - 1] = '\0'; /* its newline */
    notify_status(&running->notify, line, status->now_ns);
}

static void on_note(void *owner, const char *line)
{
    struct running *running = owner;
    terminal_note(&running->terminal, "lycosa: %s", line);
    console_note(&running->console, line);
}

static void say_nothing_was_fetched(struct terminal *terminal, const struct crawl *crawl)
{
    char buffer[512];
    struct text text = text_in(buffer, sizeof buffer);
    remarks_put_nothing(&text, &crawl->status, &crawl->tuning);
    terminal_note(terminal, "lycosa: %s", buffer);
}

/* The exit code; a failure is explained. */
static int conclude(struct terminal *terminal, const struct crawl *crawl)
{
    int disk_error = lf_load(&crawl->disk_error, relaxed);
    switch (crawl->end.why) {
    case CRAWL_END_NONE:
    case CRAWL_END_COMPLETE:
    case CRAWL_END_PAGES:
        return LYCOSA_EXIT_DONE;
    case CRAWL_END_TIME:
    case CRAWL_END_IDLE:
        if (stats_get(&crawl->status.now.pages))
            return LYCOSA_EXIT_DONE;
        __attribute__((fallthrough));
    case CRAWL_END_NOTHING:
        say_nothing_was_fetched(terminal, crawl);
        return LYCOSA_EXIT_NOTHING;
    case CRAWL_END_SIGNAL:
        return LYCOSA_EXIT_STOPPED;
    case CRAWL_END_DISK_FULL:
        if (disk_error)
            terminal_note(terminal, "lycosa: the disk is full: %s", strerror(-disk_error));
        else
            terminal_note(terminal, "lycosa: the disk has less room than state.reserve: make room, then --resume %s",
                         crawl->directory);
        return LYCOSA_EXIT_DISK_FULL;
    case CRAWL_END_FAILED:
        if (disk_error) /* a loop that failed has said so itself */
            terminal_note(terminal, "lycosa: cannot write to %s: %s", crawl->directory, strerror(-disk_error));
        return LYCOSA_EXIT_FAILED;
    case CRAWL_END_BAD_TUNING:
        return LYCOSA_EXIT_BAD_TUNING;
    }
    return LYCOSA_EXIT_FAILED;
}

/* The last line: where the crawl is, why it ended, and what was lost. */
static void print_end(const struct crawl *crawl)
{
    char buffer[768];
    struct text lost = text_in(buffer, sizeof buffer);
    remarks_put_lost(&lost, &crawl->status);
    printf("%s (%s)%s%s\n", crawl->directory, end_name(crawl->end.why), lost.len ? ": " : "", buffer);
}

static int run(struct crawl_options *options)
{
    static struct crawl crawl;
    static struct running running;
    struct tuning_error error;
    static char name[64];
    time_t now = time(NULL);
    strftime(name, sizeof name, "crawl-%Y%m%d-%H%M%S", localtime(&now));
    options->directory = options->directory ? options->directory : name;
    look_at_terminal(&running);
    running.signals = open_signals();
    terminal_init(&running.terminal, STDERR_FILENO);
    notify_init(&running.notify);
    options->status_interval_ns = running.terminal.is_terminal ? TERMINAL_INTERVAL_NS : 0;
    options->hooks = (struct crawl_hooks){
        .owner = &running, .on_past = on_past, .on_keep = on_keep, .on_begin = on_begin, .on_tick = on_tick, .on_status = on_status, .on_note = on_note, .on_end = on_end};
    if (!console_open(&running.console, &options->tuning->fixed.control, &error))
        return complain(error.message, LYCOSA_EXIT_BAD_TUNING);
    bool has_run = crawl_run(&crawl, options, &error);
    console_close(&running.console);
    notify_fini(&running.notify);
    if (!has_run) {
        int code = crawl.end.why == CRAWL_END_BAD_TUNING  ? LYCOSA_EXIT_BAD_TUNING
                   : crawl.end.why == CRAWL_END_DISK_FULL ? LYCOSA_EXIT_DISK_FULL
                                                          : LYCOSA_EXIT_FAILED;
        return complain(error.message, running.is_stopped ? LYCOSA_EXIT_STOPPED : code);
    }
    int code = conclude(&running.terminal, &crawl);
    terminal_finish(&running.terminal);
    print_end(&crawl);
    fflush(stdout); /* before what the program says */
    char why[256];
    if (!on_end_run(crawl.tuning.fixed.control.on_end, crawl.directory, end_name(crawl.end.why), why))
        complain(why, code);
    return code;
}

/* Whether a crawl has begun in the directory. It may have been killed before it had copied its seeds there. */
static bool has_begun(const char *directory)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/state", directory);
    return access(path, F_OK) == 0;
}

/* A crawl that is resumed finds in its directory what it was started with. */
static void use_directory(struct crawl_options *options)
{
    static char tuning_path[1100], seeds_path[1100], *seeds[] = {seeds_path};
    snprintf(tuning_path, sizeof tuning_path, "%s/tuning.ini", options->directory);
    snprintf(seeds_path, sizeof seeds_path, "%s/seeds.txt", options->directory);
    options->tuning_path = options->tuning_path ? options->tuning_path : tuning_path;
    if (options->seed_count && access(seeds_path, F_OK) != 0)
        return;
    options->seeds = seeds;
    options->seed_count = 1;
}

/* Two loops on one processor would be slower than one. False: `error` says so. */
static bool check_threads(unsigned threads, struct tuning_error *error)
{
    unsigned processors = ring_processors();
    if (threads <= processors)
        return true;
    snprintf(error->message, sizeof error->message,
             "%u threads, but this process may run on %u processor%s: see crawl.threads, or taskset and cpusets",
             threads, processors, processors == 1 ? "" : "s");
    return false;
}

int lycosa_crawl_main(int argc, char **argv)
{
    bool has_dashboard = false;
    static struct tuning tuning;
    struct tuning_error error;
    struct crawl_options options = {.tuning = &tuning};
    struct crawl_overrides *overrides = &options.overrides;
    bool continues = false;
    for (int option; (option = command_getopt(&lycosa_crawl, argc, argv)) != -1;)
        switch (option) {
        case 'c':
            options.tuning_path = optarg;
            break;
        case 'o':
            options.directory = optarg;
            break;
        case OPTION_PAGES:
            if (!read_quantity(TUNING_COUNT, optarg, INT64_MAX, &overrides->max_pages))
                return complain("--max-pages: a number from 1 (10k, 5M)", LYCOSA_EXIT_USAGE);
            break;
        case OPTION_TIME:
            if (!read_time(optarg, &overrides->max_time_ns))
                return complain("--max-time: a time such as 90s, 10m, 2h, or seconds", LYCOSA_EXIT_USAGE);
            break;
        case OPTION_THREADS:
            if (!read_quantity(TUNING_COUNT, optarg, 64, &overrides->threads))
                return complain("--threads: a number from 1 to 64", LYCOSA_EXIT_USAGE);
            break;
        case OPTION_RESUME:
            options.directory = optarg;
            options.resumes = true;
            break;
        case OPTION_CONTINUE:
            options.directory = optarg;
            continues = true;
            break;
        case OPTION_DASHBOARD:
            has_dashboard = true;
            break;
        case OPTION_SYNCED:
            options.trusts_synced = true;
            break;
        case OPTION_PRINT:
            tuning_print(stdout);
            return LYCOSA_EXIT_DONE;
        case 'h':
            return command_help(&lycosa_crawl, stdout);
        default:
            return command_help(&lycosa_crawl, stderr);
        }
    options.seeds = argv + optind;
    options.seed_count = (unsigned)(argc - optind);
    if (options.resumes && (options.seed_count || continues))
        return complain("crawl: --resume goes on with the seeds that it has; give none", LYCOSA_EXIT_USAGE);
    options.resumes |= continues && has_begun(options.directory);
    if (options.resumes)
        use_directory(&options);
    else if (options.seed_count == 0)
        return complain("crawl: no seeds; give URLs or files of URLs", LYCOSA_EXIT_USAGE);
    tuning_init(&tuning);
    if (options.tuning_path && !tuning_load(&tuning, options.tuning_path, &error))
        return complain(error.message, LYCOSA_EXIT_BAD_TUNING);
    if (has_dashboard && !tuning.fixed.control.listen[0])
        snprintf(tuning.fixed.control.listen, sizeof tuning.fixed.control.listen, "127.0.0.1:0");
    if (!check_threads(overrides->threads ? overrides->threads : (unsigned)tuning.fixed.crawl.threads, &error))
        return complain(error.message, LYCOSA_EXIT_USAGE);
    return run(&options);
}
