#include "engine/seeds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum url_error parse(struct url *url, struct slice text)
{
    enum url_error error = url_parse(url, NULL, text);
    char with_scheme[URL_BYTES_MAX];
    /* "example.org:8080/x" reads as a scheme of its own; people mean a host. */
    bool has_scheme = memmem(text.ptr, text.len, "://", 3) != NULL;
    if (error == URL_OK || has_scheme || text.len + 7 > sizeof with_scheme)
        return error;
    memcpy(with_scheme, "http://", 7);
    memcpy(with_scheme + 7, text.ptr, text.len);
    return url_parse(url, NULL, (struct slice){with_scheme, text.len + 7});
}

bool seeds_take_text(struct seeds_sink *sink, struct slice text, struct tuning_error *error)
{
    char buffer[URL_BYTES_MAX];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    text = slice_trim(text);
    enum url_error why = text.len ? parse(&url, text) : URL_EMPTY_HOST;
    if (why == URL_OK && memchr(text.ptr, ' ', text.len) && !memmem(text.ptr, text.len, "://", 3))
        why = URL_BAD_HOST;
    if (why != URL_OK) {
        snprintf(error->message, sizeof error->message, "'%.*s' is no URL to start from: %s",
                 (int)(text.len < 200 ? text.len : 200), text.ptr, url_error_text(why));
        return false;
    }
    sink->take(sink->owner, &url);
    sink->count++;
    return true;
}

bool seeds_take_lines(struct seeds_sink *sink, const char *name, struct slice text,
                      struct tuning_error *error)
{
    for (unsigned number = 1; text.len; number++) {
        const char *end = memchr(text.ptr, '\n', text.len);
        struct slice line = slice_trim(end ? slice_between(text.ptr, end) : text);
        text = slice_skip(text, end ? (size_t)(end - text.ptr) + 1 : text.len);
        if (number == 1 && slice_starts_with(line, SLICE("\xef\xbb\xbf")))
            line = slice_skip(line, 3);
        if (line.len == 0 || line.ptr[0] == '#')
            continue;
        struct tuning_error why;
        if (!seeds_take_text(sink, line, &why)) {
            snprintf(error->message, sizeof error->message, "%s:%u: %.400s", name, number, why.message);
            return false;
        }
    }
    return true;
}

static bool take_file(struct seeds_sink *sink, const char *path, int fd, size_t bytes,
                      struct tuning_error *error)
{
    if (bytes == 0)
        return true;
    char *text = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
    if (text == MAP_FAILED) {
        snprintf(error->message, sizeof error->message, "%s: %s", path, strerror(errno));
        return false;
    }
    bool good = seeds_take_lines(sink, path, (struct slice){text, bytes}, error);
    munmap(text, bytes);
    return good;
}

bool seeds_take_argument(struct seeds_sink *sink, const char *argument, struct tuning_error *error)
{
    struct stat status;
    if (strstr(argument, "://"))
        return seeds_take_text(sink, slice_of(argument), error);
    if (stat(argument, &status) != 0 || !S_ISREG(status.st_mode)) {
        snprintf(error->message, sizeof error->message, "'%.200s' is neither a file nor a URL (http://...)",
                 argument);
        return false;
    }
    int fd = open(argument, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(error->message, sizeof error->message, "%s: %s", argument, strerror(errno));
        return false;
    }
    bool good = take_file(sink, argument, fd, (size_t)status.st_size, error);
    close(fd);
    return good;
}
