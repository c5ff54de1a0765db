#include "engine/outcome/fetch_outcome.h"

#include <assert.h>
#include <stdint.h>

struct row {
    const char *name;
    int16_t code;
    uint8_t class; /* enum fetch_outcome_class */
    bool is_final;
};

enum again { RETRY, FINAL };

static const struct row rows[FETCH_OUTCOME_COUNT] = {
#define FETCH_OUTCOME_ROW(value, number, name, code, class, again)                                           \
    [FETCH_##value] = {name, code, FETCH_OUTCOME_##class, again == FINAL},
    FETCH_OUTCOMES(FETCH_OUTCOME_ROW)
#undef FETCH_OUTCOME_ROW
};

_Static_assert(FETCH_OUTCOME_COUNT <= UINT8_MAX + 1, "the journal keeps an outcome in a byte");

static const struct row *row_of(enum fetch_outcome outcome)
{
    assert(outcome < FETCH_OUTCOME_COUNT && rows[outcome].name);
    return &rows[outcome];
}

const char *fetch_outcome_name(enum fetch_outcome outcome)
{
    return row_of(outcome)->name;
}

enum fetch_outcome_class fetch_outcome_class(enum fetch_outcome outcome)
{
    return (enum fetch_outcome_class)row_of(outcome)->class;
}

bool fetch_outcome_is_final(enum fetch_outcome outcome)
{
    return row_of(outcome)->is_final;
}

const char *fetch_outcome_truncation(enum fetch_outcome outcome)
{
    static const char *const words[FETCH_OUTCOME_COUNT] = {
        [FETCH_BODY_TOO_LONG] = "length",       [FETCH_BODY_TIMEOUT] = "time",
        [FETCH_EXCHANGE_TIMEOUT] = "time",      [FETCH_BODY_RESET] = "disconnect",
        [FETCH_BODY_TRUNCATED] = "disconnect",  [FETCH_TLS_TRUNCATED] = "disconnect",
        [FETCH_SLOW_TRANSFER] = "time",         [FETCH_CHUNK_BAD] = "unspecified",
        [FETCH_CHUNK_OVERHEAD] = "unspecified",
    };
    assert(outcome < FETCH_OUTCOME_COUNT);
    return words[outcome];
}

int fetch_outcome_log_code(enum fetch_outcome outcome)
{
    return row_of(outcome)->code;
}
