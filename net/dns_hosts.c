#include "net/dns_hosts.h"

#include <stdio.h>

/* Longest line looked at; what is behind is cut. Lines have a handful of names. */
#define LINE_BYTES_MAX 4096

/* The next word; empty at the end. */
static struct slice next_word(struct slice *line)
{
    *line = slice_skip_space(*line);
    size_t len = 0;
    while (len < line->len && !slice_is_space(line->ptr[len]))
        len++;
    struct slice word = {line->ptr, len};
    *line = slice_skip(*line, len);
    return word;
}

size_t dns_hosts_normalise(struct slice name, char *out)
{
    size_t label = 0;
    if (name.len && name.ptr[name.len - 1] == '.')
        name.len--;
    if (name.len == 0 || name.len > DNS_NAME_BYTES_MAX)
        return 0;
    for (size_t i = 0; i < name.len; i++) {
        char c = slice_lower(name.ptr[i]);
        bool is_label = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        if (c == '.' ? label == 0 : !is_label)
            return 0;
        label = c == '.' ? 0 : label + 1;
        if (label > 63)
            return 0;
        out[i] = c;
    }
    return label ? name.len : 0;
}

/* True: the name is new. */
static bool pin(struct dns_cache *cache, struct slice name, const struct ip *address)
{
    struct dns_answer answer;
    bool is_known = dns_cache_find(cache, name, 0, &answer);
    if (!is_known)
        answer = (struct dns_answer){.error = DNS_OK};
    if (answer.count == DNS_ADDRESSES_MAX)
        return false;
    answer.addresses[answer.count++] = *address;
    dns_cache_pin(cache, name, &answer);
    return !is_known;
}

size_t dns_hosts_line(struct dns_cache *cache, struct slice line, enum dns_families families)
{
    const char *comment = line.len ? memchr(line.ptr, '#', line.len) : NULL;
    if (comment)
        line = slice_between(line.ptr, comment);
    line = slice_trim(line);
    struct ip address;
    if (!ip_parse(&address, next_word(&line)) || families == (ip_is_v4(&address) ? DNS_IPV6 : DNS_IPV4))
        return 0;
    size_t added = 0;
    for (struct slice word = next_word(&line); word.len; word = next_word(&line)) {
        char name[DNS_NAME_BYTES_MAX];
        size_t len = dns_hosts_normalise(word, name);
        added += len && pin(cache, (struct slice){name, len}, &address);
    }
    return added;
}

void dns_hosts_read(struct dns_cache *cache, const char *path, size_t names_max, enum dns_families families)
{
    char line[LINE_BYTES_MAX];
    size_t names = 0;
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    while (names < names_max && fgets(line, sizeof line, file))
        names += dns_hosts_line(cache, slice_of(line), families);
    fclose(file);
}
