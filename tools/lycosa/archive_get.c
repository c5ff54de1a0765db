/* lycosa archive get DIR|CDXJ... URL: the stored body of a URL, found by the index. A revisit leads to the copy that it
 * refers to. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/archive/lookup.h"
#include "engine/archive/payload.h"
#include "tools/lycosa/archive_parts.h"
#include "tools/lycosa/archive_paths.h"
#include "tools/lycosa/commands.h"

/* A revisit of a revisit is no use; and there are no circles. */
enum { REVISITS_MAX = 4 };

struct request {
    struct archive_paths paths;
    struct lookup lookup;
    struct payload payload;
    struct payload_options options;
    struct archive_error error;
    char refers_time[WARC_TIMESTAMP_CHARS];
};

static bool put(void *owner, struct slice bytes)
{
    struct request *request = owner;
    if (fwrite_unlocked(bytes.ptr, 1, bytes.len, stdout) == bytes.len)
        return true;
    return archive_error_of_call(&request->error, errno, "write", "standard output");
}

/* A WARC file without an index is a hole in the answer. */
static void tell_missing(const struct archive_paths *paths)
{
    size_t missing = 0;
    const char *first = NULL;
    for (size_t i = 0; i < paths->warc_count; i++) {
        char index[1200];
        if (access(archive_paths_index_of(paths->warcs[i], index, sizeof index), F_OK) != 0 && missing++ == 0)
            first = paths->warcs[i];
    }
    if (missing)
        fprintf(stderr, "lycosa archive: %s%s no index and %s not searched; `lycosa index` makes one\n",
                first, missing > 1 ? " and others have" : " has", missing > 1 ? "are" : "is");
}

/* What the revisit refers to, by URL and date, or else by its digest. */
static bool follow(struct request *request, const struct warc_head *head, struct slice url,
                   struct lookup_hit *hit)
{
    struct slice target = warc_head_uri(head->fields[WARC_FIELD_REFERS_TO_TARGET_URI]);
    struct slice date = head->fields[WARC_FIELD_REFERS_TO_DATE];
    struct lookup_question question = {.url = target.len ? target : url, .is_original = true};
    if (date.len) {
        warc_head_timestamp(date, request->refers_time);
        question.timestamp = (struct slice){request->refers_time, sizeof request->refers_time};
    }
    char digest[LOOKUP_TEXT_BYTES];
    snprintf(digest, sizeof digest, "%s", hit->digest);
    if (digest[0] && strcmp(digest, "-") != 0)
        question.digest = slice_of(digest);
    if (lookup_find(&request->lookup, &question, hit, &request->error))
        return true;
    question.digest.len = 0; /* some write no digest, or another one */
    return !request->error.fault && date.len &&
           lookup_find(&request->lookup, &question, hit, &request->error);
}

/* Reads the record that the index leads to. True: done; false: it is a revisit, and `hit` leads to its original, or the
 * error is set. */
static bool read_hit(struct request *request, struct slice url, struct lookup_hit *hit)
{
    struct source source;
    struct warc_read reader;
    struct archive_error *error = &request->error;
    char path[LOOKUP_PATH_BYTES];
    snprintf(path, sizeof path, "%s", hit->warc);
    struct archive_place place = {ARCHIVE_NOT_FOUND, path, hit->offset};
    if (!archive_open(&source, &reader, path, error))
        return false;
    bool is_done = false;
    warc_read_seek(&reader, hit->offset);
    if (warc_read_next(&reader) != WARC_READ_DONE)
        archive_error_set(error, place, "no record begins where the index says");
    else if (warc_head_is_type(&reader.record.head, SLICE("revisit"))) {
        if (!follow(request, &reader.record.head, url, hit))
            archive_error_set(error, place,
                              "a revisit, and the capture that it refers to is not in these indexes");
    } else {
        is_done = payload_read(&request->payload, &reader, &request->options);
    }
    archive_close(&source, &reader);
    return is_done;
}

static int get(struct request *request, struct slice url, struct slice timestamp)
{
    struct lookup_question question = {.url = url, .timestamp = timestamp};
    struct lookup_hit hit;
    if (!lookup_find(&request->lookup, &question, &hit, &request->error)) {
        if (!request->error.fault)
            fprintf(stderr, "lycosa archive: %.*s: no capture of it is in %zu indexes\n", (int)url.len,
                    url.ptr, request->lookup.count);
        return request->error.fault ? archive_fail(&request->error) : LYCOSA_EXIT_FAILED;
    }
    for (unsigned i = 0; i <= REVISITS_MAX; i++)
        if (read_hit(request, url, &hit) || request->error.fault)
            break;
    if (fflush(stdout) != 0)
        archive_error_of_call(&request->error, errno, "write", "standard output");
    return request->error.fault ? archive_fail(&request->error) : LYCOSA_EXIT_DONE;
}

static bool read_paths(struct request *request, int count, char **paths)
{
    for (int i = 0; i < count; i++)
        if (!archive_paths_add(&request->paths, "lycosa archive", paths[i]))
            return false;
    tell_missing(&request->paths);
    request->lookup.indexes = (const char *const *)request->paths.indexes;
    request->lookup.count = request->paths.index_count;
    if (request->paths.index_count == 0)
        fprintf(stderr, "lycosa archive: no index to search; `lycosa index` makes one\n");
    return request->paths.index_count > 0;
}

static bool read_time(const char *text, char timestamp[WARC_TIMESTAMP_CHARS])
{
    struct slice time = slice_of(text);
    size_t digits = 0;
    while (digits < time.len && time.ptr[digits] >= '0' && time.ptr[digits] <= '9')
        digits++;
    bool is_stamp = digits == time.len && digits >= 4 && digits <= WARC_TIMESTAMP_CHARS && digits % 2 == 0;
    bool good = warc_head_timestamp(time, timestamp) || is_stamp;
    if (!good)
        fprintf(stderr, "lycosa archive: --time %s: expected a date (20261116071947, 2026-11-16T07:19:47Z)\n",
                text);
    return good;
}

int archive_get_main(int argc, char **argv)
{
    static struct request request;
    char timestamp[WARC_TIMESTAMP_CHARS];
    struct slice wanted = {timestamp, 0};
    request.options = (struct payload_options){.take = put, .owner = &request};
    optind = 1;
    for (int option; (option = command_getopt(&lycosa_archive, argc, argv)) != -1;) {
        if (option == ARCHIVE_OPTION_TIME) {
            if (!read_time(optarg, timestamp))
                return LYCOSA_EXIT_FAILED;
            wanted.len = sizeof timestamp;
        } else if (option == ARCHIVE_OPTION_HEADERS) {
            request.options.has_head = true;
        } else if (option == ARCHIVE_OPTION_RAW) {
            request.options.is_raw = true;
        } else {
            return LYCOSA_EXIT_USAGE;
        }
    }
    if (argc - optind < 2)
        return LYCOSA_EXIT_USAGE;
    int code = LYCOSA_EXIT_FAILED;
    if (!payload_init(&request.payload))
        fprintf(stderr, "lycosa archive: no memory\n");
    else if (read_paths(&request, argc - optind - 1, argv + optind))
        code = get(&request, slice_of(argv[argc - 1]), wanted);
    payload_fini(&request.payload);
    archive_paths_fini(&request.paths);
    return code;
}
