#include "net/dns_answer.h"

#include <assert.h>

bool dns_error_is_memorable(enum dns_error error)
{
    return error != DNS_ERROR_CANCELLED && error != DNS_ERROR_NO_MEMORY && error != DNS_ERROR_OVERLOADED &&
           error != DNS_ERROR_NAME_BAD;
}

const char *dns_error_text(enum dns_error error)
{
    static const char *const texts[DNS_ERROR_COUNT] = {
        [DNS_OK] = "ok",
        [DNS_ERROR_NO_NAME] = "no-name",
        [DNS_ERROR_NO_DATA] = "no-data",
        [DNS_ERROR_SERVER_FAILED] = "server-failed",
        [DNS_ERROR_REFUSED] = "refused",
        [DNS_ERROR_NOT_IMPLEMENTED] = "not-implemented",
        [DNS_ERROR_FORMAT] = "format",
        [DNS_ERROR_ANSWER_BAD] = "answer-bad",
        [DNS_ERROR_TIMEOUT] = "timeout",
        [DNS_ERROR_UNREACHABLE] = "unreachable",
        [DNS_ERROR_NAME_BAD] = "name-bad",
        [DNS_ERROR_OVERLOADED] = "overloaded",
        [DNS_ERROR_CANCELLED] = "cancelled",
        [DNS_ERROR_NO_MEMORY] = "no-memory",
        [DNS_ERROR_OTHER] = "other",
    };
    assert((unsigned)error < DNS_ERROR_COUNT);
    return texts[error];
}
