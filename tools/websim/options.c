#include "tools/websim/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/websim/random.h"

#define RATIO_MAX 1000

int websim_options_error(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "websim %s: ", command);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return WEBSIM_EXIT_USAGE;
}

static bool parse_number(const char *text, const char **end, uint64_t *value)
{
    char *stop;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *value = strtoull(text, &stop, 10);
    *end = stop;
    return errno == 0;
}

bool websim_options_decimal(const char *text, uint64_t most, uint64_t *ppm)
{
    const char *at;
    uint64_t whole, unit = WEBSIM_PPM;
    if (!parse_number(text, &at, &whole) || whole > most)
        return false;
    *ppm = whole * WEBSIM_PPM;
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9' && unit > 1; at++) {
            unit /= 10;
            *ppm += (uint64_t)(*at - '0') * unit;
        }
    return *at == '\0' && *ppm <= most * WEBSIM_PPM;
}

static bool parse_bytes(const char *text, uint64_t *value)
{
    static const char units[] = "KMG";
    const char *at;
    if (!parse_number(text, &at, value))
        return false;
    const char *unit = *at ? strchr(units, *at & ~0x20) : NULL;
    if (unit) {
        unsigned shift = 10 * (unsigned)(unit - units + 1);
        if (*value > UINT64_MAX >> shift)
            return false;
        *value <<= shift;
        at++;
    }
    return *at == '\0';
}

static bool parse_value(const struct websim_option *option, const char *text, uint64_t *value)
{
    const char *end;
    if (option->type == WEBSIM_OPTION_SHARE)
        return websim_options_share(text, value);
    if (option->type == WEBSIM_OPTION_RATIO)
        return websim_options_decimal(text, RATIO_MAX, value);
    if (option->type == WEBSIM_OPTION_BYTES)
        return parse_bytes(text, value);
    return parse_number(text, &end, value) && *end == '\0';
}

static bool store(const char *command, const struct websim_option *option, const char *text)
{
    uint64_t value;
    if (option->type == WEBSIM_OPTION_TEXT) {
        *(const char **)option->target = text;
        return true;
    }
    if (option->type == WEBSIM_OPTION_CALL) {
        const char *wrong = option->call(option->target, text);
        if (wrong)
            websim_options_error(command, "--%s %s: %s", option->name, text, wrong);
        return !wrong;
    }
    if (!parse_value(option, text, &value)) {
        static const char *const expected[] = {"a number", "a number of bytes (K, M, G)",
                                               "a share from 0 to 1", "a ratio from 0 to 1000"};
        websim_options_error(command, "--%s %s: expected %s", option->name, text, expected[option->type]);
        return false;
    }
    if (value < option->min || value > option->max) {
        websim_options_error(command, "--%s %s: must be from %" PRIu64 " to %" PRIu64, option->name, text,
                             option->min, option->max);
        return false;
    }
    *(uint64_t *)option->target = value;
    return true;
}

static const struct websim_option *find(const struct websim_options *options, const char *name, size_t len)
{
    for (size_t i = 0; i < options->count; i++)
        if (strlen(options->rows[i].name) == len && memcmp(options->rows[i].name, name, len) == 0)
            return &options->rows[i];
    return NULL;
}

int websim_options_parse(const struct websim_options *options, int argc, char **argv)
{
    int operands = 0;
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            argv[++operands] = argv[i];
            continue;
        }
        const char *name = argv[i] + 2, *value = strchr(name, '=');
        size_t len = value ? (size_t)(value - name) : strlen(name);
        const struct websim_option *option = find(options, name, len);
        if (!option || (option->type == WEBSIM_OPTION_FLAG && value)) {
            websim_options_error(options->command, option ? "--%.*s takes no value" : "unknown option --%.*s",
                                 (int)len, name);
            return -1;
        }
        if (option->type == WEBSIM_OPTION_FLAG) {
            *(bool *)option->target = true;
            continue;
        }
        if (!value && i + 1 == argc) {
            websim_options_error(options->command, "--%s needs a value", option->name);
            return -1;
        }
        if (!store(options->command, option, value ? value + 1 : argv[++i]))
            return -1;
    }
    return operands;
}

struct command_option websim_options_describe(const struct websim_option *row, char *meaning)
{
    static const char *const arguments[] = {"N", "SIZE", "SHARE", "RATIO", NULL};
    bool is_named = row->type == WEBSIM_OPTION_TEXT || row->type == WEBSIM_OPTION_CALL;
    char value[32] = "";
    if (row->type == WEBSIM_OPTION_COUNT || row->type == WEBSIM_OPTION_BYTES)
        snprintf(value, sizeof value, " [%" PRIu64 "]", *(uint64_t *)row->target);
    if (row->type == WEBSIM_OPTION_SHARE || row->type == WEBSIM_OPTION_RATIO)
        snprintf(value, sizeof value, " [%g]", (double)*(uint64_t *)row->target / WEBSIM_PPM);
    snprintf(meaning, WEBSIM_OPTIONS_MEANING_BYTES, "%s%s", row->help, value);
    return (struct command_option){COMMAND_LONG, row->name, is_named ? row->argument : arguments[row->type], meaning};
}
