/* A simulated web for a benchmark: websim on the last processor, with its files in a directory of its own. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CRAWL_WEB_OPTIONS_MAX = 32, CRAWL_WEB_DIRECTORY_BYTES = 256, CRAWL_WEB_PATH_BYTES = 512 };

struct crawl_web_options {
    const char *const *web;   /* what the web is a function of; ends with NULL */
    const char *const *serve; /* further options of websim serve, or NULL */
    bool journal;             /* records what was asked when: DIRECTORY/journal */
};

struct crawl_web {
    char programs[CRAWL_WEB_PATH_BYTES]; /* the directory of websim and lycosa: that of this program */
    char directory[CRAWL_WEB_DIRECTORY_BYTES];
    const char *const *web;
    pid_t pid;
    int input; /* websim ends when it is closed */
    uint16_t http_port, https_port, dns_port;
};

/* False, with a message, if websim does not come up. */
bool crawl_web_begin(struct crawl_web *web, const struct crawl_web_options *options);
/* Ends websim, and the directory unless `keep`: its journal is complete after that. */
void crawl_web_finish(struct crawl_web *web, bool keep);

/* Runs websim COMMAND with the options of the web; its output goes to DIRECTORY/name. */
bool crawl_web_ask(const struct crawl_web *web, const char *const *command, const char *name);

/* Makes "TMPDIR/NAME.XXXXXX", in /tmp if TMPDIR is not set. False, with a message, if it cannot. */
bool crawl_web_make_directory(const char *name, char path[CRAWL_WEB_DIRECTORY_BYTES]);

/* DIRECTORY/name. */
const char *crawl_web_path(const struct crawl_web *web, const char *name, char path[CRAWL_WEB_PATH_BYTES]);

/* The root pages of all hosts to DIRECTORY/seeds. */
bool crawl_web_write_seeds(const struct crawl_web *web);

/* What a correct crawl from all root pages fetches. */
struct crawl_web_truth {
    uint64_t pages;
    char page[512]; /* a page of `size` or nearly: for wrk */
};

/* Writes all URLs to DIRECTORY/urls and picks one. */
bool crawl_web_write_truth(const struct crawl_web *web, uint64_t size, struct crawl_web_truth *truth);
