#include "tools/lycosa/json.h"

#include "engine/url/json.h"

void lycosa_json_member(FILE *out, bool first, const char *key, struct slice text)
{
    fprintf(out, "%c\"%s\":", first ? '{' : ',', key);
    json_write_string(out, text);
}
