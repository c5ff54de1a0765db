/* The answers of name servers, as Heritrix keeps them: a date, then lines of a zone file. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/store/store.h"

enum {
    DATE_CHARS = 14,
    NAME_CHARS_MAX = 255,
    ANSWERS_BYTES_MAX = 4096,
    URI_BYTES_MAX = sizeof "dns:" + NAME_CHARS_MAX,
};

/* "20261116071947" */
static void write_date(uint64_t date_us, char digits[DATE_CHARS + 1])
{
    char date[WARC_DATE_CHARS];
    size_t count = 0;
    warc_write_date(date, date_us);
    for (size_t i = 0; count < DATE_CHARS; i++)
        if (date[i] >= '0' && date[i] <= '9')
            digits[count++] = date[i];
    digits[count] = '\0';
}

static size_t write_block(char *block, const struct store_answer *answer)
{
    char digits[DATE_CHARS + 1], address[INET6_ADDRSTRLEN];
    write_date(answer->date_us, digits);
    size_t len = (size_t)snprintf(block, ANSWERS_BYTES_MAX, "%s\n", digits);
    for (unsigned i = 0;
         i < answer->count && len + NAME_CHARS_MAX + INET6_ADDRSTRLEN + 64 < ANSWERS_BYTES_MAX; i++) {
        struct slice text = ip_text(&answer->addresses[i], address);
        len += (size_t)snprintf(block + len, ANSWERS_BYTES_MAX - len, "%.*s.\t%" PRIu64 "\tIN\t%s\t%.*s\n",
                                (int)answer->name.len, answer->name.ptr, answer->ttl_s,
                                ip_is_v4(&answer->addresses[i]) ? "A" : "AAAA", (int)text.len, text.ptr);
    }
    return len;
}

bool store_add_answer(struct store *store, const struct store_answer *answer)
{
    char record[WARC_HEADER_BYTES_MAX + ANSWERS_BYTES_MAX + WARC_TRAILER_BYTES], block[ANSWERS_BYTES_MAX];
    char uri[URI_BYTES_MAX];
    if (answer->name.len > NAME_CHARS_MAX ||
        outlet_room(&store->outlet) < press_bound(sizeof record) + 2 * OUTLET_BLOCK_BYTES ||
        !store_open(store))
        return false;
    int uri_len = snprintf(uri, sizeof uri, "dns:%.*s", (int)answer->name.len, answer->name.ptr);
    struct warc_record text = {.type = WARC_DNS,
                               .is_1_0 = store->tuning->fixed.store.warc == TUNING_WARC_1_0,
                               .id = warc_ids_next(&store->ids),
                               .date_us = answer->date_us,
                               .target_uri = {uri, (size_t)uri_len},
                               .warcinfo = &store->warcinfo,
                               .block = {block, write_block(block, answer)},
                               .omits_block_digest = !store->tuning->fixed.store.block_digest};
    size_t len = warc_write_header(record, &text);
    memcpy(record + len, block, text.block.len);
    len += text.block.len;
    memcpy(record + len, "\r\n\r\n", WARC_TRAILER_BYTES);
    store_write_record(store, PRESS_REQUEST, (struct slice){record, len + WARC_TRAILER_BYTES});
    return true;
}
