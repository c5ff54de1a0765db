/* Certificate ::= SEQUENCE { tbsCertificate, ... }                                        RFC 5280, 4.1
 * tbsCertificate ::= SEQUENCE { [0] version OPTIONAL, serial, algorithm, issuer, validity, subject, key,
 *                               [1] OPTIONAL, [2] OPTIONAL, [3] extensions OPTIONAL }
 * extension ::= SEQUENCE { OBJECT IDENTIFIER, BOOLEAN OPTIONAL, OCTET STRING } */
#include "net/tls_leaf.h"

enum {
    DER_OCTET_STRING = 0x04,
    DER_OID = 0x06,
    DER_UTC_TIME = 0x17, /* YYMMDDHHMMSSZ; the other form has four digits of the year */
    DER_SEQUENCE = 0x30,
    DER_VERSION = 0xa0,
    DER_EXTENSIONS = 0xa3,
    DER_IP_ADDRESS = 0x87, /* of GeneralName */
};

struct element {
    unsigned char tag;
    struct slice content;
};

/* Takes the first element of `in`. False: there is none, or it is cut short. */
static bool next_element(struct slice *in, struct element *element)
{
    const unsigned char *bytes = (const unsigned char *)in->ptr;
    if (in->len < 2)
        return false;
    size_t len = bytes[1], header = 2;
    if (len & 0x80) {
        size_t count = len & 0x7f;
        /* Four bytes of length are 4 GiB; zero would be the indefinite form, which DER forbids. */
        if (count == 0 || count > 4 || in->len < 2 + count)
            return false;
        len = 0;
        for (size_t i = 0; i < count; i++)
            len = len << 8 | bytes[2 + i];
        header += count;
    }
    if (in->len - header < len)
        return false;
    *element = (struct element){bytes[0], {in->ptr + header, len}};
    *in = slice_skip(*in, header + len);
    return true;
}

static bool enter(struct slice *in, unsigned char tag)
{
    struct element element;
    if (!next_element(in, &element) || element.tag != tag)
        return false;
    *in = element.content;
    return true;
}

/* Issuer, validity, subject, and what follows the key. */
struct outline {
    struct slice issuer, validity, subject, rest;
};

static bool read_outline(struct slice certificate, struct outline *outline)
{
    struct slice in = certificate;
    struct element element;
    bool is_certificate = enter(&in, DER_SEQUENCE);
    if (!is_certificate || !enter(&in, DER_SEQUENCE) || !next_element(&in, &element))
        return false;
    if (element.tag == DER_VERSION && !next_element(&in, &element))
        return false;
    struct element issuer, validity, subject, key;
    if (!next_element(&in, &element) || !next_element(&in, &issuer) || !next_element(&in, &validity) ||
        !next_element(&in, &subject) || !next_element(&in, &key))
        return false;
    *outline = (struct outline){issuer.content, validity.content, subject.content, in};
    return true;
}

bool tls_leaf_is_premature(struct slice certificate, struct slice now)
{
    struct outline outline;
    struct element begin;
    if (!read_outline(certificate, &outline) || !next_element(&outline.validity, &begin))
        return false;
    if (begin.tag == DER_UTC_TIME && begin.content.len > 0) {
        /* Two digits of the year: RFC 5280, 4.1.2.5.1. */
        struct slice century = begin.content.ptr[0] < '5' ? SLICE("20") : SLICE("19");
        int order = memcmp(century.ptr, now.ptr, century.len);
        if (order != 0)
            return order > 0;
        now = slice_skip(now, century.len);
    }
    return begin.content.len >= now.len && memcmp(begin.content.ptr, now.ptr, now.len) > 0;
}

bool tls_leaf_is_self_issued(struct slice certificate)
{
    struct outline outline;
    return read_outline(certificate, &outline) && slice_equals(outline.issuer, outline.subject);
}

/* The extension's value, if its object identifier is `oid`. */
static bool is_extension(struct slice extension, struct slice oid, struct slice *value)
{
    struct element element;
    if (!next_element(&extension, &element) || element.tag != DER_OID || !slice_equals(element.content, oid))
        return false;
    while (next_element(&extension, &element))
        if (element.tag == DER_OCTET_STRING) {
            *value = element.content;
            return true;
        }
    return false;
}

static bool find_names(struct slice rest, struct slice *names)
{
    struct element element;
    while (next_element(&rest, &element)) {
        if (element.tag != DER_EXTENSIONS)
            continue;
        struct slice extensions = element.content;
        if (!enter(&extensions, DER_SEQUENCE))
            return false;
        while (next_element(&extensions, &element))
            if (is_extension(element.content, SLICE("\x55\x1d\x11"), names))
                return enter(names, DER_SEQUENCE);
    }
    return false;
}

bool tls_leaf_has_address(struct slice certificate, const struct ip *address)
{
    struct outline outline;
    struct slice names, wanted = ip_bytes(address);
    struct element name;
    if (!read_outline(certificate, &outline) || !find_names(outline.rest, &names))
        return false;
    while (next_element(&names, &name))
        if (name.tag == DER_IP_ADDRESS && slice_equals(name.content, wanted))
            return true;
    return false;
}
