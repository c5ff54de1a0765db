#include "engine/decode.h"

#include <assert.h>
#include <libdeflate.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/decode_stage.h"
#include "engine/limits.h"

/* Codings are undone from the last applied to the first: stages[0] reads the body, each further one what the
 * one before it gives, through a buffer of its own. */
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
        [DECODE_DONE] = "done",
        [DECODE_MORE] = "more",
        [DECODE_FULL] = "full",
        [DECODE_TRUNCATED] = "truncated",
        [DECODE_CORRUPT] = "corrupt",
        [DECODE_TOO_LONG] = "too long",
        [DECODE_BOMB] = "bomb",
        [DECODE_UNKNOWN] = "unknown coding",
        [DECODE_STACKED] = "stacked too high",
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

static bool is_identity(struct slice name)
{
    return name.len == 0 || slice_equals_nocase(name, SLICE("identity"));
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

/* Reads the list from its end: that coding was applied last. DECODE_MORE if all are known. */
static enum decode_result read_codings(struct slice list, enum decode_coding *codings, unsigned *count)
{
    *count = 0;
    while (list.len) {
        size_t from = list.len;
        while (from > 0 && list.ptr[from - 1] != ',')
            from--;
        struct slice name = slice_trim(slice_skip(list, from));
        list.len = from ? from - 1 : 0;
        if (is_identity(name))
            continue;
        if (*count == DECODE_CODINGS_MAX)
            return DECODE_STACKED;
        if (!find_coding(name, &codings[*count]))
            return DECODE_UNKNOWN;
        ++*count;
    }
    return DECODE_MORE;
}

enum decode_result decode_begin(struct decode *decode, struct slice codings)
{
    enum decode_coding found[DECODE_CODINGS_MAX];
    decode->failure = read_codings(codings, found, &decode->count);
    decode->bytes_in = 0;
    memset(decode->bytes_out, 0, sizeof(decode->bytes_out));
    for (unsigned i = 0; decode->failure == DECODE_MORE && i < decode->count; i++) {
        decode_stage_begin(&decode->stages[i], found[i]);
        decode->pending[i] = (struct slice){"", 0};
        if (i > 0 && !decode->buffers[i])
            decode->buffers[i] = malloc(DECODE_BUFFER_BYTES);
    }
    return decode->failure;
}

static bool is_failure(enum decode_result result)
{
    return result != DECODE_MORE && result != DECODE_FULL && result != DECODE_DONE;
}

/* How much a stage may still give, and what it is if that is passed. */
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

/* One stage, within its allowance. At the end of that a single byte of room, thrown away, tells a body that
 * is complete from one that goes on. */
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
    /* Full is the part, not the caller's room: there is more to ask for. */
    if (result == DECODE_FULL && output->written < output->room)
        return run_bounded(decode, i, input, output);
    return result;
}

/* Stage i, fed by those before it. */
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
    decode->bytes_in += before; /* all of it is here, so that a ratio counts what it came from */
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
    /* An empty body is no body: servers send its coding all the same. */
    for (unsigned i = decode->count; decode->bytes_in && i-- > 0;) {
        if (decode->stages[i].is_done)
            return DECODE_DONE; /* whatever the stages before it still wait for */
        if (!decode_stage_may_end(&decode->stages[i]))
            return DECODE_TRUNCATED;
    }
    return DECODE_DONE;
}

/* All members of one gzip or deflate body with libdeflate. DECODE_FULL if it did not work out: streaming then
 * finds what can be found, and what is wrong. */
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
    /* Full to the brim: either all is said, or there is more than room. */
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
