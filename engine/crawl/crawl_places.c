/* The directory of a crawl, and the copies of tuning and seeds in it. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/limits.h"
#include "engine/store/store.h"
#include "engine/url/hash.h"
#include "lockfree/clock.h"

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

bool crawl_make_directory(const char *path, bool *made, struct tuning_error *error)
{
    *made = false;
    if (strlen(path) > CRAWL_DIRECTORY_CHARS_MAX)
        return crawl_refuse(error, "%.60s...: the path of a crawl's directory has at most %d characters",
                            path, CRAWL_DIRECTORY_CHARS_MAX);
    *made = mkdir(path, 0755) == 0;
    if (!*made && errno != EEXIST)
        return crawl_refuse(error, "%s: %s", path, strerror(errno));
    if (!*made && !is_empty_directory(path))
        return crawl_refuse(error, "%s: is not an empty directory; a crawl needs one of its own", path);
    if (access(path, W_OK | X_OK) != 0)
        return crawl_refuse(error, "%s: %s", path, strerror(errno));
    return true;
}

static bool copy_file(FILE *out, const char *from, struct tuning_error *error)
{
    char bytes[65536];
    size_t len;
    FILE *in = fopen(from, "re");
    if (!in)
        return crawl_refuse(error, "%s: %s", from, strerror(errno));
    while ((len = fread(bytes, 1, sizeof bytes, in)) > 0)
        fwrite(bytes, 1, len, out);
    fclose(in);
    return true;
}

static bool copy_seeds(FILE *out, const struct crawl_options *options, struct tuning_error *error)
{
    for (unsigned i = 0; i < options->seed_count; i++) {
        struct slice text;
        enum seeds_source source = seeds_source_of(options->seeds[i]);
        if (source == SEEDS_STDIN && seeds_stdin(&text))
            fwrite(text.ptr, 1, text.len, out);
        else if (source == SEEDS_URL)
            fprintf(out, "%s\n", options->seeds[i]);
        else if (!copy_file(out, options->seeds[i], error))
            return false;
        if (i + 1 < options->seed_count)
            fputc('\n', out); /* the last line of a file may lack its newline */
    }
    return true;
}

static bool copy_tuning(FILE *out, const struct crawl_options *options, struct tuning_error *error)
{
    if (options->tuning_path)
        return copy_file(out, options->tuning_path, error);
    fputs("# all defaults\n", out);
    return true;
}

static bool keep_input(const struct crawl *crawl, const char *name,
                       bool (*copy)(FILE *, const struct crawl_options *, struct tuning_error *),
                       struct tuning_error *error)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/%s", crawl->directory, name);
    FILE *out = fopen(path, "we");
    if (!out)
        return crawl_refuse(error, "%s: %s", path, strerror(errno));
    bool is_copied = copy(out, crawl->options, error), is_written = !ferror(out);
    is_written = fclose(out) == 0 && is_written;
    return is_copied && (is_written || crawl_refuse(error, "%s: %s", path, strerror(errno)));
}

/* A resumed crawl has it already. */
static bool make_folder(const struct crawl *crawl, const char *name, struct tuning_error *error)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/%s", crawl->directory, name);
    if (mkdir(path, 0755) == 0 || (errno == EEXIST && crawl->options->resumes))
        return true;
    return crawl_refuse(error, "%s: %s", path, strerror(errno));
}

bool crawl_lock_directory(struct crawl *crawl, struct tuning_error *error)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/state/lock", crawl->directory);
    if (!crawl->tuning.fixed.state.journal)
        return !crawl->options->resumes ||
               crawl_refuse(error, "state.journal = no: without a journal a crawl cannot be resumed");
    crawl->lock = disk_lock(path, CRAWL_LOCK_NS);
    if (crawl->lock >= 0)
        return true;
    if (crawl->lock == -EWOULDBLOCK)
        return crawl_refuse(error, "%s: another process crawls in this directory", crawl->directory);
    return crawl_refuse(error, "%s: cannot be locked: %s", path, strerror(-crawl->lock));
}

static void remove_file_in(void *folder, const char *name)
{
    char path[1400];
    snprintf(path, sizeof path, "%s/%s", (const char *)folder, name);
    unlink(path);
}

/* Its files are of no more use, nor those of the sieve on disk. */
static void empty_scratch(struct crawl *crawl)
{
    char sieve[1200];
    snprintf(sieve, sizeof sieve, "%s/sieve", crawl->scratch);
    crawl->disk->list(crawl->disk->owner, sieve, remove_file_in, sieve);
    rmdir(sieve);
    crawl->disk->list(crawl->disk->owner, crawl->scratch, remove_file_in, crawl->scratch);
}

/* Elsewhere many crawls may have theirs side by side: its name is made of what the crawl's directory is to the system, so that
 * the next process finds what this one has left, under another path, too. */
static bool choose_scratch(struct crawl *crawl, struct tuning_error *error)
{
    const char *elsewhere = crawl->tuning.fixed.state.scratch;
    struct stat status;
    if (!elsewhere[0]) {
        snprintf(crawl->scratch, sizeof crawl->scratch, "%s/scratch", crawl->directory);
        return true;
    }
    if (elsewhere[0] != '/')
        return crawl_refuse(error, "state.scratch: '%s' is not an absolute path", elsewhere);
    if (stat(crawl->directory, &status) != 0)
        return crawl_refuse(error, "%s: %s", crawl->directory, strerror(errno));
    const uint64_t identity[] = {status.st_dev, status.st_ino};
    snprintf(crawl->scratch, sizeof crawl->scratch, "%s/lycosa-%016" PRIx64, elsewhere,
             hash_slice((struct slice){(const char *)identity, sizeof identity}));
    return true;
}

/* What an earlier process has left there means nothing. */
bool crawl_make_scratch(struct crawl *crawl, struct tuning_error *error)
{
    if (!crawl->tuning.fixed.state.spill && !crawl->tuning.fixed.state.journal)
        return true;
    if (!choose_scratch(crawl, error))
        return false;
    if (mkdir(crawl->scratch, 0755) != 0 && errno != EEXIST)
        return crawl_refuse(error, "%s: %s", crawl->scratch, strerror(errno));
    empty_scratch(crawl);
    return true;
}

void crawl_remove_scratch(struct crawl *crawl)
{
    if (!crawl->scratch[0])
        return;
    empty_scratch(crawl);
    rmdir(crawl->scratch);
}

/* For the WARC files, which begin with it. Without one, they begin without it. */
static void read_tuning_text(struct crawl *crawl)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/tuning.ini", crawl->directory);
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    crawl->tuning_len = fread(crawl->tuning_text, 1, sizeof crawl->tuning_text, file);
    fclose(file);
}

static bool keep_inputs(struct crawl *crawl, struct tuning_error *error)
{
    return crawl->options->resumes || (keep_input(crawl, "seeds.txt", copy_seeds, error) &&
                                       keep_input(crawl, "tuning.ini", copy_tuning, error));
}

bool crawl_make_places(struct crawl *crawl, struct tuning_error *error)
{
    const char *pages = store_folder(&crawl->tuning);
    bool has_files = crawl->tuning.fixed.store.kind == TUNING_STORE_DIRECTORY;
    if ((pages && !make_folder(crawl, pages, error)) || (has_files && !make_folder(crawl, "files", error)))
        return false;
    if (crawl->tuning.fixed.state.journal && !make_folder(crawl, "state", error))
        return false;
    if (!keep_inputs(crawl, error))
        return false;
    read_tuning_text(crawl);
    return true;
}

void crawl_remove_places(struct crawl *crawl, bool made)
{
    static const char *const names[] = {"warc",         "pages",        "incoming",
                                        "files",        "seeds.txt",    "tuning.ini",
                                        "crawl.log",    "summary.json", "state/journal-000001",
                                        "progress.tsv", "state/lock",   "state"};
    char path[1100];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", crawl->directory, names[i]);
        remove(path);
    }
    if (made)
        rmdir(crawl->directory);
}
