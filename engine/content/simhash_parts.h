/* What the files of simhash share: the reader of a page, its counters, and the words that are left out. */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "engine/content/html_tag.h"
#include "engine/content/limits.h"

/* Letters in a shingle: from the first of a word on, into the next words. See the measurements in engine/content/README.md. */
#define SIMHASH_SHINGLE_LETTERS 7

/* Odd numbers of no further meaning. A change of one changes every SimHash. */
#define SIMHASH_FIRST  UINT32_C(0x7F4A7C15)
#define SIMHASH_LAST   UINT32_C(0x9E3779B9)
#define SIMHASH_LOWER  UINT32_C(0xBF58476D)
#define SIMHASH_HIGHER UINT32_C(0x94D049BB)

/* Sets the bit that tells small letters from capitals, also those of Cyrillic and Greek in UTF-8. */
#define SIMHASH_FOLD 0x20

/* Bytes looked at together, and how many have to be readable: words are copied beyond their end. */
#define SIMHASH_BLOCK_BYTES 64
#define SIMHASH_BLOCK_ROOM  (SIMHASH_BLOCK_BYTES + 16)

/* Shingles that are counted together: 16 vectors of up to 8. */
#define SIMHASH_TOGETHER    16
#define SIMHASH_LANES_MAX   8
#define SIMHASH_GROUP_MAX   (SIMHASH_TOGETHER * SIMHASH_LANES_MAX)
#define SIMHASH_PLANES      20
#define SIMHASH_PLANE_GROUP 4 /* the plane to which the carry of a group goes */

/* Letters wait until there are so many. Behind them there is room for what is written beyond their end. */
#define SIMHASH_WAITING_MAX 2048

/* How often each of 64 bits was set. A counter's bits lie across words: plane i holds bit i of all 64. Each lane counts for
 * itself until the end. */
struct simhash_counters {
    uint64_t planes[SIMHASH_PLANES][SIMHASH_LANES_MAX];
    uint64_t carries[SIMHASH_PLANES]
                    [SIMHASH_LANES_MAX]; /* one that waits for a second, where `groups` has a 1 */
    uint32_t groups;                     /* counted so far */
    uint32_t count;                      /* shingles counted so far */
};

struct simhash_reader {
    const char *begin, *end; /* of the document */
    bool is_html;
    uint32_t tags_left;
    uint32_t letters_count; /* of those that are no longer in `letters` */
    uint32_t letters_len;
    uint32_t shingles_len;
    struct simhash_counters counters;
    char letters[SIMHASH_WAITING_MAX + 2 * SIMHASH_BLOCK_BYTES];
    uint64_t starts[SIMHASH_WAITING_MAX / 64 +
                    3]; /* a bit for each of `letters` that begins a word; zeros behind them */
    uint64_t shingles[SIMHASH_GROUP_MAX + 64]; /* that are not counted yet */
};

/* Where letters and digits are within a block, and so on: a bit each. */
struct simhash_words {
    uint64_t letters;
    uint64_t digits;
    uint64_t open; /* '<' */
    uint64_t ampersand;
    uint64_t leads; /* first bytes of characters in UTF-8 */
    uint64_t dates; /* where the name of a month or the like may begin: there, and elsewhere */
};

/* Which bytes of a block are letters that count, and which of them begin a word. */
struct simhash_letters {
    uint64_t all;
    uint64_t starts;
};

/* The same for what tags are made of. */
struct simhash_tags {
    uint64_t close; /* '>' */
    uint64_t double_quote;
    uint64_t single_quote;
    uint64_t equals;
    uint64_t space; /* and controls */
};

/* Letters as they lie in a word: the first is the lowest byte. */
#define SIMHASH_LETTERS(a, b, c, d, e, f, g, h)                                                              \
    ((uint64_t)(a) | (uint64_t)(b) << 8 | (uint64_t)(c) << 16 | (uint64_t)(d) << 24 | (uint64_t)(e) << 32 |  \
     (uint64_t)(f) << 40 | (uint64_t)(g) << 48 | (uint64_t)(h) << 56)

/* Eight letters from here on. */
static inline uint64_t simhash_letters_at(const char *text)
{
    uint64_t letters;
    memcpy(&letters, text, sizeof(letters));
    return le64toh(letters);
}

/* The place of a name in simhash_dates. Found by trial: it gives each name a place of its own. */
#define SIMHASH_DATE_PLACE(letters) ((unsigned)((letters)*UINT64_C(0xE4A4E6B881404CAF) >> 57))

/* Months, weekdays and what stands beside times, up to 8 letters. */
extern const uint64_t simhash_dates[128];
/* By the low five bits of a word's first, second and third byte: in which of eight groups of names it may be, and of eight others.
 * A word that is in no group by all three is no date. */
extern const unsigned char simhash_date_groups[2][3][32];

static inline bool simhash_is_date(uint64_t letters)
{
    return simhash_dates[SIMHASH_DATE_PLACE(letters)] == letters;
}

/* The two of nine letters. */
static inline bool simhash_is_long_date(uint64_t letters, uint64_t ninth)
{
    return (letters == SIMHASH_LETTERS('s', 'e', 'p', 't', 'e', 'm', 'b', 'e') && ninth == 'r') ||
           (letters == SIMHASH_LETTERS('w', 'e', 'd', 'n', 'e', 's', 'd', 'a') && ninth == 'y');
}

static inline bool simhash_is_word_byte(char c)
{
    char lower = c | SIMHASH_FOLD;
    return (lower >= 'a' && lower <= 'z') || (unsigned char)c >= 0x80 || (c >= '0' && c <= '9');
}

/* Notes which of the letters that are to follow begin a word. */
static inline void simhash_add_starts(struct simhash_reader *reader, uint64_t starts)
{
    unsigned word = reader->letters_len / 64, bit = reader->letters_len % 64;
    reader->starts[word] |= starts << bit;
    reader->starts[word + 1] = starts >> 1 >> (63 - bit);
}

/* Whether a byte begins a character in UTF-8, if the next one goes on with it. */
static inline bool simhash_is_lead(char c, char next)
{
    return (unsigned char)c >= 0xc0 && (unsigned char)next >= 0x80 && (unsigned char)next < 0xc0;
}

/* Whether '<' at `open` is more than text. */
static inline bool simhash_is_markup(const char *open, const char *end)
{
    return end - open >= 2 &&
           (html_is(open[1], HTML_LETTER) || open[1] == '!' || open[1] == '?' || open[1] == '/');
}

/* Whether the byte before is one that may stand before the name of a character reference. */
static inline bool simhash_follows_mark(const struct simhash_reader *reader, const char *at)
{
    return at > reader->begin && (at[-1] == '&' || at[-1] == '#');
}

/* Whether what begins at `word` may be the name of a character reference: it follows & or &#. What is before a text ends with
 * '>', so it is not mistaken for one. */
static inline bool simhash_follows_ampersand(const struct simhash_reader *reader, const char *word)
{
    if (word - reader->begin < 2)
        return word > reader->begin && word[-1] == '&';
    return word[-1] == '&' || (word[-1] == '#' && word[-2] == '&');
}

/* The bytes from `at` to the end of the document, fewer than SIMHASH_BLOCK_ROOM, with zeros behind them. Returns `padded`. */
const char *simhash_pad(char padded[SIMHASH_BLOCK_ROOM], const char *at, const char *end);
/* Behind the comment or declaration at `open`, which is markup, as fingerprint_normalise reads it. */
const char *simhash_skip_markup(const char *open, const char *end);

/* Read the document of a reader, on different CPUs: all with the same result. */
void simhash_read_plain(struct simhash_reader *reader);
#if defined(__x86_64__)
void simhash_read_avx2(struct simhash_reader *reader);
void simhash_read_avx512(struct simhash_reader *reader);
#endif
