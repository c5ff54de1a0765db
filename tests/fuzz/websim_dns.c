/* Questions to the simulated web's name server, as datagrams and framed: an answer fits, and answers its question. */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/websim/dns.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct websim_web *web(void)
{
    static struct websim_parameters parameters;
    static struct websim_web made;
    static bool is_made;
    if (!is_made) {
        char *plain[] = {NULL, (char[]){"--plain"}};
        websim_parameters_default(&parameters, 2, plain);
        websim_web_init(&made, &parameters);
        is_made = true;
    }
    return &made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy = malloc(size ? size : 1),
         answer[WEBSIM_DNS_BYTES_MAX]; /* of its exact size, for the sanitizer */
    struct slice question = {copy, size};
    size_t used = 0;
    memcpy(copy, data, size);
    size_t len = websim_dns_answer(web(), question, answer);
    assert(len <= sizeof answer);
    if (len)
        assert(size >= 2 && memcmp(answer, copy, 2) == 0); /* its number */
    if (websim_dns_frame(question, &used) == PARSE_DONE) {
        struct websim_answer framed = {0};
        assert(used <= size);
        websim_dns_answer_frame(web(), (struct slice){copy, used}, &framed);
        websim_buffer_fini(&framed.bytes);
    }
    free(copy);
    return 0;
}
