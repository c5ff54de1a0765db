/* From a WARC record to its line of an index: which records are indexed, and what is said of them. */
#pragma once

#include <stdbool.h>

#include "engine/archive/cdxj.h"
#include "engine/archive/limits.h"
#include "engine/archive/message.h"
#include "engine/archive/warc_read.h"
#include "engine/content/fingerprint.h"

struct index_entry {
    struct message message;
    char key[CDXJ_KEY_BYTES_MAX];
    char timestamp[WARC_TIMESTAMP_CHARS];
    char status[16];
    char digest[FINGERPRINT_BASE32_CHARS];
};

/* False: no memory. */
bool index_entry_init(struct index_entry *entry);
void index_entry_fini(struct index_entry *entry);

bool index_entry_is_wanted(const struct warc_head *head);
/* What a line says of the Content-Type of a response. */
struct slice index_entry_mime(struct slice content_type);

/* Reads the record at hand to its end and fills `line`, but for the file's name. Of its block no more is read than the line
 * needs. A key that is empty: the URL is too long. The texts are good until the next record. False: the reader's error is
 * set. */
bool index_entry_read(struct index_entry *entry, struct warc_read *reader, struct cdxj *line);
