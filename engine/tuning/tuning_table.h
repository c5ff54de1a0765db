/* One row per key of the tuning file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tuning;

enum tuning_type {
    TUNING_BOOL,     /* yes, no */
    TUNING_COUNT,    /* 1000, 10K, 5M, 1G */
    TUNING_BYTES,    /* 512, 64KiB, 10MB, 2GiB */
    TUNING_DURATION, /* 250ms, 10s, 5m, 2h, 1d */
    TUNING_NUMBER,   /* 0.25 */
    TUNING_TEXT,
    TUNING_LIST, /* separated by commas, or the key given several times */
    TUNING_CHOICE,
};

struct tuning_key {
    const char *section;
    const char *name;
    enum tuning_type type;
    size_t offset;
    const char *fallback; /* the default, as it would be written */
    double min, max;      /* in the type's base unit; not used for text */
    const char *choices;  /* space-separated, in the order of the enum */
    const char *meaning;
};

/* Whether the key may change while a crawl runs: its place in struct tuning says so. */
bool tuning_key_is_live(const struct tuning_key *key);
bool tuning_key_differs(const struct tuning_key *key, const struct tuning *one, const struct tuning *other);

extern const struct tuning_key tuning_keys[];
extern const size_t tuning_keys_count;
