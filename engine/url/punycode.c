/* RFC 3492, with the parameters of section 5 and the procedures of sections 6.1 to 6.3. */
#include "engine/url/punycode.h"

#include <string.h>

enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, INITIAL_BIAS = 72, INITIAL_N = 128 };

static uint32_t threshold(uint32_t k, uint32_t bias)
{
    return k <= bias + T_MIN ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
}

static uint32_t adapt(uint32_t delta, size_t points, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / DAMP : delta / 2;
    delta += delta / (uint32_t)points;
    for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
        delta /= BASE - T_MIN;
    return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static bool put(char *text, size_t size, size_t *len, char c)
{
    if (*len == size)
        return false;
    text[(*len)++] = c;
    return true;
}

static char digit_char(uint32_t digit)
{
    return (char)(digit < 26 ? 'a' + digit : '0' + digit - 26);
}

static bool put_integer(char *text, size_t size, size_t *len, const uint32_t delta_bias[2])
{
    uint32_t q = delta_bias[0];
    for (uint32_t k = BASE;; k += BASE) {
        uint32_t t = threshold(k, delta_bias[1]);
        if (q < t)
            return put(text, size, len, digit_char(q));
        if (!put(text, size, len, digit_char(t + (q - t) % (BASE - t))))
            return false;
        q = (q - t) / (BASE - t);
    }
}

static uint32_t smallest_from(const struct punycode_label *label, uint32_t n)
{
    uint32_t smallest = UINT32_MAX;
    for (size_t i = 0; i < label->len; i++)
        if (label->points[i] >= n && label->points[i] < smallest)
            smallest = label->points[i];
    return smallest;
}

bool punycode_encode(const struct punycode_label *label, char *text, size_t size, size_t *len)
{
    size_t handled = 0;
    for (size_t i = 0; i < label->len; i++)
        if (label->points[i] < INITIAL_N) {
            if (!put(text, size, len, (char)label->points[i]))
                return false;
            handled++;
        }
    size_t basic = handled;
    if (basic && !put(text, size, len, '-'))
        return false;
    uint32_t n = INITIAL_N, delta = 0, bias = INITIAL_BIAS;
    while (handled < label->len) {
        uint32_t next = smallest_from(label, n), step;
        if (__builtin_mul_overflow(next - n, (uint32_t)handled + 1, &step) ||
            __builtin_add_overflow(delta, step, &delta))
            return false;
        n = next;
        for (size_t i = 0; i < label->len; i++) {
            if (label->points[i] < n)
                delta++;
            if (label->points[i] != n)
                continue;
            if (!put_integer(text, size, len, (const uint32_t[2]){delta, bias}))
                return false;
            bias = adapt(delta, handled + 1, handled == basic);
            delta = 0;
            handled++;
        }
        delta++;
        n++;
    }
    return true;
}

static uint32_t digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0') + 26;
    c = slice_lower(c);
    return c >= 'a' && c <= 'z' ? (uint32_t)(c - 'a') : BASE;
}

/* Reads one variable-length integer and adds it to `i`. */
static bool read_integer(struct slice *text, uint32_t bias, uint32_t *i)
{
    uint32_t weight = 1, step;
    for (uint32_t k = BASE;; k += BASE) {
        if (!text->len)
            return false;
        uint32_t digit = digit_value(text->ptr[0]), t = threshold(k, bias);
        *text = slice_skip(*text, 1);
        if (digit >= BASE || __builtin_mul_overflow(digit, weight, &step) ||
            __builtin_add_overflow(*i, step, i))
            return false;
        if (digit < t)
            return true;
        if (__builtin_mul_overflow(weight, BASE - t, &weight))
            return false;
    }
}

static bool read_basic(struct punycode_label *label, struct slice *text)
{
    const char *hyphen = memrchr(text->ptr, '-', text->len);
    size_t basic = hyphen ? (size_t)(hyphen - text->ptr) : 0;
    label->len = 0;
    if (basic > label->size)
        return false;
    for (; label->len < basic; label->len++) {
        if ((uint8_t)text->ptr[label->len] >= INITIAL_N)
            return false;
        label->points[label->len] = (uint8_t)text->ptr[label->len];
    }
    *text = slice_skip(*text, hyphen ? basic + 1 : 0);
    return true;
}

bool punycode_decode(struct punycode_label *label, struct slice text)
{
    uint32_t n = INITIAL_N, i = 0, bias = INITIAL_BIAS;
    if (!text.len || !read_basic(label, &text))
        return false;
    while (text.len) {
        uint32_t before = i, count = (uint32_t)label->len + 1;
        if (!read_integer(&text, bias, &i))
            return false;
        bias = adapt(i - before, count, before == 0);
        if (__builtin_add_overflow(n, i / count, &n) || n > 0x10ffff || label->len == label->size)
            return false;
        i %= count;
        memmove(label->points + i + 1, label->points + i, (label->len - i) * sizeof *label->points);
        label->points[i++] = n;
        label->len++;
    }
    return true;
}
