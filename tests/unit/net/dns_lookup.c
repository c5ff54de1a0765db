#include "net/dns_lookup.h"

#include <ares.h>

#include "tests/support/check.h"

static struct dns_lookup lookup;
static char message[1024];
static size_t message_len;

static void put(const char *bytes, size_t len)
{
    CHECK(message_len + len <= sizeof message);
    memcpy(message + message_len, bytes, len);
    message_len += len;
}

static void put_number(uint32_t number, unsigned bytes)
{
    for (unsigned i = bytes; i > 0; i--)
        put(&(char){(char)(number >> 8 * (i - 1))}, 1);
}

/* An answer for "a.test" without records. */
static void begin_message(int type)
{
    message_len = 0;
    put("\x12\x34\x81\x80\0\1\0\0\0\0\0\0\1a\4test\0", 20);
    put_number((uint32_t)type, 2);
    put_number(DNS_CLASS_IN, 2);
}

/* An address of the question's family whose last byte is `last`. */
static void add_record(int type, uint32_t ttl_s, unsigned char last)
{
    char address[16] = {127};
    size_t len = type == DNS_TYPE_A ? 4 : 16;
    address[len - 1] = (char)last;
    message[7]++;
    put("\xc0\x0c", 2);
    put_number((uint32_t)type, 2);
    put_number(DNS_CLASS_IN, 2);
    put_number(ttl_s, 4);
    put_number((uint32_t)len, 2);
    put(address, len);
}

/* The authority's SOA record: a negative answer holds for so long. */
static void add_soa(uint32_t ttl_s)
{
    message[9]++;
    put("\xc0\x0e\0\6\0\1", 6);
    put_number(ttl_s, 4);
    put("\0\x1a\2ns\xc0\x0e\0", 9);
    put("\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4", 16);
    put_number(ttl_s, 4);
}

static void read_message(unsigned question, int status)
{
    char *copy = check_guard_copy(message, message_len);
    lookup.questions[question].tries = 1;
    dns_lookup_read(&lookup.questions[question], status, (struct slice){copy, message_len});
    check_guard_free(copy, message_len);
}

static void read_addresses(int type, unsigned count, unsigned char first)
{
    begin_message(type);
    for (unsigned i = 0; i < count; i++)
        add_record(type, 300 - i, (unsigned char)(first + i));
    read_message(type == DNS_TYPE_AAAA, ARES_SUCCESS);
}

static void read_status(unsigned question, int status)
{
    message_len = 0;
    read_message(question, status);
}

static void begin(void)
{
    dns_lookup_init(&lookup, NULL, SLICE("a.test"));
}

static unsigned count_v4(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < lookup.answer.count; i++)
        count += ip_is_v4(&lookup.answer.addresses[i]);
    return count;
}

TEST(a_lookup_asks_for_both_families_of_its_name)
{
    begin();
    CHECK_SLICE(((struct slice){lookup.name, lookup.name_len}), "a.test");
    CHECK_INT(lookup.questions[0].type, DNS_TYPE_A);
    CHECK_INT(lookup.questions[1].type, DNS_TYPE_AAAA);
    CHECK(lookup.questions[1].lookup == &lookup && lookup.answer.was_fresh);
}

TEST(ipv4_comes_first_whichever_answer_does)
{
    for (int v6_first = 0; v6_first < 2; v6_first++) {
        begin();
        read_addresses(v6_first ? DNS_TYPE_AAAA : DNS_TYPE_A, 2, 1);
        read_addresses(v6_first ? DNS_TYPE_A : DNS_TYPE_AAAA, 2, 1);
        dns_lookup_conclude(&lookup);
        CHECK_INT(lookup.answer.error, DNS_OK);
        CHECK_INT(lookup.answer.count, 4);
        CHECK(ip_is_v4(&lookup.answer.addresses[0]) && ip_is_v4(&lookup.answer.addresses[1]));
        CHECK_INT(lookup.answer.addresses[0].bytes[15], 1);
        CHECK_INT(lookup.answer.addresses[1].bytes[15], 2);
        CHECK(!ip_is_v4(&lookup.answer.addresses[2]) && !ip_is_v4(&lookup.answer.addresses[3]));
        CHECK_INT(lookup.answer.addresses[3].bytes[15], 2);
    }
}

TEST(an_address_that_comes_twice_counts_once)
{
    begin();
    read_addresses(DNS_TYPE_A, 3, 1);
    read_addresses(DNS_TYPE_A, 3, 2);
    CHECK_INT(lookup.answer.count, 4);
}

/* The second family has half of the room at most; the first may have all of it if the other has no answer. */
TEST(addresses_beyond_the_room_are_left_out)
{
    begin();
    read_addresses(DNS_TYPE_A, DNS_ADDRESSES_MAX, 1);
    CHECK_INT(lookup.answer.count, DNS_ADDRESSES_MAX);
    read_addresses(DNS_TYPE_AAAA, 2, 1);
    CHECK_INT(lookup.answer.count, DNS_ADDRESSES_MAX);
    CHECK_INT(count_v4(), DNS_ADDRESSES_MAX);
    begin();
    read_addresses(DNS_TYPE_A, 1, 1);
    read_addresses(DNS_TYPE_AAAA, DNS_ADDRESSES_MAX, 1);
    CHECK_INT(lookup.answer.count, 1 + DNS_ADDRESSES_MAX / 2);
    CHECK_INT(count_v4(), 1);
}

TEST(the_least_time_to_live_counts)
{
    begin();
    read_addresses(DNS_TYPE_A, 3, 1);
    CHECK_INT(lookup.ttl_s, 298);
    read_addresses(DNS_TYPE_AAAA, 5, 1);
    dns_lookup_conclude(&lookup);
    CHECK_INT(lookup.ttl_s, 296);
}

TEST(a_negative_answer_holds_as_long_as_the_zone_says)
{
    begin();
    begin_message(DNS_TYPE_A);
    add_soa(120);
    read_message(0, ARES_ENOTFOUND);
    begin_message(DNS_TYPE_AAAA);
    add_soa(60);
    read_message(1, ARES_ENOTFOUND);
    dns_lookup_conclude(&lookup);
    CHECK_INT(lookup.answer.error, DNS_ERROR_NO_NAME);
    CHECK_INT(lookup.ttl_s, 60);
    begin();
    read_status(0, ARES_ENODATA);
    read_status(1, ARES_ENODATA);
    dns_lookup_conclude(&lookup);
    CHECK_INT(lookup.ttl_s, 0); /* nobody has said anything */
}

/* The time of a "no" of one family does not shorten that of the other's addresses. */
TEST(an_address_of_either_family_is_a_success)
{
    begin();
    read_addresses(DNS_TYPE_AAAA, 1, 1);
    begin_message(DNS_TYPE_A);
    add_soa(5);
    read_message(0, ARES_ENODATA);
    dns_lookup_conclude(&lookup);
    CHECK_INT(lookup.answer.error, DNS_OK);
    CHECK_INT(lookup.ttl_s, 300);
    begin();
    read_addresses(DNS_TYPE_A, 1, 1);
    read_status(1, ARES_ETIMEOUT);
    dns_lookup_conclude(&lookup);
    CHECK_INT(lookup.answer.error, DNS_OK);
}

static enum dns_error conclude(int first, int second)
{
    begin();
    read_status(0, first);
    read_status(1, second);
    dns_lookup_conclude(&lookup);
    return lookup.answer.error;
}

TEST(a_failure_counts_for_more_than_a_no_of_one_family)
{
    CHECK_INT(conclude(ARES_ENOTFOUND, ARES_ETIMEOUT), DNS_ERROR_TIMEOUT);
    CHECK_INT(conclude(ARES_ETIMEOUT, ARES_ENOTFOUND), DNS_ERROR_TIMEOUT);
    CHECK_INT(conclude(ARES_ENODATA, ARES_ESERVFAIL), DNS_ERROR_SERVER_FAILED);
    CHECK_INT(conclude(ARES_ENODATA, ARES_ENODATA), DNS_ERROR_NO_DATA);
    CHECK_INT(conclude(ARES_ENOTFOUND, ARES_ENOTFOUND), DNS_ERROR_NO_NAME);
}

TEST(a_question_that_was_not_asked_has_no_say)
{
    begin();
    read_status(1, ARES_ENOTFOUND);
    dns_lookup_conclude(&lookup);
    CHECK_INT(lookup.answer.error, DNS_ERROR_NO_NAME);
    begin();
    read_status(0, ARES_ENODATA);
    dns_lookup_conclude(&lookup);
    CHECK_INT(lookup.answer.error, DNS_ERROR_NO_DATA);
}

TEST(an_answer_without_addresses_is_a_no)
{
    begin();
    begin_message(DNS_TYPE_A);
    read_message(0, ARES_SUCCESS);
    CHECK_INT(lookup.questions[0].error, DNS_ERROR_NO_DATA);
}

TEST(an_answer_that_ends_early_has_no_address)
{
    for (size_t len = 0;; len++) {
        begin();
        begin_message(DNS_TYPE_A);
        add_record(DNS_TYPE_A, 300, 1);
        if (len == message_len)
            break;
        message_len = len;
        read_message(0, ARES_SUCCESS);
        CHECK(lookup.questions[0].error != DNS_OK);
        CHECK_INT(lookup.answer.count, 0);
    }
}

TEST(another_server_is_asked_when_one_would_not_say)
{
    static const struct {
        int status;
        enum dns_error error;
        bool wants_retry;
    } cases[] = {{ARES_ESERVFAIL, DNS_ERROR_SERVER_FAILED, true},
                 {ARES_EREFUSED, DNS_ERROR_REFUSED, true},
                 {ARES_ENOTIMP, DNS_ERROR_NOT_IMPLEMENTED, true},
                 {ARES_ENOTFOUND, DNS_ERROR_NO_NAME, false},
                 {ARES_ENODATA, DNS_ERROR_NO_DATA, false},
                 {ARES_EFORMERR, DNS_ERROR_FORMAT, false},
                 {ARES_EBADRESP, DNS_ERROR_ANSWER_BAD, false},
                 {ARES_ETIMEOUT, DNS_ERROR_TIMEOUT, false},
                 {ARES_ECONNREFUSED, DNS_ERROR_UNREACHABLE, false},
                 {ARES_EBADNAME, DNS_ERROR_NAME_BAD, false},
                 {ARES_EDESTRUCTION, DNS_ERROR_CANCELLED, false},
                 {ARES_ENOMEM, DNS_ERROR_NO_MEMORY, false},
                 {ARES_EOF, DNS_ERROR_OTHER, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin();
        read_status(0, cases[i].status);
        CHECK_INT(lookup.questions[0].error, cases[i].error);
        CHECK(dns_lookup_wants_retry(&lookup.questions[0]) == cases[i].wants_retry);
    }
}

TEST(a_list_is_first_in_first_out)
{
    static struct dns_lookup lookups[3];
    struct dns_list list = {0};
    CHECK(!dns_list_pop(&list));
    for (int round = 0; round < 2; round++) { /* an empty list can be filled again */
        for (int i = 0; i < 3; i++)
            dns_list_push(&list, &lookups[i]);
        for (int i = 0; i < 3; i++)
            CHECK(dns_list_pop(&list) == &lookups[i]);
        CHECK(!dns_list_pop(&list));
    }
}
