/* What is wrong with a tuning although every value of it is well-formed, and how the parts share what it grants. */
#include "tests/unit/engine/crawl/crawl_frame.h"

#include "engine/url/canonical.h"

/* The answer of crawl_check_tuning; its message is in trial->error. */
static bool check(struct trial *trial)
{
    bool good = crawl_check_tuning(trial_begin(trial), &trial->error);
    trial_end(trial);
    return good;
}

#define SET(field, text) snprintf(field, sizeof(field), "%s", text)

TEST(the_command_line_overrides_only_what_it_names)
{
    struct tuning tuning;
    tuning_init(&tuning);
    tuning.live.crawl.max_pages = 10;
    tuning.live.crawl.max_time_ns = 20;
    tuning.fixed.crawl.threads = 3;
    crawl_override(&tuning, &(struct crawl_overrides){0});
    CHECK_INT(tuning.live.crawl.max_pages, 10);
    CHECK_INT(tuning.live.crawl.max_time_ns, 20);
    CHECK_INT(tuning.fixed.crawl.threads, 3);
    crawl_override(&tuning, &(struct crawl_overrides){.max_time_ns = 21});
    CHECK_INT(tuning.live.crawl.max_pages, 10);
    CHECK_INT(tuning.live.crawl.max_time_ns, 21);
    CHECK_INT(tuning.fixed.crawl.threads, 3);
    crawl_override(&tuning, &(struct crawl_overrides){.max_pages = 11, .threads = 4});
    CHECK_INT(tuning.live.crawl.max_pages, 11);
    CHECK_INT(tuning.live.crawl.max_time_ns, 21);
    CHECK_INT(tuning.fixed.crawl.threads, 4);
}

/* Servers look for the token in their robots.txt, where no other characters are allowed. */
TEST(the_agent_has_to_be_a_product_token)
{
    static struct trial trial;
    static const char *const bad[] = {"", "my bot", "bot/1.0", "bot2", "b\xc3\xb6t", "*"};
    static const char *const good[] = {"lycosa", "My_Bot-x", "Z", "a"};
    trial_init(&trial);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        SET(trial.tuning.fixed.crawl.agent_name, bad[i]);
        CHECK(!check(&trial) && trial_said(&trial, "crawl.agent-name") && trial_said(&trial, bad[i]));
    }
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        SET(trial.tuning.fixed.crawl.agent_name, good[i]);
        CHECK(check(&trial));
    }
    trial_fini(&trial);
}

TEST(the_contact_is_a_url_and_servers_are_told)
{
    static struct trial trial;
    trial_init(&trial);
    SET(trial.tuning.fixed.crawl.contact_url, "mailto:me@example.org");
    CHECK(!check(&trial) && trial_said(&trial, "crawl.contact-url: 'mailto:me@example.org'"));
    SET(trial.tuning.fixed.crawl.contact_url, "https://example.org/bot");
    CHECK(check(&trial));
    CHECK_SLICE(trial.crawl.agent, trial.tuning.fixed.crawl.agent_name);
    CHECK(strstr(trial.crawl.user_agent, "+https://example.org/bot") != NULL);
    trial_fini(&trial);
}

TEST(files_and_servers_that_cannot_be_used_are_named_with_their_key)
{
    static struct trial trial;
    trial_init(&trial);
    SET(trial.tuning.fixed.net.tls_ca_file, "/nonexistent/ca.pem");
    CHECK(!check(&trial) && trial_said(&trial, "net.tls-ca-file: "));
    trial.tuning.fixed.net.tls_ca_file[0] = '\0';
    SET(trial.tuning.fixed.net.dns_servers, "not an address");
    CHECK(!check(&trial) && trial_said(&trial, "net.dns-servers: "));
    trial.tuning.fixed.net.dns_servers[0] = '\0';
    SET(trial.tuning.fixed.scope.exclude, "(");
    CHECK(!check(&trial) && trial_said(&trial, "exclude"));
    trial_fini(&trial);
}

static unsigned rules_of(const char *names)
{
    struct tuning tuning;
    struct tuning_error error;
    unsigned rules = 0;
    tuning_init(&tuning);
    SET(tuning.fixed.scope.canonical_rules, names);
    CHECK(crawl_canonical_rules(&tuning.fixed.scope, &rules, &error));
    return rules;
}

/* Whatever the operator chooses, no password goes out. */
TEST(canonical_rules_come_as_a_list_and_always_drop_the_userinfo)
{
    struct tuning tuning;
    struct tuning_error error;
    unsigned rules;
    CHECK_INT(rules_of(""), CANONICAL_USERINFO);
    CHECK_INT(rules_of("none"), CANONICAL_USERINFO);
    CHECK_INT(rules_of("www"), CANONICAL_WWW | CANONICAL_USERINFO);
    CHECK_INT(rules_of("case\nwww\nindex-page"),
              CANONICAL_CASE | CANONICAL_WWW | CANONICAL_INDEX_PAGE | CANONICAL_USERINFO);
    tuning_init(&tuning);
    SET(tuning.fixed.scope.canonical_rules, "www\nwwww\ncase");
    CHECK(!crawl_canonical_rules(&tuning.fixed.scope, &rules, &error));
    CHECK_STR(error.message, "scope.canonical: unknown rule 'wwww'");
}

/* The machine has no such memory. What was opened before the refusal is closed: the sanitizer sees what is not. */
TEST(memory_that_is_not_there_is_refused_with_its_key)
{
    static struct trial trial;
    uint64_t *const sizes[] = {&trial.tuning.fixed.memory.frontier_bytes,
                               &trial.tuning.fixed.memory.sieve_bytes};
    static const char *const keys[] = {"memory.frontier: ", "memory.sieve: "};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        trial_init(&trial);
        *sizes[i] = UINT64_C(1) << 56;
        trial_seed(&trial, "http://127.0.0.1:1/");
        CHECK(!trial_run(&trial));
        CHECK(trial_said(&trial, keys[i]));
        CHECK(!trial_has(&trial, "crawl"));
        trial_fini(&trial);
    }
}

TEST(the_smallest_share_of_memory_for_pages_is_told_and_is_enough)
{
    static struct trial trial;
    unsigned kib = 0, threads = 0;
    trial_init(&trial);
    trial.tuning.fixed.crawl.threads = 3;
    trial.tuning.fixed.memory.page_bytes = 1;
    CHECK(!check(&trial));
    CHECK(sscanf(trial.error.message, "memory.pages: %u threads need at least %u KiB", &threads, &kib) == 2);
    CHECK_INT(threads, 3);
    trial.tuning.fixed.memory.page_bytes = (uint64_t)kib * 1024 - 1;
    CHECK(!check(&trial));
    trial.tuning.fixed.memory.page_bytes = (uint64_t)kib * 1024;
    CHECK(check(&trial));
    trial_fini(&trial);
}

/* Connections are granted to the crawl, not to each loop. */
TEST(the_loops_share_the_connections)
{
    static struct trial trial;
    trial_init(&trial);
    trial.tuning.fixed.crawl.threads = 3;
    trial.tuning.fixed.net.connections = 7;
    trial.tuning.fixed.state.spill = false;
    struct crawl *crawl = trial_begin(&trial);
    CHECK(crawl_check_tuning(crawl, &trial.error));
    CHECK(crawl_open_parts(crawl, &trial.error));
    CHECK_INT(crawl->loops[0].visits.max, 3);
    CHECK_INT(crawl->loops[1].visits.max, 2);
    CHECK_INT(crawl->loops[2].visits.max, 2);
    CHECK_INT(crawl->commit.loop_count, 3);
    CHECK(crawl->commit.options.has_journal && !crawl->commit.options.store_folder);
    trial_end(&trial);
    trial.tuning.fixed.state.journal = false; /* then nothing would be gained by a sync */
    crawl = trial_begin(&trial);
    CHECK(crawl_check_tuning(crawl, &trial.error));
    CHECK(crawl_open_parts(crawl, &trial.error));
    CHECK(!crawl->commit.options.has_journal);
    CHECK_INT(crawl->commit.options.sync_ns, 0);
    trial_end(&trial);
    trial_fini(&trial);
}
