/* lycosa archive get | check | cat | list: reads WARC files, whoever wrote them. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/archive/index_entry.h"
#include "tools/lycosa/archive_parts.h"
#include "tools/lycosa/commands.h"

static const struct command_option known[] = {
    {ARCHIVE_OPTION_TIME, "time", "T", "get: the capture nearest to T (20261116, 2026-11-16T07:19:47Z)"},
    {ARCHIVE_OPTION_HEADERS, "headers", NULL, "get: the HTTP head comes before the body"},
    {ARCHIVE_OPTION_RAW, "raw", NULL, "get: the body as it is stored, content codings left on"},
    {0},
};

static const struct command_term words[] = {
    {"get", "the stored body of a URL, by the index: of the capture nearest to --time, or of the latest"},
    {"check", "reads every record: framing, lengths, dates, ids, digests. Names the file and the first bad byte; exits "
              "with 1 if anything is bad"},
    {"cat", "the uncompressed WARC, for programs that do not read the compression"},
    {"list", "offset, length, type, status, date and URL of each record"},
    {0},
};

static const struct command_section sections[] = {{"What to do", words}, {0}};

const struct command lycosa_archive = {
    .program = "lycosa",
    .name = "archive",
    .run = lycosa_archive_main,
    .synopsis = "get [--time T] [--headers] [--raw] DIR|CDXJ... URL\n"
                "check PATH...\n"
                "cat FILE...\n"
                "list FILE...",
    .summary = "reads WARC files: gets a page, checks, unpacks or lists them",
    .description = "Reads WARC files, whoever wrote them. They may be plain, gzip or zstd, with a dictionary or without; "
                   "what they are is seen by their first bytes. In a DIR, all WARC files and indexes in it and in "
                   "DIR/warc count.",
    .options = known,
    .words = "get check cat list",
    .sections = sections,
};

int archive_fail(const struct archive_error *error)
{
    fprintf(stderr, "lycosa archive: %s\n", error->text);
    return error->fault == ARCHIVE_SYSTEM && error->code == ENOSPC ? LYCOSA_EXIT_DISK_FULL
                                                                   : LYCOSA_EXIT_FAILED;
}

bool archive_open(struct source *source, struct warc_read *reader, const char *path,
                  struct archive_error *error)
{
    if (!source_open(source, path, error))
        return false;
    if (warc_read_init(reader, source, error))
        return true;
    source_fini(source);
    return false;
}

void archive_close(struct source *source, struct warc_read *reader)
{
    warc_read_fini(reader);
    source_fini(source);
}

static bool put(struct slice bytes, struct archive_error *error)
{
    if (fwrite_unlocked(bytes.ptr, 1, bytes.len, stdout) == bytes.len)
        return true;
    return archive_error_of_call(error, errno, "write", "standard output");
}

/* Record by record, so that what is written is a good WARC file up to its last record, whatever is wrong behind it. */
static bool cat_record(struct warc_read *reader, struct archive_error *error)
{
    struct slice piece;
    enum warc_read_step step;
    if (!put(reader->record.head.raw, error))
        return false;
    while ((step = warc_read_block(reader, &piece)) == WARC_READ_DONE)
        if (!put(piece, error))
            return false;
    return step == WARC_READ_END && put(SLICE("\r\n\r\n"), error);
}

static struct index_entry entry;

static void print_text(struct slice text)
{
    printf("%.*s ", text.len ? (int)text.len : 1, text.len ? text.ptr : "-");
}

static bool list_record(struct warc_read *reader, struct archive_error *error)
{
    const struct warc_read_record *record = &reader->record;
    const struct slice *fields = record->head.fields;
    struct cdxj line = {0};
    bool is_entry = index_entry_is_wanted(&record->head);
    if (is_entry ? !index_entry_read(&entry, reader, &line) : !warc_read_skip(reader))
        return false;
    printf("%" PRIu64 " %" PRIu64 " ", record->offset, record->length);
    print_text(fields[WARC_FIELD_TYPE]);
    print_text(line.status);
    print_text(fields[WARC_FIELD_DATE]);
    struct slice url = warc_head_uri(fields[WARC_FIELD_TARGET_URI]);
    printf("%.*s\n", url.len ? (int)url.len : 1, url.len ? url.ptr : "-");
    return !ferror(stdout) || archive_error_of_call(error, errno, "write", "standard output");
}

/* Does something with each record of each file. */
static int each_record(int argc, char **argv, bool (*act)(struct warc_read *, struct archive_error *))
{
    struct archive_error error = {0};
    for (int i = 1; i < argc && !error.fault; i++) {
        struct source source;
        struct warc_read reader;
        if (!archive_open(&source, &reader, argv[i], &error))
            break;
        while (warc_read_next(&reader) == WARC_READ_DONE && act(&reader, &error))
            continue;
        archive_close(&source, &reader);
    }
    if (fflush(stdout) != 0)
        archive_error_of_call(&error, errno, "write", "standard output");
    return error.fault ? archive_fail(&error) : LYCOSA_EXIT_DONE;
}

int archive_cat_main(int argc, char **argv)
{
    return argc < 2 ? LYCOSA_EXIT_USAGE : each_record(argc, argv, cat_record);
}

int archive_list_main(int argc, char **argv)
{
    if (argc < 2)
        return LYCOSA_EXIT_USAGE;
    if (!index_entry_init(&entry)) {
        fprintf(stderr, "lycosa archive: no memory\n");
        return LYCOSA_EXIT_FAILED;
    }
    int code = each_record(argc, argv, list_record);
    index_entry_fini(&entry);
    return code;
}

int lycosa_archive_main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } parts[] = {{"get", archive_get_main},
                 {"check", archive_check_main},
                 {"cat", archive_cat_main},
                 {"list", archive_list_main}};
    if (argc < 2)
        return command_help(&lycosa_archive, stderr);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return command_help(&lycosa_archive, stdout);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(argv[1], parts[i].name) == 0) {
            int code = parts[i].run(argc - 1, argv + 1);
            return code == LYCOSA_EXIT_USAGE ? command_help(&lycosa_archive, stderr) : code;
        }
    fprintf(stderr, "lycosa archive: unknown command '%s'\n", argv[1]);
    return command_help(&lycosa_archive, stderr);
}
