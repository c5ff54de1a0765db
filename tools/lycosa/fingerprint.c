/* lycosa fingerprint FILE...: by what a crawl tells duplicates. For each page its SimHash, its SHA-1, its number of
 * words; for several, how many bits each two differ in. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/content/fingerprint.h"
#include "engine/content/limits.h"
#include "engine/content/simhash.h"
#include "tools/lycosa/commands.h"

#define READ_BYTES     (1u << 20)
#define FILE_BYTES_MAX (1u << 30)

struct page {
    const char *path;
    uint64_t simhash;
    bool has_simhash; /* it has enough words */
};

_Static_assert(SIMHASH_SHINGLES_MIN + 1 == 17, "the description says so");

const struct command lycosa_fingerprint = {
    .program = "lycosa",
    .name = "fingerprint",
    .run = lycosa_fingerprint_main,
    .synopsis = "FILE...",
    .summary = "SimHash, SHA-1 and words of pages, and how near they are to each other",
    .description = "Prints for each page its SimHash, its SHA-1 (as in WARC-Payload-Digest), its number of words and "
                   "FILE. With several files also in how many bits the SimHashes of each two differ: pages within 3 "
                   "bits are near-duplicates. '-' stands for a page of fewer than 17 words, of which none is told. "
                   "FILE may be '-' for stdin.",
};

/* The whole file, or NULL with errno set. */
static char *read_file(const char *path, size_t *len)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *bytes = NULL, *more = NULL;
    size_t got = 1;
    *len = 0;
    while (file && got > 0 && *len < FILE_BYTES_MAX && (more = realloc(bytes, *len + READ_BYTES)) != NULL) {
        bytes = more;
        got = fread(bytes + *len, 1, READ_BYTES, file);
        *len += got;
    }
    int error = !file || !more || ferror(file) ? errno : got > 0 ? EFBIG : 0;
    if (file && file != stdin)
        fclose(file);
    if (error) {
        free(bytes);
        bytes = NULL;
    }
    errno = error;
    return bytes;
}

/* Words of the normalised form. `text` has room for it. */
static size_t count_words(struct slice html, char *text)
{
    size_t len = fingerprint_normalise(html, text), words = len > 0;
    for (size_t i = 0; i < len; i++)
        words += text[i] == ' ';
    return words;
}

static bool print_page(struct page *page)
{
    struct fingerprint_sha1 sha1;
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
    char base32[FINGERPRINT_BASE32_CHARS], simhash[17] = "-";
    size_t len;
    char *bytes = read_file(page->path, &len), *text = bytes ? malloc(len + 1) : NULL;
    struct slice html = {bytes, len};
    if (!text) {
        free(bytes);
        return false;
    }
    fingerprint_sha1_init(&sha1);
    fingerprint_sha1_push(&sha1, html);
    fingerprint_sha1_finish(&sha1, digest);
    fingerprint_base32(digest, base32);
    page->has_simhash = simhash_html(html, &page->simhash);
    if (page->has_simhash)
        snprintf(simhash, sizeof(simhash), "%016" PRIx64, page->simhash);
    printf("%-16s\tsha1:%.*s\t%zu words\t%s\n", simhash, (int)sizeof(base32), base32, count_words(html, text),
           page->path);
    free(text);
    free(bytes);
    return true;
}

static void print_distances(const struct page *pages, int count)
{
    for (int i = 0; i < count; i++)
        for (int k = i + 1; k < count; k++) {
            if (pages[i].has_simhash && pages[k].has_simhash)
                printf("%u", simhash_distance(pages[i].simhash, pages[k].simhash));
            else
                printf("-");
            printf(" bits\t%s\t%s\n", pages[i].path, pages[k].path);
        }
}

static int run(struct page *pages, char **paths, int count)
{
    for (int i = 0; i < count; i++) {
        pages[i].path = paths[i];
        if (!print_page(&pages[i])) {
            fprintf(stderr, "lycosa fingerprint: %s: %s\n", paths[i], strerror(errno));
            return LYCOSA_EXIT_FAILED;
        }
    }
    print_distances(pages, count);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("lycosa fingerprint: stdout");
        return LYCOSA_EXIT_FAILED;
    }
    return LYCOSA_EXIT_DONE;
}

int lycosa_fingerprint_main(int argc, char **argv)
{
    optind = 1;
    for (int option; (option = command_getopt(&lycosa_fingerprint, argc, argv)) != -1;)
        return command_help(&lycosa_fingerprint, option == 'h' ? stdout : stderr);
    if (optind == argc)
        return command_help(&lycosa_fingerprint, stderr);
    struct page *pages = calloc((size_t)(argc - optind), sizeof(*pages));
    if (!pages) {
        perror("lycosa fingerprint");
        return LYCOSA_EXIT_FAILED;
    }
    int code = run(pages, argv + optind, argc - optind);
    free(pages);
    return code;
}
