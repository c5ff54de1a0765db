/* Checks the options of a crawl, and sets up and tears down its parts. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/loop.h"
#include "engine/crawl/names.h"
#include "engine/store/warc_name.h"
#include "engine/url/canonical.h"

bool crawl_refuse(struct tuning_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return false;
}

void crawl_override(struct tuning *tuning, const struct crawl_overrides *overrides)
{
    tuning->live.crawl.max_pages = overrides->max_pages ? overrides->max_pages : tuning->live.crawl.max_pages;
    tuning->live.crawl.max_time_ns =
        overrides->max_time_ns ? overrides->max_time_ns : tuning->live.crawl.max_time_ns;
    tuning->fixed.crawl.threads = overrides->threads ? overrides->threads : tuning->fixed.crawl.threads;
    store_adapt_tuning(tuning);
}

/* An RFC 9309 product token: letters, '_' and '-'. */
static bool is_token(const char *name)
{
    for (const char *at = name; *at; at++)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_' || *at == '-'))
            return false;
    return *name;
}

bool crawl_canonical_rules(const struct scope_tuning_fixed *scope, unsigned *rules,
                           struct tuning_error *error)
{
    char names[TUNING_LIST_BYTES];
    struct slice bad;
    snprintf(names, sizeof names, "%s", scope->canonical_rules);
    for (char *at = names; (at = strchr(at, '\n'));)
        *at = ',';
    if (!canonical_parse(rules, names[0] ? slice_of(names) : SLICE("none"), &bad))
        return crawl_refuse(error, "scope.canonical: unknown rule '%.*s'", (int)bad.len, bad.ptr);
    *rules |= CANONICAL_USERINFO; /* a host's key has no userinfo, and no password may be sent */
    return true;
}

static bool check_identity(struct crawl *crawl, struct tuning_error *error)
{
    const struct crawl_tuning_fixed *tuning = &crawl->tuning.fixed.crawl;
    char text[URL_BYTES_MAX];
    struct url url;
    url_init(&url, text, sizeof text);
    if (!is_token(tuning->agent_name))
        return crawl_refuse(error, "crawl.agent-name: '%s' is no product token: letters, '_' and '-' only",
                            tuning->agent_name);
    if (tuning->contact_url[0] && url_parse(&url, NULL, slice_of(tuning->contact_url)) != URL_OK)
        return crawl_refuse(error, "crawl.contact-url: '%s' is no http or https URL", tuning->contact_url);
    if (!crawl_canonical_rules(&crawl->tuning.fixed.scope, &crawl->canonical, error))
        return false;
    crawl->agent = slice_of(tuning->agent_name);
    tuning_user_agent(tuning, crawl->user_agent, sizeof crawl->user_agent);
    return true;
}

bool crawl_check_tuning(struct crawl *crawl, struct tuning_error *error)
{
    const char *ca_file = crawl->tuning.fixed.net.tls_ca_file[0] ? crawl->tuning.fixed.net.tls_ca_file : NULL;
    char why[256];
    if (!check_identity(crawl, error))
        return false;
    if (crawl->tuning.fixed.memory.page_bytes / crawl->loop_count < BUFFER_ROOM_BYTES)
        return crawl_refuse(error, "memory.pages: %u threads need at least %u KiB", crawl->loop_count,
                            crawl->loop_count * (BUFFER_ROOM_BYTES / 1024));
    const char *fault = warc_name_check(crawl->tuning.fixed.store.name);
    if (fault)
        return crawl_refuse(error, "store.name: '%s' %s", crawl->tuning.fixed.store.name, fault);
    crawl->scope = scope_create(&crawl->tuning.fixed.scope, error);
    if (!crawl->scope)
        return false;
    crawl->trust = tls_trust_create(ca_file, why, sizeof why);
    if (!crawl->trust)
        return crawl_refuse(error, "net.tls-ca-file: %s", why);
    return names_check(&crawl->tuning, why, sizeof why) || crawl_refuse(error, "net.dns-servers: %s", why);
}

bool crawl_open_parts(struct crawl *crawl, struct tuning_error *error)
{
    const struct tuning *tuning = &crawl->tuning;
    commit_init(&crawl->commit, &(struct commit_options){
                                    .disk = crawl->disk,
                                    .directory = crawl->directory,
                                    .commit_ns = tuning->fixed.state.commit_ns,
                                    .sync_ns = tuning->fixed.state.journal ? tuning->fixed.state.sync_ns : 0,
                                    .has_journal = tuning->fixed.state.journal,
                                    .store_folder = store_folder(tuning),
                                    .scratch = crawl->scratch,
                                    .fold_bytes = tuning->fixed.state.fold_bytes,
                                    .journal_bytes = tuning->fixed.state.file_bytes});
    crawl->gate.committed_ns = &crawl->commit.last_ns;
    crawl->gate.lag_max_ns = tuning->fixed.state.journal ? tuning->fixed.state.lag_max_ns : 0;
    int failed = frontier_init(&crawl->frontier, tuning);
    if (failed)
        return crawl_refuse(error, "memory.hosts, memory.frontier: %s", strerror(-failed));
    snprintf(crawl->slots, sizeof crawl->slots, "%s/slots", crawl->scratch);
    failed = tuning->fixed.state.spill ? frontier_open_slots(&crawl->frontier, crawl->disk, crawl->slots) : 0;
    if (failed)
        return crawl_refuse(error, "%s: %s", crawl->slots, strerror(-failed));
    failed = sieve_init(&crawl->sieve, tuning);
    if (failed)
        return crawl_refuse(error, "memory.sieve: %s", strerror(-failed));
    if (!crawl_init_mill(crawl, error))
        return false;
    failed = repeats_init(&crawl->repeats, tuning);
    if (failed)
        return crawl_refuse(error, "duplicates.memory: %s", strerror(-failed));
    if (!robots_cache_init(&crawl->rules, tuning->fixed.memory.robots_bytes))
        return crawl_refuse(error, "memory.robots: %s", strerror(ENOMEM));
    crawl->loops = aligned_alloc(128, crawl->loop_count * sizeof *crawl->loops);
    if (!crawl->loops)
        return crawl_refuse(error, "no memory for %u loops", crawl->loop_count);
    memset(crawl->loops, 0, crawl->loop_count * sizeof *crawl->loops);
    for (unsigned i = 0; i < crawl->loop_count; i++) {
        failed = loop_init(&crawl->loops[i], crawl, i);
        if (failed)
            return failed == -ENOMEM
                       ? crawl_refuse(error,
                                      "no memory for loop %u: lower store.buffer, memory.pages or "
                                      "net.connections",
                                      i)
                       : crawl_refuse(error, "cannot set up loop %u: %s", i, strerror(-failed));
    }
    return true;
}

void crawl_close_parts(struct crawl *crawl)
{
    for (unsigned i = 0; crawl->loops && i < crawl->loop_count; i++)
        if (crawl->loops[i].crawl)
            loop_fini(&crawl->loops[i]);
    free(crawl->loops);
    if (crawl->commit.options.directory)
        commit_fini(&crawl->commit);
    mill_fini(&crawl->mill);
    robots_cache_fini(&crawl->rules);
    repeats_fini(&crawl->repeats);
    sieve_fini(&crawl->sieve);
    frontier_fini(&crawl->frontier);
    crawl_free_reloads(crawl);
    crawl_free_holds(crawl);
    inquiry_fini(&crawl->inquiries);
}
