#include "engine/store/warcinfo.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "tuning: " and the line end. */
enum { FIELD_EXTRA_BYTES = 10 };

static struct slice trim(struct slice line)
{
    while (line.len && strchr(" \t\r", line.ptr[line.len - 1]))
        line.len--;
    while (line.len && strchr(" \t", line.ptr[0]))
        line = slice_skip(line, 1);
    return line;
}

/* Comments and empty lines say nothing. A field is one line of visible characters. */
static bool says_something(struct slice line)
{
    for (size_t i = 0; i < line.len; i++)
        if ((unsigned char)line.ptr[i] < ' ' && line.ptr[i] != '\t')
            return false;
    return line.len && line.ptr[0] != '#' && line.ptr[0] != ';';
}

static size_t add_tuning(char *buffer, size_t len, struct slice text)
{
    while (text.len) {
        const char *end = memchr(text.ptr, '\n', text.len);
        struct slice line = trim(end ? slice_between(text.ptr, end) : text);
        text = slice_skip(text, end ? (size_t)(end - text.ptr) + 1 : text.len);
        if (!says_something(line))
            continue;
        if (len + line.len + FIELD_EXTRA_BYTES >= WARCINFO_BYTES_MAX)
            break;
        len += (size_t)snprintf(buffer + len, WARCINFO_BYTES_MAX - len, "tuning: %.*s\r\n", (int)line.len,
                                line.ptr);
    }
    return len;
}

size_t warcinfo_write(char *buffer, const struct tuning *tuning, struct slice tuning_text)
{
    char hostname[256] = "", agent[1024];
    const char *version = tuning->fixed.store.warc == TUNING_WARC_1_0 ? "1.0" : "1.1";
    const char *operator_name = tuning->fixed.crawl.operator_name;
    gethostname(hostname, sizeof hostname - 1);
    tuning_user_agent(&tuning->fixed.crawl, agent, sizeof agent);
    int len = snprintf(
        buffer, WARCINFO_BYTES_MAX,
        "software: lycosa/%s\r\nformat: WARC File Format %s\r\n"
        "conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-%s/\r\n"
        "hostname: %s\r\nrobots: %s\r\nhttp-header-user-agent: %s\r\n%s%s%s",
        LYCOSA_VERSION, version, version, hostname, tuning->fixed.robots.obey ? "obey" : "ignore", agent,
        operator_name[0] ? "operator: " : "", operator_name, operator_name[0] ? "\r\n" : "");
    return add_tuning(buffer, (size_t)len, tuning_text);
}
