#include "net/dns_answer.h"

#include "tests/support/check.h"

TEST(every_error_has_a_text)
{
    for (int i = 0; i < DNS_ERROR_COUNT; i++)
        CHECK(dns_error_text((enum dns_error)i));
}

TEST(only_what_servers_say_is_memorable)
{
    CHECK(dns_error_is_memorable(DNS_OK) && dns_error_is_memorable(DNS_ERROR_NO_NAME));
    CHECK(dns_error_is_memorable(DNS_ERROR_TIMEOUT));
    CHECK(!dns_error_is_memorable(DNS_ERROR_NO_MEMORY) && !dns_error_is_memorable(DNS_ERROR_OVERLOADED));
    CHECK(!dns_error_is_memorable(DNS_ERROR_CANCELLED) && !dns_error_is_memorable(DNS_ERROR_NAME_BAD));
}
