#include "engine/frontier/seeds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/url/domain.h"

static enum url_error parse(struct url *url, struct slice text)
{
    enum url_error error = url_parse(url, NULL, text);
    char with_scheme[URL_BYTES_MAX];
    /* "example.org:8080/x" parses as a scheme, but people mean a host. */
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
    if (!sink->take(sink->owner, &url)) {
        snprintf(error->message, sizeof error->message, "no memory for another seed");
        return false;
    }
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

/* The text of a file. False: it cannot be read; errno says why. */
static bool map_file(const char *path, struct slice *text)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0 && fstat(fd, &status) == 0;
    *text = (struct slice){NULL, 0};
    if (good && status.st_size) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        good = bytes != MAP_FAILED;
        *text = (struct slice){good ? bytes : NULL, good ? (size_t)status.st_size : 0};
    }
    if (fd >= 0)
        close(fd);
    return good;
}

static void unmap_file(struct slice text)
{
    if (text.len)
        munmap((void *)(uintptr_t)text.ptr, text.len);
}

bool seeds_take_appended(struct seeds_sink *sink, const char *path, struct tuning_error *error)
{
    struct slice text;
    if (!map_file(path, &text)) {
        snprintf(error->message, sizeof error->message, "%s: %s", path, strerror(errno));
        return errno == ENOENT;
    }
    const char *end = text.len ? memrchr(text.ptr, '\n', text.len) : NULL;
    struct slice whole = {text.ptr, end ? (size_t)(end - text.ptr) : 0};
    bool good = seeds_take_lines(sink, path, whole, error);
    unmap_file(text);
    return good;
}

/* Reads what is left of a stream; false: no memory, or the stream fails. */
static bool read_all(FILE *in, char **text, size_t *len)
{
    size_t size = 0;
    for (;;) {
        if (*len == size) {
            size = size ? 2 * size : 1 << 16;
            char *larger = realloc(*text, size);
            if (!larger)
                return false;
            *text = larger;
        }
        size_t got = fread(*text + *len, 1, size - *len, in);
        if (got == 0)
            return !ferror(in);
        *len += got;
    }
}

bool seeds_stdin(struct slice *text)
{
    static char *bytes;
    static size_t len;
    static bool is_read, is_good;
    if (!is_read)
        is_good = read_all(stdin, &bytes, &len);
    is_read = true;
    *text = (struct slice){bytes, len};
    return is_good;
}

/* A mistyped file name must not become a host: a bare name counts only if its top-level domain is known, or
 * it has a port, or it is an address. */
static bool is_bare_url(struct slice text)
{
    char buffer[URL_BYTES_MAX];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    if (text.len == 0 || text.ptr[0] == '/' || text.ptr[0] == '.' || parse(&url, text) != URL_OK)
        return false;
    return url.port != 80 || slice_equals(url_host(&url), SLICE("localhost")) ||
           url_host_is_address(url_host(&url)) || domain_is_known(url_host(&url));
}

enum seeds_source seeds_source_of(const char *argument)
{
    struct stat status;
    if (strcmp(argument, "-") == 0)
        return SEEDS_STDIN;
    if (strstr(argument, "://"))
        return SEEDS_URL;
    if (stat(argument, &status) == 0)
        return S_ISREG(status.st_mode) ? SEEDS_FILE : SEEDS_NONE;
    return is_bare_url(slice_of(argument)) ? SEEDS_URL : SEEDS_NONE;
}

static bool take_path(struct seeds_sink *sink, const char *path, struct tuning_error *error)
{
    struct slice text;
    if (!map_file(path, &text)) {
        snprintf(error->message, sizeof error->message, "%s: %s", path, strerror(errno));
        return false;
    }
    bool good = seeds_take_lines(sink, path, text, error);
    unmap_file(text);
    return good;
}

bool seeds_take_argument(struct seeds_sink *sink, const char *argument, struct tuning_error *error)
{
    struct slice text;
    switch (seeds_source_of(argument)) {
    case SEEDS_URL:
        return seeds_take_text(sink, slice_of(argument), error);
    case SEEDS_FILE:
        return take_path(sink, argument, error);
    case SEEDS_STDIN:
        if (seeds_stdin(&text))
            return seeds_take_lines(sink, "standard input", text, error);
        snprintf(error->message, sizeof error->message, "standard input cannot be read");
        return false;
    case SEEDS_NONE:
        break;
    }
    snprintf(error->message, sizeof error->message, "'%.200s' is neither a file nor a URL (http://...)",
             argument);
    return false;
}
