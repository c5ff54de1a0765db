#include "engine/content/location.h"

#include "engine/content/encoding.h"

struct slice location_read(struct slice value, char *room, size_t room_bytes)
{
    static const char digits[] = "0123456789ABCDEF";
    char *to = room;
    if (encoding_is_ascii(value))
        return value;
    for (size_t i = 0; i < value.len; i++) {
        unsigned char byte = (unsigned char)value.ptr[i];
        if (room_bytes - (size_t)(to - room) < 3)
            return (struct slice){"", 0};
        if (byte < 0x80) {
            *to++ = (char)byte;
            continue;
        }
        *to++ = '%';
        *to++ = digits[byte >> 4];
        *to++ = digits[byte & 15];
    }
    return slice_between(room, to);
}
