#include "engine/store/press.h"

#include <assert.h>
#include <endian.h>
#include <isa-l.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "engine/store/gzip_head.h"
#include "engine/store/limits.h"

/* Incompressible input of n bytes grows by less than n >> GROWTH_SHIFT plus this constant, with all libraries. */
enum { GROWTH_SHIFT = 8, EXTRA_BYTES = 512 };

/* Huffman codes from the letters, lengths and distances of earlier records of the kind. */
struct press_codes {
    struct isal_huff_histogram histogram;
    struct isal_hufftables tables;
    unsigned letters[256]; /* of the probes of the records in the histogram */
    unsigned count;        /* of records since the histogram was cleared */
    uint64_t bits_max;     /* of PRESS_PROBES letters that the codes are for; 0: there are no codes yet */
};

size_t press_bound(size_t bytes)
{
    return bytes + (bytes >> GROWTH_SHIFT) + EXTRA_BYTES;
}

static bool init_igzip(struct press *press)
{
    press->igzip = calloc(1, sizeof *press->igzip);
    press->codes = calloc(PRESS_KINDS, sizeof *press->codes);
    if (!press->igzip || !press->codes)
        return false;
    press->igzip->level_buf = malloc(ISAL_DEF_LVL1_DEFAULT);
    return press->igzip->level_buf;
}

bool press_init(struct press *press, const struct tuning *tuning)
{
    int level = (int)tuning->fixed.store.level;
    *press = (struct press){0};
    switch ((enum tuning_compress)tuning->fixed.store.compress) {
    case TUNING_COMPRESS_GZIP:
        if (level == 1)
            return init_igzip(press);
        press->deflate = libdeflate_alloc_compressor(level);
        return press->deflate;
    case TUNING_COMPRESS_ZSTD:
        press->zstd = packer_make_zstd(tuning);
        return press->zstd;
    case TUNING_COMPRESS_NONE:
        break;
    }
    return true;
}

void press_fini(struct press *press)
{
    if (press->deflate)
        libdeflate_free_compressor(press->deflate);
    if (press->igzip)
        free(press->igzip->level_buf);
    free(press->igzip);
    free(press->codes);
    ZSTD_freeCCtx(press->zstd);
    *press = (struct press){0};
}

void press_use_dictionary(struct press *press, const struct ZSTD_CDict_s *dictionary)
{
    ZSTD_CCtx_refCDict(press->zstd, dictionary);
}

/* Some bytes stand for all of a record. */
static size_t probe_step(struct slice record)
{
    return record.len / PRESS_PROBES + 1;
}

/* Whether the letters of the record are those that the codes are for: they are not much longer than those of the
 * records that were counted. */
static bool fits_codes(const struct press_codes *codes, struct slice record)
{
    size_t step = probe_step(record), bits = 0, probes = 0;
    for (size_t i = 0; i < record.len; i += step, probes++)
        bits += codes->tables.lit_table_sizes[(unsigned char)record.ptr[i]];
    return bits * PRESS_PROBES < codes->bits_max * probes;
}

/* Gives symbols that hardly occur a count that makes their codes PRESS_CODE_BITS_MAX long, or about that. */
static void bound_codes(uint64_t *counts, unsigned symbols)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < symbols; i++)
        sum += counts[i];
    uint64_t least = (sum >> PRESS_CODE_BITS_MAX) + 1;
    for (unsigned i = 0; i < symbols; i++)
        counts[i] = counts[i] > least ? counts[i] : least;
}

static void make_codes(struct press_codes *codes)
{
    uint64_t bits = 0, probes = 0;
    codes->bits_max = 0;
    bound_codes(codes->histogram.lit_len_histogram, ISAL_DEF_LIT_LEN_SYMBOLS);
    bound_codes(codes->histogram.dist_histogram, ISAL_DEF_DIST_SYMBOLS);
    if (isal_create_hufftables(&codes->tables, &codes->histogram) != 0)
        return;
    for (int i = 0; i < 256; i++) {
        bits += (uint64_t)codes->letters[i] * codes->tables.lit_table_sizes[i];
        probes += codes->letters[i];
    }
    codes->bits_max = (bits + bits / PRESS_CODES_SLACK) * PRESS_PROBES / (probes ? probes : 1);
}

/* Counts this record if codes are to be made. */
static void count_letters(struct press_codes *codes, struct slice record)
{
    if (codes->count == PRESS_CODES_PERIOD)
        codes->count = 0;
    if (codes->count == 0) {
        memset(&codes->histogram, 0, sizeof codes->histogram);
        memset(codes->letters, 0, sizeof codes->letters);
    }
    if (++codes->count > PRESS_CODES_SAMPLES)
        return;
    isal_update_histogram((uint8_t *)(uintptr_t)record.ptr, (int)record.len, &codes->histogram);
    for (size_t i = 0, step = probe_step(record); i < record.len; i += step)
        codes->letters[(unsigned char)record.ptr[i]]++;
    if (codes->count == PRESS_CODES_SAMPLES)
        make_codes(codes);
}

/* The member from behind its head to its end. */
static size_t press_igzip(struct press *press, struct press_codes *codes, struct slice record,
                          struct packer_room room)
{
    struct isal_zstream *igzip = press->igzip;
    uint8_t *level_buf = igzip->level_buf;
    bool fits = fits_codes(codes, record);
    count_letters(codes, record);
    isal_deflate_stateless_init(igzip);
    if (fits)
        isal_deflate_set_hufftables(igzip, &codes->tables, IGZIP_HUFFTABLE_CUSTOM);
    igzip->level = fits ? 0 : PACKER_IGZIP_LEVEL;
    igzip->level_buf = level_buf;
    igzip->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    igzip->gzip_flag = IGZIP_GZIP_NO_HDR;
    igzip->end_of_stream = 1;
    igzip->flush = NO_FLUSH;
    igzip->next_in = (uint8_t *)(uintptr_t)record.ptr;
    igzip->avail_in = (uint32_t)record.len;
    igzip->next_out = (uint8_t *)room.out;
    igzip->avail_out = (uint32_t)press_bound(record.len) - GZIP_HEAD_BYTES;
    int result = isal_deflate_stateless(igzip);
    assert(result == COMP_OK);
    (void)result;
    return igzip->total_out;
}

static size_t press_libdeflate(struct press *press, struct slice record, struct packer_room room)
{
    size_t len = libdeflate_deflate_compress(press->deflate, record.ptr, record.len, room.out, room.len);
    assert(len && len + GZIP_TRAILER_BYTES <= room.len);
    uint32_t trailer[2] = {htole32(libdeflate_crc32(0, record.ptr, record.len)),
                           htole32((uint32_t)record.len)};
    memcpy(room.out + len, trailer, sizeof trailer);
    return len + GZIP_TRAILER_BYTES;
}

static size_t press_gzip(struct press *press, enum press_kind kind, struct slice record,
                         struct packer_room room)
{
    struct packer_room rest = {room.out + GZIP_HEAD_BYTES, room.len - GZIP_HEAD_BYTES};
    gzip_head_write(room.out);
    size_t len = GZIP_HEAD_BYTES + (press->deflate ? press_libdeflate(press, record, rest)
                                                   : press_igzip(press, &press->codes[kind], record, rest));
    gzip_head_fill(room.out, len, record.len);
    return len;
}

size_t press_record(struct press *press, enum press_kind kind, struct slice record, struct packer_room room)
{
    assert(room.len >= press_bound(record.len));
    if (!press->zstd)
        return press_gzip(press, kind, record, room);
    size_t len = ZSTD_compress2(press->zstd, room.out, room.len, record.ptr, record.len);
    assert(!ZSTD_isError(len));
    return len;
}
