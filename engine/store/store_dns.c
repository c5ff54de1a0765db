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

static size_t write_block(char *block, const struct store_answer *answer)
{
    char address[INET6_ADDRSTRLEN];
    size_t len = DATE_CHARS + 1;
    warc_write_date_digits(block, DATE_CHARS, answer->date_us);
    block[DATE_CHARS] = '\n';
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
    struct store_page page = {.url = {uri, (size_t)uri_len}, .date_us = answer->date_us};
    struct warc_record text = store_record(store, WARC_DNS, &page);
    text.id = warc_ids_next(&store->ids);
    text.block = (struct slice){block, write_block(block, answer)};
    size_t len = warc_write_header(record, &text);
    memcpy(record + len, block, text.block.len);
    len += text.block.len;
    memcpy(record + len, "\r\n\r\n", WARC_TRAILER_BYTES);
    store_write_record(store, PRESS_REQUEST, (struct slice){record, len + WARC_TRAILER_BYTES});
    return true;
}
