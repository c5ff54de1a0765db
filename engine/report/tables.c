#include "engine/report/tables.h"

#include <inttypes.h>

#include "engine/report/markup.h"

static void write_roster(const struct roster *roster, const char *title, FILE *out)
{
    fprintf(out, "%s\turls\tpages\tbytes\tfailed\n", title);
    for (size_t i = 0; i <= roster->count; i++) {
        const struct roster_entry *entry = i < roster->count ? &roster->entries[i] : &roster->others;
        if (!entry->urls)
            continue;
        markup_field(out, roster_name(entry));
        fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", entry->urls, entry->pages,
                entry->bytes, entry->failed);
    }
}

static void write_hosts(const struct survey *survey, FILE *out)
{
    write_roster(&survey->hosts, "host", out);
}

static void write_mimes(const struct survey *survey, FILE *out)
{
    write_roster(&survey->mimes, "mime_type", out);
}

static void write_seeds(const struct survey *survey, FILE *out)
{
    write_roster(&survey->seeds, "seed", out);
}

static void write_codes(const struct survey *survey, FILE *out)
{
    fprintf(out, "code\turls\tbytes\n");
    for (int i = SURVEY_CODES; i-- > 0;)
        if (survey->codes[i].urls)
            fprintf(out, "%d\t%" PRIu64 "\t%" PRIu64 "\n", i + SURVEY_CODE_MIN, survey->codes[i].urls,
                    survey->codes[i].bytes);
}

const struct table tables_list[] = {{"hosts-report", write_hosts},
                                    {"responsecode-report", write_codes},
                                    {"mimetype-report", write_mimes},
                                    {"seeds-report", write_seeds}};

size_t tables_count(void)
{
    return sizeof tables_list / sizeof tables_list[0];
}
