/* What Heritrix tells at the end of a crawl, as TSV: its reports on hosts, response codes, MIME types and seeds. Most pages
 * first. */
#pragma once

#include <stdio.h>

#include "engine/report/survey.h"

struct table {
    const char *name; /* of the file, without ".tsv" */
    void (*write)(const struct survey *survey, FILE *out);
};

extern const struct table tables_list[];
size_t tables_count(void);
