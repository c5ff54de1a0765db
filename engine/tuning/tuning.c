#include "engine/tuning/tuning.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tuning/tuning_table.h"
#include "engine/tuning/tuning_value.h"

/* People write tuning files by hand: a longer file is something else. */
enum { FILE_BYTES_MAX = 1 << 20 };

/* The position of the parser, for messages. */
struct place {
    const char *file;
    unsigned line;
    struct tuning_error *error;
};

static bool fail(const struct place *place, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(const struct place *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int used =
        snprintf(place->error->message, sizeof place->error->message, "%s:%u: ", place->file, place->line);
    if (used >= 0 && (size_t)used < sizeof place->error->message)
        vsnprintf(place->error->message + used, sizeof place->error->message - (size_t)used, format, args);
    va_end(args);
    return false;
}

static bool store_quantity(char *field, const struct tuning_key *key, struct slice text,
                           const struct place *place)
{
    double value;
    char min[TUNING_VALUE_CHARS], max[TUNING_VALUE_CHARS];
    if (!tuning_value_read(key->type, text, &value))
        return fail(place, "%s.%s: '%.*s' is not %s", key->section, key->name, (int)text.len, text.ptr,
                    tuning_value_form(key->type));
    if (!(value >= key->min && value <= key->max))
        return fail(place, "%s.%s: %.*s is out of range: from %s to %s", key->section, key->name,
                    (int)text.len, text.ptr, tuning_value_write(key->type, key->min, min),
                    tuning_value_write(key->type, key->max, max));
    if (key->type == TUNING_NUMBER)
        memcpy(field, &value, sizeof value);
    else
        memcpy(field, &(uint64_t){(uint64_t)value}, sizeof(uint64_t));
    return true;
}

static bool store_choice(char *field, const struct tuning_key *key, struct slice text,
                         const struct place *place)
{
    struct slice rest = slice_of(key->choices);
    for (uint64_t index = 0; rest.len; index++) {
        size_t len = 0;
        while (len < rest.len && rest.ptr[len] != ' ')
            len++;
        if (slice_equals(text, (struct slice){rest.ptr, len})) {
            memcpy(field, &index, sizeof index);
            return true;
        }
        rest = slice_skip(rest, len < rest.len ? len + 1 : len);
    }
    return fail(place, "%s.%s: '%.*s' is none of: %s", key->section, key->name, (int)text.len, text.ptr,
                key->choices);
}

static bool store_bool(char *field, const struct tuning_key *key, struct slice text,
                       const struct place *place)
{
    bool yes = slice_equals(text, SLICE("yes")) || slice_equals(text, SLICE("true"));
    if (!yes && !slice_equals(text, SLICE("no")) && !slice_equals(text, SLICE("false")))
        return fail(place, "%s.%s: '%.*s' is not yes or no", key->section, key->name, (int)text.len,
                    text.ptr);
    memcpy(field, &yes, sizeof yes);
    return true;
}

static bool store_text(char *field, const struct tuning_key *key, struct slice text,
                       const struct place *place)
{
    if (text.len >= TUNING_TEXT_BYTES)
        return fail(place, "%s.%s: longer than %d bytes", key->section, key->name, TUNING_TEXT_BYTES - 1);
    memcpy(field, text.ptr, text.len);
    field[text.len] = '\0';
    return true;
}

/* Regular expressions and SURTs may contain commas: one per line. */
static bool splits_at_commas(const struct tuning_key *key)
{
    return strcmp(key->name, "include") != 0 && strcmp(key->name, "exclude") != 0 &&
           strcmp(key->name, "surts") != 0;
}

/* Appends to what earlier lines of the same key gave. */
static bool store_list(char *field, const struct tuning_key *key, struct slice text,
                       const struct place *place)
{
    size_t used = strlen(field);
    while (text.len) {
        const char *comma = splits_at_commas(key) ? memchr(text.ptr, ',', text.len) : NULL;
        struct slice item = slice_trim(comma ? slice_between(text.ptr, comma) : text);
        text = comma ? slice_skip(text, (size_t)(comma - text.ptr) + 1) : slice_skip(text, text.len);
        if (item.len == 0)
            continue;
        if (used + item.len + 2 > TUNING_LIST_BYTES)
            return fail(place, "%s.%s: the list is longer than %d bytes", key->section, key->name,
                        TUNING_LIST_BYTES - 1);
        if (used)
            field[used++] = '\n';
        memcpy(field + used, item.ptr, item.len);
        used += item.len;
        field[used] = '\0';
    }
    return true;
}

static bool store(struct tuning *tuning, const struct tuning_key *key, struct slice text,
                  const struct place *place)
{
    char *field = (char *)tuning + key->offset;
    switch (key->type) {
    case TUNING_BOOL:
        return store_bool(field, key, text, place);
    case TUNING_COUNT:
    case TUNING_BYTES:
    case TUNING_DURATION:
    case TUNING_NUMBER:
        return store_quantity(field, key, text, place);
    case TUNING_TEXT:
        return store_text(field, key, text, place);
    case TUNING_LIST:
        return store_list(field, key, text, place);
    case TUNING_CHOICE:
        return store_choice(field, key, text, place);
    }
    return false;
}

void tuning_init(struct tuning *tuning)
{
    struct tuning_error error;
    struct place place = {"default", 0, &error};
    memset(tuning, 0, sizeof *tuning);
    for (size_t i = 0; i < tuning_keys_count; i++)
        if (!store(tuning, &tuning_keys[i], slice_of(tuning_keys[i].fallback), &place)) {
            fprintf(stderr, "%s\n", error.message);
            abort(); /* the table contradicts itself */
        }
}

/* Edit distance, for "did you mean": names are short. */
static unsigned distance(struct slice a, const char *b)
{
    unsigned row[64];
    size_t len = strlen(b);
    if (len >= 63 || a.len >= 63)
        return 99;
    for (size_t j = 0; j <= len; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a.len; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= len; j++) {
            unsigned above = row[j], best = diagonal + (a.ptr[i - 1] != b[j - 1]);
            best = above + 1 < best ? above + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            row[j] = best;
            diagonal = above;
        }
    }
    return row[len];
}

static const struct tuning_key *find_key(struct slice section, struct slice name, const struct place *place)
{
    const struct tuning_key *nearest = &tuning_keys[0];
    unsigned best = 1000;
    for (size_t i = 0; i < tuning_keys_count; i++) {
        const struct tuning_key *key = &tuning_keys[i];
        bool same_section = slice_equals(section, slice_of(key->section));
        if (same_section && slice_equals(name, slice_of(key->name)))
            return key;
        unsigned far = 2 * distance(name, key->name) + !same_section;
        if (far < best) {
            best = far;
            nearest = key;
        }
    }
    fail(place, "unknown key %.*s.%.*s; the nearest is %s in [%s]", (int)section.len, section.ptr,
         (int)name.len, name.ptr, nearest->name, nearest->section);
    return NULL;
}

static bool check_section(struct slice name, const struct place *place)
{
    const char *nearest = tuning_keys[0].section;
    for (size_t i = 0; i < tuning_keys_count; i++) {
        const char *section = tuning_keys[i].section;
        if (slice_equals(name, slice_of(section)))
            return true;
        if (distance(name, section) < distance(name, nearest))
            nearest = section;
    }
    return fail(place, "unknown section [%.*s]; the nearest is [%s]", (int)name.len, name.ptr, nearest);
}

/* `seen` marks the keys of this file: the first mention of a list replaces the default. */
static bool parse_line(struct tuning *tuning, struct slice line, struct slice *section, bool *seen,
                       const struct place *place)
{
    line = slice_trim(line);
    if (line.len == 0 || line.ptr[0] == '#' || line.ptr[0] == ';')
        return true;
    if (line.ptr[0] == '[') {
        if (line.len < 3 || line.ptr[line.len - 1] != ']')
            return fail(place, "a section looks like [name]");
        *section = slice_trim((struct slice){line.ptr + 1, line.len - 2});
        return check_section(*section, place);
    }
    const char *equals = memchr(line.ptr, '=', line.len);
    if (!equals)
        return fail(place, "expected 'key = value' or '[section]'");
    if (section->len == 0)
        return fail(place, "a key before the first [section]");
    struct slice name = slice_trim(slice_between(line.ptr, equals));
    const struct tuning_key *key = find_key(*section, name, place);
    if (!key)
        return false;
    bool *again = &seen[key - tuning_keys];
    if (*again && key->type != TUNING_LIST)
        return fail(place, "%s.%s is given twice", key->section, key->name);
    if (!*again && key->type == TUNING_LIST)
        ((char *)tuning + key->offset)[0] = '\0';
    *again = true;
    return store(tuning, key, slice_trim(slice_between(equals + 1, line.ptr + line.len)), place);
}

static bool parse(struct tuning *tuning, struct slice text, bool *seen, struct place *place)
{
    struct tuning next = *tuning;
    struct slice section = {NULL, 0};
    _Static_assert(sizeof(struct tuning) < 1 << 18, "on the stack");
    if (memchr(text.ptr ? text.ptr : "", '\0', text.len)) {
        place->line = 1;
        return fail(place, "not a text file");
    }
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        struct slice line = end ? slice_between(text.ptr, end) : text;
        text = slice_skip(text, end ? line.len + 1 : line.len);
        place->line++;
        if (!parse_line(&next, line, &section, seen, place))
            return false;
    }
    *tuning = next;
    return true;
}

bool tuning_parse(struct tuning *tuning, const char *name, struct slice text, struct tuning_error *error)
{
    bool seen[TUNING_KEYS_MAX] = {false};
    return parse(tuning, text, seen, &(struct place){name, 0, error});
}

bool tuning_parse_order(struct tuning *tuning, struct slice text, bool named[TUNING_KEYS_MAX], struct tuning_error *error)
{
    memset(named, 0, TUNING_KEYS_MAX * sizeof *named);
    return parse(tuning, text, named, &(struct place){"the order", 0, error});
}

bool tuning_load(struct tuning *tuning, const char *path, struct tuning_error *error)
{
    FILE *file = fopen(path, "re");
    if (!file) {
        snprintf(error->message, sizeof error->message, "%s: %s", path, strerror(errno));
        return false;
    }
    char *text = malloc(FILE_BYTES_MAX);
    size_t len = text ? fread(text, 1, FILE_BYTES_MAX, file) : 0;
    bool good = text && !ferror(file) && len < FILE_BYTES_MAX;
    if (!good)
        snprintf(error->message, sizeof error->message, "%s: cannot be read, or is larger than %d bytes",
                 path, FILE_BYTES_MAX - 1);
    fclose(file);
    good = good && tuning_parse(tuning, path, (struct slice){text, len}, error);
    free(text);
    return good;
}

static size_t field_size(enum tuning_type type)
{
    switch (type) {
    case TUNING_BOOL:
        return sizeof(bool);
    case TUNING_COUNT:
    case TUNING_BYTES:
    case TUNING_DURATION:
    case TUNING_CHOICE:
        return sizeof(uint64_t);
    case TUNING_NUMBER:
        return sizeof(double);
    case TUNING_TEXT:
        return TUNING_TEXT_BYTES;
    case TUNING_LIST:
        return TUNING_LIST_BYTES;
    }
    return 0;
}

bool tuning_key_differs(const struct tuning_key *key, const struct tuning *one, const struct tuning *other)
{
    const char *a = (const char *)one + key->offset, *b = (const char *)other + key->offset;
    bool is_text = key->type == TUNING_TEXT || key->type == TUNING_LIST;
    return is_text ? strcmp(a, b) != 0 : memcmp(a, b, field_size(key->type)) != 0;
}

unsigned tuning_reload(struct tuning *tuning, const struct tuning *next, const char **first_refused)
{
    unsigned refused = 0;
    for (size_t i = 0; i < tuning_keys_count; i++) {
        const struct tuning_key *key = &tuning_keys[i];
        if (tuning_key_differs(key, tuning, next) && !tuning_key_is_live(key) && refused++ == 0)
            *first_refused = key->name;
    }
    tuning->live = next->live;
    return refused;
}

void tuning_print(FILE *out)
{
    const char *section = "";
    fprintf(
        out,
        "# Every key of the tuning file with its default. Keys marked 'live' are taken over on SIGHUP.\n");
    for (size_t i = 0; i < tuning_keys_count; i++) {
        const struct tuning_key *key = &tuning_keys[i];
        if (strcmp(section, key->section) != 0)
            fprintf(out, "\n[%s]\n", key->section);
        section = key->section;
        fprintf(out, "# %s\n", key->meaning);
        if (key->type == TUNING_CHOICE)
            fprintf(out, "# (one of: %s%s)\n", key->choices, tuning_key_is_live(key) ? "; live" : "");
        else
            fprintf(out, "# (%s%s)\n", tuning_value_form(key->type), tuning_key_is_live(key) ? "; live" : "");
        fprintf(out, "%s = %s\n", key->name, key->fallback);
    }
}

void tuning_user_agent(const struct crawl_tuning_fixed *tuning, char *buffer, size_t size)
{
    snprintf(buffer, size, "Mozilla/5.0 (compatible; %s/%s%s%s)", tuning->agent_name, tuning->agent_version,
             tuning->contact_url[0] ? "; +" : "", tuning->contact_url);
}

bool tuning_next_item(struct slice *rest, struct slice *item)
{
    if (rest->len == 0)
        return false;
    const char *end = memchr(rest->ptr, '\n', rest->len);
    *item = end ? slice_between(rest->ptr, end) : *rest;
    *rest = slice_skip(*rest, end ? item->len + 1 : item->len);
    return true;
}
