#include "tools/websim/dns.h"

#define HEADER_BYTES 12
#define NAME_BYTES   256
#define TTL_S        3600
#define UDP_BYTES    1232 /* that we would take, for the OPT record */

enum {
    TYPE_A = 1,
    TYPE_NS = 2,
    TYPE_SOA = 6,
    TYPE_OPT = 41,
    TYPE_ANY = 255,
    CLASS_IN = 1,
};

enum rcode {
    RCODE_NOERROR = 0,
    RCODE_FORMERR = 1,
    RCODE_SERVFAIL = 2,
    RCODE_NXDOMAIN = 3,
    RCODE_NOTIMP = 4,
    RCODE_REFUSED = 5,
};

struct question {
    char name[NAME_BYTES]; /* lower case, dots, no final dot */
    size_t name_len;
    uint16_t type, class;
    size_t end; /* of the question section */
    bool has_opt;
};

static uint16_t get16(struct slice bytes, size_t at)
{
    return (uint16_t)((unsigned char)bytes.ptr[at] << 8 | (unsigned char)bytes.ptr[at + 1]);
}

static char *put16(char *at, unsigned value)
{
    *at++ = (char)(value >> 8);
    *at++ = (char)value;
    return at;
}

static char *put32(char *at, uint32_t value)
{
    return put16(put16(at, value >> 16), value & 0xffff);
}

/* The name at `at` without compression, which a question has no use for; 0 or where it ends. */
static size_t read_name(struct slice query, size_t at, struct question *question)
{
    for (;;) {
        if (at >= query.len)
            return 0;
        size_t len = (unsigned char)query.ptr[at++];
        if (len == 0)
            return at;
        if (len > 63 || at + len > query.len || question->name_len + len + 1 >= NAME_BYTES)
            return 0;
        if (question->name_len)
            question->name[question->name_len++] = '.';
        for (size_t i = 0; i < len; i++)
            question->name[question->name_len++] = slice_lower(query.ptr[at + i]);
        at += len;
    }
}

static bool read_question(struct slice query, struct question *question)
{
    question->name_len = 0;
    if (get16(query, 4) != 1)
        return false;
    size_t at = read_name(query, HEADER_BYTES, question);
    if (at == 0 || at + 4 > query.len)
        return false;
    question->type = get16(query, at);
    question->class = get16(query, at + 2);
    question->end = at + 4;
    /* An OPT record comes first in a query's additional section, with the root as its name. */
    question->has_opt = get16(query, 10) > 0 && query.len >= question->end + 11 &&
                        query.ptr[question->end] == 0 && get16(query, question->end + 1) == TYPE_OPT;
    return true;
}

static struct slice suffix_of(const struct question *question)
{
    size_t at = question->name_len;
    while (at > 0 && question->name[at - 1] != '.')
        at--;
    return (struct slice){question->name + at, question->name_len - at};
}

static bool is_ours(struct slice suffix)
{
    return slice_equals(suffix, SLICE("sim")) || slice_equals(suffix, SLICE("example")) ||
           slice_equals(suffix, SLICE("test"));
}

/* A top-level domain or a domain below it: exists, with no address. Domains are d<number>. */
static bool is_above_a_host(const struct websim_web *web, const struct question *question)
{
    struct slice suffix = suffix_of(question);
    size_t len = question->name_len - suffix.len;
    uint64_t number = 0;
    if (len == 0)
        return true;
    if (question->name[0] != 'd' || len < 3)
        return false;
    for (size_t i = 1; i < len - 1; i++) {
        if (question->name[i] < '0' || question->name[i] > '9' || number > web->domains)
            return false;
        number = number * 10 + (uint64_t)(question->name[i] - '0');
    }
    return number < web->domains;
}

static enum rcode decide(const struct websim_web *web, const struct question *question, uint32_t *host,
                         bool *found)
{
    *found = false;
    if (question->class != CLASS_IN || !is_ours(suffix_of(question)))
        return RCODE_REFUSED;
    if (!websim_host_find(web, (struct slice){question->name, question->name_len}, host))
        return is_above_a_host(web, question) ? RCODE_NOERROR : RCODE_NXDOMAIN;
    *found = true;
    enum websim_fault fault = websim_host_fault(web, *host);
    return fault == WEBSIM_FAULT_NXDOMAIN   ? RCODE_NXDOMAIN
           : fault == WEBSIM_FAULT_SERVFAIL ? RCODE_SERVFAIL
                                            : RCODE_NOERROR;
}

static char *put_address(char *at, uint32_t address)
{
    at = put16(at, 0xc00c); /* the name of the question */
    at = put16(at, TYPE_A);
    at = put16(at, CLASS_IN);
    at = put32(at, TTL_S);
    at = put16(at, 4);
    return put32(at, address);
}

/* The SOA record of the top-level domain, by which a resolver knows how long a name does not exist. */
static char *put_soa(char *at, const struct question *question)
{
    static const char mname[] = "\2ns\3sim", rname[] = "\12hostmaster\3sim";
    struct slice suffix = suffix_of(question);
    size_t offset = HEADER_BYTES + question->name_len - suffix.len;
    at = put16(at, 0xc000 | (unsigned)offset);
    at = put16(at, TYPE_SOA);
    at = put16(at, CLASS_IN);
    at = put32(at, TTL_S);
    at = put16(at, sizeof mname + sizeof rname + 20);
    memcpy(at, mname, sizeof mname);
    memcpy(at + sizeof mname, rname, sizeof rname);
    at += sizeof mname + sizeof rname;
    static const uint32_t times[] = {1, 3600, 600, 86400, TTL_S};
    for (unsigned i = 0; i < 5; i++)
        at = put32(at, times[i]);
    return at;
}

static char *put_opt(char *at)
{
    *at++ = 0;
    at = put16(at, TYPE_OPT);
    at = put16(at, UDP_BYTES);
    at = put32(at, 0);
    return put16(at, 0);
}

/* The header: the query's id and RD bit, QR, and AA where we speak for the name. */
static void put_header(struct slice query, char *out, enum rcode rcode, const unsigned counts[4])
{
    unsigned flags = get16(query, 2);
    char *at = put16(out, get16(query, 0));
    at = put16(at, 0x8000 | (rcode == RCODE_REFUSED ? 0 : 0x0400) | (flags & 0x7900) | (unsigned)rcode);
    for (unsigned i = 0; i < 4; i++)
        at = put16(at, counts[i]);
}

size_t websim_dns_answer(const struct websim_web *web, struct slice query, char *out)
{
    struct question question;
    uint32_t host;
    bool found;
    if (query.len < HEADER_BYTES || get16(query, 2) & 0x8000)
        return 0;
    if (get16(query, 2) & 0x7800 || !read_question(query, &question) ||
        question.end > WEBSIM_DNS_BYTES_MAX - 128) {
        put_header(query, out, get16(query, 2) & 0x7800 ? RCODE_NOTIMP : RCODE_FORMERR, (unsigned[4]){0});
        return HEADER_BYTES;
    }
    enum rcode rcode = decide(web, &question, &host, &found);
    if (found && websim_host_fault(web, host) == WEBSIM_FAULT_DNSTIMEOUT)
        return 0;
    unsigned counts[4] = {1, 0, 0, question.has_opt};
    memcpy(out, query.ptr, question.end);
    char *at = out + question.end;
    if (found && rcode == RCODE_NOERROR && (question.type == TYPE_A || question.type == TYPE_ANY)) {
        at = put_address(at, websim_host_address(web, host));
        counts[1] = 1;
    } else if (rcode == RCODE_NOERROR || rcode == RCODE_NXDOMAIN) {
        at = put_soa(at, &question);
        counts[2] = 1;
    }
    if (question.has_opt)
        at = put_opt(at);
    put_header(query, out, rcode, counts);
    return (size_t)(at - out);
}

enum parse websim_dns_frame(struct slice bytes, size_t *used)
{
    if (bytes.len < 2 || bytes.len < 2u + get16(bytes, 0))
        return PARSE_PARTIAL;
    *used = 2u + get16(bytes, 0);
    return PARSE_DONE;
}

bool websim_dns_answer_frame(const struct websim_web *web, struct slice frame, struct websim_answer *answer)
{
    struct websim_buffer bytes = answer->bytes;
    bytes.len = 0;
    char *out = websim_buffer_room(&bytes, 2 + WEBSIM_DNS_BYTES_MAX);
    size_t len = websim_dns_answer(web, slice_skip(frame, 2), out + 2);
    put16(out, (unsigned)len);
    bytes.len = 2 + len;
    *answer = (struct websim_answer){.bytes = bytes, .packed = WEBSIM_ANSWER_NO_URL, .status = 200};
    return len > 0;
}
