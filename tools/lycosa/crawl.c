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

#include "engine/crawl/crawl.h"
#include "engine/tuning/tuning_value.h"
#include "lockfree/clock.h"
#include "tools/lycosa/commands.h"
#include "tools/lycosa/console.h"
#include "tools/lycosa/remarks.h"

/* How often the block on a terminal is renewed. */
#define TERMINAL_INTERVAL_NS (CLOCK_NS_PER_S / 2)

enum { OPTION_PAGES = 1000, OPTION_TIME, OPTION_THREADS, OPTION_PRINT, OPTION_RESUME, OPTION_SYNCED };

static const struct option long_options[] = {
    {"config", required_argument, NULL, 'c'},
    {"output", required_argument, NULL, 'o'},
    {"max-pages", required_argument, NULL, OPTION_PAGES},
    {"max-time", required_argument, NULL, OPTION_TIME},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"print-tuning", no_argument, NULL, OPTION_PRINT},
    {"resume", required_argument, NULL, OPTION_RESUME},
    {"trust-synced", no_argument, NULL, OPTION_SYNCED},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

/* What the hooks need. */
struct running {
    struct console console;
    int signals;          /* signalfd */
    bool has_terminal[3]; /* standard input, output and error: at the start */
    bool ignores_hangup;  /* started by nohup */
    bool is_stopped;      /* by a signal */
    uint64_t progress_ns; /* of the seeds: when it was shown last */
};

static int usage(FILE *out)
{
    fprintf(
        out,
        "usage: lycosa crawl [OPTIONS] SEED...\n"
        "       lycosa crawl [OPTIONS] --resume DIR\n\n"
        "Fetches the web from the seeds on, which are URLs, files of URLs, or - for URLs on standard "
        "input.\n\n"
        "  -c, --config FILE    the tuning file\n"
        "  -o, --output DIR     where the crawl goes; must not exist or be empty (default crawl-TIME)\n"
        "      --max-pages N    end after N pages (10k, 5M)\n"
        "      --max-time T     end after this time (90s, 10m, 2h, 1d; without a unit: seconds)\n"
        "      --threads N      event loops, each on a core of its own\n"
        "      --resume DIR     go on with the crawl in DIR, however it ended; reads DIR/tuning.ini unless "
        "-c is given\n"
        "      --trust-synced   with --resume: go back to the last sync (the directory is a copy of a "
        "running\n"
        "                       machine's disk)\n"
        "      --print-tuning   print every key of the tuning file with its default and meaning\n\n"
        "Signals:\n"
        "  INT, TERM            end in order: no new requests, what is in flight may finish; again: at once\n"
        "  HUP                  read the tuning file again; but if the terminal was closed, end in order\n"
        "                       (a crawl that is to outlive its terminal is started with nohup or setsid)\n\n"
        "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 disk full, 4 bad tuning file, 5 nothing was "
        "fetched,\n"
        "11 ended in order by a signal.\n");
    return out == stdout ? LYCOSA_EXIT_DONE : LYCOSA_EXIT_USAGE;
}

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
        running->console.is_terminal ? TERMINAL_INTERVAL_NS : crawl->tuning.live.status.interval_ns;
    bool is_time = running->progress_ns && now_ns - running->progress_ns >= interval_ns;
    if (is_time && crawl->replayed)
        console_progress(&running->console, "reading the journal: %" PRIu64 " records so far", crawl->replayed);
    else if (is_time)
        console_progress(&running->console, "%s seeds: %" PRIu64 " so far",
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
}

static void on_status(void *owner, const struct status *status)
{
    struct running *running = owner;
    console_status(&running->console, status);
}

static void on_note(void *owner, const char *line)
{
    struct running *running = owner;
    console_note(&running->console, "lycosa: %s", line);
}

static void say_nothing_was_fetched(struct console *console, const struct crawl *crawl)
{
    char buffer[512];
    struct text text = text_in(buffer, sizeof buffer);
    remarks_put_nothing(&text, &crawl->status, &crawl->tuning);
    console_note(console, "lycosa: %s", buffer);
}

/* The exit code; a failure is explained. */
static int conclude(struct console *console, const struct crawl *crawl)
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
        say_nothing_was_fetched(console, crawl);
        return LYCOSA_EXIT_NOTHING;
    case CRAWL_END_SIGNAL:
        return LYCOSA_EXIT_STOPPED;
    case CRAWL_END_DISK_FULL:
        if (disk_error)
            console_note(console, "lycosa: the disk is full: %s", strerror(-disk_error));
        else
            console_note(console, "lycosa: the disk has less room than state.reserve: make room, then --resume %s",
                         crawl->directory);
        return LYCOSA_EXIT_DISK_FULL;
    case CRAWL_END_FAILED:
        if (disk_error) /* a loop that failed has said so itself */
            console_note(console, "lycosa: cannot write to %s: %s", crawl->directory, strerror(-disk_error));
        return LYCOSA_EXIT_FAILED;
    case CRAWL_END_BAD_TUNING:
        return LYCOSA_EXIT_BAD_TUNING;
    }
    return LYCOSA_EXIT_FAILED;
}

/* The last line: where the crawl is, why it ended, and what was lost. */
static void print_end(const struct crawl *crawl)
{
    char buffer[512];
    struct text lost = text_in(buffer, sizeof buffer);
    remarks_put_lost(&lost, &crawl->status);
    printf("%s (%s)%s%s\n", crawl->directory, end_name(crawl->end.why), lost.len ? ": " : "", buffer);
}

static int run(struct crawl_options *options)
{
    static struct crawl crawl;
    struct running running = {.signals = -1};
    struct tuning_error error;
    static char name[64];
    time_t now = time(NULL);
    strftime(name, sizeof name, "crawl-%Y%m%d-%H%M%S", localtime(&now));
    options->directory = options->directory ? options->directory : name;
    look_at_terminal(&running);
    running.signals = open_signals();
    console_init(&running.console, STDERR_FILENO);
    options->status_interval_ns = running.console.is_terminal ? TERMINAL_INTERVAL_NS : 0;
    options->hooks = (struct crawl_hooks){
        .owner = &running, .on_tick = on_tick, .on_status = on_status, .on_note = on_note};
    if (!crawl_run(&crawl, options, &error)) {
        int code = crawl.end.why == CRAWL_END_BAD_TUNING ? LYCOSA_EXIT_BAD_TUNING : LYCOSA_EXIT_FAILED;
        return complain(error.message, running.is_stopped ? LYCOSA_EXIT_STOPPED : code);
    }
    int code = conclude(&running.console, &crawl);
    console_finish(&running.console);
    print_end(&crawl);
    return code;
}

/* A crawl that is resumed finds in its directory what it was started with. */
static void use_directory(struct crawl_options *options)
{
    static char tuning_path[1100], seeds_path[1100], *seeds[] = {seeds_path};
    snprintf(tuning_path, sizeof tuning_path, "%s/tuning.ini", options->directory);
    snprintf(seeds_path, sizeof seeds_path, "%s/seeds.txt", options->directory);
    options->tuning_path = options->tuning_path ? options->tuning_path : tuning_path;
    options->seeds = seeds;
    options->seed_count = 1;
}

int lycosa_crawl_main(int argc, char **argv)
{
    static struct tuning tuning;
    struct tuning_error error;
    struct crawl_options options = {.tuning = &tuning};
    struct crawl_overrides *overrides = &options.overrides;
    for (int option; (option = getopt_long(argc, argv, "c:o:h", long_options, NULL)) != -1;)
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
        case OPTION_SYNCED:
            options.trusts_synced = true;
            break;
        case OPTION_PRINT:
            tuning_print(stdout);
            return LYCOSA_EXIT_DONE;
        case 'h':
            return usage(stdout);
        default:
            return usage(stderr);
        }
    options.seeds = argv + optind;
    options.seed_count = (unsigned)(argc - optind);
    if (options.resumes && options.seed_count)
        return complain("crawl: --resume goes on with the seeds that it has; give none", LYCOSA_EXIT_USAGE);
    if (options.resumes)
        use_directory(&options);
    else if (options.seed_count == 0)
        return complain("crawl: no seeds; give URLs or files of URLs", LYCOSA_EXIT_USAGE);
    tuning_init(&tuning);
    if (options.tuning_path && !tuning_load(&tuning, options.tuning_path, &error))
        return complain(error.message, LYCOSA_EXIT_BAD_TUNING);
    if ((long)(overrides->threads ? overrides->threads : tuning.fixed.crawl.threads) >
        sysconf(_SC_NPROCESSORS_ONLN))
        return complain("more threads than this machine has cores", LYCOSA_EXIT_USAGE);
    return run(&options);
}
