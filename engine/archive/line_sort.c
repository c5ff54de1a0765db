#include "engine/archive/line_sort.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/archive/limits.h"

_Static_assert(LINE_SORT_RUN_BYTES >= CDXJ_LINE_BYTES_MAX, "a buffer holds any line");
_Static_assert(LINE_SORT_MEMORY_MIN >= 4 * LINE_SORT_RUN_BYTES,
               "two runs can be merged, and a run holds a line");

/* A run in the temporary file, and the part of it that is at hand. */
struct line_sort_run {
    uint64_t offset, end; /* of what is not at hand */
    char *buffer;         /* NULL: not being merged */
    size_t at, held;
    struct slice line; /* the first one that was not given out */
};

bool line_sort_init(struct line_sort *sort, const struct line_sort_options *options,
                    struct archive_error *error)
{
    assert(options->memory_bytes >= LINE_SORT_MEMORY_MIN);
    *sort = (struct line_sort){.options = *options, .error = error, .fd = -1};
    sort->options.memory_bytes -= options->memory_bytes % sizeof(struct slice);
    sort->memory = malloc(sort->options.memory_bytes);
    if (!sort->memory)
        return archive_error_of_call(error, ENOMEM, "sort", "lines");
    sort->lines = (struct slice *)(void *)(sort->memory + sort->options.memory_bytes);
    return true;
}

void line_sort_fini(struct line_sort *sort)
{
    if (sort->fd >= 0)
        close(sort->fd);
    free(sort->memory);
    free(sort->runs);
    free(sort->heap);
    *sort = (struct line_sort){.fd = -1};
}

int line_sort_compare(struct slice a, struct slice b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.ptr, b.ptr, len) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare(const void *a, const void *b)
{
    return line_sort_compare(*(const struct slice *)a, *(const struct slice *)b);
}

static bool open_file(struct line_sort *sort)
{
    char path[1200];
    int len = snprintf(path, sizeof path, "%s/lycosa-sort-XXXXXX", sort->options.directory);
    if (sort->fd >= 0)
        return true;
    if (len < 0 || (size_t)len >= sizeof path)
        return archive_error_of_call(sort->error, ENAMETOOLONG, "create a file in", sort->options.directory);
    sort->fd = mkostemp(path, O_CLOEXEC);
    if (sort->fd < 0)
        return archive_error_of_call(sort->error, errno, "create a file in", sort->options.directory);
    unlink(path);
    return true;
}

/* Behind what is there. */
static bool write_file(struct line_sort *sort, struct slice bytes)
{
    while (bytes.len) {
        ssize_t written = pwrite(sort->fd, bytes.ptr, bytes.len, (off_t)sort->file_bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return archive_error_of_call(sort->error, written ? errno : EIO, "write to a temporary file in",
                                         sort->options.directory);
        sort->file_bytes += (uint64_t)written;
        bytes = slice_skip(bytes, (size_t)written);
    }
    return true;
}

static struct line_sort_run *add_run(struct line_sort *sort)
{
    if (sort->run_count == sort->run_room) {
        size_t room = sort->run_room ? 2 * sort->run_room : 16;
        struct line_sort_run *runs = realloc(sort->runs, room * sizeof *runs);
        if (!runs) {
            archive_error_of_call(sort->error, ENOMEM, "sort", "lines");
            return NULL;
        }
        sort->runs = runs;
        sort->run_room = room;
    }
    struct line_sort_run *run = &sort->runs[sort->run_count++];
    *run = (struct line_sort_run){.offset = sort->file_bytes, .end = sort->file_bytes};
    return run;
}

/* Lines on their way to the file. */
struct gathering {
    char *bytes;
    size_t held;
};

static bool gather(struct line_sort *sort, struct gathering *gathering, struct slice line)
{
    if (gathering->held + line.len + 1 > LINE_SORT_RUN_BYTES) {
        if (!write_file(sort, (struct slice){gathering->bytes, gathering->held}))
            return false;
        gathering->held = 0;
    }
    memcpy(gathering->bytes + gathering->held, line.ptr, line.len);
    gathering->bytes[gathering->held + line.len] = '\n';
    gathering->held += line.len + 1;
    return true;
}

/* Writes what is in memory as a run. */
static bool spill(struct line_sort *sort)
{
    struct gathering gathering = {.bytes = malloc(LINE_SORT_RUN_BYTES)};
    bool good = gathering.bytes || archive_error_of_call(sort->error, ENOMEM, "sort", "lines");
    qsort(sort->lines, sort->count, sizeof *sort->lines, compare);
    struct line_sort_run *run = good && open_file(sort) ? add_run(sort) : NULL;
    good = run;
    for (size_t i = 0; good && i < sort->count; i++)
        good = gather(sort, &gathering, sort->lines[i]);
    good = good && write_file(sort, (struct slice){gathering.bytes, gathering.held});
    if (good)
        run->end = sort->file_bytes;
    free(gathering.bytes);
    sort->lines += sort->count;
    sort->count = sort->used = 0;
    return good;
}

bool line_sort_add(struct line_sort *sort, struct slice line)
{
    assert(line.len > 0 && line.len <= CDXJ_LINE_BYTES_MAX && line.ptr[line.len - 1] == '\n');
    size_t room = (size_t)((char *)sort->lines - sort->memory) - sort->used;
    if (sort->error->fault != ARCHIVE_OK)
        return false;
    if (room < line.len + sizeof *sort->lines && !spill(sort))
        return false;
    struct slice kept = {memcpy(sort->memory + sort->used, line.ptr, line.len), line.len - 1};
    sort->used += line.len;
    *--sort->lines = kept;
    sort->count++;
    return true;
}

/* Reads on. False: the run is at its end, or the error is set. */
static bool refill(struct line_sort *sort, struct line_sort_run *run)
{
    size_t kept = run->held - run->at;
    memmove(run->buffer, run->buffer + run->at, kept);
    run->at = 0;
    run->held = kept;
    uint64_t left = run->end - run->offset;
    size_t room = LINE_SORT_RUN_BYTES - kept, want = left < room ? (size_t)left : room;
    while (want) {
        ssize_t got = pread(sort->fd, run->buffer + run->held, want, (off_t)run->offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return archive_error_of_call(sort->error, got ? errno : EIO, "read a temporary file in",
                                         sort->options.directory);
        run->held += (size_t)got;
        run->offset += (uint64_t)got;
        want -= (size_t)got;
    }
    return run->held > kept;
}

/* Brings the next line of a run to hand. False: there is none, or the error is set. */
static bool advance(struct line_sort *sort, struct line_sort_run *run)
{
    for (;;) {
        const char *begin = run->buffer + run->at, *end = memchr(begin, '\n', run->held - run->at);
        if (end) {
            run->line = slice_between(begin, end);
            run->at += run->line.len + 1;
            return true;
        }
        if (!refill(sort, run))
            return false;
    }
}

static void sink(struct line_sort *sort, size_t at)
{
    struct line_sort_run **heap = sort->heap, *run = heap[at];
    for (size_t child; (child = 2 * at + 1) < sort->heap_count; at = child) {
        if (child + 1 < sort->heap_count && line_sort_compare(heap[child + 1]->line, heap[child]->line) < 0)
            child++;
        if (line_sort_compare(run->line, heap[child]->line) <= 0)
            break;
        heap[at] = heap[child];
    }
    heap[at] = run;
}

/* The next `count` runs share the memory, one buffer each. */
static bool open_runs(struct line_sort *sort, size_t count)
{
    sort->heap_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct line_sort_run *run = &sort->runs[sort->first + i];
        run->buffer = sort->memory + i * LINE_SORT_RUN_BYTES;
        run->at = run->held = 0;
        if (advance(sort, run))
            sort->heap[sort->heap_count++] = run;
    }
    for (size_t i = sort->heap_count / 2; i-- > 0;)
        sink(sort, i);
    return sort->error->fault == ARCHIVE_OK;
}

/* The line at the top has been used. */
static void drop_top(struct line_sort *sort)
{
    if (!advance(sort, sort->heap[0]))
        sort->heap[0] = sort->heap[--sort->heap_count];
    if (sort->heap_count > 1)
        sink(sort, 0);
}

/* Makes one run of the first `count`. The last buffer of the memory gathers what comes out. */
static bool merge_some(struct line_sort *sort, size_t count)
{
    struct gathering gathering = {.bytes = sort->memory + count * LINE_SORT_RUN_BYTES};
    uint64_t begin = sort->file_bytes;
    if (!open_runs(sort, count))
        return false;
    while (sort->heap_count && sort->error->fault == ARCHIVE_OK) {
        if (!gather(sort, &gathering, sort->heap[0]->line))
            return false;
        drop_top(sort);
    }
    if (!write_file(sort, (struct slice){gathering.bytes, gathering.held}))
        return false;
    sort->first += count;
    struct line_sort_run *run = add_run(sort);
    if (!run)
        return false;
    *run = (struct line_sort_run){.offset = begin, .end = sort->file_bytes};
    return sort->error->fault == ARCHIVE_OK;
}

bool line_sort_finish(struct line_sort *sort)
{
    if (sort->error->fault != ARCHIVE_OK)
        return false;
    if (sort->fd < 0) {
        qsort(sort->lines, sort->count, sizeof *sort->lines, compare);
        return true;
    }
    size_t most = sort->options.memory_bytes / LINE_SORT_RUN_BYTES - 1;
    sort->heap = calloc(most, sizeof(struct line_sort_run *));
    if (!sort->heap)
        return archive_error_of_call(sort->error, ENOMEM, "sort", "lines");
    if (sort->count && !spill(sort))
        return false;
    while (sort->run_count - sort->first > most)
        if (!merge_some(sort, most))
            return false;
    return open_runs(sort, sort->run_count - sort->first);
}

/* The line at the top is given out again before it is dropped, so that it stays good until the next call. */
bool line_sort_next(struct line_sort *sort, struct slice *line)
{
    if (sort->fd < 0) {
        if (sort->count == 0)
            return false;
        *line = *sort->lines++;
        sort->count--;
        return true;
    }
    if (sort->used) /* the line that was given out last */
        drop_top(sort);
    sort->used = sort->heap_count > 0;
    if (sort->heap_count == 0 || sort->error->fault != ARCHIVE_OK)
        return false;
    *line = sort->heap[0]->line;
    return true;
}
