#include "tools/websim/dns.h"

#include "tests/support/check.h"

static struct websim_web web;
static unsigned char answer[WEBSIM_DNS_BYTES_MAX];
static unsigned char query[512];
static size_t query_len;

static void begin(const char *faults)
{
    struct websim_parameters parameters;
    websim_parameters_default(&parameters, 0, NULL);
    parameters.hosts = 100;
    if (faults)
        CHECK(!websim_fault_read(parameters.faults, faults));
    CHECK_INT(websim_parameters_settle(&parameters, "test"), 0);
    websim_web_init(&web, &parameters);
}

static void make_query(const char *name, unsigned type)
{
    static const unsigned char header[] = {0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0};
    memcpy(query, header, sizeof header);
    query_len = sizeof header;
    while (*name) {
        size_t len = strcspn(name, ".");
        query[query_len++] = (unsigned char)len;
        memcpy(query + query_len, name, len);
        query_len += len;
        name += len + (name[len] == '.');
    }
    const unsigned char rest[] = {0, 0, (unsigned char)type, 0, 1};
    memcpy(query + query_len, rest, sizeof rest);
    query_len += sizeof rest;
}

static size_t ask(void)
{
    char *copy = check_guard_copy(query, query_len), *out = check_guard_copy(answer, sizeof answer);
    size_t len = websim_dns_answer(&web, (struct slice){copy, query_len}, out);
    memcpy(answer, out, sizeof answer);
    check_guard_free(out, sizeof answer);
    check_guard_free(copy, query_len);
    return len;
}

static unsigned rcode(void)
{
    return answer[3] & 15;
}

static unsigned count(unsigned section)
{
    return (unsigned)answer[4 + 2 * section] << 8 | answer[5 + 2 * section];
}

TEST(an_address)
{
    char name[WEBSIM_NAME_BYTES];
    begin(NULL);
    for (uint32_t host = 0; host < 100; host++) {
        websim_host_name(&web, host, name);
        make_query(name, 1);
        size_t len = ask();
        uint32_t address = websim_host_address(&web, host);
        CHECK_INT(len, query_len + 16);
        CHECK_INT(answer[0] << 8 | answer[1], 0x1234);
        CHECK_INT(answer[2], 0x85); /* an answer, authoritative, recursion was desired */
        CHECK_INT(rcode(), 0);
        CHECK_INT(count(1), 1);
        CHECK_INT((uint32_t)answer[len - 4] << 24 | answer[len - 3] << 16 | answer[len - 2] << 8 |
                      answer[len - 1],
                  address);
    }
}

TEST(names_that_are_not)
{
    static const struct {
        const char *name;
        unsigned rcode;
    } cases[] = {{"h100.d0.sim", 3}, {"h1.d1.nowhere", 5}, {"x.sim", 3},  {"d0.sim", 0}, {"d99.sim", 3},
                 {"sim", 0},         {"test", 0},          {"dx.sim", 3}, {"com", 5},    {"d.sim", 3}};
    begin(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_query(cases[i].name, 1);
        CHECK(ask() >= query_len);
        CHECK_INT(rcode(), cases[i].rcode);
        CHECK_INT(count(1), 0);
        CHECK_INT(count(2), cases[i].rcode != 5); /* the SOA record that bounds the time of a no */
    }
}

TEST(other_types_have_no_answer)
{
    char name[WEBSIM_NAME_BYTES];
    begin(NULL);
    websim_host_name(&web, 7, name);
    make_query(name, 28);
    ask();
    CHECK_INT(rcode(), 0);
    CHECK_INT(count(1), 0);
    CHECK_INT(count(2), 1);
}

TEST(an_opt_record_is_answered_with_one)
{
    static const unsigned char opt[] = {0, 0, 41, 4, 0xd0, 0, 0, 0, 0, 0, 0};
    char name[WEBSIM_NAME_BYTES];
    begin(NULL);
    websim_host_name(&web, 7, name);
    make_query(name, 1);
    query[11] = 1;
    memcpy(query + query_len, opt, sizeof opt);
    query_len += sizeof opt;
    size_t len = ask();
    CHECK_INT(count(3), 1);
    CHECK(memcmp(answer + len - sizeof opt, opt, 3) == 0);
}

TEST(faults)
{
    char name[WEBSIM_NAME_BYTES];
    begin("nxdomain=1");
    websim_host_name(&web, 7, name);
    make_query(name, 1);
    ask();
    CHECK_INT(rcode(), 3);
    begin("servfail=1");
    ask();
    CHECK_INT(rcode(), 2);
    begin("dnstimeout=1");
    CHECK_INT(ask(), 0);
}

TEST(what_is_no_question)
{
    begin(NULL);
    make_query("h1.d1.sim", 1);
    query[2] |= 0x80; /* an answer */
    CHECK_INT(ask(), 0);
    make_query("h1.d1.sim", 1);
    query[2] |= 0x10; /* another opcode */
    CHECK_INT(ask(), 12);
    CHECK_INT(rcode(), 4);
    make_query("h1.d1.sim", 1);
    query[5] = 2; /* two questions */
    CHECK_INT(ask(), 12);
    CHECK_INT(rcode(), 1);
    make_query("h1.d1.sim", 1);
    query[12] = 0xc0; /* a compressed name */
    ask();
    CHECK_INT(rcode(), 1);
}

TEST(every_prefix_is_answered_without_reading_beyond_it)
{
    begin(NULL);
    make_query("h1.d1.sim", 1);
    for (size_t whole = query_len; query_len > 0; query_len--) {
        size_t len = ask();
        CHECK(query_len == whole || len == (query_len < 12 ? 0 : 12));
    }
}

TEST(frames)
{
    char name[WEBSIM_NAME_BYTES], frame[600];
    struct websim_answer framed = {0};
    size_t used;
    begin(NULL);
    websim_host_name(&web, 7, name);
    make_query(name, 1);
    frame[0] = 0;
    frame[1] = (char)query_len;
    memcpy(frame + 2, query, query_len);
    for (size_t len = 0; len < query_len + 2; len++)
        CHECK_INT(websim_dns_frame((struct slice){frame, len}, &used), PARSE_PARTIAL);
    CHECK_INT(websim_dns_frame((struct slice){frame, query_len + 10}, &used), PARSE_DONE);
    CHECK_INT(used, query_len + 2);
    CHECK(websim_dns_answer_frame(&web, (struct slice){frame, used}, &framed));
    CHECK_INT(framed.bytes.len, 2 + query_len + 16);
    CHECK_INT(framed.bytes.data[1], query_len + 16);
    websim_buffer_fini(&framed.bytes);
}
