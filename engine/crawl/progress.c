#include "engine/crawl/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A line, or the header. */
enum { LINE_BYTES = 4096 };

static size_t write_header(char line[LINE_BYTES])
{
    char buffer[SAMPLE_NAME_BYTES];
    size_t len = 0;
    for (unsigned i = 0; i < SAMPLE_COUNT; i++)
        len += (size_t)snprintf(line + len, LINE_BYTES - len, "%s%s", i ? "\t" : "", sample_name(i, buffer));
    return len + (size_t)snprintf(line + len, LINE_BYTES - len, "\n");
}

static bool read_sample(const char *line, struct sample *sample)
{
    for (unsigned i = 0; i < SAMPLE_COUNT; i++) {
        char *end;
        sample->values[i] = strtoull(line, &end, 10);
        if (end == line || *end != (i + 1 < SAMPLE_COUNT ? '\t' : '\n'))
            return false;
        line = end + 1;
    }
    return true;
}

/* How many bytes of the file are whole lines of ours; 0: it is not ours. */
static long read_lines(const struct progress *progress, FILE *file, struct sample *last, bool *has_last)
{
    char line[LINE_BYTES], header[LINE_BYTES];
    long end = 0;
    write_header(header);
    if (!fgets(line, sizeof line, file) || strcmp(line, header) != 0)
        return 0;
    do {
        end = ftell(file);
        struct sample sample;
        if (!fgets(line, sizeof line, file) || !read_sample(line, &sample))
            return end;
        *last = sample;
        *has_last = true;
        if (progress->on_sample)
            progress->on_sample(progress->owner, &sample);
    } while (true);
}

/* Makes a file that is there fit for more lines. */
static bool take_up(const struct progress *progress, const char *path, struct sample *last)
{
    char old[1200];
    bool has_last = false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    long end = read_lines(progress, file, last, &has_last);
    fclose(file);
    if (end > 0 && truncate(path, end) == 0)
        return has_last;
    snprintf(old, sizeof old, "%s.old", path);
    rename(path, old);
    return false;
}

bool progress_open(struct progress *progress, const char *path, struct sample *last)
{
    char header[LINE_BYTES];
    bool has_last = take_up(progress, path, last);
    progress->file = fopen(path, "ae");
    if (progress->file && ftell(progress->file) == 0) {
        fwrite(header, 1, write_header(header), progress->file);
        fflush(progress->file);
    }
    return has_last;
}

void progress_add(struct progress *progress, const struct sample *sample)
{
    char line[LINE_BYTES];
    size_t len = 0;
    if (!progress->file)
        return;
    for (unsigned i = 0; i < SAMPLE_COUNT; i++)
        len += (size_t)snprintf(line + len, sizeof line - len, "%s%" PRIu64, i ? "\t" : "", sample->values[i]);
    line[len++] = '\n';
    fwrite(line, 1, len, progress->file);
    fflush(progress->file);
}

void progress_close(struct progress *progress)
{
    if (progress->file)
        fclose(progress->file);
    progress->file = NULL;
}
