#include "net/dns_message.h"

enum {
    TYPE_SOA = 6,
    SOA_NUMBERS_BYTES = 20, /* serial, refresh, retry, expire, minimum: the end of the record */
};

static bool take(struct slice *in, size_t bytes, uint32_t *value)
{
    if (in->len < bytes)
        return false;
    *value = 0;
    for (size_t i = 0; i < bytes; i++)
        *value = *value << 8 | (unsigned char)in->ptr[i];
    *in = slice_skip(*in, bytes);
    return true;
}

static bool skip(struct slice *in, size_t bytes)
{
    if (in->len < bytes)
        return false;
    *in = slice_skip(*in, bytes);
    return true;
}

/* Labels up to the root, or to a pointer, which ends a name. */
static bool skip_name(struct slice *in)
{
    uint32_t len;
    while (take(in, 1, &len)) {
        if (len == 0)
            return true;
        if (len >= 0xc0)
            return skip(in, 1);
        if (len > 63 || !skip(in, len))
            return false;
    }
    return false;
}

struct record {
    uint32_t type, ttl_s;
    struct slice data;
};

static bool take_record(struct slice *in, struct record *record)
{
    uint32_t class, len;
    if (!skip_name(in) || !take(in, 2, &record->type) || !take(in, 2, &class) ||
        !take(in, 4, &record->ttl_s) || !take(in, 2, &len) || in->len < len)
        return false;
    record->data = (struct slice){in->ptr, len};
    return skip(in, len);
}

bool dns_message_negative_ttl(struct slice message, uint32_t *ttl_s)
{
    struct slice in = message;
    struct record record;
    uint32_t questions, answers, authorities, minimum;
    if (!skip(&in, 4) || !take(&in, 2, &questions) || !take(&in, 2, &answers) ||
        !take(&in, 2, &authorities) || !skip(&in, 2))
        return false;
    while (questions--)
        if (!skip_name(&in) || !skip(&in, 4))
            return false;
    while (answers--)
        if (!take_record(&in, &record))
            return false;
    while (authorities-- && take_record(&in, &record)) {
        if (record.type != TYPE_SOA || record.data.len < SOA_NUMBERS_BYTES)
            continue;
        struct slice last = slice_skip(record.data, record.data.len - 4);
        take(&last, 4, &minimum);
        *ttl_s = record.ttl_s < minimum ? record.ttl_s : minimum;
        return true;
    }
    return false;
}
