#include "engine/url/json.h"

#include "engine/url/utf8.h"

static bool is_plain(char c)
{
    return (unsigned char)c >= ' ' && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

static size_t put_special(FILE *out, struct slice text)
{
    bool good;
    if ((unsigned char)text.ptr[0] < 0x80) {
        if (text.ptr[0] == '"' || text.ptr[0] == '\\')
            fprintf(out, "\\%c", text.ptr[0]);
        else
            fprintf(out, "\\u%04x", (unsigned)text.ptr[0]);
        return 1;
    }
    size_t len = utf8_length(text, &good);
    if (good)
        fwrite(text.ptr, 1, len, out);
    else
        fputs("\\ufffd", out);
    return len;
}

void json_write_string(FILE *out, struct slice text)
{
    putc_unlocked('"', out);
    while (text.len) {
        size_t plain = 0;
        while (plain < text.len && is_plain(text.ptr[plain]))
            plain++;
        fwrite_unlocked(text.ptr, 1, plain, out);
        text = slice_skip(text, plain);
        if (text.len)
            text = slice_skip(text, put_special(out, text));
    }
    putc_unlocked('"', out);
}
