#include "engine/crawl/census.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

static uint32_t slot_of(const char name[CENSUS_NAME_BYTES])
{
    uint64_t hash = 0, word;
    for (unsigned i = 0; i < CENSUS_NAME_BYTES; i += sizeof word) {
        memcpy(&word, name + i, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return (uint32_t)hash % CENSUS_SLOTS;
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c && strchr("-./+_", c));
}

/* In lower case, filled up with 0. False: it is too long, empty or has other characters, or it is "other", which is the name
 * of those without a name. */
static bool copy_name(char out[CENSUS_NAME_BYTES], struct slice name)
{
    memset(out, 0, CENSUS_NAME_BYTES);
    if (name.len == 0 || name.len >= CENSUS_NAME_BYTES)
        return false;
    for (size_t i = 0; i < name.len; i++) {
        out[i] = name.ptr[i] >= 'A' && name.ptr[i] <= 'Z' ? (char)(name.ptr[i] | 0x20) : name.ptr[i];
        if (!is_plain(out[i]))
            return false;
    }
    return strcmp(out, "other") != 0;
}

static unsigned add(struct census *census, const char name[CENSUS_NAME_BYTES], uint32_t slot)
{
    uint32_t number = lf_load(&census->count, relaxed) + 1;
    memcpy(census->entries[number].name, name, CENSUS_NAME_BYTES);
    census->slots[slot] = (uint16_t)number;
    lf_store(&census->count, number, release); /* R1 pairs with A1: who sees the number sees the name */
    return number;
}

/* Half of the slots are free, whatever happens: the search ends. */
static unsigned find(struct census *census, const char name[CENSUS_NAME_BYTES], unsigned max)
{
    uint32_t slot = slot_of(name);
    for (; census->slots[slot]; slot = (slot + 1) % CENSUS_SLOTS)
        if (memcmp(census->entries[census->slots[slot]].name, name, CENSUS_NAME_BYTES) == 0)
            return census->slots[slot];
    bool is_full = lf_load(&census->count, relaxed) >= (max < CENSUS_NAMES_MAX ? max : CENSUS_NAMES_MAX);
    return is_full ? CENSUS_OTHERS : add(census, name, slot);
}

unsigned census_find(struct census *census, struct slice name, unsigned max)
{
    char copy[CENSUS_NAME_BYTES];
    return copy_name(copy, name) ? find(census, copy, max) : CENSUS_OTHERS;
}

/* "text/html" of "text/html; charset=utf-8" */
static struct slice type_of(struct slice field)
{
    size_t len = 0;
    while (len < field.len && field.ptr[len] != ';' && field.ptr[len] != ' ' && field.ptr[len] != '\t')
        len++;
    return len ? (struct slice){field.ptr, len} : SLICE("none");
}

/* Servers send the same few fields over and over: where one has its memo follows from its length and two of its bytes, in
 * which "text/html" differs from "image/png", and "UTF-8" at the end from "utf-8". */
static unsigned memo_of(struct slice field)
{
    unsigned first = field.len ? (unsigned char)field.ptr[0] : 0, late = field.len > 2 ? (unsigned char)field.ptr[field.len - 3] : 0;
    uint32_t look = (uint32_t)field.len << 16 | first << 8 | late;
    return (look * UINT32_C(0x9e3779b1) >> 26) % CENSUS_MEMOS;
}

unsigned census_find_type(struct census *census, struct slice field, unsigned max)
{
    struct census_memo *memo = &census->memos[memo_of(field)];
    if (field.len == memo->len && field.len && memcmp(field.ptr, memo->field, field.len) == 0)
        return memo->number;
    unsigned number = census_find(census, type_of(field), max);
    if (field.len && field.len <= CENSUS_MEMO_BYTES) {
        memcpy(memo->field, field.ptr, field.len);
        memo->len = (uint16_t)field.len;
        memo->number = (uint16_t)number;
    }
    return number;
}

unsigned census_find_domain(struct census *census, struct slice host, unsigned max)
{
    char last = host.len ? host.ptr[host.len - 1] : '\0';
    size_t start = host.len;
    if (last == ']' || (last >= '0' && last <= '9')) /* no name ends so */
        return census_find(census, SLICE("address"), max);
    while (start > 0 && host.ptr[start - 1] != '.')
        start--;
    return census_find(census, (struct slice){host.ptr + start, host.len - start}, max);
}

static void add_counts(struct census_entry *to, const struct census_entry *from)
{
    lf_store(&to->pages, lf_load(&to->pages, relaxed) + lf_load(&from->pages, relaxed), relaxed);
    lf_store(&to->bytes, lf_load(&to->bytes, relaxed) + lf_load(&from->bytes, relaxed), relaxed);
}

void census_sum(struct census *sum, const struct census *part)
{
    uint32_t count = lf_load(&part->count, acquire); /* A1 pairs with R1 in add */
    add_counts(&sum->entries[CENSUS_OTHERS], &part->entries[CENSUS_OTHERS]);
    for (uint32_t i = 1; i <= count; i++)
        add_counts(&sum->entries[find(sum, part->entries[i].name, CENSUS_NAMES_MAX)], &part->entries[i]);
}

/* The name with most pages among those that are not printed yet; CENSUS_OTHERS: there is none. */
static unsigned most(const struct census *census, const bool printed[CENSUS_NAMES_MAX + 1])
{
    unsigned best = CENSUS_OTHERS;
    for (unsigned i = 1; i <= lf_load(&census->count, relaxed); i++)
        if (!printed[i] && (best == CENSUS_OTHERS ||
                            lf_load(&census->entries[i].pages, relaxed) > lf_load(&census->entries[best].pages, relaxed)))
            best = i;
    return best;
}

static void print(const struct census_entry *entry, const char *name, const char *comma, FILE *out)
{
    fprintf(out, "%s\"%s\": {\"pages\": %" PRIu64 ", \"bytes\": %" PRIu64 "}", comma, name, lf_load(&entry->pages, relaxed),
            lf_load(&entry->bytes, relaxed));
}

void census_print(const struct census *census, unsigned rows, FILE *out)
{
    bool printed[CENSUS_NAMES_MAX + 1] = {false};
    struct census_entry others = {.name = ""};
    unsigned row = 0, number;
    fputs("{", out);
    for (; row < rows && (number = most(census, printed)) != CENSUS_OTHERS; row++) {
        print(&census->entries[number], census->entries[number].name, row ? ", " : "", out);
        printed[number] = true;
    }
    for (unsigned i = 0; i <= lf_load(&census->count, relaxed); i++)
        if (!printed[i])
            add_counts(&others, &census->entries[i]);
    if (lf_load(&others.pages, relaxed))
        print(&others, "other", row ? ", " : "", out);
    fputs("}", out);
}
