#include "engine/state/fold_base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/state/fold_hosts.h"
#include "engine/state/fold_sort.h"
#include "engine/state/fold_writer.h"
#include "engine/state/journal_read.h"
#include "engine/state/lengths.h"
#include "engine/state/limits.h"

/* Signatures of a KNOWN record, which has a frame of its own. */
enum { KNOWN_MAX = 16384, PATH_BYTES = FILES_PATH_BYTES + 32 };

struct base_commit {
    uint64_t epoch; /* 0: there is none */
    uint64_t wall_us;
};

struct base {
    const struct fold_base_options *options;
    char urls_path[PATH_BYTES], ends_path[PATH_BYTES], path[PATH_BYTES];
    uint64_t place; /* of the record at hand, from 1 on */

    /* the first reading */
    struct fold_sort urls;   /* of URLs by place, and of DONE records with place 0 */
    struct fold_sort ends;   /* of visits that have ended, by host */
    struct fold_hosts hosts; /* of which more is told than that */
    struct lengths lengths;
    bool has_others;   /* than KNOWN records */
    bool is_committed; /* nothing came after the last commit */
    struct base_commit commit, before; /* the last one, and the one before it in the same session */

    /* the second one */
    uint64_t *kept; /* a bit for each record */
    struct fold_writer writer;
    struct record_totals totals;
    uint64_t *known; /* signatures that wait to be written */
    size_t known_count;
    char *record; /* for one that is built in memory */
};

static bool is_stopped(const struct base *base)
{
    return lf_load(base->options->stops, relaxed); /* nothing else is handed over with it */
}

/* A reading of the files: each frame, and then each record of it but VIA. Both return 0 or a negative errno. */
struct reading {
    int (*take_frame)(struct base *base, const struct journal_reader *reader);
    int (*take)(struct base *base, const struct record *record, struct slice via);
};

static int read_records(struct base *base, const struct reading *reading, struct slice rest)
{
    struct slice via = {"", 0};
    struct record record;
    int error = 0;
    while (!error && record_read(&rest, &record)) {
        if (record.type == RECORD_VIA) {
            via = record.via;
            continue;
        }
        base->place++;
        error = reading->take(base, &record, via);
    }
    return error || rest.len == 0 ? error : -EBADMSG;
}

static int64_t last_size(const struct base *base)
{
    const struct fold_base_options *options = base->options;
    char path[PATH_BYTES], name[32];
    journal_name(name, options->last);
    snprintf(path, sizeof path, "%s/%s", options->directory, name);
    return options->disk->size(options->disk->owner, path);
}

static int read_files(struct base *base, const struct reading *reading)
{
    const struct fold_base_options *options = base->options;
    struct journal_reader reader;
    int64_t size = last_size(base);
    if (size < 0)
        return (int)size;
    base->place = 0;
    int error = journal_reader_init(&reader, options->disk, options->directory, options->first);
    while (!error && (reader.next.number < options->last || reader.next.offset < (uint64_t)size)) {
        if (is_stopped(base))
            error = -ECANCELED;
        else if (journal_reader_next(&reader) != JOURNAL_FOUND_FRAME || reader.next.number > options->last)
            error = reader.error ? reader.error : -EBADMSG;
        else
            error = reading->take_frame(base, &reader);
        if (!error && reader.frame.kind == JOURNAL_DATA)
            error = read_records(base, reading, reader.payload);
    }
    journal_reader_fini(&reader);
    return error;
}

/* The first reading. */

static int gather_frame(struct base *base, const struct journal_reader *reader)
{
    switch ((enum journal_kind)reader->frame.kind) {
    case JOURNAL_BASE:
        return reader->next.number == base->options->first ? 0 : -EBADMSG;
    case JOURNAL_DATA:
        base->is_committed = false;
        return 0;
    case JOURNAL_COMMIT:
        base->is_committed = true;
        base->before = base->commit;
        base->commit = (struct base_commit){reader->frame.epoch, reader->frame.wall_us};
        return lengths_note(&base->lengths, reader->payload);
    case JOURNAL_FILES:
        return lengths_note(&base->lengths, reader->payload);
    case JOURNAL_SESSION:
        base->commit = (struct base_commit){0};
        return 0;
    case JOURNAL_SYNCED:
    case JOURNAL_FAILED:
    case JOURNAL_END:
        return 0;
    case JOURNAL_KINDS:
    default:
        return -EBADMSG;
    }
}

static int gather_visit(struct base *base, const struct record_visit *visit)
{
    uint64_t host = record_host_signature(visit->key);
    if (!visit->is_end)
        return fold_hosts_begin(&base->hosts, host, base->place);
    fold_hosts_end(&base->hosts, host);
    return fold_sort_add(&base->ends, (struct fold_pair){host, base->place});
}

static int gather_done(struct base *base, const struct record_done *done)
{
    int error = done->is_page ? fold_hosts_page(&base->hosts, done->host, base->place) : 0;
    return error ? error : fold_sort_add(&base->urls, (struct fold_pair){done->signature, 0});
}

static int gather(struct base *base, const struct record *record, struct slice via)
{
    (void)via;
    base->has_others |= record->type != RECORD_KNOWN;
    switch (record->type) {
    case RECORD_URL:
        return fold_sort_add(&base->urls, (struct fold_pair){record->url.signature, base->place});
    case RECORD_DONE:
        return gather_done(base, &record->done);
    case RECORD_VISIT:
        return gather_visit(base, &record->visit);
    case RECORD_KNOWN:
        return base->has_others ? -EBADMSG : 0; /* they are read by open_known, from the beginning on */
    case RECORD_TOTALS:
    case RECORD_VIA:
    case RECORD_SESSION:
        break;
    }
    return 0;
}

/* In between: what is kept. */

/* The KNOWN records of an earlier base, which are sorted. */
struct known {
    struct journal_reader reader;
    struct record_known block;
    size_t next; /* of the block */
    int error;
};

static void known_open(struct known *known, const struct fold_base_options *options)
{
    *known = (struct known){0};
    known->error = journal_reader_init(&known->reader, options->disk, options->directory, options->first);
}

/* False: there are no more, or `error` says why. */
static bool known_next(struct known *known, uint64_t *signature)
{
    while (known->next == known->block.count) {
        struct record record;
        if (known->error || journal_reader_next(&known->reader) != JOURNAL_FOUND_FRAME) {
            known->error = known->error ? known->error : known->reader.error;
            return false;
        }
        struct slice rest = known->reader.payload;
        bool is_known = known->reader.frame.kind == JOURNAL_DATA && record_read(&rest, &record) &&
                        record.type == RECORD_KNOWN;
        if (!is_known && known->reader.frame.kind != JOURNAL_BASE)
            return false;
        known->block = is_known ? record.known : (struct record_known){0};
        known->next = 0;
    }
    *signature = record_known_at(&known->block, known->next++);
    return true;
}

static void write_known(struct base *base)
{
    size_t len = record_write_known(base->record, base->known, base->known_count);
    if (base->known_count)
        fold_writer_put(&base->writer, JOURNAL_DATA, (struct slice){base->record, len});
    base->known_count = 0;
}

static void keep(struct base *base, uint64_t place)
{
    base->kept[place / 64] |= UINT64_C(1) << place % 64;
}

static bool is_kept(const struct base *base)
{
    return base->kept[base->place / 64] >> base->place % 64 & 1;
}

/* One signature: it is known if anything says that it is done, else its first URL is kept. */
static void decide(struct base *base, uint64_t signature, bool is_done, uint64_t first)
{
    if (!is_done) {
        keep(base, first);
        return;
    }
    base->known[base->known_count++] = signature;
    if (base->known_count == KNOWN_MAX)
        write_known(base);
}

static int choose_urls(struct base *base)
{
    struct known known;
    struct fold_pair pair;
    uint64_t signature = 0, groups = 0;
    known_open(&known, base->options);
    bool has_known = known_next(&known, &signature), has_pair = fold_sort_next(&base->urls, &pair);
    while ((has_known || has_pair) && !(++groups % FOLD_PAIRS_PER_LOOK == 0 && is_stopped(base))) {
        uint64_t here = !has_pair || (has_known && signature < pair.key) ? signature : pair.key;
        uint64_t first = UINT64_MAX;
        bool is_done = false;
        for (; has_known && signature == here; has_known = known_next(&known, &signature))
            is_done = true;
        for (; has_pair && pair.key == here; has_pair = fold_sort_next(&base->urls, &pair)) {
            is_done |= pair.place == 0;
            first = pair.place && pair.place < first ? pair.place : first;
        }
        decide(base, here, is_done, first);
    }
    write_known(base);
    journal_reader_fini(&known.reader);
    if (known.error || base->urls.error)
        return known.error ? known.error : base->urls.error;
    return has_known || has_pair ? -ECANCELED : 0;
}

static int choose_ends(struct base *base)
{
    struct fold_pair pair, last = {0};
    while (fold_sort_next(&base->ends, &pair)) {
        if (last.place && last.key != pair.key)
            keep(base, last.place);
        last = last.key != pair.key || pair.place > last.place ? pair : last;
    }
    if (last.place)
        keep(base, last.place);
    return base->ends.error;
}

/* The second reading. */

static int sift_frame(struct base *base, const struct journal_reader *reader)
{
    struct fold_writer *writer = &base->writer;
    uint64_t last_us = writer->wall_us;
    switch ((enum journal_kind)reader->frame.kind) {
    case JOURNAL_DATA:
    case JOURNAL_COMMIT:
        writer->wall_us = reader->frame.wall_us;
        break;
    case JOURNAL_SESSION:
        if (last_us)
            fold_writer_flush(writer); /* when the session before it wrote for the last time */
        writer->wall_us = reader->frame.wall_us;
        fold_writer_put(writer, JOURNAL_SESSION, reader->payload);
        writer->wall_us = last_us;
        break;
    case JOURNAL_SYNCED:
    case JOURNAL_FAILED:
    case JOURNAL_END:
    case JOURNAL_BASE:
    case JOURNAL_FILES:
    case JOURNAL_KINDS:
        break;
    }
    return writer->error;
}

/* Whether the page counts for its host beside what the end of its last visit tells. */
static bool is_open_page(const struct base *base, const struct record_done *done)
{
    const struct fold_host *host = done->is_page ? fold_hosts_find(&base->hosts, done->host) : NULL;
    return host && base->place >= host->since;
}

/* The last begin tells until when the host must rest. The first one makes the host known, if it was never visited before:
 * else nobody would count its pages. */
static bool is_open_begin(const struct base *base, const struct record_visit *visit)
{
    const struct fold_host *host = fold_hosts_find(&base->hosts, record_host_signature(visit->key));
    return host && (base->place == host->first || base->place == host->last);
}

static int sift(struct base *base, const struct record *record, struct slice via)
{
    switch (record->type) {
    case RECORD_URL:
        if (is_kept(base))
            fold_writer_add(&base->writer, record, via);
        break;
    case RECORD_DONE:
        if (is_open_page(base, &record->done))
            fold_writer_add(&base->writer, record, via);
        else
            record_add_done(&base->totals, &record->done);
        break;
    case RECORD_VISIT:
        if (record->visit.is_end ? is_kept(base) : is_open_begin(base, &record->visit))
            fold_writer_add(&base->writer, record, via);
        else
            base->totals.visits += record->visit.is_end;
        break;
    case RECORD_TOTALS:
        record_add_totals(&base->totals, record->totals);
        break;
    case RECORD_KNOWN:
    case RECORD_VIA:
    case RECORD_SESSION:
        break;
    }
    return base->writer.error;
}

/* Whether it was removed. While it is written it has another name, and may get its own between the two looks. */
static bool is_gone(const struct base *base, const struct length *length)
{
    const struct disk *disk = base->options->disk;
    const char *state = base->options->directory, *slash = strrchr(state, '/');
    char path[PATH_BYTES + FILES_NAME_BYTES];
    if (!lengths_may_be_gone(length))
        return false;
    int len = snprintf(path, sizeof path, "%.*s/%s.open", (int)(slash - state), state, length->name);
    if (disk->size(disk->owner, path) != -ENOENT)
        return false;
    path[(size_t)len - strlen(".open")] = '\0';
    return disk->size(disk->owner, path) == -ENOENT;
}

/* The names and lengths, in as many frames as they need. What is gone for good is not told of: there may be millions. */
static void write_lengths(struct base *base)
{
    char *text = base->record;
    size_t len = 0;
    for (size_t i = 0; i < base->lengths.count; i++) {
        const struct length *length = &base->lengths.all[i];
        uint16_t name_len = (uint16_t)strlen(length->name);
        if (is_gone(base, length))
            continue;
        if (len + 10u + name_len > KNOWN_MAX * sizeof(uint64_t)) {
            fold_writer_put(&base->writer, JOURNAL_FILES, (struct slice){text, len});
            len = 0;
        }
        memcpy(text + len, &length->bytes, 8);
        memcpy(text + len + 8, &name_len, 2);
        memcpy(text + len + 10, length->name, name_len);
        len += 10u + name_len;
    }
    fold_writer_put(&base->writer, JOURNAL_FILES, (struct slice){text, len});
}

static void write_commit(struct fold_writer *writer, const struct base_commit *commit)
{
    if (!commit->epoch)
        return;
    writer->epoch = commit->epoch;
    writer->wall_us = commit->wall_us;
    fold_writer_put(writer, JOURNAL_COMMIT, (struct slice){NULL, 0});
}

static int write_end(struct base *base)
{
    struct fold_writer *writer = &base->writer;
    size_t len = record_write_totals(base->record, &base->totals);
    fold_writer_put(writer, JOURNAL_DATA, (struct slice){base->record, len});
    write_lengths(base);
    write_commit(writer, &base->before); /* a commit covers what was done up to the one before it */
    write_commit(writer, &base->commit);
    fold_writer_put(writer, JOURNAL_SYNCED, (struct slice){NULL, 0});
    return fold_writer_finish(writer);
}

static int open_writer(struct base *base)
{
    const struct disk *disk = base->options->disk;
    int error = disk->unlink(disk->owner, base->path); /* of an earlier process */
    if (error == 0 || error == -ENOENT)
        error = fold_writer_open(&base->writer, disk, base->path);
    base->writer.epoch = base->commit.epoch;
    if (!error)
        fold_writer_put(&base->writer, JOURNAL_BASE, (struct slice){NULL, 0});
    return error;
}

static int open_parts(struct base *base)
{
    const struct fold_base_options *options = base->options;
    size_t fewer = options->pairs_max / 8 ? options->pairs_max / 8 : 1; /* there are fewer visits than URLs */
    snprintf(base->urls_path, sizeof base->urls_path, "%s/fold-urls", options->scratch);
    snprintf(base->ends_path, sizeof base->ends_path, "%s/fold-hosts", options->scratch);
    snprintf(base->path, sizeof base->path, "%s/%s", options->directory, JOURNAL_FOLD_NAME);
    int urls = fold_sort_init(
        &base->urls, &(struct fold_sort_options){options->disk, base->urls_path, options->pairs_max});
    int ends =
        fold_sort_init(&base->ends, &(struct fold_sort_options){options->disk, base->ends_path, fewer});
    fold_hosts_init(&base->hosts);
    base->writer.fd = -1;
    base->known = malloc(KNOWN_MAX * sizeof *base->known);
    base->record = malloc(KNOWN_MAX * sizeof *base->known + RECORD_BYTES_MAX);
    return urls || ends || !base->known || !base->record ? -ENOMEM : 0;
}

static void close_parts(struct base *base)
{
    fold_sort_fini(&base->urls);
    fold_sort_fini(&base->ends);
    fold_hosts_fini(&base->hosts);
    lengths_fini(&base->lengths);
    fold_writer_close(&base->writer);
    free(base->kept);
    free(base->known);
    free(base->record);
}

/* All records were seen: which of them are kept. */
static int choose(struct base *base)
{
    if (!base->is_committed || !base->commit.epoch || base->commit.epoch > base->options->epoch_max)
        return -EBADMSG;
    base->kept = calloc(base->place / 64 + 1, sizeof *base->kept);
    int error = base->kept ? fold_sort_finish(&base->urls) : -ENOMEM;
    error = error ? error : fold_sort_finish(&base->ends);
    error = error ? error : choose_ends(base);
    error = error ? error : open_writer(base);
    return error ? error : choose_urls(base);
}

struct fold_base_result fold_base_write(const struct fold_base_options *options)
{
    static const struct reading first = {gather_frame, gather}, second = {sift_frame, sift};
    struct fold_base_result result = {0};
    struct base *base = calloc(1, sizeof *base);
    if (!base)
        return (struct fold_base_result){.error = -ENOMEM};
    base->options = options;
    int error = open_parts(base);
    error = error ? error : read_files(base, &first);
    error = error ? error : choose(base);
    error = error ? error : read_files(base, &second);
    error = error ? error : write_end(base);
    result = (struct fold_base_result){error, base->writer.has_failed_sync, base->place};
    close_parts(base);
    if (error && base->path[0])
        options->disk->unlink(options->disk->owner, base->path);
    free(base);
    return result;
}
