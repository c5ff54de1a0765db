/* One file of records becomes many: see unpacker.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/archive/payload.h"
#include "engine/archive/source.h"
#include "engine/archive/warc_read.h"
#include "engine/content/fingerprint.h"
#include "engine/crawl/limits.h"
#include "engine/crawl/unpacker.h"
#include "engine/store/page_path.h"

struct path {
    char text[UNPACKER_PATH_BYTES];
};

static struct path path_of(const struct unpacker_options *options, const char *name)
{
    struct path path;
    snprintf(path.text, sizeof path.text, "%s/%s", options->directory, name);
    return path;
}

static struct path incoming(const struct unpacker_options *options, const char *name)
{
    struct path path;
    snprintf(path.text, sizeof path.text, "%s/incoming/%s", options->directory, name);
    return path;
}

/* The page at hand. */
struct job {
    const struct unpacker_options *options;
    struct source source;
    struct warc_read reader;
    struct payload payload;
    struct archive_error error;
    FILE *list;
    struct path part;
    int fd;     /* of the part */
    int failed; /* a negative errno */
    uint64_t bytes;
    struct fingerprint_sha1 sha1;
};

static int sync_directory(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int error = fsync(fd) == 0 ? 0 : -errno;
    close(fd);
    return error;
}

static int write_all(int fd, struct slice bytes)
{
    while (bytes.len) {
        ssize_t written = write(fd, bytes.ptr, bytes.len);
        if (written < 0 && errno != EINTR)
            return -errno;
        bytes = slice_skip(bytes, written > 0 ? (size_t)written : 0);
    }
    return 0;
}

static bool take(void *owner, struct slice bytes)
{
    struct job *job = owner;
    uint64_t left = job->options->body_bytes_max - job->bytes;
    bool is_cut = bytes.len > left;
    bytes.len = is_cut ? (size_t)left : bytes.len;
    fingerprint_sha1_push(&job->sha1, bytes);
    job->bytes += bytes.len;
    job->failed = write_all(job->fd, bytes);
    return !is_cut && !job->failed;
}

/* Writes the body to the part, once from its beginning. False: something failed, or the coding is not what the head says. */
static bool write_body(struct job *job, bool is_raw)
{
    struct payload_options options = {.is_raw = is_raw, .take = take, .owner = job};
    job->bytes = 0;
    fingerprint_sha1_init(&job->sha1);
    if (ftruncate(job->fd, 0) != 0 || lseek(job->fd, 0, SEEK_SET) != 0)
        job->failed = -errno;
    return !job->failed &&
           (payload_read(&job->payload, &job->reader, &options) ||
            (!job->error.fault && !job->failed)); /* longer than the limit: the rest is left out */
}

/* A body in another coding than its head says is kept as it came. */
static bool write_part(struct job *job)
{
    uint64_t offset = job->reader.record.offset;
    if (write_body(job, false))
        return true;
    if (job->error.fault != ARCHIVE_BAD_CODING)
        return false;
    job->error = (struct archive_error){.fault = ARCHIVE_OK};
    warc_read_seek(&job->reader, offset);
    return warc_read_next(&job->reader) == WARC_READ_DONE && write_body(job, true);
}

/* The folders of a path below DIR/files. */
static int make_folders(char *path, size_t from)
{
    for (char *slash = path + from; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        int failed = mkdir(path, 0755) == 0 || errno == EEXIST ? 0 : -errno;
        *slash = '/';
        if (failed)
            return failed;
    }
    return 0;
}

/* Gives the part its name. */
static int place(struct job *job, const char *name)
{
    struct path path;
    int len = snprintf(path.text, sizeof path.text, "%s/files/", job->options->directory);
    snprintf(path.text + len, sizeof path.text - (size_t)len, "%s", name);
    if (rename(job->part.text, path.text) == 0)
        return 0;
    int failed = errno == ENOENT ? make_folders(path.text, (size_t)len) : -errno;
    return failed || rename(job->part.text, path.text) == 0 ? failed : -errno;
}

/* The media type as the head has it, up to the first byte that would break the columns. */
static struct slice plain_type(const struct message *message)
{
    struct slice type = message->has_head ? message->head->known[HTTP_KNOWN_CONTENT_TYPE] : SLICE("");
    size_t len = 0;
    while (len < type.len && len < UNPACKER_TYPE_BYTES_MAX && (unsigned char)type.ptr[len] >= ' ')
        len++;
    return len ? (struct slice){type.ptr, len} : SLICE("-");
}

/* "URL STATUS TYPE DATE DIGEST BYTES PATH", with tabs between them. What cannot be written is told here: at the end, stdio
 * has thrown it away. */
static int list(struct job *job, struct slice url, const char *name)
{
    const struct message *message = &job->payload.message;
    struct slice type = plain_type(message), date = job->reader.record.head.fields[WARC_FIELD_DATE];
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
    char text[FINGERPRINT_BASE32_CHARS];
    fingerprint_sha1_finish(&job->sha1, digest);
    fingerprint_base32(digest, text);
    int len = fprintf(job->list, "%.*s\t%d\t%.*s\t%.*s\tsha1:%.*s\t%" PRIu64 "\tfiles/%s\n", (int)url.len,
                      url.ptr, message->has_head ? message->head->status : 0, (int)type.len, type.ptr,
                      (int)date.len, date.ptr, (int)sizeof text, text, job->bytes, name);
    return len < 0 ? -errno : 0;
}

static int make_file(struct job *job)
{
    char name[PAGE_PATH_BYTES_MAX], text[URL_BYTES_MAX];
    struct slice found = warc_head_uri(job->reader.record.head.fields[WARC_FIELD_TARGET_URI]);
    struct slice target = {text, found.len};
    struct url url;
    if (found.len == 0 || found.len > sizeof text)
        return -EBADMSG;
    memcpy(text, found.ptr, found.len); /* the record is read twice if its coding is wrong */
    url_open(&url, target);
    job->fd = open(job->part.text, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (job->fd < 0)
        return -errno;
    bool is_written = write_part(job);
    if (close(job->fd) != 0 && !job->failed)
        job->failed = -errno;
    if (!is_written || job->failed)
        return job->failed ? job->failed : -EBADMSG;
    page_path_write(name, &url);
    int failed = place(job, name);
    return failed ? failed : list(job, target, name);
}

static int make_files(struct job *job)
{
    int failed = 0;
    while (!failed && warc_read_next(&job->reader) == WARC_READ_DONE)
        if (warc_head_is_type(&job->reader.record.head, SLICE("response")) ||
            warc_head_is_type(&job->reader.record.head, SLICE("revisit")))
            failed = make_file(job);
    if (!failed && job->error.fault)
        failed = job->error.fault == ARCHIVE_SYSTEM      ? -abs(job->error.code)
                 : job->error.fault == ARCHIVE_NO_MEMORY ? -ENOMEM
                                                         : -EBADMSG;
    return failed;
}

static int open_and_make(struct job *job, const char *path)
{
    int failed = -EIO;
    if (!payload_init(&job->payload))
        return -ENOMEM;
    if (source_open(&job->source, path, &job->error)) {
        if (warc_read_init(&job->reader, &job->source, &job->error)) {
            failed = make_files(job);
            warc_read_fini(&job->reader);
        }
        source_fini(&job->source);
    }
    payload_fini(&job->payload);
    return failed;
}

/* Says which file is at hand, and how long the list was before it. */
static int set_mark(const struct unpacker_options *options, const char *name, off_t length)
{
    struct path mark = path_of(options, "files.mark"), part = path_of(options, "files.mark.part");
    char text[UNPACKER_MARK_BYTES];
    int len = snprintf(text, sizeof text, "%jd %s\n", (intmax_t)length, name);
    int fd = open(part.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    int failed = write_all(fd, (struct slice){text, (size_t)len});
    if (!failed && options->syncs && fsync(fd) != 0)
        failed = -errno;
    close(fd);
    if (!failed && rename(part.text, mark.text) != 0)
        failed = -errno;
    return failed || !options->syncs ? failed : sync_directory(options->directory);
}

/* All of the file is in DIR/files and in the list: it goes, and then the mark. */
static int let_go(const struct unpacker_options *options, const char *name)
{
    struct path path = incoming(options, name), folder = incoming(options, "");
    struct path mark = path_of(options, "files.mark"), files = path_of(options, "files");
    int failed = 0, fd = options->syncs ? open(files.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (options->syncs && (fd < 0 || syncfs(fd) != 0))
        failed = -errno;
    if (fd >= 0)
        close(fd);
    if (!failed && unlink(path.text) != 0)
        failed = -errno;
    if (!failed && options->syncs)
        failed = sync_directory(folder.text);
    return failed || unlink(mark.text) == 0 ? failed : -errno;
}

int unpacker_unpack(const struct unpacker_options *options, const char *name)
{
    struct path path = incoming(options, name), list_path = path_of(options, "files.tsv");
    struct job job = {.options = options, .part = path_of(options, "files/.part")};
    job.list = fopen(list_path.text, "ae");
    if (!job.list)
        return -errno;
    int failed = fseeko(job.list, 0, SEEK_END) == 0 ? set_mark(options, name, ftello(job.list)) : -errno;
    if (!failed)
        failed = open_and_make(&job, path.text);
    if (fflush(job.list) != 0 && !failed)
        failed = -errno;
    if (fclose(job.list) != 0 && !failed)
        failed = -errno;
    return failed ? failed : let_go(options, name);
}

int unpacker_recover(const struct unpacker_options *options)
{
    struct path mark = path_of(options, "files.mark"), list = path_of(options, "files.tsv");
    char line[UNPACKER_MARK_BYTES] = "", *name;
    unlink(path_of(options, "files/.part").text);
    FILE *file = fopen(mark.text, "re");
    if (!file)
        return errno == ENOENT ? 0 : -errno;
    bool is_good = fgets(line, sizeof line, file) && strchr(line, '\n');
    fclose(file);
    intmax_t length = strtoimax(line, &name, 10);
    if (!is_good || *name != ' ')
        return -EBADMSG;
    name[strcspn(name, "\n")] = '\0';
    bool is_there = access(incoming(options, name + 1).text, F_OK) == 0;
    if (is_there && truncate(list.text, (off_t)length) != 0 && errno != ENOENT)
        return -errno;
    return unlink(mark.text) == 0 ? 0 : -errno;
}
