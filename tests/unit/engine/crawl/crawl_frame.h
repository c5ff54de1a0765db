/* The frame of the tests of a whole crawl's files: a directory of the test's own, a small tuning, and a crawl that is
 * either run, or taken part by part through what crawl_run does. */
#pragma once

#include <arpa/inet.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/loop.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

enum { TRIAL_PATH_BYTES = 160, TRIAL_SEEDS_MAX = 24 };

struct trial {
    struct crawl crawl;
    struct crawl_options options;
    struct tuning tuning;
    struct tuning_error error;
    char base[64];      /* everything is below it */
    char directory[80]; /* of the crawl; trial_init does not make it */
    char *seeds[TRIAL_SEEDS_MAX];
};

static inline void trial_seed(struct trial *trial, const char *seed)
{
    CHECK(trial->options.seed_count < TRIAL_SEEDS_MAX);
    trial->seeds[trial->options.seed_count++] = strdup(seed);
}

static inline void trial_forget_seeds(struct trial *trial)
{
    while (trial->options.seed_count)
        free(trial->seeds[--trial->options.seed_count]);
}

/* A seed at a port where nobody listens, until the descriptor that is returned is closed. A crawl of it lasts until it is
 * told to end. */
static inline int trial_seed_in_vain(struct trial *trial)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    char seed[64];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(fd, (struct sockaddr *)&address, len) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&address, &len) == 0);
    snprintf(seed, sizeof seed, "http://127.0.0.1:%u/", ntohs(address.sin_port));
    trial_seed(trial, seed);
    return fd;
}

static inline void trial_init(struct trial *trial)
{
    memset(trial, 0, sizeof *trial);
    snprintf(trial->base, sizeof trial->base, "/tmp/lycosa-crawl-XXXXXX");
    CHECK(mkdtemp(trial->base) != NULL);
    snprintf(trial->directory, sizeof trial->directory, "%s/crawl", trial->base);
    tuning_init(&trial->tuning);
    trial->tuning.fixed.memory.sieve_bytes = trial->tuning.fixed.memory.frontier_bytes = 1 << 20;
    trial->tuning.fixed.memory.hosts_max = 16;
    trial->tuning.fixed.memory.robots_bytes = 4 << 20;
    trial->tuning.fixed.net.connections = 4;
    trial->tuning.fixed.crawl.threads = 1;
    trial->tuning.fixed.crawl.pin = false;
    trial->tuning.fixed.store.kind = TUNING_STORE_NONE;
    trial->tuning.fixed.state.reserve_bytes = 0;
    trial->options = (struct crawl_options){
        .tuning = &trial->tuning, .directory = trial->directory, .seeds = trial->seeds};
}

static inline int trial_remove_entry(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

static inline void trial_fini(struct trial *trial)
{
    trial_forget_seeds(trial);
    CHECK_INT(nftw(trial->base, trial_remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* A path below `base`, to `path` of TRIAL_PATH_BYTES. */
static inline const char *trial_path(const struct trial *trial, const char *name, char *path)
{
    snprintf(path, TRIAL_PATH_BYTES, "%s/%s", trial->base, name);
    return path;
}

static inline bool trial_has(const struct trial *trial, const char *name)
{
    char path[TRIAL_PATH_BYTES];
    return access(trial_path(trial, name, path), F_OK) == 0;
}

static inline void trial_write(const struct trial *trial, const char *name, const char *text)
{
    char path[TRIAL_PATH_BYTES];
    FILE *out = fopen(trial_path(trial, name, path), "we");
    CHECK(out != NULL);
    fputs(text, out);
    CHECK_INT(fclose(out), 0);
}

static inline void trial_check_file(const struct trial *trial, const char *name, const char *text)
{
    char path[TRIAL_PATH_BYTES];
    size_t len;
    char *found = check_read_file(trial_path(trial, name, path), &len);
    CHECK_STR(found, text);
    free(found);
}

static inline bool trial_said(const struct trial *trial, const char *text)
{
    return strstr(trial->error.message, text) != NULL;
}

/* A crawl with its options, of which nothing has been checked or opened. */
static inline struct crawl *trial_begin(struct trial *trial)
{
    struct crawl *crawl = &trial->crawl;
    memset(crawl, 0, sizeof *crawl);
    memset(&trial->error, 0, sizeof trial->error);
    crawl->options = &trial->options;
    crawl->tuning = trial->tuning;
    lf_store(&crawl->live, &crawl->tuning, relaxed);
    crawl->directory = trial->directory;
    crawl->disk = &disk_system;
    crawl->lock = -1;
    crawl->loop_count = (unsigned)crawl->tuning.fixed.crawl.threads;
    return crawl;
}

/* Loops that have nothing but their counters. Freed by trial_end. */
static inline struct crawl *trial_begin_bare(struct trial *trial)
{
    struct crawl *crawl = trial_begin(trial);
    size_t bytes = crawl->loop_count * sizeof *crawl->loops;
    crawl->loops = aligned_alloc(128, bytes);
    CHECK(crawl->loops != NULL);
    memset(crawl->loops, 0, bytes);
    return crawl;
}

/* All that comes before the loops of a crawl that was begun run: its seeds are queued and committed. */
static inline void trial_fill(struct trial *trial)
{
    struct crawl *crawl = &trial->crawl;
    bool made;
    CHECK(crawl_check_tuning(crawl, &trial->error) && crawl_scope_seeds(crawl, &trial->error));
    CHECK(crawl_make_directory(crawl->directory, &made, &trial->error));
    CHECK(crawl_make_places(crawl, &trial->error) && crawl_make_scratch(crawl, &trial->error));
    CHECK(crawl_open_parts(crawl, &trial->error));
    CHECK(crawl_begin_writing(crawl, &trial->error) && crawl_queue_seeds(crawl, &trial->error));
    CHECK_INT(commit_now(&crawl->commit), 0);
    for (unsigned i = 0; i < crawl->loop_count; i++)
        loop_begin_epoch(&crawl->loops[i]);
}

static inline struct crawl *trial_open(struct trial *trial)
{
    struct crawl *crawl = trial_begin(trial);
    trial_fill(trial);
    return crawl;
}

/* A turn of the housekeeper, then one of each loop, in one thread: what has to do with commits, and with questions and seeds
 * that come while the crawl runs. */
static inline void trial_turn(struct crawl *crawl)
{
    crawl_write(crawl, clock_now_ns());
    crawl_keep_checkpoint(crawl, clock_now_ns());
    crawl_keep_added(crawl, clock_now_ns());
    for (unsigned i = crawl->loop_count; i-- > 0;) {
        ledger_adopt(&crawl->loops[i].ledger);
        crawl_answer_question(&crawl->loops[i]);
    }
    crawl_take_added(&crawl->loops[0]);
}

/* Ends what was begun and opened. */
static inline void trial_end(struct trial *trial)
{
    struct crawl *crawl = &trial->crawl;
    crawl_close_parts(crawl);
    crawl_remove_scratch(crawl);
    resume_fini(&crawl->resume);
    if (crawl->lock >= 0)
        close(crawl->lock);
    if (crawl->trust)
        tls_trust_destroy(crawl->trust);
    if (crawl->scope)
        scope_destroy(crawl->scope);
    sources_fini(&crawl->sources);
}

static inline bool trial_run(struct trial *trial)
{
    memset(&trial->error, 0, sizeof trial->error);
    return crawl_run(&trial->crawl, &trial->options, &trial->error);
}
