#include "net/dns_message.h"

#include "tests/support/check.h"

/* One question (a.test A), no answers, one SOA in authority with TTL 900 and minimum 300. */
#define QUESTION "\1a\4test\0\0\1\0\1"
/* Name "ns" + pointer = 5 bytes, root = 1, then five numbers: 26 bytes. */
static const char answer[] =
    "\x12\x34\x81\x83\0\1\0\0\0\1\0\0" QUESTION
    "\xc0\x0e\0\6\0\1\0\0\3\x84\0\x1a\2ns\xc0\x0e\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\1\x2c";
static const char low_ttl[] =
    "\x12\x34\x81\x83\0\1\0\0\0\1\0\0" QUESTION
    "\xc0\x0e\0\6\0\1\0\0\0\x0a\0\x1a\2ns\xc0\x0e\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\1\x2c";
/* A CNAME in the answer section, then the SOA. */
static const char with_alias[] =
    "\x12\x34\x81\x83\0\1\0\1\0\1\0\0" QUESTION "\xc0\x0c\0\5\0\1\0\0\0\x3c\0\2\xc0\x0e"
    "\xc0\x0e\0\6\0\1\0\0\3\x84\0\x1a\2ns\xc0\x0e\0\0\0\0\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\1\x2c";
static const char no_soa[] = "\x12\x34\x81\x83\0\1\0\0\0\0\0\0" QUESTION;

TEST(the_lesser_of_the_two)
{
    uint32_t ttl_s;
    CHECK(dns_message_negative_ttl(SLICE(answer), &ttl_s));
    CHECK_INT(ttl_s, 300);
    CHECK(dns_message_negative_ttl(SLICE(low_ttl), &ttl_s));
    CHECK_INT(ttl_s, 10);
    CHECK(dns_message_negative_ttl(SLICE(with_alias), &ttl_s));
    CHECK_INT(ttl_s, 300);
}

TEST(none_without_soa)
{
    uint32_t ttl_s;
    CHECK(!dns_message_negative_ttl(SLICE(no_soa), &ttl_s));
    CHECK(!dns_message_negative_ttl((struct slice){NULL, 0}, &ttl_s));
}

TEST(no_prefix_is_enough)
{
    for (size_t len = 0; len < sizeof with_alias - 1; len++) {
        uint32_t ttl_s;
        char *copy = check_guard_copy(with_alias, len);
        CHECK(!dns_message_negative_ttl((struct slice){copy, len}, &ttl_s));
        check_guard_free(copy, len);
    }
}

TEST(damage_does_no_harm)
{
    char *copy = check_guard_copy(with_alias, sizeof with_alias - 1);
    for (size_t i = 0; i < sizeof with_alias - 1; i++)
        for (int value = 0; value < 256; value++) {
            uint32_t ttl_s;
            copy[i] = (char)value;
            dns_message_negative_ttl((struct slice){copy, sizeof with_alias - 1}, &ttl_s);
            copy[i] = with_alias[i];
        }
    check_guard_free(copy, sizeof with_alias - 1);
}
