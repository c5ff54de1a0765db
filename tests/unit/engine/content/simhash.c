/* Against a plain SimHash of the normalised form, on made-up pages that lie in wait at every edge of a block. */
#include "engine/content/simhash.h"

#include <dirent.h>
#include <stdlib.h>

#include "engine/content/fingerprint.h"
#include "engine/content/limits.h"
#include "engine/content/simhash_parts.h"
#include "tests/support/check.h"

static uint64_t seed = 1;

static unsigned draw(unsigned bound)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((seed >> 33) % bound);
}

/* A word's hash, byte by byte. */
static uint64_t word_hash(struct slice word)
{
    uint64_t hash = 0;
    for (size_t at = 0; at < word.len; at += 8) {
        uint64_t letters = 0;
        for (size_t i = 0; i < 8 && at + i < word.len; i++)
            letters |= (uint64_t)(unsigned char)word.ptr[at + i] << (8 * i);
        hash = simhash_mix(hash ^ letters ^ SIMHASH_WORD, SIMHASH_FACTOR);
    }
    return hash;
}

/* The SimHash of words with one space between two. */
static bool plain_simhash(struct slice text, uint64_t *simhash)
{
    uint64_t before = 0;
    long counters[64] = {0}, count = -(SIMHASH_SHINGLE_WORDS - 1);
    for (size_t begin = 0, end; begin < text.len; begin = end + 1) {
        for (end = begin; end < text.len && text.ptr[end] != ' '; end++)
            ;
        uint64_t word = word_hash(slice_between(text.ptr + begin, text.ptr + end));
        uint64_t shingle = simhash_shingle(word, before);
        before = word;
        if (++count <= 0)
            continue;
        for (unsigned bit = 0; bit < 64; bit++)
            counters[bit] += shingle >> bit & 1;
    }
    if (count < SIMHASH_SHINGLES_MIN)
        return false;
    *simhash = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        *simhash |= (uint64_t)(counters[bit] > count / 2) << bit;
    return true;
}

/* The page lies right before a guard page, and is hashed with and without the CPU's help. */
static void check_page(struct slice html)
{
    char *copy = check_guard_copy(html.ptr, html.len), *text = malloc(html.len + 1);
    struct slice page = {copy, html.len}, read = page;
    read.len = read.len < SIMHASH_BYTES_MAX ? read.len : SIMHASH_BYTES_MAX;
    size_t len = fingerprint_normalise(read, text);
    uint64_t expected = 1, hash = 1, plain = 1;
    bool is_enough = plain_simhash((struct slice){text, len}, &expected);
    CHECK_INT(simhash_html(page, &hash), is_enough);
    simhash_use_plain(true);
    CHECK_INT(simhash_html(page, &plain), is_enough);
    simhash_use_plain(false);
    CHECK_INT(hash, expected);
    CHECK_INT(plain, expected);
    check_guard_free(copy, html.len);
    free(text);
}

static const char *const pieces[] = {
    "word ",
    "Another ",
    "MIXEDcase ",
    "x",
    " ",
    "\n",
    "<p>",
    "</p>",
    "<a href='x y'>",
    "&amp;",
    "&nbsp ",
    "&#xab;",
    "&#abc;",
    "&abc;",
    "#abc;",
    ";",
    "&",
    "digits1 ",
    "2",
    "monday ",
    "September ",
    "may",
    "am ",
    "<!-- a -->",
    "<!x>",
    "<?y?>",
    "< ",
    "<",
    "\xc3\xa9",
    "caf\xc3\xa9 ",
    "\xff",
    "wednesday",
    "wednesda ",
    "abcdefgh ",
    "abcdefghi ",
    "abcdefghabcdefghx ",
    "<script>var a;</script>",
    "<style>b{}</style>",
    "<title>c &lt; d < e</title>",
    "<textarea>f</textarea>",
    "<svg><title>g</title></svg>",
    "<br/>",
    "--",
    "->",
    "<!--",
    "@[`{/:",
    "</",
    "donaudampfschifffahrtsgesellschaftskapitaensmuetzenabzeichenverleihung",
};
enum { PIECES = sizeof(pieces) / sizeof(pieces[0]) };

static size_t make_page(char *page, size_t room, bool is_wild)
{
    size_t len = 0, wanted = draw((unsigned)room - 100);
    while (len < wanted) {
        const char *piece = pieces[is_wild || draw(4) == 0 ? draw(PIECES) : draw(6)];
        memcpy(page + len, piece, strlen(piece));
        len += strlen(piece);
    }
    return len;
}

TEST(made_up_pages_hash_as_their_normalised_form)
{
    static char page[4096];
    for (unsigned i = 0; i < 20000; i++) {
        size_t room = i % 10 ? 700 : sizeof(page);
        check_page((struct slice){page, make_page(page, room, i % 2)});
    }
}

TEST(random_bytes_hash_as_their_normalised_form)
{
    static char page[2000];
    for (unsigned i = 0; i < 5000; i++) {
        size_t len = draw(sizeof(page));
        for (size_t k = 0; k < len; k++)
            page[k] = (char)(i % 2 ? draw(256) : (unsigned)"abcdeFGHI &;#<>!-1\xc3 "[draw(20)]);
        check_page((struct slice){page, len});
    }
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

TEST(real_pages_hash_as_their_normalised_form)
{
    const char *folder = check_corpus("html");
    struct dirent **names;
    int count = folder ? scandir(folder, &names, is_visible, alphasort) : -1;
    if (count < 0)
        SKIP("../shared/corpora/html is not there");
    for (int i = 0; i < count; i++) {
        char path[1024];
        size_t len;
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        char *page = check_read_file(path, &len);
        check_page((struct slice){page, len});
        free(page);
        free(names[i]);
    }
    free(names);
}

/* The value is part of what a crawl keeps: another one would make all pages new. */
TEST(the_value_is_the_same_everywhere)
{
    const char text[] =
        "the quick brown fox jumps over the lazy dog while nobody at all looks on and then goes "
        "home to have a rest before the next day begins with rain and wind";
    uint64_t hash, of_html;
    CHECK(simhash_text(SLICE(text), &hash));
    CHECK(hash == UINT64_C(0xCF1797B3B969AE6D));
    CHECK(simhash_html(
        SLICE("<p>The QUICK brown fox<br>jumps over the lazy dog, while nobody at all &amp; looks on and "
              "then goes home to have a rest, before the next day (Monday, 3rd) begins with rain and wind"),
        &of_html));
    CHECK_INT(of_html, hash);
}

TEST(text_has_no_markup)
{
    uint64_t hash, other;
    const char text[] =
        "a b c d e f g h i j k l m n o p q < r & s > t u v w x y z one two three four five six";
    const char plain[] = "a b c d e f g h i j k l m n o p q r s t u v w x y z one two three four five six";
    CHECK(simhash_text(SLICE(text), &hash));
    CHECK(simhash_text(SLICE(plain), &other));
    CHECK_INT(hash, other);
    CHECK(simhash_text(SLICE("<b>a b c d e f g h i j k l m n o p q &amp; r"), &hash));
    CHECK(simhash_text(SLICE("b a b c d e f g h i j k l m n o p q amp r"), &other));
    CHECK_INT(hash, other);
}

TEST(a_few_words_say_nothing)
{
    uint64_t hash = 42;
    CHECK(!simhash_html(SLICE(""), &hash));
    CHECK(!simhash_html(SLICE("<title>Not found</title><p>The page was not found"), &hash));
    CHECK(!simhash_text(SLICE("a b c d e f g h i j k l m n o p"), &hash));
    CHECK_INT(hash, 42);
    CHECK(simhash_text(SLICE("a b c d e f g h i j k l m n o p q"), &hash));
}

static void check_cut(struct slice page, size_t enough)
{
    uint64_t hash, cut, plain;
    CHECK(simhash_html(page, &hash));
    CHECK(simhash_html((struct slice){page.ptr, enough}, &cut));
    CHECK_INT(hash, cut);
    simhash_use_plain(true);
    CHECK(simhash_html(page, &plain));
    simhash_use_plain(false);
    CHECK_INT(plain, hash);
}

/* What lies beyond the limits is not looked at: a long page hashes as its beginning does. */
TEST(long_pages_are_cut)
{
    size_t len = 2 * (size_t)SIMHASH_BYTES_MAX;
    char *page = malloc(len);
    uint64_t hash;
    for (size_t i = 0; i < len; i++) /* words of 31 letters */
        page[i] = i % 32 ? (char)('a' + draw(26)) : ' ';
    check_cut((struct slice){page, len}, SIMHASH_BYTES_MAX);
    check_page((struct slice){page, len});
    for (size_t i = 0; i < len; i++)
        page[i] = i % 2 ? ' ' : (char)('a' + draw(26));
    check_cut((struct slice){page, len}, 2 * SIMHASH_SHINGLES_MAX + 256);
    for (size_t i = 0; i + 5 <= len; i += 5)
        memcpy(page + i, (char[]){'<', 'b', '>', (char)('a' + draw(26)), ' '}, 5);
    check_cut((struct slice){page, len}, 5 * (size_t)SIMHASH_TAGS_MAX + 5);
    memset(page, 'a', len);
    CHECK(!simhash_html((struct slice){page, len}, &hash));
    for (size_t i = 1; i < len; i += 2)
        page[i] = ' '; /* one shingle, again and again */
    CHECK(simhash_html((struct slice){page, len}, &hash));
    CHECK_INT(hash, simhash_shingle(word_hash(SLICE("a")), word_hash(SLICE("a"))));
    free(page);
}

TEST(every_date_has_a_place_of_its_own)
{
    unsigned count = 0;
    for (unsigned i = 0; i < 128; i++) {
        CHECK(simhash_dates[i] == 0 || SIMHASH_DATE_PLACE(simhash_dates[i]) == i);
        count += simhash_dates[i] != 0;
    }
    CHECK_INT(count, 40);
}
