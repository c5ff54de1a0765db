/* fingerprint and encoding: what is computed over every byte of a page besides its links. */
#include "micro/content.h"

#include <iconv.h>
#include <stdlib.h>
#ifdef HAVE_OPENSSL
#include <openssl/evp.h>
#endif

#include "engine/content/encoding.h"
#include "engine/content/fingerprint.h"
#include "engine/content/simhash.h"
#include "engine/url/hash.h"

struct corpus {
    char *text; /* all pages in one */
    size_t len, room;
    size_t ends[CONTENT_PAGES_MAX]; /* where each page ends in it */
    unsigned pages;
    char *out;
    iconv_t iconv;
};

static void add_page(void *context, char *page, size_t len)
{
    struct corpus *corpus = context;
    if (corpus->len + len > corpus->room) {
        corpus->room = 2 * (corpus->len + len);
        corpus->text = realloc(corpus->text, corpus->room);
    }
    memcpy(corpus->text + corpus->len, page, len);
    corpus->len += len;
    corpus->ends[corpus->pages++] = corpus->len;
    free(page);
}

static bool begin(struct content_row *row)
{
    struct corpus *corpus = calloc(1, sizeof(*corpus));
    row->context = corpus;
    if (!content_each_page(row, add_page, corpus) || corpus->len == 0)
        return false;
    corpus->out = malloc(encoding_utf8_bytes_max(corpus->len));
    corpus->iconv = iconv_open("UTF-8", "WINDOWS-1251");
    row->items = corpus->pages;
    row->bytes = corpus->len;
    return true;
}

static void finish(struct content_row *row)
{
    struct corpus *corpus = row->context;
    if (corpus->out)
        iconv_close(corpus->iconv);
    encoding_fini();
    free(corpus->text);
    free(corpus->out);
    free(corpus);
}

static struct slice text_of(struct content_row *row)
{
    const struct corpus *corpus = row->context;
    return (struct slice){corpus->text, corpus->len};
}

static uint64_t pass_sha1(struct content_row *row)
{
    struct fingerprint_sha1 sha1;
    unsigned char digest[FINGERPRINT_SHA1_BYTES];
    fingerprint_sha1_init(&sha1);
    fingerprint_sha1_push(&sha1, text_of(row));
    fingerprint_sha1_finish(&sha1, digest);
    return digest[0];
}

static uint64_t pass_sha1_plain(struct content_row *row)
{
    fingerprint_use_plain(true);
    uint64_t sum = pass_sha1(row);
    fingerprint_use_plain(false);
    return sum;
}

/* Head and body of a response are one text here, so that both digests are of nearly the same bytes. */
static uint64_t pass_sha1_pair(struct content_row *row)
{
    struct slice text = text_of(row);
    unsigned char block[FINGERPRINT_SHA1_BYTES], payload[FINGERPRINT_SHA1_BYTES];
    fingerprint_sha1_pair((struct slice){text.ptr, 300}, slice_skip(text, 300), block, payload);
    return (uint64_t)block[0] + payload[0];
}

static uint64_t pass_hash(struct content_row *row)
{
    return hash_slice(text_of(row));
}

static uint64_t pass_normalise(struct content_row *row)
{
    struct corpus *corpus = row->context;
    return fingerprint_normalise(text_of(row), corpus->out);
}

/* Page by page: of one long text only the beginning would be read. */
static uint64_t pass_simhash(struct content_row *row)
{
    struct corpus *corpus = row->context;
    uint64_t sum = 0, hash;
    for (unsigned i = 0; i < corpus->pages; i++) {
        size_t begin = i ? corpus->ends[i - 1] : 0;
        if (simhash_html((struct slice){corpus->text + begin, corpus->ends[i] - begin}, &hash))
            sum += hash;
    }
    return sum;
}

static uint64_t pass_simhash_in(struct content_row *row, enum simhash_way way)
{
    simhash_use(way);
    uint64_t sum = pass_simhash(row);
    simhash_use(SIMHASH_AVX512);
    return sum;
}

static uint64_t pass_simhash_avx2(struct content_row *row)
{
    return pass_simhash_in(row, SIMHASH_AVX2);
}

static uint64_t pass_simhash_plain(struct content_row *row)
{
    return pass_simhash_in(row, SIMHASH_PLAIN);
}

/* The way of a textbook: the normalised form, a hash per pair of words, 64 counters. */
static uint64_t pass_simhash_textbook(struct content_row *row)
{
    struct corpus *corpus = row->context;
    size_t len = fingerprint_normalise(text_of(row), corpus->out), before = 0, at = 0;
    int32_t counters[64] = {0};
    uint64_t simhash = 0;
    while (at < len) {
        const char *space = memchr(corpus->out + at, ' ', len - at);
        size_t end = space ? (size_t)(space - corpus->out) : len;
        uint64_t hash = hash_bytes(corpus->out + before, end - before);
        for (unsigned bit = 0; bit < 64; bit++)
            counters[bit] += hash >> bit & 1 ? 1 : -1;
        before = at;
        at = end + 1;
    }
    for (unsigned bit = 0; bit < 64; bit++)
        simhash |= (uint64_t)(counters[bit] > 0) << bit;
    return simhash;
}

static uint64_t pass_is_utf8(struct content_row *row)
{
    return encoding_is_utf8(text_of(row));
}

static uint64_t pass_windows_1251(struct content_row *row)
{
    struct corpus *corpus = row->context;
    return encoding_to_utf8(encoding_find(SLICE("windows-1251")), text_of(row), corpus->out);
}

static uint64_t pass_windows_1252(struct content_row *row)
{
    struct corpus *corpus = row->context;
    return encoding_to_utf8(encoding_windows_1252, text_of(row), corpus->out);
}

static uint64_t pass_iconv(struct content_row *row)
{
    struct corpus *corpus = row->context;
    char *from = corpus->text, *to = corpus->out;
    size_t left = corpus->len, room = encoding_utf8_bytes_max(corpus->len);
    while (left && iconv(corpus->iconv, &from, &left, &to, &room) == (size_t)-1) {
        from++;
        left--;
    }
    return (uint64_t)(to - corpus->out);
}

#ifdef HAVE_OPENSSL
static uint64_t pass_openssl(struct content_row *row)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    EVP_Digest(text_of(row).ptr, text_of(row).len, digest, NULL, EVP_sha1(), NULL);
    return digest[0];
}
#endif

#define ROW(row_name, row_what, row_role, row_pass)                                                          \
    {                                                                                                        \
        .name = row_name, .what = row_what, .unit = CONTENT_MB_PER_SECOND, .role = row_role, .begin = begin, \
        .pass = row_pass, .finish = finish                                                                   \
    }

static struct content_row rows[] = {
    ROW("sha1/ours", "SHA-1 of a body", CONTENT_OURS, pass_sha1),
    ROW("sha1/pair", "two digests of it at once", CONTENT_OURS, pass_sha1_pair),
    ROW("sha1/plain", "the same in portable C", CONTENT_OURS, pass_sha1_plain),
#ifdef HAVE_OPENSSL
    ROW("sha1/openssl", "OpenSSL's EVP_Digest", CONTENT_PEER, pass_openssl),
#endif
    ROW("sha1/xxh3", "the 64-bit hash of the sieve", CONTENT_BASELINE, pass_hash),
    ROW("normalise/page", "the form for near-duplicates", CONTENT_OURS, pass_normalise),
    ROW("simhash/page", "SimHash of each page", CONTENT_OURS, pass_simhash),
    ROW("simhash/avx2", "the same without AVX-512", CONTENT_OURS, pass_simhash_avx2),
    ROW("simhash/plain", "the same in portable C", CONTENT_OURS, pass_simhash_plain),
    ROW("simhash/textbook", "normalise, hash pairs of words, count 64 times", CONTENT_BASELINE,
        pass_simhash_textbook),
    ROW("encoding/is-utf8", "whether a page is UTF-8", CONTENT_OURS, pass_is_utf8),
    ROW("encoding/windows-1252", "a page to UTF-8, our own way", CONTENT_OURS, pass_windows_1252),
    ROW("encoding/windows-1251", "a page to UTF-8 through iconv", CONTENT_OURS, pass_windows_1251),
    ROW("encoding/iconv", "iconv itself", CONTENT_PEER, pass_iconv),
};

__attribute__((constructor)) static void register_rows(void)
{
    content_register_pages(rows, sizeof(rows) / sizeof(rows[0]));
}
