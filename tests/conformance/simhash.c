/* What SimHash makes of real pages that change as pages on the web do, and of different pages: a table for
 * simhash_html, and for plain SimHashes over other shingles, which shows why it takes those it takes. */
#include <dirent.h>
#include <stdlib.h>

#include "engine/content/fingerprint.h"
#include "engine/content/html.h"
#include "engine/content/simhash.h"
#include "engine/url/hash.h"
#include "tests/support/check.h"

enum { PAGES_MAX = 64, WORDS_MAX = 100000, WORDS_MIN = 200, TRIES = 5, NEAR = 3, FAR = 8 };

/* A page, and its words where they stand in it. */
struct page {
    char *html;
    size_t len;
    struct slice *words;
    unsigned words_count;
};

static struct page pages[PAGES_MAX];
static unsigned pages_count;
static uint64_t seed = 1;

static unsigned draw(unsigned bound)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((seed >> 33) % bound);
}

static bool is_letter(char c)
{
    char lower = c | 0x20;
    return (lower >= 'a' && lower <= 'z') || (unsigned char)c >= 0x80;
}

static void add_words(struct page *page, struct slice text)
{
    for (size_t at = 0, begin; at < text.len; at++) {
        for (begin = at; at < text.len && is_letter(text.ptr[at]); at++)
            ;
        if (at - begin > 2 && page->words_count < WORDS_MAX)
            page->words[page->words_count++] = slice_between(text.ptr + begin, text.ptr + at);
    }
}

/* The words of three letters and more, in text without comments. */
static void find_words(struct page *page)
{
    struct html_walk walk;
    struct html_tag tag;
    const char *from = page->html;
    page->words = malloc(WORDS_MAX * sizeof(struct slice));
    page->words_count = 0;
    html_init(&walk, (struct slice){page->html, page->len}, HTML_READ_ALL | HTML_READ_NOSCRIPT);
    while (html_next(&walk, &tag)) {
        struct slice text = slice_between(from, tag.open);
        if (!memchr(text.ptr, '<', text.len))
            add_words(page, text);
        from = !tag.is_end && tag.body.len ? tag.body.ptr + tag.body.len : tag.close;
    }
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The pages of the corpora that have enough words. */
static void read_pages(void)
{
    struct dirent **names;
    char path[1024];
    const char *folder = check_corpus("html");
    if (pages_count)
        return;
    int count = folder ? scandir(folder, &names, is_visible, alphasort) : -1;
    if (count < 0)
        SKIP("../shared/corpora/html is not there");
    for (int i = 0; i < count; i++) {
        struct page *page = &pages[pages_count];
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        page->html = check_read_file(path, &page->len);
        find_words(page);
        if (page->words_count >= WORDS_MIN && pages_count < PAGES_MAX - 1) {
            pages_count++;
        } else {
            free(page->words);
            free(page->html);
            *page = (struct page){0};
        }
        free(names[i]);
    }
    free(names);
    CHECK(pages_count >= 10);
}

/* A page under construction. */
struct made {
    char html[1 << 20];
    size_t len;
};
static struct made made;

static void put(struct slice text)
{
    CHECK(made.len + text.len <= sizeof(made.html));
    memcpy(made.html + made.len, text.ptr, text.len);
    made.len += text.len;
}

static const char *end_of(const struct page *page)
{
    return page->html + page->len;
}

/* Words from somewhere in another page. */
static void put_words(const struct page *other, unsigned count)
{
    unsigned from = draw(other->words_count);
    for (unsigned i = 0; i < count; i++) {
        put(other->words[(from + i) % other->words_count]);
        put(SLICE(" "));
    }
}

/* The page with words [from, to) replaced by those of another. */
static void replace(const struct page *page, const struct page *other, unsigned from, unsigned to)
{
    const char *at = page->html;
    unsigned source = draw(other->words_count);
    for (unsigned i = from; i < to; i++) {
        put(slice_between(at, page->words[i].ptr));
        put(other->words[source++ % other->words_count]);
        at = page->words[i].ptr + page->words[i].len;
    }
    put(slice_between(at, end_of(page)));
}

static void insert_before(const struct page *page, unsigned word, const struct page *other, unsigned count)
{
    put(slice_between(page->html, page->words[word].ptr));
    put(SLICE("</div><div class=\"new\"><a href=\"/new\">"));
    put_words(other, count);
    put(SLICE("</a></div><div>"));
    put(slice_between(page->words[word].ptr, end_of(page)));
}

static void change_date(const struct page *page, const struct page *other)
{
    (void)other;
    put(SLICE("<p>Updated Tuesday, 17 March 2026, 10:15 pm UTC; 4711 visitors</p>"));
    put((struct slice){page->html, page->len});
}

static void insert_advert(const struct page *page, const struct page *other)
{
    insert_before(page, draw(page->words_count), other, 20);
}

/* Some entries in the first part of the page. */
static void change_menu(const struct page *page, const struct page *other)
{
    unsigned first = draw(WORDS_MIN / 4);
    replace(page, other, first, first + 6);
}

/* Two neighbouring parts of the page change places. */
static void reorder(const struct page *page, const struct page *other)
{
    (void)other;
    unsigned third = page->words_count / 3, first = draw(third), second = first + 1 + draw(third);
    unsigned last = second + 1 + draw(third);
    put(slice_between(page->html, page->words[first].ptr));
    put(slice_between(page->words[second].ptr, page->words[last].ptr));
    put(SLICE(" "));
    put(slice_between(page->words[first].ptr, page->words[second].ptr));
    put(SLICE(" "));
    put(slice_between(page->words[last].ptr, end_of(page)));
}

static void change_paragraph(const struct page *page, const struct page *other)
{
    unsigned first = draw(page->words_count - 40);
    replace(page, other, first, first + 40);
}

static void change_half(const struct page *page, const struct page *other)
{
    unsigned half = page->words_count / 2, first = draw(page->words_count - half);
    replace(page, other, first, first + half);
}

static void change_all(const struct page *page, const struct page *other)
{
    (void)page;
    put((struct slice){other->html, other->len});
}

static const struct mutation {
    const char *name;
    void (*make)(const struct page *page, const struct page *other);
} mutations[] = {
    {"a date and a counter", change_date},
    {"an advert of 20 words", insert_advert},
    {"6 words of the menu", change_menu},
    {"two parts change places", reorder},
    {"a paragraph of 40 words", change_paragraph},
    {"half of the text", change_half},
    {"a different page", change_all},
};
enum { MUTATIONS = sizeof(mutations) / sizeof(mutations[0]), FIRST_FAR = MUTATIONS - 2 };

/* A plain SimHash of normalised text over shingles of `words` words, or of `bytes` bytes. */
static uint64_t plain_simhash(struct slice text, unsigned words, unsigned bytes)
{
    int64_t counters[64] = {0};
    size_t at = 0;
    while (at < text.len) {
        size_t end = at;
        for (unsigned i = 0; i < words && end < text.len; i++)
            for (end += i > 0; end < text.len && text.ptr[end] != ' '; end++)
                ;
        if (bytes)
            end = at + bytes < text.len ? at + bytes : text.len;
        uint64_t hash = hash_bytes(text.ptr + at, end - at);
        for (unsigned bit = 0; bit < 64; bit++)
            counters[bit] += hash >> bit & 1 ? 1 : -1;
        if (end == text.len)
            break;
        if (!bytes)
            while (text.ptr[at] != ' ')
                at++;
        at++;
    }
    uint64_t simhash = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        simhash |= (uint64_t)(counters[bit] > 0) << bit;
    return simhash;
}

/* How much a shingle counts. */
enum weight {
    NONE, /* shingles of another kind */
    EVEN,
    BY_LENGTH, /* as many times as its word has letters: long words are rare */
    HEADINGS,  /* four times in the title and in headings */
};

static const struct way {
    const char *name;
    unsigned words, bytes;
    enum weight weight; /* of seven letters from each word on, as simhash_html takes them */
} ways[] = {{"simhash_html", 0, 0, NONE}, {"1 word", 1, 0, NONE},  {"2 words", 2, 0, NONE}, {"3 words", 3, 0, NONE},
            {"4 words", 4, 0, NONE},      {"5 bytes", 0, 5, NONE}, {"8 bytes", 0, 8, NONE}, {"letters, even", 0, 0, EVEN},
            {"by length", 0, 0, BY_LENGTH}, {"headings", 0, 0, HEADINGS}};
enum { WAYS = sizeof(ways) / sizeof(ways[0]), LETTERS = 7 };

/* Counts the shingles of seven letters of normalised text, `times` each, or by the lengths of words. */
static void count_letters(int64_t counters[64], struct slice text, enum weight weight, int times)
{
    char *letters = malloc(text.len);
    unsigned *starts = malloc((text.len + 1) * sizeof(unsigned)), count = 0, len = 0;
    for (size_t at = 0; at < text.len; at++) {
        if (text.ptr[at] == ' ')
            continue;
        if (at == 0 || text.ptr[at - 1] == ' ')
            starts[count++] = len;
        letters[len++] = text.ptr[at];
    }
    starts[count] = len;
    for (unsigned i = 0; i < count && starts[i] + LETTERS <= len; i++) {
        uint64_t hash = hash_bytes(letters + starts[i], LETTERS);
        int counts = weight == BY_LENGTH ? (int)(starts[i + 1] - starts[i]) : times;
        for (unsigned bit = 0; bit < 64; bit++)
            counters[bit] += hash >> bit & 1 ? counts : -counts;
    }
    free(letters);
    free(starts);
}

static void count_html(int64_t counters[64], struct slice html, enum weight weight, int times)
{
    char *text = malloc(html.len + 1);
    size_t len = fingerprint_normalise(html, text);
    count_letters(counters, (struct slice){text, len}, weight, times);
    free(text);
}

/* The text of all elements of this name, three times more. */
static void count_elements(int64_t counters[64], struct slice html, const char *open, const char *close)
{
    const char *end = html.ptr + html.len, *at = html.ptr, *from, *to;
    while ((from = memmem(at, (size_t)(end - at), open, strlen(open))) &&
           (from = memchr(from, '>', (size_t)(end - from))) &&
           (to = memmem(from, (size_t)(end - from), close, strlen(close)))) {
        count_html(counters, slice_between(from + 1, to), EVEN, 3);
        at = to;
    }
}

static uint64_t weighted_simhash(struct slice html, enum weight weight)
{
    static const char *const elements[][2] = {
        {"<title", "</title"}, {"<h1", "</h1"}, {"<h2", "</h2"}, {"<h3", "</h3"}};
    int64_t counters[64] = {0};
    uint64_t simhash = 0;
    count_html(counters, html, weight, 1);
    for (unsigned i = 0; weight == HEADINGS && i < sizeof(elements) / sizeof(elements[0]); i++)
        count_elements(counters, html, elements[i][0], elements[i][1]);
    for (unsigned bit = 0; bit < 64; bit++)
        simhash |= (uint64_t)(counters[bit] > 0) << bit;
    return simhash;
}

static uint64_t simhash_by(const struct way *way, struct slice html)
{
    uint64_t hash;
    if (way->weight != NONE)
        return weighted_simhash(html, way->weight);
    if (!way->words && !way->bytes) {
        CHECK(simhash_html(html, &hash));
        return hash;
    }
    char *text = malloc(html.len);
    size_t len = fingerprint_normalise(html, text);
    hash = plain_simhash((struct slice){text, len}, way->words, way->bytes);
    free(text);
    return hash;
}

struct tally {
    unsigned count, near, least, most, sum;
};

static void tally_add(struct tally *tally, unsigned distance)
{
    tally->least = tally->count == 0 || distance < tally->least ? distance : tally->least;
    tally->most = distance > tally->most ? distance : tally->most;
    tally->near += distance <= NEAR;
    tally->sum += distance;
    tally->count++;
}

static void measure(const struct mutation *mutation, struct tally tallies[WAYS])
{
    memset(tallies, 0, WAYS * sizeof(tallies[0]));
    for (unsigned p = 0; p < pages_count; p++) {
        const struct page *page = &pages[p];
        uint64_t before[WAYS];
        for (unsigned w = 0; w < WAYS; w++)
            before[w] = simhash_by(&ways[w], (struct slice){page->html, page->len});
        for (unsigned try = 0; try < TRIES; try++) {
            made.len = 0;
            mutation->make(page, &pages[(p + 1 + try) % pages_count]);
            for (unsigned w = 0; w < WAYS; w++) {
                uint64_t after = simhash_by(&ways[w], (struct slice){made.html, made.len});
                tally_add(&tallies[w], simhash_distance(before[w], after));
            }
        }
    }
}

TEST(small_changes_are_near_and_large_ones_far)
{
    struct tally tallies[MUTATIONS][WAYS];
    read_pages();
    for (unsigned m = 0; m < MUTATIONS; m++)
        measure(&mutations[m], tallies[m]);
    printf("%u pages, %u times each: within %d bits, mean distance (least - most)\n%-26s", pages_count, TRIES,
           NEAR, "");
    for (unsigned w = 0; w < WAYS; w++)
        printf("%-22s", ways[w].name);
    for (unsigned m = 0; m < MUTATIONS; m++) {
        printf("\n%-26s", mutations[m].name);
        for (unsigned w = 0; w < WAYS; w++) {
            const struct tally *tally = &tallies[m][w];
            printf("%3u%% %5.1f (%2u - %2u)     ", 100 * tally->near / tally->count,
                   (double)tally->sum / tally->count, tally->least, tally->most);
        }
    }
    printf("\n");
    CHECK(tallies[0][0].most <= NEAR);
    for (unsigned m = 0; m < FIRST_FAR; m++)
        CHECK(2 * tallies[m][0].near > tallies[m][0].count);
    for (unsigned m = FIRST_FAR; m < MUTATIONS; m++)
        CHECK_INT(tallies[m][0].near, 0);
    CHECK(tallies[MUTATIONS - 1][0].least >= FAR);
}
