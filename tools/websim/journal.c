#include "tools/websim/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "tools/websim/web.h"

int websim_journal_create(struct websim_journal *journal, const char *path,
                          const struct websim_parameters *parameters)
{
    struct websim_journal_head head;
    memset(&head, 0, sizeof head);
    memcpy(head.magic, WEBSIM_JOURNAL_MAGIC, sizeof head.magic);
    head.bytes = sizeof head;
    head.parameters = *parameters;
    journal->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (journal->fd < 0)
        return -errno;
    lf_store(&journal->offset, sizeof head, relaxed);
    if (pwrite(journal->fd, &head, sizeof head, 0) != (ssize_t)sizeof head) {
        int error = errno ? errno : EIO;
        close(journal->fd);
        return -error;
    }
    return 0;
}

int websim_journal_close(struct websim_journal *journal)
{
    return close(journal->fd) == 0 ? 0 : -errno;
}

static int compare(const void *a, const void *b)
{
    const struct websim_record *left = a, *right = b;
    if (left->time_event != right->time_event)
        return left->time_event < right->time_event ? -1 : 1;
    return left->connection < right->connection ? -1 : left->connection > right->connection;
}

static int refuse(FILE *file, const char *path, const char *why)
{
    fprintf(stderr, "websim: %s: %s\n", path, why);
    if (file)
        fclose(file);
    return -1;
}

static bool is_sound(const struct websim_parameters *parameters, const struct websim_record *record)
{
    struct websim_url url = websim_url_unpack(record->url);
    if (websim_record_event(record) > WEBSIM_EVENT_CLOSE)
        return false;
    return record->url == UINT64_MAX || (url.host < parameters->hosts && url.kind < WEBSIM_KIND_COUNT);
}

/* A server that was killed may leave blocks of zeroes before others that are written. */
static void drop_holes(struct websim_journal_contents *contents)
{
    size_t kept = 0;
    for (size_t i = 0; i < contents->count; i++)
        if (contents->records[i].time_event)
            contents->records[kept++] = contents->records[i];
    contents->count = kept;
}

/* The file from where the head ends. */
static const char *read_records(struct websim_journal_contents *contents, FILE *file, uint64_t bytes)
{
    if (bytes % sizeof *contents->records != 0)
        return "ends within a record";
    contents->count = bytes / sizeof *contents->records;
    contents->records = malloc(bytes ? bytes : 1);
    if (!contents->records)
        return "does not fit into memory";
    if (fread(contents->records, sizeof *contents->records, contents->count, file) != contents->count) {
        free(contents->records);
        return "cannot be read to its end";
    }
    drop_holes(contents);
    for (size_t i = 0; i < contents->count; i++)
        if (!is_sound(&contents->parameters, &contents->records[i])) {
            free(contents->records);
            return "has a record that makes no sense";
        }
    return NULL;
}

int websim_journal_read(struct websim_journal_contents *contents, const char *path)
{
    struct websim_journal_head head;
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &status) != 0)
        return refuse(file, path, strerror(errno));
    if (fread(&head, sizeof head, 1, file) != 1 ||
        memcmp(head.magic, WEBSIM_JOURNAL_MAGIC, sizeof head.magic) != 0 || head.bytes != sizeof head)
        return refuse(file, path, "is not a journal of this version of websim");
    contents->parameters = head.parameters;
    const char *why = read_records(contents, file, (uint64_t)status.st_size - sizeof head);
    if (why)
        return refuse(file, path, why);
    fclose(file);
    qsort(contents->records, contents->count, sizeof *contents->records, compare);
    return 0;
}

void websim_journal_free(struct websim_journal_contents *contents)
{
    free(contents->records);
}

const char *websim_event_word(enum websim_event event)
{
    static const char *const words[] = {"connect", "request", "end", "abort", "close"};
    return (unsigned)event < sizeof words / sizeof *words ? words[event] : "unknown";
}

void websim_journal_dump(const struct websim_journal_contents *contents, FILE *out)
{
    struct websim_web web;
    uint64_t start = contents->count ? websim_record_time(&contents->records[0]) : 0;
    websim_web_init(&web, &contents->parameters);
    for (size_t i = 0; i < contents->count; i++) {
        const struct websim_record *record = &contents->records[i];
        struct websim_url url = websim_url_unpack(record->url);
        char text[WEBSIM_URL_BYTES] = "-";
        if (record->url != UINT64_MAX && url.kind == WEBSIM_KIND_OTHER)
            websim_host_origin(&web, url.host, text);
        else if (record->url != UINT64_MAX)
            websim_url_write(&web, url, text);
        uint64_t at = websim_record_time(record) - start;
        fprintf(out, "%" PRIu64 ".%09" PRIu64 "\t%u\t%s\t%u\t%u\t%s\n", at / 1000000000, at % 1000000000,
                record->connection, websim_event_word(websim_record_event(record)), record->status,
                record->retry_after_s, text);
    }
}
