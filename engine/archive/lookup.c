#include "engine/archive/lookup.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "engine/archive/cdxj.h"
#include "engine/archive/cdxj_file.h"
#include "engine/archive/cdxj_key.h"

static int digits(const char *text, int count)
{
    int value = 0;
    while (count-- > 0)
        value = value * 10 + (*text++ - '0');
    return value;
}

/* Seconds since 1970. What is missing at the end of the timestamp counts as its beginning. */
static int64_t seconds_of(struct slice timestamp)
{
    char full[WARC_TIMESTAMP_CHARS];
    warc_head_timestamp(timestamp, full);
    struct tm tm = {.tm_year = digits(full, 4) - 1900,
                    .tm_mon = digits(full + 4, 2) - 1,
                    .tm_mday = digits(full + 6, 2),
                    .tm_hour = digits(full + 8, 2),
                    .tm_min = digits(full + 10, 2),
                    .tm_sec = digits(full + 12, 2)};
    return timegm(&tm);
}

/* The smaller, the better. Without a time that is wanted, the latest is the best. */
static int64_t distance(struct slice timestamp, struct slice wanted)
{
    return wanted.len ? llabs(seconds_of(timestamp) - seconds_of(wanted)) : -seconds_of(timestamp);
}

static void put_path(struct lookup_hit *hit, const char *index, struct slice filename)
{
    const char *slash = strrchr(index, '/');
    int folder = slash ? (int)(slash - index) + 1 : 0;
    snprintf(hit->warc, sizeof hit->warc, "%.*s%.*s", folder, index, (int)filename.len, filename.ptr);
    if (access(hit->warc, F_OK) != 0)
        snprintf(hit->warc, sizeof hit->warc, "%.*swarc/%.*s", folder, index, (int)filename.len,
                 filename.ptr);
}

static bool is_wanted(const struct lookup_question *question, const struct cdxj *entry)
{
    bool is_revisit = slice_equals(entry->mime, SLICE("warc/revisit"));
    return !(question->is_original && is_revisit) &&
           (question->digest.len == 0 || slice_equals(question->digest, entry->digest)) &&
           memchr(entry->filename.ptr, '\0', entry->filename.len) == NULL;
}

static bool is_better(const struct lookup_hit *hit, const struct lookup_hit *best)
{
    if (hit->is_same_url != best->is_same_url)
        return hit->is_same_url;
    return hit->distance_s < best->distance_s;
}

static void weigh(const struct lookup_question *question, const struct cdxj *entry, const char *index,
                  struct lookup_hit *best)
{
    struct lookup_hit hit = {.offset = entry->offset,
                             .is_revisit = slice_equals(entry->mime, SLICE("warc/revisit")),
                             .is_same_url = slice_equals(entry->url, question->url),
                             .distance_s = distance(entry->timestamp, question->timestamp)};
    if (best->warc[0] && !is_better(&hit, best))
        return;
    snprintf(hit.timestamp, sizeof hit.timestamp, "%.*s", (int)entry->timestamp.len, entry->timestamp.ptr);
    snprintf(hit.digest, sizeof hit.digest, "%.*s", (int)entry->digest.len,
             entry->digest.len ? entry->digest.ptr : "");
    put_path(&hit, index, entry->filename);
    *best = hit;
}

/* A question on its way through the indexes. */
struct search {
    struct lookup *lookup;
    const struct lookup_question *question;
    struct slice key; /* and a space, behind which comes the time */
    struct lookup_hit *best;
};

/* The captures of the key in one index. */
static bool search_index(const struct search *search, const char *index, struct archive_error *error)
{
    struct cdxj_file file;
    struct cdxj entry;
    struct slice line;
    if (!cdxj_file_open(&file, index, error))
        return false;
    cdxj_file_find(&file, search->key);
    while (cdxj_file_next(&file, &line) && slice_starts_with(line, search->key)) {
        if (!cdxj_parse(&entry, line, search->lookup->room))
            archive_error_set(error, (struct archive_place){ARCHIVE_BAD_LINE, index, file.line_offset},
                              "no line of a CDXJ index");
        else if (entry.filename.len && is_wanted(search->question, &entry))
            weigh(search->question, &entry, index, search->best);
    }
    cdxj_file_fini(&file);
    return error->fault == ARCHIVE_OK;
}

bool lookup_find(struct lookup *lookup, const struct lookup_question *question, struct lookup_hit *hit,
                 struct archive_error *error)
{
    struct search search = {lookup, question, cdxj_key_write(lookup->key, question->url), hit};
    *hit = (struct lookup_hit){0};
    if (search.key.len == 0)
        return false;
    lookup->key[search.key.len++] = ' ';
    for (size_t i = 0; i < lookup->count; i++)
        if (!search_index(&search, lookup->indexes[i], error))
            return false;
    return hit->warc[0] != '\0';
}
