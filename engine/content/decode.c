#include "engine/content/decode.h"

#include <assert.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/content/decode_stage.h"
#include "engine/content/limits.h"

/* Codings are undone in reverse order: stages[0] reads the body, each further stage reads the output of the
 * one before it through a buffer. */
struct decode {
    struct decode_options options;
    struct libdeflate_decompressor *whole;
    unsigned count;
    enum decode_result failure; /* DECODE_MORE: none so far */
    uint64_t bytes_in;
    uint64_t bytes_out[DECODE_CODINGS_MAX + 1]; /* of each stage; without any, of the copy */
    struct decode_stage stages[DECODE_CODINGS_MAX];
    char *buffers[DECODE_CODINGS_MAX]; /* what stage i reads, i > 0 */
    struct slice pending[DECODE_CODINGS_MAX];
};

const char *decode_result_name(enum decode_result result)
{
    static const char *const names[DECODE_RESULTS] = {
        [DECODE_DONE] = "done",           [DECODE_MORE] = "more",
        [DECODE_FULL] = "full",           [DECODE_TRUNCATED] = "truncated",
        [DECODE_CORRUPT] = "corrupt",     [DECODE_TOO_LONG] = "too long",
        [DECODE_BOMB] = "bomb",           [DECODE_STACKED] = "stacked too high",
        [DECODE_NO_MEMORY] = "no memory",
    };
    return result < DECODE_RESULTS ? names[result] : "?";
}

struct decode *decode_create(const struct decode_options *options)
{
    struct decode *decode = calloc(1, sizeof(*decode));
    if (!decode)
        return NULL;
    decode->options = *options;
    decode->whole = libdeflate_alloc_decompressor();
    if (!decode->whole) {
        free(decode);
        return NULL;
    }
    return decode;
}

void decode_destroy(struct decode *decode)
{
    libdeflate_free_decompressor(decode->whole);
    for (size_t i = 0; i < DECODE_CODINGS_MAX; i++) {
        decode_stage_fini(&decode->stages[i]);
        free(decode->buffers[i]);
    }
    free(decode);
}

static bool find_coding(struct slice name, enum decode_coding *coding)
{
    static const struct {
        struct slice name;
        enum decode_coding coding;
    } known[] = {
        {{"gzip", 4}, DECODE_GZIP}, {{"x-gzip", 6}, DECODE_GZIP}, {{"deflate", 7}, DECODE_DEFLATE},
        {{"br", 2}, DECODE_BROTLI}, {{"zstd", 4}, DECODE_ZSTD},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (slice_equals_nocase(name, known[i].name)) {
            *coding = known[i].coding;
            return true;
        }
    return false;
}

/* Reads the list from its end, because the last coding was applied last. Unknown ones are skipped. */
static enum decode_result read_codings(struct slice list, enum decode_coding *codings, unsigned *count)
{
    *count = 0;
    while (list.len) {
        size_t from = list.len;
        while (from > 0 && list.ptr[from - 1] != ',')
            from--;
        struct slice name = slice_trim(slice_skip(list, from));
        list.len = from ? from - 1 : 0;
        enum decode_coding coding;
        if (!find_coding(name, &coding))
            continue;
        if (*count == DECODE_CODINGS_MAX)
            return DECODE_STACKED;
        codings[(*count)++] = coding;
    }
    return DECODE_MORE;
}

bool decode_has_codings(struct slice codings)
{
    enum decode_coding found[DECODE_CODINGS_MAX];
    unsigned count;
    return read_codings(codings, found, &count) == DECODE_STACKED || count > 0;
}

enum decode_result decode_begin(struct decode *decode, struct slice codings)
{
    enum decode_coding found[DECODE_CODINGS_MAX] = {0};
    decode->failure = read_codings(codings, found, &decode->count);
    decode->bytes_in = 0;
    memset(decode->bytes_out, 0, sizeof(decode->bytes_out));
    for (unsigned i = 0; decode->failure == DECODE_MORE && i < decode->count; i++) {
        decode->pending[i] = (struct slice){"", 0};
        if (i > 0 && !decode->buffers[i])
            decode->buffers[i] = malloc(DECODE_BUFFER_BYTES);
        if (!decode_stage_begin(&decode->stages[i], found[i]) || (i > 0 && !decode->buffers[i]))
            decode->failure = DECODE_NO_MEMORY;
    }
    return decode->failure;
}

static bool is_failure(enum decode_result result)
{
    return result != DECODE_MORE && result != DECODE_FULL && result != DECODE_DONE;
}

/* How many bytes a stage may still produce, and the result if it produces more. */
static uint64_t allowance(const struct decode *decode, unsigned stage, enum decode_result *beyond)
{
    uint64_t allowed = UINT64_MAX;
    const struct decode_options *options = &decode->options;
    if (options->bytes_max) {
        allowed = options->bytes_max;
        *beyond = DECODE_TOO_LONG;
    }
    if (options->ratio_max) {
        uint64_t by_ratio = decode->bytes_in > UINT64_MAX / options->ratio_max
                                ? UINT64_MAX
                                : decode->bytes_in * options->ratio_max;
        if (by_ratio < DECODE_RATIO_FREE_BYTES)
            by_ratio = DECODE_RATIO_FREE_BYTES;
        if (by_ratio < allowed) {
            allowed = by_ratio;
            *beyond = DECODE_BOMB;
        }
    }
    return allowed > decode->bytes_out[stage] ? allowed - decode->bytes_out[stage] : 0;
}

/* Runs one stage within its allowance. When that is used up, one more byte of room, whose contents are
 * discarded, shows whether the body is complete. */
static enum decode_result run_bounded(struct decode *decode, unsigned i, struct slice *input,
                                      struct decode_output *output)
{
    enum decode_result beyond = DECODE_MORE;
    uint64_t allowed = allowance(decode, i, &beyond);
    char spare;
    struct decode_output part = {output->ptr + output->written, output->room - output->written, 0};
    if (allowed == 0)
        part = (struct decode_output){&spare, 1, 0};
    else if (part.room > allowed)
        part.room = allowed;
    enum decode_result result = decode_stage_run(&decode->stages[i], input, &part);
    if (allowed == 0)
        return part.written ? beyond : result;
    output->written += part.written;
    decode->bytes_out[i] += part.written;
    /* The allowance was full, not the caller's room: go on. */
    if (result == DECODE_FULL && output->written < output->room)
        return run_bounded(decode, i, input, output);
    return result;
}

/* Runs stage i on the output of the stages before it. */
static enum decode_result run_stages(struct decode *decode, unsigned i, struct slice *input,
                                     struct decode_output *output)
{
    if (i == 0)
        return run_bounded(decode, 0, input, output);
    for (;;) {
        enum decode_result result = run_bounded(decode, i, &decode->pending[i], output);
        if (result != DECODE_MORE)
            return result;
        struct decode_output buffer = {decode->buffers[i], DECODE_BUFFER_BYTES, 0};
        enum decode_result before = run_stages(decode, i - 1, input, &buffer);
        if (is_failure(before))
            return before;
        decode->pending[i] = (struct slice){buffer.ptr, buffer.written};
        if (buffer.written == 0)
            return DECODE_MORE;
    }
}

static enum decode_result copy(struct decode *decode, struct slice *input, struct decode_output *output)
{
    enum decode_result beyond = DECODE_MORE;
    size_t room = output->room - output->written, len = input->len < room ? input->len : room;
    uint64_t allowed = allowance(decode, 0, &beyond);
    if (len > allowed)
        len = allowed;
    if (len)
        memcpy(output->ptr + output->written, input->ptr, len);
    output->written += len;
    decode->bytes_out[0] += len;
    *input = slice_skip(*input, len);
    if (input->len == 0)
        return DECODE_MORE;
    return decode->bytes_out[0] == decode->options.bytes_max && decode->options.bytes_max ? DECODE_TOO_LONG
                                                                                          : DECODE_FULL;
}

enum decode_result decode_push(struct decode *decode, struct slice *input, struct decode_output *output)
{
    output->written = 0;
    if (decode->failure != DECODE_MORE)
        return decode->failure;
    size_t before = input->len;
    decode->bytes_in += before; /* all input counts for the ratio at once, since the whole body is here */
    enum decode_result result =
        decode->count ? run_stages(decode, decode->count - 1, input, output) : copy(decode, input, output);
    decode->bytes_in -= input->len;
    if (is_failure(result))
        decode->failure = result;
    return result;
}

enum decode_result decode_finish(struct decode *decode)
{
    if (decode->failure != DECODE_MORE)
        return decode->failure;
    /* An empty body is complete: servers send its coding all the same. */
    for (unsigned i = decode->count; decode->bytes_in && i-- > 0;) {
        if (decode->stages[i].is_done)
            return DECODE_DONE; /* even if the stages before it expect more */
        if (!decode_stage_may_end(&decode->stages[i]))
            return DECODE_TRUNCATED;
    }
    return DECODE_DONE;
}

/* Decodes all members of a gzip or deflate body with libdeflate. DECODE_FULL on any failure: streaming then
 * decodes what it can and finds the error. */
static enum decode_result inflate_whole(struct decode *decode, struct slice body,
                                        struct decode_output *output)
{
    enum decode_result beyond = DECODE_MORE;
    uint64_t allowed = allowance(decode, 0, &beyond);
    size_t room = output->room < allowed ? output->room : allowed, used = 0, made = 0;
    bool is_gzip = decode->stages[0].coding == DECODE_GZIP;
    do {
        char *to = output->ptr + output->written;
        size_t left = room - output->written;
        enum libdeflate_result result =
            is_gzip
                ? libdeflate_gzip_decompress_ex(decode->whole, body.ptr, body.len, to, left, &used, &made)
                : libdeflate_zlib_decompress_ex(decode->whole, body.ptr, body.len, to, left, &used, &made);
        if (result != LIBDEFLATE_SUCCESS && !is_gzip)
            result =
                libdeflate_deflate_decompress_ex(decode->whole, body.ptr, body.len, to, left, &used, &made);
        if (result != LIBDEFLATE_SUCCESS) {
            output->written = 0;
            return DECODE_FULL;
        }
        output->written += made;
        body = slice_skip(body, used);
    } while (is_gzip && slice_starts_with(body, SLICE("\x1f\x8b")));
    return DECODE_DONE;
}

static enum decode_result stream_whole(struct decode *decode, struct slice body, struct decode_output *output)
{
    enum decode_result result = decode_push(decode, &body, output);
    if (result == DECODE_DONE || result == DECODE_MORE)
        return decode_finish(decode);
    if (result != DECODE_FULL)
        return result;
    /* The output is exactly full: either the body is complete, or there is too little room. */
    char spare;
    struct decode_output more = {&spare, 1, 0};
    result = decode_push(decode, &body, &more);
    if (more.written)
        return DECODE_FULL;
    return result == DECODE_DONE || result == DECODE_MORE ? decode_finish(decode) : result;
}

enum decode_result decode_whole(struct decode *decode, struct slice codings, struct slice body,
                                struct decode_output *output)
{
    output->written = 0;
    enum decode_result result = decode_begin(decode, codings);
    if (result != DECODE_MORE)
        return result;
    if (decode->count == 1 && body.len &&
        (decode->stages[0].coding == DECODE_GZIP || decode->stages[0].coding == DECODE_DEFLATE)) {
        decode->bytes_in = body.len;
        result = inflate_whole(decode, body, output);
        if (result == DECODE_DONE)
            return result;
        decode->bytes_in = 0;
    }
    return stream_whole(decode, body, output);
}
