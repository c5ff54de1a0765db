/* UTS 46, sections 4 (processing) and 7 (derivation of the mapping table).
 *
 * The mapping is derived here as section 7 derives it, from general properties of characters: the
 * compatibility case folding (NFKC_CF), default-ignorable characters dropped, and the exceptions that
 * map_point lists. The answers equal the table published for Unicode 17 on every character that libunistring
 * knows. */
#include "engine/url/idna.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <unicase.h>
#include <unictype.h>
#include <uninorm.h>
#include <unistr.h>

#include "engine/url/limits.h"
#include "engine/url/punycode.h"
#include "lockfree/atomic.h"

#define POINTS_MAX URL_HOST_BYTES_MAX
#define MAPPED_MAX 18 /* U+FDFA, the longest of all compatibility mappings */

#define SHARP_S          0x00df
#define FINAL_SIGMA      0x03c2
#define NON_JOINER       0x200c
#define JOINER           0x200d
#define CAPITAL_SHARP_S  0x1e9e
#define IDEOGRAPHIC_STOP 0x3002
#define FULLWIDTH_STOP   0xff0e
#define HALFWIDTH_STOP   0xff61
#define VIRAMA_CLASS     9

struct name {
    uint32_t points[POINTS_MAX];
    size_t len;
};

enum mapping { MAPPED, DISALLOWED };

static bool is_disallowed(uint32_t c)
{
    return uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Cn | UC_CATEGORY_MASK_Cs |
                                                   UC_CATEGORY_MASK_Co | UC_CATEGORY_MASK_Cc) ||
           uc_is_property_bidi_control(c) || (c >= 0xe0000 && c <= 0xe007f) /* tags */;
}

/* Characters that map to themselves and yet are excluded. */
static bool is_excluded(uint32_t c)
{
    return uc_is_general_category_withtable(c, UC_CATEGORY_MASK_Cf | UC_CATEGORY_MASK_Z) ||
           (c >= 0x2ff0 && c <= 0x2fff) /* ideographic description */ || c == 0xfffc || c == 0xfffd;
}

static bool fold_point(uint32_t c, uint32_t *to, size_t *len)
{
    *len = MAPPED_MAX;
    uint32_t *folded = u32_casefold(&c, 1, NULL, UNINORM_NFKC, to, len);
    if (folded != to) {
        free(folded);
        return false;
    }
    return true;
}

/* What `c` becomes: 0 to MAPPED_MAX code points. */
static enum mapping map_slowly(uint32_t c, uint32_t *to, size_t *len)
{
    *len = 1;
    *to = c;
    if (c < 0x80) {
        *to = (uint32_t)(unsigned char)slice_lower((char)c);
        return MAPPED;
    }
    switch (c) {
    case SHARP_S:
    case FINAL_SIGMA:
    case NON_JOINER:
    case JOINER:
        return MAPPED;
    case CAPITAL_SHARP_S:
        *to = SHARP_S;
        return MAPPED;
    case IDEOGRAPHIC_STOP:
    case FULLWIDTH_STOP:
    case HALFWIDTH_STOP:
        *to = '.';
        return MAPPED;
    }
    if (is_disallowed(c))
        return DISALLOWED;
    if (uc_is_property_default_ignorable_code_point(c)) {
        *len = 0;
        return MAPPED;
    }
    if (!fold_point(c, to, len) || (*len == 1 && *to == c && is_excluded(c)))
        return DISALLOWED;
    for (size_t i = 0; i < *len; i++)
        if (to[i] == '.' || to[i] == IDEOGRAPHIC_STOP)
            return DISALLOWED; /* would split a label in two */
    return MAPPED;
}

/* Most characters map to themselves. A bitmap remembers which, so that libunistring is asked once per
 * character and not for every link. All threads write the same answer, so races are harmless. */
enum { REMEMBERED_POINTS = 0x10000 };
static _Atomic(uint8_t) stays[REMEMBERED_POINTS];

static enum mapping map_point(uint32_t c, uint32_t *to, size_t *len)
{
    if (c < REMEMBERED_POINTS && lf_load(&stays[c], relaxed)) {
        *to = c;
        *len = 1;
        return MAPPED;
    }
    enum mapping mapping = map_slowly(c, to, len);
    if (c < REMEMBERED_POINTS && mapping == MAPPED && *len == 1 && *to == c)
        lf_store(&stays[c], 1, relaxed);
    return mapping;
}

static bool is_valid_point(uint32_t c)
{
    uint32_t to[MAPPED_MAX];
    size_t len;
    return map_point(c, to, &len) == MAPPED && len == 1 && to[0] == c;
}

static bool normalise(struct name *to, const uint32_t *points, size_t len)
{
    to->len = POINTS_MAX;
    uint32_t *normal = u32_normalize(UNINORM_NFC, points, len, to->points, &to->len);
    if (normal == to->points)
        return true;
    free(normal);
    return false;
}

static bool map_name(struct name *name, struct slice text)
{
    struct name decoded, mapped = {.len = 0};
    decoded.len = POINTS_MAX;
    if (text.len > URL_IDNA_BYTES_MAX ||
        !u8_to_u32((const uint8_t *)text.ptr, text.len, decoded.points, &decoded.len))
        return false;
    for (size_t i = 0; i < decoded.len; i++) {
        uint32_t to[MAPPED_MAX];
        size_t len;
        if (map_point(decoded.points[i], to, &len) == DISALLOWED || len > POINTS_MAX - mapped.len)
            return false;
        u32_cpy(mapped.points + mapped.len, to, len);
        mapped.len += len;
    }
    return normalise(name, mapped.points, mapped.len);
}

/* RFC 5892, appendix A.1: a non-joiner between two letters that would join. */
static bool breaks_a_join(const uint32_t *points, size_t len, size_t at)
{
    size_t before = at, after = at + 1;
    while (before > 0 && uc_joining_type(points[before - 1]) == UC_JOINING_TYPE_T)
        before--;
    while (after < len && uc_joining_type(points[after]) == UC_JOINING_TYPE_T)
        after++;
    if (before == 0 || after == len)
        return false;
    int left = uc_joining_type(points[before - 1]), right = uc_joining_type(points[after]);
    return (left == UC_JOINING_TYPE_L || left == UC_JOINING_TYPE_D) &&
           (right == UC_JOINING_TYPE_R || right == UC_JOINING_TYPE_D);
}

static bool joiners_are_good(const uint32_t *points, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (points[i] != JOINER && points[i] != NON_JOINER)
            continue;
        bool after_virama = i > 0 && uc_combining_class(points[i - 1]) == VIRAMA_CLASS;
        if (!after_virama && !(points[i] == NON_JOINER && breaks_a_join(points, len, i)))
            return false;
    }
    return true;
}

static unsigned bidi_bit(uint32_t c)
{
    return 1u << uc_bidi_class(c);
}

#define BIDI(name) (1u << UC_BIDI_##name)

/* RFC 5893, section 2, rules 1 to 6. */
static bool bidi_is_good(const uint32_t *points, size_t len)
{
    unsigned seen = 0;
    size_t last = len;
    if (!len)
        return true;
    unsigned first = bidi_bit(points[0]);
    bool right = first & (BIDI(R) | BIDI(AL));
    if (!right && !(first & BIDI(L)))
        return false;
    for (size_t i = 0; i < len; i++)
        seen |= bidi_bit(points[i]);
    unsigned allowed = BIDI(EN) | BIDI(ES) | BIDI(CS) | BIDI(ET) | BIDI(ON) | BIDI(BN) | BIDI(NSM) |
                       (right ? BIDI(R) | BIDI(AL) | BIDI(AN) : BIDI(L));
    if (seen & ~allowed)
        return false;
    while (last > 1 && bidi_bit(points[last - 1]) == BIDI(NSM))
        last--;
    unsigned end = bidi_bit(points[last - 1]);
    if (!right)
        return end & (BIDI(L) | BIDI(EN));
    return (end & (BIDI(R) | BIDI(AL) | BIDI(EN) | BIDI(AN))) && !((seen & BIDI(EN)) && (seen & BIDI(AN)));
}

static bool has_right_to_left(const struct name *name)
{
    for (size_t i = 0; i < name->len; i++)
        if (bidi_bit(name->points[i]) & (BIDI(R) | BIDI(AL) | BIDI(AN)))
            return true;
    return false;
}

static bool is_ascii(const uint32_t *points, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (points[i] >= 0x80)
            return false;
    return true;
}

static bool has_prefix(const uint32_t *points, size_t len)
{
    return len >= 4 && points[0] == 'x' && points[1] == 'n' && points[2] == '-' && points[3] == '-';
}

/* UTS 46, section 4.1, without the bidi rule, which needs to know the whole name. */
static bool label_is_valid(const uint32_t *points, size_t len)
{
    if (has_prefix(points, len) || (len && uc_is_general_category_withtable(points[0], UC_CATEGORY_MASK_M)))
        return false;
    for (size_t i = 0; i < len; i++)
        if (!is_valid_point(points[i]))
            return false;
    return joiners_are_good(points, len);
}

/* A label given as "xn--..." must be exactly what this file would produce. */
static bool decode_label(struct punycode_label *label, const uint32_t *points, size_t len)
{
    char text[POINTS_MAX];
    struct name normal;
    for (size_t i = 0; i < len; i++)
        text[i] = (char)points[i];
    return is_ascii(points, len) && punycode_decode(label, (struct slice){text + 4, len - 4}) &&
           !is_ascii(label->points, label->len) && normalise(&normal, label->points, label->len) &&
           u32_cmp2(normal.points, normal.len, label->points, label->len) == 0;
}

static size_t label_length(const struct name *name, size_t begin)
{
    size_t end = begin;
    while (end < name->len && name->points[end] != '.')
        end++;
    return end - begin;
}

/* Copies `name` to `decoded` with each label in Unicode, and checks it. */
static bool decode_name(struct name *decoded, const struct name *name)
{
    decoded->len = 0;
    for (size_t begin = 0; begin <= name->len;) {
        size_t len = label_length(name, begin);
        const uint32_t *points = name->points + begin;
        struct punycode_label label = {.points = decoded->points + decoded->len,
                                       .size = POINTS_MAX - decoded->len};
        if (has_prefix(points, len)) {
            if (!decode_label(&label, points, len))
                return false;
        } else {
            if (len > label.size)
                return false;
            u32_cpy(label.points, points, len);
            label.len = len;
        }
        if (!label_is_valid(label.points, label.len))
            return false;
        decoded->len += label.len;
        begin += len + 1;
        if (begin > name->len)
            break;
        if (decoded->len == POINTS_MAX)
            return false;
        decoded->points[decoded->len++] = '.';
    }
    return true;
}

static bool encode_label(char *ascii, size_t size, size_t *at, const struct punycode_label *label)
{
    if (!is_ascii(label->points, label->len)) {
        if (size - *at < 4)
            return false;
        memcpy(ascii + *at, "xn--", 4);
        *at += 4;
        return punycode_encode(label, ascii, size, at);
    }
    if (label->len > size - *at)
        return false;
    for (size_t i = 0; i < label->len; i++)
        ascii[(*at)++] = (char)label->points[i];
    return true;
}

size_t idna_to_ascii(char *ascii, size_t size, struct slice text)
{
    struct name name, decoded;
    size_t at = 0;
    if (!map_name(&name, text) || !decode_name(&decoded, &name))
        return 0;
    bool bidi = has_right_to_left(&decoded);
    for (size_t begin = 0; begin <= decoded.len;) {
        struct punycode_label label = {.points = decoded.points + begin,
                                       .len = label_length(&decoded, begin)};
        if (bidi && !bidi_is_good(label.points, label.len))
            return 0;
        if (!encode_label(ascii, size, &at, &label))
            return 0;
        begin += label.len + 1;
        if (begin <= decoded.len) {
            if (at == size)
                return 0;
            ascii[at++] = '.';
        }
    }
    return at;
}
