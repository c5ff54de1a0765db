#include "net/outcome.h"

#include "tests/support/check.h"

TEST(every_outcome_has_a_name_of_its_own)
{
    static const enum outcome all[] = {
#define ELEMENT(value, number, name, code, class, again) OUTCOME_##value,
        OUTCOMES(ELEMENT)
#undef ELEMENT
    };
    for (size_t a = 0; a < sizeof all / sizeof all[0]; a++) {
        const char *name = outcome_name(all[a]);
        CHECK(name && name[0]);
        for (const char *c = name; *c; c++)
            CHECK((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '-');
        for (size_t b = 0; b < a; b++)
            CHECK(all[a] != all[b] && strcmp(name, outcome_name(all[b])) != 0);
    }
    CHECK_STR(outcome_name(OUTCOME_DONE), "done");
}

/* Each error of the parts below is a failure of its own: none is taken for another, none for success. */
static void check_distinct(bool *taken, enum outcome outcome)
{
    CHECK(outcome != OUTCOME_DONE);
    if (taken[outcome])
        check_failed(__FILE__, __LINE__, "%s stands for two errors", outcome_name(outcome));
    taken[outcome] = true;
}

TEST(errors_of_the_parts_stay_apart)
{
    bool taken[OUTCOME_COUNT] = {false};
    for (int e = DNS_OK + 1; e < DNS_ERROR_COUNT; e++)
        check_distinct(taken, outcome_of_dns((enum dns_error)e));
    for (int e = TLS_OK + 1; e < TLS_ERROR_COUNT; e++)
        check_distinct(taken, outcome_of_tls((enum tls_error)e));
    for (int e = HTTP_OK + 1; e < HTTP_ERROR_COUNT; e++)
        check_distinct(taken, outcome_of_http((enum http_error)e));
    CHECK_INT(outcome_of_tls(TLS_ALERT_PROTOCOL_VERSION), OUTCOME_TLS_ALERT_PROTOCOL_VERSION);
    CHECK_INT(outcome_of_http(HTTP_ERROR_CHUNK_BAD), OUTCOME_CHUNK_BAD);
}
