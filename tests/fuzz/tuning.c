/* Any bytes as a tuning file. A refused one changes nothing and says why in one line; an accepted one keeps
 * every value in its range, says the same when it is read twice, and can be taken over by a running crawl. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tuning/tuning.h"
#include "engine/tuning/tuning_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct tuning defaults, first, second;

static void check_value(const struct tuning_key *key)
{
    const char *at = (const char *)&first + key->offset;
    uint64_t count;
    double number;
    memcpy(&count, at, sizeof count);
    memcpy(&number, at, sizeof number);
    switch (key->type) {
    case TUNING_COUNT:
    case TUNING_BYTES:
    case TUNING_DURATION:
    case TUNING_CHOICE:
        if ((double)count < key->min || (double)count > key->max)
            abort();
        break;
    case TUNING_NUMBER:
        if (!(number >= key->min && number <= key->max))
            abort();
        break;
    case TUNING_TEXT:
        if (!memchr(at, '\0', TUNING_TEXT_BYTES))
            abort();
        break;
    case TUNING_LIST:
        if (!memchr(at, '\0', TUNING_LIST_BYTES))
            abort();
        break;
    case TUNING_BOOL:
        if (*(const unsigned char *)at > 1)
            abort();
        break;
    }
}

static void check_items(const char *list)
{
    struct slice rest = slice_of(list), item;
    while (tuning_next_item(&rest, &item))
        if (item.len > TUNING_LIST_BYTES)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tuning_error error = {""};
    const char *refused;
    char *copy = malloc(size + 1);
    struct slice text = {memcpy(copy, data, size), size};
    tuning_init(&defaults);
    first = second = defaults;
    if (!tuning_parse(&first, "fuzz.ini", text, &error)) {
        if (memcmp(&first, &defaults, sizeof first) != 0 || !error.message[0] || strchr(error.message, '\n'))
            abort();
    } else {
        for (size_t i = 0; i < tuning_keys_count; i++)
            check_value(&tuning_keys[i]);
        check_items(first.fixed.scope.exclude);
        check_items(first.fixed.net.dns_servers);
        tuning_reload(&second, &first, &refused);
        if (!tuning_parse(&second, "fuzz.ini", text, &error) || memcmp(&first, &second, sizeof first) != 0)
            abort();
    }
    free(copy);
    return 0;
}
