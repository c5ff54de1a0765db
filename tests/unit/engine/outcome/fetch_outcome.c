#include "engine/outcome/fetch_outcome.h"

#include "tests/support/check.h"

static const enum fetch_outcome all[] = {
#define ELEMENT(value, number, name, code, class, again) FETCH_##value,
    FETCH_OUTCOMES(ELEMENT)
#undef ELEMENT
};
enum { ALL = sizeof all / sizeof all[0] };

TEST(every_outcome_has_a_number_and_a_name_of_its_own)
{
    for (size_t a = 0; a < ALL; a++) {
        CHECK(all[a] < FETCH_OUTCOME_COUNT && fetch_outcome_name(all[a])[0]);
        for (size_t b = 0; b < a; b++)
            CHECK(all[a] != all[b] && strcmp(fetch_outcome_name(all[a]), fetch_outcome_name(all[b])) != 0);
    }
}

/* Journals that were written by earlier versions are read by these numbers. */
TEST(the_numbers_in_journals_stay)
{
    CHECK_INT(FETCH_DONE, 0);
    CHECK_INT(FETCH_DNS_NO_NAME, 1);
    CHECK_INT(FETCH_CONNECT_REFUSED, 17);
    CHECK_INT(FETCH_ABORTED, 99);
    CHECK_INT(FETCH_DECODE_FAILED, 100);
    CHECK_INT(FETCH_ADDRESS_FORBIDDEN, 105);
    CHECK_INT(FETCH_HOST_LIMIT, 109);
    CHECK_INT(FETCH_SIEVE_FULL, 115);
    CHECK_INT(FETCH_DROPPED, 116);
}

TEST(an_outcome_of_net_keeps_its_name)
{
#define SAME(value, number, name, code, class, again)                                                        \
    CHECK_INT(fetch_outcome_of(OUTCOME_##value), FETCH_##value);                                             \
    CHECK_STR(fetch_outcome_name(fetch_outcome_of(OUTCOME_##value)), outcome_name(OUTCOME_##value));
    OUTCOMES(SAME)
#undef SAME
}

TEST(every_failure_has_a_code_of_heritrix)
{
    CHECK_INT(fetch_outcome_log_code(FETCH_DONE), 0);
    for (size_t i = 0; i < ALL; i++)
        CHECK(all[i] == FETCH_DONE || fetch_outcome_log_code(all[i]) < 0);
    CHECK_INT(fetch_outcome_log_code(FETCH_DNS_TIMEOUT), -1);
    CHECK_INT(fetch_outcome_log_code(FETCH_CONNECT_REFUSED), -2);
    CHECK_INT(fetch_outcome_log_code(FETCH_TLS_RESET), -2);
    CHECK_INT(fetch_outcome_log_code(FETCH_BODY_RESET), -3);
    CHECK_INT(fetch_outcome_log_code(FETCH_FIRST_BYTE_TIMEOUT), -4);
    CHECK_INT(fetch_outcome_log_code(FETCH_ROBOTS_DENIED), -9998);
}

TEST(a_failure_tells_whom_it_is_about)
{
    CHECK_INT(fetch_outcome_class(FETCH_NO_MEMORY), FETCH_OUTCOME_OURS);
    CHECK_INT(fetch_outcome_class(FETCH_CONNECT_NO_PORT), FETCH_OUTCOME_OURS);
    CHECK_INT(fetch_outcome_class(FETCH_DNS_TIMEOUT), FETCH_OUTCOME_NAME_SERVER);
    CHECK_INT(fetch_outcome_class(FETCH_DNS_NO_NAME), FETCH_OUTCOME_HOST);
    CHECK_INT(fetch_outcome_class(FETCH_TLS_CERT_EXPIRED), FETCH_OUTCOME_HOST);
    CHECK_INT(fetch_outcome_class(FETCH_FIRST_BYTE_CLOSED), FETCH_OUTCOME_HOST);
    CHECK_INT(fetch_outcome_class(FETCH_EXCHANGE_TIMEOUT), FETCH_OUTCOME_HOST);
    CHECK_INT(fetch_outcome_class(FETCH_REUSED_CLOSED), FETCH_OUTCOME_OURS);
    CHECK_INT(fetch_outcome_class(FETCH_BODY_RESET), FETCH_OUTCOME_PAGE);
    CHECK(fetch_outcome_is_final(FETCH_REQUEST_BAD) && fetch_outcome_is_final(FETCH_ADDRESS_FORBIDDEN));
    CHECK(!fetch_outcome_is_final(FETCH_DNS_NO_NAME) && !fetch_outcome_is_final(FETCH_BODY_RESET));
}

TEST(a_cut_body_says_what_cut_it)
{
    CHECK_STR(fetch_outcome_truncation(FETCH_BODY_TOO_LONG), "length");
    CHECK_STR(fetch_outcome_truncation(FETCH_EXCHANGE_TIMEOUT), "time");
    CHECK_STR(fetch_outcome_truncation(FETCH_BODY_TRUNCATED), "disconnect");
    CHECK(!fetch_outcome_truncation(FETCH_DONE) && !fetch_outcome_truncation(FETCH_HEAD_TRUNCATED));
}
