/* lycosa state DIR: what a crawl's directory holds, and whether the crawl can go on from there. Reads only. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/disk/disk.h"
#include "engine/state/resume.h"
#include "engine/url/url.h"
#include "lockfree/clock.h"
#include "tools/lycosa/commands.h"

/* How often it is looked again if the journal was folded while it was read. */
enum { LOOKS_MAX = 8 };

/* Distinct things, by their hash. */
struct hash_set {
    uint64_t *places; /* 0: free */
    size_t count, room;
    bool is_full; /* no memory: the count is too low */
};

struct contents {
    struct hash_set urls; /* a sieve on disk may have been asked about a URL more than once */
    uint64_t done, pages, stored, bytes, visits;
    struct hash_set hosts;
};

static void put(struct hash_set *set, uint64_t hash)
{
    size_t i = hash & (set->room - 1);
    while (set->places[i] && set->places[i] != hash)
        i = (i + 1) & (set->room - 1);
    set->count += set->places[i] == 0;
    set->places[i] = hash;
}

static void add(struct hash_set *set, uint64_t hash)
{
    if (set->count >= set->room / 2) {
        struct hash_set larger = {.room = set->room ? 2 * set->room : 4096};
        larger.places = calloc(larger.room, sizeof *larger.places);
        set->is_full = !larger.places;
        if (!larger.places)
            return;
        for (size_t i = 0; i < set->room; i++)
            if (set->places[i])
                put(&larger, set->places[i]);
        free(set->places);
        *set = larger;
    }
    put(set, hash | 1);
}

/* What was folded. */
static void add_totals(struct contents *contents, struct slice record)
{
    struct record_totals totals = {0};
    record_add_totals(&totals, record);
    contents->visits += totals.visits;
    contents->done += totals.done;
    contents->pages += totals.pages;
    contents->stored += totals.stored;
    contents->bytes += totals.bytes;
}

static bool take(void *owner, const struct record *record, struct slice via)
{
    struct contents *contents = owner;
    struct url url;
    (void)via;
    switch (record->type) {
    case RECORD_URL:
        add(&contents->urls, record->url.signature);
        url_open(&url, record->url.text);
        add(&contents->hosts, record_host_signature(url_host_key(&url)));
        break;
    case RECORD_DONE:
        contents->done++;
        contents->pages += record->done.is_page;
        contents->stored += record->done.is_stored;
        contents->bytes += record->done.is_page ? record->done.body_bytes : 0;
        break;
    case RECORD_VISIT:
        contents->visits += record->visit.is_end;
        add(&contents->hosts, record_host_signature(record->visit.key));
        break;
    case RECORD_KNOWN:
        for (size_t i = 0; i < record->known.count; i++)
            add(&contents->urls, record_known_at(&record->known, i));
        break;
    case RECORD_TOTALS:
        add_totals(contents, record->totals);
        break;
    case RECORD_VIA:
    case RECORD_SESSION:
        break;
    }
    return true;
}

static void print_age(const char *what, uint64_t epoch, uint64_t wall_us)
{
    double age = (double)(clock_wall_us() - wall_us) / 1e6;
    if (epoch == 0)
        printf("%s: none\n", what);
    else if (age < 600)
        printf("%s: epoch %" PRIu64 ", %.1f s ago\n", what, epoch, age);
    else
        printf("%s: epoch %" PRIu64 ", %.1f h ago\n", what, epoch, age / 3600);
}

/* What was done later than that is done again. */
static void print_covered(const struct resume *resume)
{
    if (resume->covers_us)
        printf("committed: what was done until %.3f s ago\n", (double)(clock_wall_us() - resume->covers_us) / 1e6);
}

/* True if a process crawls there at this moment. */
static bool is_running(const char *directory)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/state/lock", directory);
    return disk_is_locked(path);
}

static uint64_t waiting_of(const struct contents *contents)
{
    return contents->urls.count > contents->done ? contents->urls.count - contents->done : 0;
}

static void print_contents(const struct resume *resume, const struct contents *contents)
{
    uint64_t file_bytes = 0;
    for (size_t i = 0; i < resume->files.count; i++)
        file_bytes += resume->files.all[i].bytes;
    printf("URLs: %zu%s admitted, %" PRIu64 " done, %" PRIu64 " waiting\n", contents->urls.count,
           contents->urls.is_full ? " or more" : "", contents->done, waiting_of(contents));
    printf("pages: %" PRIu64 ", %" PRIu64 " stored, %.1f MB of bodies\n", contents->pages, contents->stored,
           (double)contents->bytes / 1e6);
    printf("hosts: %zu%s, %" PRIu64 " visits\n", contents->hosts.count,
           contents->hosts.is_full || resume->base_epoch ? " or more" : "", contents->visits);
    printf("files: %zu with %.1f MB; journal %.1f MB", resume->files.count, (double)file_bytes / 1e6,
           (double)resume->journal_bytes / 1e6);
    if (resume->base_epoch)
        printf(", of these %.1f MB folded, up to epoch %" PRIu64, (double)resume->base_bytes / 1e6,
               resume->base_epoch);
    printf("\n");
    print_age("last commit", resume->epoch, resume->commit_us);
    print_covered(resume);
    print_age("last sync", resume->synced_epoch, resume->synced_us);
}

static const char *verdict_of(const struct resume *resume, const struct contents *contents, bool is_running)
{
    if (is_running)
        return "no: a process crawls in it at this moment";
    if (waiting_of(contents) == 0)
        return "it is complete: there is nothing left to fetch";
    if (resume->has_ended)
        return "yes; it has ended in order";
    return resume_trusts_last(resume) ? "yes, from its last commit" : "yes, from its last sync";
}

/* A crawl that runs may have folded its journal meanwhile, and then not all of it was read. */
static bool has_changed(struct resume *resume)
{
    struct journal_files files;
    if (journal_find(&files, resume->disk, resume->state) != 0 || files.first == resume->journal.first)
        return false;
    snprintf(resume->message, sizeof resume->message, "%.400s: has changed while it was read", resume->state);
    return true;
}

static int print_all(const struct resume *resume, const struct contents *contents, bool running)
{
    printf("crawled by lycosa %s\n", resume->session.version);
    print_contents(resume, contents);
    printf("can be resumed: %s\n", verdict_of(resume, contents, running));
    return LYCOSA_EXIT_DONE;
}

static int describe_once(struct resume *resume, const char *directory, bool running)
{
    struct contents contents = {0};
    int code = LYCOSA_EXIT_DONE;
    switch (resume_look(resume, &disk_system, directory, RESUME_TRUST_LAST)) {
    case RESUME_REFUSED:
        code = LYCOSA_EXIT_FAILED;
        break;
    case RESUME_NOTHING:
        printf("nothing was committed\ncan be resumed: yes, from its seeds\n");
        break;
    case RESUME_READY:
        code = resume_replay(resume, take, &contents) && !has_changed(resume)
                   ? print_all(resume, &contents, running)
                   : LYCOSA_EXIT_FAILED;
        break;
    }
    free(contents.urls.places);
    free(contents.hosts.places);
    return code;
}

static int describe(const char *directory)
{
    static struct resume resume;
    char path[1100];
    snprintf(path, sizeof path, "%s/state", directory);
    if (access(path, F_OK) != 0) {
        fprintf(stderr, "lycosa: %s: %s; it holds no crawl with a journal\n", path, strerror(errno));
        return LYCOSA_EXIT_FAILED;
    }
    bool running = is_running(directory);
    int code = describe_once(&resume, directory, running);
    for (unsigned i = 0; i < LOOKS_MAX && code != LYCOSA_EXIT_DONE && has_changed(&resume); i++) {
        resume_fini(&resume);
        code = describe_once(&resume, directory, running);
    }
    if (code != LYCOSA_EXIT_DONE)
        fprintf(stderr, "lycosa: %s\n", resume.message);
    resume_fini(&resume);
    return code;
}

const struct command lycosa_state = {
    .program = "lycosa",
    .name = "state",
    .run = lycosa_state_main,
    .synopsis = "DIR",
    .summary = "what a crawl has done, and whether it can be resumed",
    .description = "Tells what the crawl in DIR has done, what waits, when it was last committed and synced, and whether "
                   "`lycosa crawl --resume DIR` can go on with it. Changes nothing, and may be asked while the crawl "
                   "runs.",
};

int lycosa_state_main(int argc, char **argv)
{
    int option = command_getopt(&lycosa_state, argc, argv);
    if (option == -1 && argc - optind == 1)
        return describe(argv[optind]);
    return command_help(&lycosa_state, option == 'h' ? stdout : stderr);
}
