/* A store writes files and notes; the index that is made of the notes is that which is made of the file, byte by byte. */
#include "engine/crawl/index_notes.h"

#include <sched.h>

#include "tests/unit/engine/store/store_frame.h"

static struct index_notes notes;
static struct archive_error error;
static _Atomic(bool) stop;

static void begin_notes(void)
{
    begin();
    CHECK_INT(store_keep_notes(&store), 0);
    notes = (struct index_notes){.outlet = &store.notes};
    error = (struct archive_error){0};
}

static struct indexed_file *take(void)
{
    struct index_notes_options options = {.directory = warcs, .stop = &stop, .error = &error};
    return index_notes_take(&notes, &options);
}

/* Digests as the crawl makes them, of a page of this length. */
static void add_page(size_t len, struct store_page with)
{
    static char buffer[STORE_HEADROOM + sizeof HEAD + (1 << 20) + STORE_TAILROOM];
    static unsigned count;
    static char url[64];
    char status[16];
    struct fingerprint_sha1 sha1;
    snprintf(url, sizeof url, "http://www.a%u.it/B/%u?z=1&a=%%41", count * 7 % 10, count);
    struct store_page page = page_in(buffer, len, url);
    memset(page.response + page.head_len, 'a' + (int)(count++ % 26), len);
    page.packed.content_type = SLICE("text/html");
    page.status = with.status ? with.status : 200;
    page.repeats = with.repeats;
    snprintf(status, sizeof status, "%d", page.status);
    memcpy(page.response + strlen("HTTP/1.1 "), status, 3);
    fingerprint_sha1_init(&sha1);
    fingerprint_sha1_push(&sha1, (struct slice){page.response + page.head_len, len});
    fingerprint_sha1_finish(&sha1, page.payload_digest);
    bool is_long = store_is_long(&store, page.head_len + len);
    if (is_long)
        CHECK_INT(store_prepare(&store, &page, UINT64_MAX), STORE_READY);
    CHECK(is_long ? store_finish(&store, &page) : store_add(&store, &page));
    CHECK_INT(outlet_drain(&store.outlet), 0);
}

static void check_same(const struct indexed_file *file)
{
    char warc[512], made[INDEX_NOTES_PATH_BYTES], read[INDEX_NOTES_PATH_BYTES];
    struct stat facts;
    size_t made_len, read_len;
    snprintf(warc, sizeof warc, "%s/%s", warcs, file->name);
    index_notes_path(made, warcs, file->name, true);
    index_notes_path(read, warcs, file->name, false);
    CHECK_INT(stat(warc, &facts), 0);
    CHECK_INT(facts.st_size, file->bytes);
    CHECK(index_file(warc, read, &(struct index_options){0}, &error));
    char *by_notes = check_read_file(made, &made_len), *by_reading = check_read_file(read, &read_len);
    CHECK_INT(made_len, read_len);
    CHECK(memcmp(by_notes, by_reading, read_len) == 0);
    free(by_notes);
    free(by_reading);
    unlink(warc);
    unlink(made);
    unlink(read);
}

/* Ends the store; returns how many files had an index that is right. */
static unsigned end_notes(struct indexed_file *first)
{
    unsigned count = 0;
    struct indexed_file *all = first, *file;
    store_flush(&store);
    while ((file = take())) {
        file->next = all;
        all = file;
    }
    index_notes_fini(&notes);
    finish();
    for (; all; count++) {
        file = all;
        all = file->next;
        check_same(file);
        free(file);
    }
    CHECK_INT(error.fault, ARCHIVE_OK);
    return count;
}

static void end_folder(void)
{
    CHECK_INT(rmdir(warcs), 0); /* all files had an index, and nothing else is left */
    CHECK_INT(rmdir(directory), 0);
}

static void add_kinds(void)
{
    static const struct exact_copy copy = {.url = "http://a.it/first", .url_len = 17, .date_us = 1};
    for (unsigned i = 0; i < 60; i++)
        add_page(i * 399,
                 (struct store_page){.repeats = i % 5 == 3 ? &copy : NULL, .status = i % 7 ? 0 : 304});
    add_page(1 << 19, (struct store_page){0}); /* long */
    add_page(1 << 19, (struct store_page){.status = 404});
}

TEST(an_index_of_notes_is_that_of_the_file)
{
    static const enum tuning_compress kinds[] = {TUNING_COMPRESS_GZIP, TUNING_COMPRESS_NONE,
                                                 TUNING_COMPRESS_ZSTD};
    for (int i = 0; i < 3; i++) {
        set_up();
        tuning.fixed.store.compress = kinds[i];
        tuning.fixed.store.dictionary = false;
        tuning.fixed.store.file_bytes = 1 << 16;
        begin_notes();
        add_kinds();
        CHECK(end_notes(NULL) >= (kinds[i] == TUNING_COMPRESS_NONE ? 5u : 1u));
        end_folder();
    }
}

TEST(records_behind_a_dictionary_are_found)
{
    set_up();
    tuning.fixed.store.compress = TUNING_COMPRESS_ZSTD;
    begin_notes();
    while (!dictionary_ready(&store.dictionary) &&
           lf_load(&store.dictionary.stage, relaxed) != DICTIONARY_FAILED) {
        add_kinds();
        store_serve(&store);
        sched_yield();
    }
    CHECK(dictionary_ready(&store.dictionary));
    add_kinds();
    CHECK_INT(end_notes(NULL), 2);
    end_folder();
}

/* Nobody takes the notes: the first file has too many, the next one has none at all. */
TEST(a_file_whose_notes_find_no_room_is_left_to_be_read)
{
    set_up();
    tuning.fixed.store.compress = TUNING_COMPRESS_NONE;
    tuning.fixed.store.file_bytes = 64 << 20;
    begin_notes();
    while (store.serial < 2 || store.is_noted)
        add_page(0, (struct store_page){0});
    tuning.fixed.store.file_bytes = 0; /* a file per page */
    add_page(0, (struct store_page){0});
    CHECK(!store.is_noted);
    CHECK(!take());
    add_page(0, (struct store_page){0}); /* now there is room again */
    CHECK(store.is_noted);
    CHECK_INT(end_notes(NULL), 1);
    DIR *opened = opendir(warcs);
    unsigned left = 0;
    for (struct dirent *entry; (entry = readdir(opened));)
        if (entry->d_name[0] != '.') {
            char path[512];
            snprintf(path, sizeof path, "%s/%s", warcs, entry->d_name);
            CHECK(index_notes_stem(entry->d_name));
            unlink(path);
            left++;
        }
    closedir(opened);
    CHECK(left >= 2);
    end_folder();
}

TEST(after_an_error_notes_are_dropped)
{
    set_up();
    begin_notes();
    add_page(100, (struct store_page){0});
    error.fault = ARCHIVE_STOPPED;
    store_flush(&store);
    CHECK(!take());
    CHECK_INT(ring_spsc_count(&store.notes.full), 0);
    index_notes_fini(&notes);
    finish();
    check_files();
}
