#include "tools/websim/text.h"

#include <string.h>

#include "tools/websim/random.h"

static const char *const syllables[64] = {
    "ba",  "ber", "bin", "bo",  "ca",  "cen", "ci",  "con", "da",  "del", "di",  "dor", "e",
    "en",  "fa",  "fer", "fi",  "for", "ga",  "gen", "gi",  "gor", "ha",  "her", "hi",  "ho",
    "in",  "ja",  "ka",  "kel", "la",  "len", "li",  "lor", "ma",  "mer", "mi",  "mon", "na",
    "ner", "ni",  "nor", "or",  "pa",  "per", "pi",  "pon", "ra",  "ren", "ri",  "ro",  "sa",
    "sen", "si",  "son", "ta",  "ter", "ti",  "tor", "va",  "ver", "vi",  "za",  "zen"};

static char *write_word(char *out, uint64_t bits)
{
    for (unsigned count = 1 + (bits & 3) % 3; count; count--) {
        bits = websim_mix(bits + count);
        const char *syllable = syllables[bits & 63];
        size_t len = strlen(syllable);
        memcpy(out, syllable, len);
        out += len;
    }
    return out;
}

void websim_text_init(struct websim_text *text, uint64_t seed)
{
    char *at = text->pool, *end = text->pool + sizeof text->pool - WEBSIM_TEXT_SLACK;
    uint64_t bits = websim_hash(seed, 1);
    for (unsigned words = 0; at < end; words++) {
        bits = websim_mix(bits + words);
        char *word = at;
        at = write_word(at, bits);
        if (words % 11 == 0)
            *word = (char)(*word - 'a' + 'A');
        else if (words % 11 == 10)
            *at++ = '.';
        *at++ = ' ';
    }
    memset(at, ' ', (size_t)(text->pool + sizeof text->pool - at));
    for (unsigned i = 0; i < WEBSIM_TEXT_STARTS; i++) {
        uint32_t start = i * (WEBSIM_TEXT_BYTES / WEBSIM_TEXT_STARTS);
        while (start && text->pool[start - 1] != ' ')
            start++;
        text->starts[i] = start;
    }
}

char *websim_text_write(const struct websim_text *text, uint64_t bits, char *out, uint64_t len)
{
    while (len) {
        const char *piece = text->pool + text->starts[bits % WEBSIM_TEXT_STARTS];
        uint64_t take = len < WEBSIM_TEXT_PIECE ? len : WEBSIM_TEXT_PIECE;
        len -= take;
        bits = websim_mix(bits + 1);
        memcpy(out, piece, take);
        while (len == 0 && piece[take - 1] != ' ') {
            out[take] = piece[take];
            take++;
        }
        out += take;
    }
    return out;
}
