#include "engine/archive/cdxj_file.h"

#include "engine/archive/limits.h"
#include "engine/archive/line_sort.h"

/* A line is looked for in parts of this size; nearly all fit the first. */
enum { LINE_PART_BYTES = 2048 };

bool cdxj_file_open(struct cdxj_file *file, const char *path, struct archive_error *error)
{
    *file = (struct cdxj_file){.error = error};
    if (!source_open(&file->source, path, error))
        return false;
    file->size = source_size(&file->source);
    return true;
}

void cdxj_file_fini(struct cdxj_file *file)
{
    source_fini(&file->source);
}

/* The line at `offset`, without its end; *len is its length with it. 0: the end of the file, or the error is set. */
static struct slice line_at(struct cdxj_file *file, uint64_t offset, size_t *len)
{
    struct slice bytes = source_bytes(&file->source, offset, LINE_PART_BYTES, file->error);
    const char *end = memchr(bytes.ptr, '\n', bytes.len);
    if (!end && bytes.len >= LINE_PART_BYTES) {
        bytes = source_bytes(&file->source, offset, CDXJ_LINE_BYTES_MAX, file->error);
        end = memchr(bytes.ptr, '\n', bytes.len);
        if (!end && bytes.len >= CDXJ_LINE_BYTES_MAX)
            archive_error_set(file->error,
                              (struct archive_place){ARCHIVE_BAD_LINE, file->source.name, offset},
                              "a line of more than 128 KiB");
    }
    bool is_good = file->error->fault == ARCHIVE_OK;
    struct slice line = end ? slice_between(bytes.ptr, end) : bytes;
    *len = is_good ? line.len + (end != NULL) : 0;
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

bool cdxj_file_next(struct cdxj_file *file, struct slice *line)
{
    size_t len;
    if (file->error->fault != ARCHIVE_OK)
        return false;
    *line = line_at(file, file->next, &len);
    file->line_offset = file->next;
    file->line_number++;
    file->next += len;
    return len > 0;
}

/* Where the first line begins that begins at `offset` or behind it; the end of the file if there is none. */
static uint64_t line_begin(struct cdxj_file *file, uint64_t offset)
{
    while (offset > 0) {
        struct slice bytes = source_bytes(&file->source, offset - 1, 1, file->error);
        const char *end = memchr(bytes.ptr, '\n', bytes.len);
        if (end)
            return offset + (uint64_t)(end - bytes.ptr);
        if (bytes.len == 0)
            return file->size;
        offset += bytes.len;
    }
    return 0;
}

bool cdxj_file_find(struct cdxj_file *file, struct slice text)
{
    uint64_t low = 0, high = file->size;
    while (low < high && file->error->fault == ARCHIVE_OK) {
        uint64_t middle = low + (high - low) / 2;
        size_t len;
        struct slice line = line_at(file, line_begin(file, middle), &len);
        if (len > 0 && line_sort_compare(line, text) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    file->next = line_begin(file, low);
    return file->error->fault == ARCHIVE_OK;
}
