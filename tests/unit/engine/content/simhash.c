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

static uint64_t swap(uint64_t value)
{
    return value << 32 | value >> 32;
}

/* A shingle's hash, in a formula of its own. */
static uint64_t shingle_hash(const char *letters)
{
    uint64_t first = 0, last = 0;
    for (unsigned i = 0; i < 4; i++) {
        first |= i ? (uint64_t)(unsigned char)letters[i - 1] << (8 * i) : 0;
        last |= (uint64_t)(unsigned char)letters[i + 3] << (8 * i);
    }
    uint64_t sum = first * SIMHASH_FIRST + swap(last * SIMHASH_LAST);
    return (sum & UINT32_MAX) * SIMHASH_LOWER ^ swap((sum >> 32) * SIMHASH_HIGHER);
}

/* The letters of words with one space between two, put together; `marks` tells which begin a word. Returns their
 * number. */
static size_t join_letters(struct slice text, char *letters, char *marks)
{
    size_t count = 0;
    bool is_first = true;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        unsigned char next = i + 1 < text.len ? (unsigned char)text.ptr[i + 1] : 0;
        is_first |= byte == ' ';
        if (byte == ' ' || (byte >= 0xc0 && next >= 0x80 && next < 0xc0))
            continue;
        marks[count] = is_first;
        is_first = false;
        letters[count++] = (char)(byte | 0x20);
    }
    return count;
}

/* The SimHash of words with one space between two. */
static bool plain_simhash(struct slice text, uint64_t *simhash)
{
    long counters[64] = {0}, count = 0;
    char *letters = malloc(text.len + 1), *marks = malloc(text.len + 1);
    size_t len = join_letters(text, letters, marks);
    for (size_t at = 0; at + SIMHASH_SHINGLE_LETTERS <= len; at++) {
        if (!marks[at])
            continue;
        count++;
        uint64_t hash = shingle_hash(letters + at);
        for (unsigned bit = 0; bit < 64; bit++)
            counters[bit] += hash >> bit & 1;
    }
    free(letters);
    free(marks);
    if (count < SIMHASH_SHINGLES_MIN)
        return false;
    *simhash = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        *simhash |= (uint64_t)(counters[bit] > count / 2) << bit;
    return true;
}

/* The page lies right before a guard page, and is hashed in all ways that the CPU has. */
static void check_page(struct slice html)
{
    char *copy = check_guard_copy(html.ptr, html.len), *text = malloc(html.len + 1);
    struct slice page = {copy, html.len}, read = page;
    read.len = read.len < SIMHASH_BYTES_MAX ? read.len : SIMHASH_BYTES_MAX;
    size_t len = fingerprint_normalise(read, text);
    uint64_t expected = 1, hash;
    bool is_enough = plain_simhash((struct slice){text, len}, &expected);
    for (int way = SIMHASH_PLAIN; way <= SIMHASH_AVX512; way++) {
        hash = 1;
        simhash_use((enum simhash_way)way);
        CHECK_INT(simhash_html(page, &hash), is_enough);
        CHECK_INT(hash, expected);
    }
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
    "\xd0\x96\xd0\xb8\xd0\xb7\xd0\xbd\xd1\x8c ",
    "\xe4\xb8\xad\xe6\x96\x87",
    "\xc3",
    "<img src=\"a>b\" alt='c>d'>",
    "<a\x01b=\"c>d\">",
    "<a=\"b>c\">",
    "<a b =\"c>d\">",
    "<a b='c'd=\"e>f\">",
    "<a b=c\"d>e\">",
    "<p a=\"",
    "'>",
    "</p a=\"b>c\">",
    "<plaintext>",
    "<math>",
    "</svg>",
    "<xmp><b>h</b></xmp>",
    "thu",
    "gmt ",
    "utc",
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
        if (strcmp(piece, "<plaintext>") == 0 && draw(20))
            continue;
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
    CHECK(hash == UINT64_C(0x30C7CF3F22FDF3A5));
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
        "a b c d e f g h i j k l m n o p q < r & s > t u v w x y z one two three four five six "
        "seven eight nine ten eleven twelve thirteen fourteen";
    const char plain[] = "a b c d e f g h i j k l m n o p q r s t u v w x y z one two three four five six "
                         "seven eight nine ten eleven twelve thirteen fourteen";
    CHECK(simhash_text(SLICE(text), &hash));
    CHECK(simhash_text(SLICE(plain), &other));
    CHECK_INT(hash, other);
    CHECK(simhash_text(
        SLICE("<b>one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
              "&amp; fifteen sixteen"),
        &hash));
    CHECK(simhash_text(
        SLICE("b one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
              "amp fifteen sixteen"),
        &other));
    CHECK_INT(hash, other);
}

TEST(a_few_words_say_nothing)
{
    uint64_t hash = 42;
    CHECK(!simhash_html(SLICE(""), &hash));
    CHECK(!simhash_html(SLICE("<title>Not found</title><p>The page was not found"), &hash));
    CHECK(!simhash_text(SLICE("a b c d e f g h i j k l m n o sevenl"), &hash));
    CHECK(!simhash_text(SLICE("a b c d e f g h i j k l m n sevenletters"), &hash));
    CHECK_INT(hash, 42);
    CHECK(simhash_text(SLICE("a b c d e f g h i j k l m n o sevenle"), &hash));
}

static void check_cut(struct slice page, size_t enough)
{
    uint64_t hash, cut, other;
    CHECK(simhash_html(page, &hash));
    CHECK(simhash_html((struct slice){page.ptr, enough}, &cut));
    CHECK_INT(hash, cut);
    for (int way = SIMHASH_PLAIN; way <= SIMHASH_AVX512; way++) {
        simhash_use((enum simhash_way)way);
        CHECK(simhash_html(page, &other));
        CHECK_INT(other, hash);
    }
}

/* What lies beyond the limits is not looked at: a long page hashes as its beginning does. */
TEST(long_pages_are_cut)
{
    size_t len = 2 * (size_t)SIMHASH_BYTES_MAX;
    char *page = malloc(len);
    uint64_t hash;
    for (size_t i = 0; i < len; i++) /* words of 7 letters, between much else */
        page[i] = i % 32 < 7 ? (char)('a' + draw(26)) : ' ';
    check_cut((struct slice){page, len}, SIMHASH_BYTES_MAX);
    check_page((struct slice){page, len});
    for (size_t i = 0; i < len; i++)
        page[i] = i % 2 ? ' ' : (char)('a' + draw(26));
    check_cut((struct slice){page, len}, 2 * SIMHASH_LETTERS_MAX + 256);
    for (size_t i = 0; i + 5 <= len; i += 5)
        memcpy(page + i, (char[]){'<', 'b', '>', (char)('a' + draw(26)), ' '}, 5);
    check_cut((struct slice){page, len}, 5 * (size_t)SIMHASH_TAGS_MAX + 400);
    memset(page, 'a', len);
    CHECK(!simhash_html((struct slice){page, len}, &hash));
    for (size_t i = 1; i < len; i += 2)
        page[i] = ' '; /* one shingle, again and again */
    CHECK(simhash_html((struct slice){page, len}, &hash));
    CHECK_INT(hash, shingle_hash("aaaaaaa"));
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
