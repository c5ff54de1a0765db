#include "net/outcome.h"

#include "tests/support/check.h"

TEST(every_outcome_has_a_name_of_its_own)
{
    for (int a = 0; a < FETCH_OUTCOME_COUNT; a++) {
        const char *name = outcome_name((enum fetch_outcome)a);
        CHECK(name && name[0]);
        for (const char *c = name; *c; c++)
            CHECK((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '-');
        for (int b = 0; b < a; b++)
            CHECK(strcmp(name, outcome_name((enum fetch_outcome)b)) != 0);
    }
    CHECK_STR(outcome_name(FETCH_DONE), "done");
}

TEST(every_failure_has_a_code_of_heritrix)
{
    CHECK_INT(outcome_log_code(FETCH_DONE), 0);
    for (int outcome = FETCH_DONE + 1; outcome < FETCH_OUTCOME_COUNT; outcome++)
        CHECK(outcome_log_code((enum fetch_outcome)outcome) < 0);
    CHECK_INT(outcome_log_code(FETCH_DNS_TIMEOUT), -1);
    CHECK_INT(outcome_log_code(FETCH_CONNECT_REFUSED), -2);
    CHECK_INT(outcome_log_code(FETCH_TLS_RESET), -2);
    CHECK_INT(outcome_log_code(FETCH_BODY_RESET), -3);
    CHECK_INT(outcome_log_code(FETCH_FIRST_BYTE_TIMEOUT), -4);
    CHECK_INT(outcome_log_code(FETCH_ROBOTS_DENIED), -9998);
}

TEST(a_failure_tells_whom_it_is_about)
{
    CHECK_INT(outcome_class(FETCH_NO_MEMORY), OUTCOME_OURS);
    CHECK_INT(outcome_class(FETCH_CONNECT_NO_PORT), OUTCOME_OURS);
    CHECK_INT(outcome_class(FETCH_DNS_TIMEOUT), OUTCOME_NAME_SERVER);
    CHECK_INT(outcome_class(FETCH_DNS_NO_NAME), OUTCOME_HOST);
    CHECK_INT(outcome_class(FETCH_TLS_CERT_EXPIRED), OUTCOME_HOST);
    CHECK_INT(outcome_class(FETCH_FIRST_BYTE_CLOSED), OUTCOME_HOST);
    CHECK_INT(outcome_class(FETCH_EXCHANGE_TIMEOUT), OUTCOME_HOST);
    CHECK_INT(outcome_class(FETCH_REUSED_CLOSED), OUTCOME_OURS);
    CHECK_INT(outcome_class(FETCH_BODY_RESET), OUTCOME_PAGE);
    CHECK(outcome_is_final(FETCH_REQUEST_BAD) && outcome_is_final(FETCH_ADDRESS_FORBIDDEN));
    CHECK(!outcome_is_final(FETCH_DNS_NO_NAME) && !outcome_is_final(FETCH_BODY_RESET));
}

TEST(a_cut_body_says_what_cut_it)
{
    CHECK_STR(outcome_truncation(FETCH_BODY_TOO_LONG), "length");
    CHECK_STR(outcome_truncation(FETCH_EXCHANGE_TIMEOUT), "time");
    CHECK_STR(outcome_truncation(FETCH_BODY_TRUNCATED), "disconnect");
    CHECK(!outcome_truncation(FETCH_DONE) && !outcome_truncation(FETCH_HEAD_TRUNCATED));
}

/* Each error of the parts below is a failure of its own: none is taken for another, none for success. */
static void check_distinct(bool *taken, enum fetch_outcome outcome)
{
    CHECK(outcome != FETCH_DONE);
    if (taken[outcome])
        check_failed(__FILE__, __LINE__, "%s stands for two errors", outcome_name(outcome));
    taken[outcome] = true;
}

TEST(errors_of_the_parts_stay_apart)
{
    bool taken[FETCH_OUTCOME_COUNT] = {false};
    for (int e = DNS_OK + 1; e < DNS_ERROR_COUNT; e++)
        check_distinct(taken, outcome_of_dns((enum dns_error)e));
    for (int e = TLS_OK + 1; e < TLS_ERROR_COUNT; e++)
        check_distinct(taken, outcome_of_tls((enum tls_error)e));
    for (int e = HTTP_OK + 1; e < HTTP_ERROR_COUNT; e++)
        check_distinct(taken, outcome_of_http((enum http_error)e));
    CHECK_INT(outcome_of_tls(TLS_ALERT_PROTOCOL_VERSION), FETCH_TLS_ALERT_PROTOCOL_VERSION);
    CHECK_INT(outcome_of_http(HTTP_ERROR_CHUNK_BAD), FETCH_CHUNK_BAD);
}
