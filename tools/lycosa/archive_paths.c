#include "tools/lycosa/archive_paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);
    return len > end_len && strcmp(text + len - end_len, end) == 0;
}

static const char *const warc_ends[] = {".warc", ".warc.gz", ".warc.zst"};

static size_t warc_end_length(const char *path)
{
    for (size_t i = 0; i < sizeof warc_ends / sizeof warc_ends[0]; i++)
        if (ends_with(path, warc_ends[i]))
            return strlen(warc_ends[i]);
    return 0;
}

bool archive_paths_is_index(const char *path)
{
    return ends_with(path, ".cdxj");
}

const char *archive_paths_index_of(const char *warc, char *buffer, size_t size)
{
    snprintf(buffer, size, "%.*s.cdxj", (int)(strlen(warc) - warc_end_length(warc)), warc);
    return buffer;
}

static bool append(char ***list, size_t *count, const char *path)
{
    char **longer = realloc(*list, (*count + 1) * sizeof(char *)), *copy = strdup(path);
    if (longer)
        *list = longer;
    if (!longer || !copy) {
        free(copy);
        return false;
    }
    longer[(*count)++] = copy;
    return true;
}

static bool add_file(struct archive_paths *paths, const char *path)
{
    return archive_paths_is_index(path) ? append(&paths->indexes, &paths->index_count, path)
                                        : append(&paths->warcs, &paths->warc_count, path);
}

/* What is in a folder; 0 or an errno. */
static int add_folder(struct archive_paths *paths, const char *folder)
{
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort), error = count < 0 ? errno : 0;
    for (int i = 0; i < count; i++) {
        char path[1200];
        int len = snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        bool fits = len > 0 && (size_t)len < sizeof path;
        bool is_hidden = names[i]->d_name[0] == '.';
        bool is_wanted = !is_hidden && (warc_end_length(path) || archive_paths_is_index(path));
        paths->open_count += ends_with(path, ".open");
        if (is_wanted && !error && (!fits || !add_file(paths, path)))
            error = fits ? ENOMEM : ENAMETOOLONG;
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    return error;
}

bool archive_paths_add(struct archive_paths *paths, const char *command, const char *path)
{
    char below[1200];
    struct stat status;
    int error = stat(path, &status) == 0 ? 0 : errno;
    if (!error && !S_ISDIR(status.st_mode))
        error = add_file(paths, path) ? 0 : ENOMEM;
    else if (!error) {
        error = add_folder(paths, path);
        snprintf(below, sizeof below, "%s/warc", path);
        if (!error && stat(below, &status) == 0 && S_ISDIR(status.st_mode))
            error = add_folder(paths, below);
    }
    if (error)
        fprintf(stderr, "%s: %s: %s\n", command, path, strerror(error));
    return !error;
}

void archive_paths_fini(struct archive_paths *paths)
{
    for (size_t i = 0; i < paths->warc_count; i++)
        free(paths->warcs[i]);
    for (size_t i = 0; i < paths->index_count; i++)
        free(paths->indexes[i]);
    free(paths->warcs);
    free(paths->indexes);
    *paths = (struct archive_paths){0};
}
