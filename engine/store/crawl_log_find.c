#include "engine/store/crawl_log_find.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/url/hash.h"

/* Longer than any line, and long enough that the calls do not count. */
enum { PIECE_BYTES = 1 << 20 };
_Static_assert((int)PIECE_BYTES > 2 * (int)CRAWL_LOG_LINE_BYTES_MAX, "a piece has a whole line");

/* Columns are separated by blanks, some of them padded. False: there are too few. */
static bool split(struct slice line, struct slice columns[CRAWL_LOG_COLUMNS])
{
    const char *at = line.ptr, *end = line.ptr + line.len;
    for (int i = 0; i < CRAWL_LOG_COLUMNS; i++) {
        while (at < end && *at == ' ')
            at++;
        const char *begin = at;
        while (at < end && *at != ' ')
            at++;
        if (at == begin)
            return false;
        columns[i] = slice_between(begin, at);
    }
    return true;
}

/* The lines in a piece of the file: the URL is looked for as text first, because few lines have it. */
static void search(struct crawl_log_find *find, struct slice text)
{
    struct slice columns[CRAWL_LOG_COLUMNS];
    const char *end = text.ptr + text.len, *at = text.ptr, *found;
    while (at < end && (found = memmem(at, (size_t)(end - at), find->url.ptr, find->url.len))) {
        const char *before = memrchr(text.ptr, '\n', (size_t)(found - text.ptr));
        const char *after = memchr(found, '\n', (size_t)(end - found));
        struct slice line = slice_between(before ? before + 1 : text.ptr, after ? after : end);
        if (split(line, columns) && slice_equals(columns[CRAWL_LOG_URL], find->url))
            find->on_line(find->owner, line, columns);
        at = after ? after + 1 : end;
    }
}

static void search_by_hash(struct crawl_log_find *find, struct slice text)
{
    struct slice columns[CRAWL_LOG_COLUMNS];
    const char *end = text.ptr + text.len, *at = text.ptr, *after;
    for (; at < end && (after = memchr(at, '\n', (size_t)(end - at))); at = after + 1) {
        struct slice line = slice_between(at, after);
        if (split(line, columns) && hash_slice(columns[CRAWL_LOG_URL]) == find->hash)
            find->on_line(find->owner, line, columns);
    }
}

int crawl_log_find(struct crawl_log_find *find)
{
    int fd = open(find->path, O_RDONLY | O_CLOEXEC);
    char *piece = fd < 0 ? NULL : malloc(PIECE_BYTES);
    size_t kept = 0; /* the beginning of a line whose rest comes with the next piece */
    ssize_t got = 0;
    int error = piece ? 0 : -errno;
    while (!error && !lf_load(&find->stops, relaxed) && (got = read(fd, piece + kept, PIECE_BYTES - kept)) > 0) {
        size_t len = kept + (size_t)got;
        const char *end = memrchr(piece, '\n', len);
        size_t whole = end ? (size_t)(end - piece) + 1 : len == PIECE_BYTES ? len : 0;
        (find->url.len ? search : search_by_hash)(find, (struct slice){piece, whole});
        kept = len - whole;
        memmove(piece, piece + whole, kept);
    }
    if (got < 0)
        error = -errno;
    free(piece);
    if (fd >= 0)
        close(fd);
    return error;
}
