#include "tools/websim/fault.h"

#include <stdio.h>
#include <string.h>

#include "tools/websim/options.h"
#include "tools/websim/random.h"

static const struct {
    const char *word, *meaning;
} faults[WEBSIM_FAULT_COUNT] = {[WEBSIM_FAULT_NONE] = {"none", "nothing wrong"},
#define ROW(name, word_, meaning_) [WEBSIM_FAULT_##name] = {word_, meaning_},
                                WEBSIM_HOST_FAULTS(ROW) WEBSIM_PAGE_FAULTS(ROW)
#undef ROW
};

const char *websim_fault_word(enum websim_fault fault)
{
    return faults[fault].word;
}

const char *websim_fault_meaning(enum websim_fault fault)
{
    return faults[fault].meaning;
}

enum websim_fault websim_fault_find(const char *word, uint64_t len)
{
    for (unsigned i = 1; i < WEBSIM_FAULT_COUNT; i++)
        if (strlen(faults[i].word) == len && memcmp(faults[i].word, word, len) == 0)
            return (enum websim_fault)i;
    return WEBSIM_FAULT_NONE;
}

static const char *read_one(uint64_t *shares, const char *begin, const char *end)
{
    char share[16];
    const char *equals = memchr(begin, '=', (size_t)(end - begin));
    if (!equals || (size_t)(end - equals) > sizeof share)
        return "expected NAME=SHARE";
    enum websim_fault fault = websim_fault_find(begin, (uint64_t)(equals - begin));
    if (fault == WEBSIM_FAULT_NONE)
        return "no fault of that name (websim help lists them)";
    memcpy(share, equals + 1, (size_t)(end - equals - 1));
    share[end - equals - 1] = '\0';
    return websim_options_share(share, &shares[fault]) ? NULL : "expected a share from 0 to 1";
}

const char *websim_fault_read(void *shares, const char *text)
{
    for (;;) {
        const char *end = text + strcspn(text, ",");
        const char *wrong = read_one(shares, text, end);
        if (wrong || *end == '\0')
            return wrong;
        text = end + 1;
    }
}

enum websim_fault websim_fault_draw(const uint64_t *shares, enum websim_fault first, enum websim_fault end,
                                    uint64_t bits)
{
    uint64_t at = websim_below(bits, WEBSIM_PPM);
    for (unsigned i = first; i < end; i++) {
        if (at < shares[i])
            return (enum websim_fault)i;
        at -= shares[i];
    }
    return WEBSIM_FAULT_NONE;
}
