#include "engine/archive/index.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/archive/cdxj.h"
#include "engine/archive/cdxj_file.h"
#include "engine/archive/cdxj_key.h"
#include "engine/archive/index_entry.h"
#include "engine/archive/limits.h"
#include "engine/archive/line_sort.h"
#include "engine/archive/warc_read.h"

struct index {
    struct index_options options;
    struct archive_error *error;
    struct index_counts counts;
    struct line_sort sort;
    struct index_entry entry;
    char line[CDXJ_LINE_BYTES_MAX];
    char room[CDXJ_LINE_BYTES_MAX]; /* of lines that are read */
};

struct index *index_create(const struct index_options *options, struct archive_error *error)
{
    struct index *index = calloc(1, sizeof *index);
    if (!index || !index_entry_init(&index->entry)) {
        free(index);
        archive_error_of_call(error, ENOMEM, "index", "files");
        return NULL;
    }
    size_t memory = options->memory_bytes ? options->memory_bytes : INDEX_MEMORY_BYTES;
    struct line_sort_options sort = {.memory_bytes =
                                         memory > LINE_SORT_MEMORY_MIN ? memory : LINE_SORT_MEMORY_MIN,
                                     .directory = options->directory};
    index->options = *options;
    index->error = error;
    if (line_sort_init(&index->sort, &sort, error))
        return index;
    index_entry_fini(&index->entry);
    free(index);
    return NULL;
}

void index_destroy(struct index *index)
{
    line_sort_fini(&index->sort);
    index_entry_fini(&index->entry);
    free(index);
}

const struct index_counts *index_counts(const struct index *index)
{
    return &index->counts;
}

/* `bytes` of the file at hand so far. False: it is to stop. */
static bool go_on(struct index *index, const char *path, uint64_t bytes)
{
    if (index->options.progress)
        index->options.progress(index->options.owner, index->counts.bytes + bytes);
    if (index->options.stop && lf_load(index->options.stop, relaxed))
        return archive_error_set(index->error, (struct archive_place){ARCHIVE_STOPPED, path, bytes},
                                 "stopped before the index was complete");
    return true;
}

static bool put_line(struct index *index, const struct cdxj *line)
{
    size_t len = line->key.len ? cdxj_write(index->line, line) : 0;
    if (len == 0) {
        index->counts.too_long++;
        return true;
    }
    index->counts.indexed++;
    return line_sort_add(&index->sort, (struct slice){index->line, len});
}

bool index_add(struct index *index, struct cdxj *line)
{
    index->counts.records++;
    line->key = cdxj_key_write(index->entry.key, line->url);
    return put_line(index, line);
}

static bool add_record(struct index *index, struct warc_read *reader, struct slice filename)
{
    struct cdxj line;
    struct warc_read_record *record = &reader->record;
    index->counts.records++;
    if (!index_entry_is_wanted(&record->head))
        return warc_read_skip(reader);
    if (!index_entry_read(&index->entry, reader, &line))
        return false;
    if (record->is_shared)
        return archive_error_set(
            index->error,
            (struct archive_place){ARCHIVE_NOT_SEEKABLE, reader->members.source->name, record->offset},
            "several records are packed together, so that none of them can be found "
            "by its place; `lycosa archive cat` makes a plain file of it");
    line.filename = filename;
    return put_line(index, &line);
}

static bool add_records(struct index *index, struct source *source)
{
    struct warc_read reader;
    const char *slash = strrchr(source->name, '/');
    struct slice filename = slice_of(slash ? slash + 1 : source->name);
    bool good = warc_read_init(&reader, source, index->error);
    if (!good)
        return false;
    enum warc_read_step step;
    for (unsigned i = 0; good && (step = warc_read_next(&reader)) != WARC_READ_END; i++) {
        good = step == WARC_READ_DONE && add_record(index, &reader, filename);
        if (good && i % INDEX_RECORDS_PER_LOOK == 0)
            good = go_on(index, source->name, reader.members.next);
    }
    index->counts.bytes += reader.members.next;
    warc_read_fini(&reader);
    return good;
}

bool index_add_warc(struct index *index, const char *path)
{
    struct source source;
    if (!source_open(&source, path, index->error))
        return false;
    bool good = add_records(index, &source);
    source_fini(&source);
    return good;
}

static bool add_line(struct index *index, struct slice line)
{
    struct cdxj entry;
    if (!cdxj_parse(&entry, line, index->room))
        return false;
    memcpy(index->line, line.ptr, line.len);
    index->line[line.len] = '\n';
    index->counts.indexed++;
    line_sort_add(&index->sort, (struct slice){index->line, line.len + 1});
    return true;
}

/* The line before is still in index->line. */
static bool add_lines(struct index *index, struct cdxj_file *file)
{
    struct slice line, before = {index->line, 0};
    while (cdxj_file_next(file, &line)) {
        if (line.len >= CDXJ_LINE_BYTES_MAX)
            return archive_error_set(
                index->error, (struct archive_place){ARCHIVE_BAD_LINE, file->source.name, file->line_offset},
                "line %" PRIu64 " is too long", file->line_number);
        if (file->line_number > 1 && line_sort_compare(line, before) < 0)
            return archive_error_set(
                index->error, (struct archive_place){ARCHIVE_UNSORTED, file->source.name, file->line_offset},
                "line %" PRIu64 " comes before the line above it: the file is not sorted", file->line_number);
        if (!add_line(index, line))
            return archive_error_set(
                index->error, (struct archive_place){ARCHIVE_BAD_LINE, file->source.name, file->line_offset},
                "line %" PRIu64 " is no line of a CDXJ index", file->line_number);
        before.len = line.len;
        if (file->line_number % INDEX_RECORDS_PER_LOOK == 0 &&
            !go_on(index, file->source.name, file->line_offset))
            return false;
    }
    index->counts.bytes += file->size;
    return index->error->fault == ARCHIVE_OK;
}

bool index_add_cdxj(struct index *index, const char *path)
{
    struct cdxj_file file;
    if (!cdxj_file_open(&file, path, index->error))
        return false;
    bool good = add_lines(index, &file);
    cdxj_file_fini(&file);
    return good;
}

/* All lines to the file, and the file to the disk. */
static bool write_lines(struct index *index, FILE *file, const char *path)
{
    struct slice line;
    for (uint64_t i = 1; line_sort_next(&index->sort, &line); i++) {
        if (fwrite_unlocked(line.ptr, 1, line.len, file) != line.len || putc_unlocked('\n', file) == EOF)
            return archive_error_of_call(index->error, errno, "write", path);
        if (i % INDEX_RECORDS_PER_LOOK == 0 && !go_on(index, path, 0))
            return false;
    }
    if (index->error->fault != ARCHIVE_OK)
        return false;
    if (fflush(file) != 0 || fsync(fileno(file)) != 0)
        return archive_error_of_call(index->error, errno, "write", path);
    return true;
}

static bool fail_exists(struct index *index, const char *path)
{
    return archive_error_set(index->error, (struct archive_place){ARCHIVE_EXISTS, path, 0},
                             "the file is there already, and stays as it is (--force overwrites it)");
}

/* The file gets its name; whether another has it is asked and told in one step, where the file system can. */
static bool name_file(struct index *index, const char *from, const char *to)
{
    unsigned flags = index->options.is_forced ? 0 : RENAME_NOREPLACE;
    int result = renameat2(AT_FDCWD, from, AT_FDCWD, to, flags);
    if (result != 0 && flags && errno == EINVAL && access(to, F_OK) != 0)
        result = rename(from, to);
    if (result == 0)
        return true;
    return errno == EEXIST ? fail_exists(index, to)
                           : archive_error_of_call(index->error, errno, "rename", from);
}

bool index_write(struct index *index, const char *path)
{
    char temporary[1200];
    int len = snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
    if (len < 0 || (size_t)len >= sizeof temporary)
        return archive_error_of_call(index->error, ENAMETOOLONG, "create", path);
    if (!index->options.is_forced && access(path, F_OK) == 0)
        return fail_exists(index, path);
    if (!line_sort_finish(&index->sort))
        return false;
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        archive_error_of_call(index->error, errno, "create", temporary);
        if (fd >= 0)
            close(fd);
        return false;
    }
    bool good = write_lines(index, file, path);
    if (fclose(file) != 0 && good)
        good = archive_error_of_call(index->error, errno, "write", path);
    good = good && name_file(index, temporary, path);
    if (!good)
        unlink(temporary);
    return good;
}

bool index_file(const char *warc, const char *cdxj, const struct index_options *options,
                struct archive_error *error)
{
    char directory[1100];
    struct index_options own = *options;
    const char *slash = strrchr(cdxj, '/');
    snprintf(directory, sizeof directory, "%.*s", slash ? (int)(slash - cdxj) + 1 : 1, slash ? cdxj : ".");
    if (!own.directory)
        own.directory = directory;
    if (!own.is_forced && access(cdxj, F_OK) == 0)
        return archive_error_set(error, (struct archive_place){ARCHIVE_EXISTS, cdxj, 0},
                                 "the file is there already, and stays as it is (--force overwrites it)");
    struct index *index = index_create(&own, error);
    if (!index)
        return false;
    bool good = index_add_warc(index, warc) && index_write(index, cdxj);
    index_destroy(index);
    return good;
}
