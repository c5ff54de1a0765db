/* The tuning file: an INI file whose every key stands in one table (tuning_table.c) with its type, unit,
 * default, range and meaning. The table is the reference manual (`lycosa crawl --print-tuning`), the parser,
 * and the list of keys that may change while a crawl runs.
 *
 * An unknown key, a bad value or a bad unit is an error with file, line and the nearest known key. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "net/slice.h"

enum { TUNING_TEXT_BYTES = 256, TUNING_LIST_BYTES = 4096, TUNING_THREADS_MAX = 64, TUNING_KEYS_MAX = 256 };

enum tuning_politeness { TUNING_POLITENESS_RATIO, TUNING_POLITENESS_DELAY };
enum tuning_sieve {
    TUNING_SIEVE_SIGNATURES,
    TUNING_SIEVE_BLOOM,
    TUNING_SIEVE_MERCATOR,
    TUNING_SIEVE_OFFLINE,
    TUNING_SIEVE_ROCKSDB,
};
enum tuning_store { TUNING_STORE_WARC, TUNING_STORE_NONE, TUNING_STORE_JSONL, TUNING_STORE_DIRECTORY };
enum tuning_compress { TUNING_COMPRESS_GZIP, TUNING_COMPRESS_NONE, TUNING_COMPRESS_ZSTD };
enum tuning_warc { TUNING_WARC_1_1, TUNING_WARC_1_0 };
enum tuning_duplicates { TUNING_DUPLICATES_OFF, TUNING_DUPLICATES_EXACT, TUNING_DUPLICATES_NEAR };
enum tuning_duplicates_links { TUNING_DUPLICATES_FOLLOW, TUNING_DUPLICATES_SKIP_LINKS };
enum tuning_duplicates_store {
    TUNING_DUPLICATES_FULL,
    TUNING_DUPLICATES_REVISIT,
    TUNING_DUPLICATES_SKIP,
};
enum tuning_embeds { TUNING_EMBEDS_NO, TUNING_EMBEDS_YES, TUNING_EMBEDS_ANYWHERE };
enum tuning_sitemaps {
    TUNING_SITEMAPS_NO,
    TUNING_SITEMAPS_ROBOTS,
    TUNING_SITEMAPS_GUESS,
    TUNING_SITEMAPS_YES
};
enum tuning_scope { TUNING_SCOPE_HOSTS, TUNING_SCOPE_DOMAINS, TUNING_SCOPE_ANY };

/* Durations are nanoseconds, sizes bytes. A list holds its items separated by newlines. Each section of the
 * file has a struct for the keys that are fixed at the start of a crawl, one for those that may change while
 * it runs, or both. */
struct crawl_tuning_fixed {
    char agent_name[TUNING_TEXT_BYTES];
    char agent_version[TUNING_TEXT_BYTES];
    char contact_url[TUNING_TEXT_BYTES];
    char operator_name[TUNING_TEXT_BYTES];
    uint64_t threads;
    bool pin;
    bool private_addresses;
};

struct crawl_tuning_live {
    uint64_t max_pages;
    uint64_t max_time_ns;
    uint64_t max_idle_ns;
    uint64_t stop_within_ns;
};

struct politeness_tuning_fixed {
    uint64_t connections_per_address;
};

struct politeness_tuning_live {
    uint64_t mode; /* enum tuning_politeness */
    double host_ratio;
    double address_ratio;
    uint64_t burst_ns;
    uint64_t host_min_idle_ns;
    uint64_t address_min_idle_ns;
    uint64_t delay_ns;
    uint64_t address_delay_ns;
    uint64_t crawl_delay_max_ns;
    uint64_t retry_after_max_ns;
};

struct robots_tuning_fixed {
    bool obey;
    uint64_t sitemaps; /* enum tuning_sitemaps */
};

struct robots_tuning_live {
    bool meta;
    bool nofollow;
    uint64_t fresh_ns;
    uint64_t retry_ns;
};

struct net_tuning_fixed {
    uint64_t connections;
    uint64_t connect_timeout_ns;
    uint64_t first_byte_timeout_ns;
    uint64_t fetch_timeout_ns;
    uint64_t rate_min;
    uint64_t head_bytes_max;
    uint64_t body_bytes_max;
    uint64_t decoded_bytes_max;
    uint64_t decoded_ratio_max;
    char dns_servers[TUNING_LIST_BYTES];
    uint64_t dns_timeout_ns;
    uint64_t dns_denial_max_ns;
    uint64_t dns_cache_entries;
    bool ipv6;
    uint64_t tls_sessions;
    bool tls_verify;
    char tls_ca_file[TUNING_TEXT_BYTES];
};

struct net_tuning_live {
    uint64_t bandwidth_bytes;
};

struct scope_tuning_fixed {
    uint64_t mode; /* enum tuning_scope */
    char surts[TUNING_LIST_BYTES];
    char suffixes[TUNING_LIST_BYTES];
    char include[TUNING_LIST_BYTES];
    char exclude[TUNING_LIST_BYTES];
    char skip_extensions[TUNING_LIST_BYTES];
    char mime[TUNING_LIST_BYTES];
    uint64_t embeds; /* enum tuning_embeds */
    uint64_t embed_hops_max;
    uint64_t depth_max;
    uint64_t hops_off_max;
    uint64_t path_repeats_max;
    uint64_t path_segments_max;
    uint64_t url_bytes_max;
    char allow_ports[TUNING_LIST_BYTES];
    char canonical_rules[TUNING_LIST_BYTES];
};

struct scope_tuning_live {
    bool noscript;
};

struct limits_tuning_fixed {
    uint64_t links_per_page_max;
    uint64_t links_per_sitemap_max;
};

struct limits_tuning_live {
    uint64_t pages_per_host_max;
    uint64_t bytes_per_host_max;
    uint64_t time_per_host_max_ns;
    uint64_t hosts_per_address_max;
    uint64_t hosts_per_domain_max;
    uint64_t urls_per_host_max;
    uint64_t urls_per_domain_max;
    uint64_t redirects_max;
};

struct retry_tuning_live {
    uint64_t retries_max;
    uint64_t wait_ns;
    uint64_t wait_max_ns;
    uint64_t host_time_max_ns;
    uint64_t host_failures_max;
};

struct priority_tuning_fixed {
    bool url_weights;
    uint64_t domain_weight_ns;
    char preferred_suffixes[TUNING_LIST_BYTES];
    uint64_t suffix_weight_ns;
};

struct memory_tuning_fixed {
    uint64_t sieve_kind; /* enum tuning_sieve */
    uint64_t sieve_bytes;
    uint64_t sieve_runs;
    uint64_t frontier_bytes;
    uint64_t hosts_max;
    uint64_t robots_bytes;
    uint64_t page_bytes;
};

struct state_tuning_fixed {
    bool journal;
    uint64_t commit_ns;
    uint64_t sync_ns;
    uint64_t lag_max_ns;
    uint64_t reserve_bytes;
    bool spill;
    char scratch[TUNING_TEXT_BYTES];
    uint64_t fold_bytes;
    uint64_t file_bytes;
};

struct store_tuning_fixed {
    uint64_t kind;     /* enum tuning_store */
    uint64_t compress; /* enum tuning_compress */
    uint64_t level;
    bool block_digest;
    bool dictionary;
    uint64_t warc; /* enum tuning_warc */
    uint64_t file_bytes;
    uint64_t buffer_bytes;
    uint64_t file_age_ns;
    bool index;
    bool dns;
    bool metadata;
    char prefix[TUNING_TEXT_BYTES];
    char name[TUNING_TEXT_BYTES];
};

struct store_tuning_live {
    bool robots;
};

struct duplicates_tuning_fixed {
    uint64_t kind; /* enum tuning_duplicates */
    uint64_t distance_max;
    uint64_t links; /* enum tuning_duplicates_links */
    uint64_t store; /* enum tuning_duplicates_store */
    uint64_t bytes;
};

struct log_tuning_fixed {
    bool via;
    bool source;
    bool extra;
};

struct log_tuning_live {
    bool robots;
};

struct status_tuning_live {
    uint64_t interval_ns;
};

enum tuning_metrics { TUNING_METRICS_TOKEN, TUNING_METRICS_OPEN };

struct control_tuning_fixed {
    char listen[TUNING_TEXT_BYTES];
    char names[TUNING_LIST_BYTES];
    char token_file[TUNING_TEXT_BYTES];
    uint64_t metrics; /* enum tuning_metrics */
    char on_end[TUNING_TEXT_BYTES];
};

/* As at the start of the crawl, whatever the file says later. */
struct tuning_fixed {
    struct crawl_tuning_fixed crawl;
    struct politeness_tuning_fixed politeness;
    struct robots_tuning_fixed robots;
    struct net_tuning_fixed net;
    struct scope_tuning_fixed scope;
    struct limits_tuning_fixed limits;
    struct priority_tuning_fixed priority;
    struct memory_tuning_fixed memory;
    struct state_tuning_fixed state;
    struct store_tuning_fixed store;
    struct duplicates_tuning_fixed duplicates;
    struct log_tuning_fixed log;
    struct control_tuning_fixed control;
};

/* Replaced as a whole by tuning_reload. */
struct tuning_live {
    struct crawl_tuning_live crawl;
    struct politeness_tuning_live politeness;
    struct robots_tuning_live robots;
    struct net_tuning_live net;
    struct scope_tuning_live scope;
    struct limits_tuning_live limits;
    struct retry_tuning_live retry;
    struct store_tuning_live store;
    struct log_tuning_live log;
    struct status_tuning_live status;
};

struct tuning {
    struct tuning_fixed fixed;
    struct tuning_live live;
};

/* Where and why a tuning file is wrong; `message` is one line for a person. */
struct tuning_error {
    char message[512];
};

/* All defaults. */
void tuning_init(struct tuning *tuning);

/* Parses `text`; `name` is the file's name for messages. On false, `tuning` is unchanged. */
bool tuning_parse(struct tuning *tuning, const char *name, struct slice text, struct tuning_error *error);

/* Reads and parses a file. */
bool tuning_load(struct tuning *tuning, const char *path, struct tuning_error *error);

/* Likewise a piece of a tuning file that is an order; marks the keys that it names, by their place in tuning_keys. */
bool tuning_parse_order(struct tuning *tuning, struct slice text, bool named[TUNING_KEYS_MAX], struct tuning_error *error);

/* Takes from `next` the keys that may change while a crawl runs; returns how many other keys differ (those
 * keep their value) and names the first of them. */
unsigned tuning_reload(struct tuning *tuning, const struct tuning *next, const char **first_refused);

/* Every key with its value, as a valid tuning file. */
void tuning_write(const struct tuning *tuning, FILE *out);
/* Every key with its default, unit, range and meaning, as a valid tuning file. */
void tuning_print(FILE *out);

/* The User-Agent header: "Mozilla/5.0 (compatible; NAME/VERSION; +URL)". */
void tuning_user_agent(const struct crawl_tuning_fixed *tuning, char *buffer, size_t size);

/* The items of a list, one after the other: starts with *rest = the list; false at the end. */
bool tuning_next_item(struct slice *rest, struct slice *item);
