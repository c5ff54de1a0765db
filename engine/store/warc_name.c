#include "engine/store/warc_name.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/store/warc.h"

enum { TIME_DIGITS = 17, PREFIX_CHARS_MAX = 60, HOST_CHARS_MAX = 40 };

static const char *const words[] = {"{prefix}", "{time}", "{serial}", "{loop}", "{host}", "{pid}"};

enum word { WORD_PREFIX, WORD_TIME, WORD_SERIAL, WORD_LOOP, WORD_HOST, WORD_PID, WORD_COUNT };

/* The word that `text` begins with; WORD_COUNT: none. */
static enum word word_at(const char *text)
{
    int word = 0;
    while (word < WORD_COUNT && strncmp(text, words[word], strlen(words[word])) != 0)
        word++;
    return (enum word)word;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

const char *warc_name_check(const char *format)
{
    unsigned seen = 0;
    if (format[0] == '.')
        return "begins with a dot";
    for (const char *at = format; *at;) {
        enum word word = word_at(at);
        if (word == WORD_COUNT && !is_plain(*at))
            return "has something that is neither {prefix}, {time}, {serial}, {loop}, {host} or {pid}, nor a "
                   "letter, a "
                   "digit, '-', '_' or '.'";
        seen |= 1u << word;
        at += word == WORD_COUNT ? 1 : strlen(words[word]);
    }
    const unsigned needed = 1u << WORD_TIME | 1u << WORD_SERIAL | 1u << WORD_LOOP;
    return (seen & needed) == needed
               ? NULL
               : "lacks {time}, {serial} or {loop}, without which names are not different";
}

/* What stands for the word. */
static void write_word(const struct warc_name *name, enum word word, char *out, size_t size)
{
    char digits[TIME_DIGITS + 1] = "", host[HOST_CHARS_MAX + 1] = "";
    switch (word) {
    case WORD_PREFIX:
        snprintf(out, size, "%.*s", PREFIX_CHARS_MAX, name->prefix);
        break;
    case WORD_TIME:
        warc_write_date_digits(digits, TIME_DIGITS, name->date_us); /* 20261116071947123 */
        snprintf(out, size, "%s", digits);
        break;
    case WORD_SERIAL:
        snprintf(out, size, "%05u", name->serial);
        break;
    case WORD_LOOP:
        snprintf(out, size, "%02u", name->loop);
        break;
    case WORD_HOST:
        gethostname(host, sizeof host - 1);
        snprintf(out, size, "%s", host);
        break;
    case WORD_PID:
        snprintf(out, size, "%d", (int)getpid());
        break;
    case WORD_COUNT:
        break;
    }
}

void warc_name_write(const struct warc_name *name, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    for (const char *at = name->format; *at && len + 1 < size;) {
        enum word word = word_at(at);
        if (word == WORD_COUNT) {
            out[len++] = *at++;
            out[len] = '\0';
            continue;
        }
        write_word(name, word, out + len, size - len);
        len += strlen(out + len);
        at += strlen(words[word]);
    }
}
