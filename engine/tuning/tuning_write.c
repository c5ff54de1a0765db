/* A tuning as text: what `tuning_parse` reads back. */
#include <string.h>

#include "engine/tuning/tuning.h"
#include "engine/tuning/tuning_table.h"
#include "engine/tuning/tuning_value.h"

static void write_choice(FILE *out, const struct tuning_key *key, uint64_t index)
{
    const char *at = key->choices;
    for (; index > 0; index--)
        at = strchr(at, ' ') + 1;
    fprintf(out, "%s = %.*s\n", key->name, (int)strcspn(at, " "), at);
}

/* One line per item: some have commas. An empty list has a line, too, so that every key is seen. */
static void write_list(FILE *out, const struct tuning_key *key, const char *list)
{
    struct slice rest = slice_of(list), item;
    if (rest.len == 0)
        fprintf(out, "%s =\n", key->name);
    while (tuning_next_item(&rest, &item))
        fprintf(out, "%s = %.*s\n", key->name, (int)item.len, item.ptr);
}

static void write_quantity(FILE *out, const struct tuning_key *key, const char *field)
{
    char buffer[TUNING_VALUE_CHARS];
    uint64_t whole;
    double number;
    memcpy(&whole, field, sizeof whole);
    memcpy(&number, field, sizeof number);
    if (key->type != TUNING_NUMBER)
        number = (double)whole;
    fprintf(out, "%s = %s\n", key->name, tuning_value_write(key->type, number, buffer));
}

static void write_key(FILE *out, const struct tuning_key *key, const char *field)
{
    bool yes;
    uint64_t index;
    switch (key->type) {
    case TUNING_BOOL:
        memcpy(&yes, field, sizeof yes);
        fprintf(out, "%s = %s\n", key->name, yes ? "yes" : "no");
        break;
    case TUNING_COUNT:
    case TUNING_BYTES:
    case TUNING_DURATION:
    case TUNING_NUMBER:
        write_quantity(out, key, field);
        break;
    case TUNING_TEXT:
        fprintf(out, "%s = %s\n", key->name, field);
        break;
    case TUNING_LIST:
        write_list(out, key, field);
        break;
    case TUNING_CHOICE:
        memcpy(&index, field, sizeof index);
        write_choice(out, key, index);
        break;
    }
}

void tuning_write(const struct tuning *tuning, FILE *out)
{
    const char *section = "";
    for (size_t i = 0; i < tuning_keys_count; i++) {
        const struct tuning_key *key = &tuning_keys[i];
        if (strcmp(section, key->section) != 0)
            fprintf(out, "%s[%s]\n", i ? "\n" : "", key->section);
        section = key->section;
        write_key(out, key, (const char *)tuning + key->offset);
    }
}
