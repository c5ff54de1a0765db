#include "tools/websim/parameters.h"

#include <string.h>

#include "tools/websim/random.h"

#define HOSTS_PER_ADDRESS 10

void websim_parameters_default(struct websim_parameters *parameters, int argc, char **argv)
{
    bool plain = false;
    for (int i = 1; i < argc; i++)
        plain |= strcmp(argv[i], "--plain") == 0;
    memset(parameters, 0, sizeof *parameters);
    memcpy(parameters->agent, "lycosa", sizeof "lycosa");
#define SET(field, option, type, value, plain_value, ...) parameters->field = plain ? plain_value : value;
    WEBSIM_PARAMETERS(SET)
#undef SET
}

static const char *read_agent(void *target, const char *text)
{
    size_t len = strlen(text);
    if (len == 0 || len >= WEBSIM_AGENT_BYTES)
        return "expected a product name of 1 to 31 characters";
    if (strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") != len)
        return "a product name has letters, _ and - only";
    memset(target, 0, WEBSIM_AGENT_BYTES);
    memcpy(target, text, len);
    return NULL;
}

size_t websim_parameters_rows(struct websim_parameters *parameters, struct websim_option *rows)
{
    const struct websim_option table[] = {
#define ROW(field, option, kind, value, plain, least, most, text)                                            \
    {.name = option,                                                                                         \
     .type = WEBSIM_OPTION_##kind,                                                                           \
     .target = &parameters->field,                                                                           \
     .min = (least),                                                                                         \
     .max = (most),                                                                                          \
     .help = text},
        WEBSIM_PARAMETERS(ROW)
#undef ROW
            {.name = "fault",
             .type = WEBSIM_OPTION_CALL,
             .target = parameters->faults,
             .call = websim_fault_read,
             .argument = "NAME=SHARE,...",
             .help = "see websim faults"},
        {.name = "agent",
         .type = WEBSIM_OPTION_CALL,
         .target = parameters->agent,
         .call = read_agent,
         .argument = "NAME",
         .help = "product name that rules in robots.txt address [lycosa]"},
        {.name = "plain",
         .type = WEBSIM_OPTION_FLAG,
         .target = &parameters->plain,
         .help = "no delays, no encodings, no robots.txt: for raw speed"},
    };
    _Static_assert(sizeof table / sizeof *table <= WEBSIM_PARAMETERS_ROWS_MAX, "rows");
    memcpy(rows, table, sizeof table);
    return sizeof table / sizeof *table;
}

static uint64_t sum(const uint64_t *shares, unsigned first, unsigned end)
{
    uint64_t total = 0;
    for (unsigned i = first; i < end; i++)
        total += shares[i];
    return total;
}

static uint64_t robots_present(const struct websim_parameters *p)
{
    return p->robots_rules + p->robots_agent + p->robots_delay + p->robots_error + p->robots_moved +
           p->robots_closed;
}

/* The first group of shares of one thing that add up to more than 1, or NULL. */
static const char *impossible_shares(const struct websim_parameters *p)
{
    if (sum(p->faults, 1, WEBSIM_FAULT_PAGE_FIRST) > WEBSIM_PPM)
        return "faults of hosts";
    if (sum(p->faults, WEBSIM_FAULT_PAGE_FIRST, WEBSIM_FAULT_COUNT) > WEBSIM_PPM)
        return "faults of pages";
    if (p->gzip + p->brotli + p->zstd > WEBSIM_PPM)
        return "--gzip, --brotli and --zstd";
    if (p->redirects + p->duplicates + p->near + p->meta > WEBSIM_PPM)
        return "--redirects, --duplicates, --near-duplicates and --meta-nofollow";
    if (p->external + p->gone + p->sessions > WEBSIM_PPM)
        return "--external, --gone and --sessions";
    if (robots_present(p) > WEBSIM_PPM)
        return "the shares of kinds of robots.txt";
    return NULL;
}

int websim_parameters_settle(struct websim_parameters *p, const char *command)
{
    if (p->addresses == 0)
        p->addresses = (p->hosts + HOSTS_PER_ADDRESS - 1) / HOSTS_PER_ADDRESS;
    if (p->addresses > p->hosts)
        return websim_options_error(command, "--addresses %llu: more than --hosts %llu",
                                    (unsigned long long)p->addresses, (unsigned long long)p->hosts);
    if (p->size_max < p->size)
        return websim_options_error(command, "--size-max is below --size");
    const char *which = impossible_shares(p);
    if (which)
        return websim_options_error(command, "impossible shares: %s add up to more than 1", which);
    /* So that --plain or the default can be combined with a share of one kind. */
    if (p->robots_absent > WEBSIM_PPM - robots_present(p))
        p->robots_absent = WEBSIM_PPM - robots_present(p);
    return 0;
}
