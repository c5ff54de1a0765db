#include "macro/crawl_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "macro/process.h"

const char crawl_run_rude[] = "[politeness]\nhost-ratio = 1e9\naddress-ratio = 1e9\nburst = 1h\n"
                              "host-min-idle = 0s\naddress-min-idle = 0s\nconnections-per-address = 16\n"
                              "[robots]\nobey = no\n";

/* A busy machine loses datagrams of the DNS: it is asked again soon. */
static const char every_run[] = "[scope]\nmode = any\n[retry]\nwait = 200ms\n"
                                "wait-max = 1s\ntimes = 30\nhost-failures = 60\n";

const char *const crawl_run_shared[CRAWL_RUN_SHARED] = {
    "ready_rings", "host_inboxes", "loop_inboxes", "host_map", "address_map", "sieve", "pools"};

static bool write_tuning(const struct crawl_web *web, const struct crawl_run_options *options)
{
    char path[CRAWL_WEB_PATH_BYTES];
    FILE *file = fopen(crawl_web_path(web, "tuning.ini", path), "we");
    if (!file)
        return false;
    char text[4096];
    unsigned status_s = options->seconds_max ? options->seconds_max / 2 : 86400;
    snprintf(text, sizeof text, "%s[net]\ndns-servers = 127.0.0.1:%u\n[status]\ninterval = %us\n[crawl]\nmax-pages = %u\n%s",
             every_run, web->dns_port, status_s, options->pages_max, options->tuning);
    if (options->build)
        crawl_build_write(options->build, text, file);
    else
        fputs(text, file);
    return fclose(file) == 0;
}

static double number_of(const char *summary, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(summary, quoted);
    return at ? strtod(at + strlen(quoted), NULL) : 0;
}

bool crawl_run_read(const char *directory, struct crawl_run *run)
{
    char path[CRAWL_WEB_PATH_BYTES + 16], text[16384];
    snprintf(path, sizeof path, "%s/summary.json", directory);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *races = strstr(text, "\"lost_races_by\"");
    for (int i = 0; i < CRAWL_RUN_SHARED && races; i++)
        run->lost_races_by[i] = number_of(races, crawl_run_shared[i]);
    run->pages = (uint64_t)number_of(text, "pages");
    run->seconds = number_of(text, "seconds");
    run->cpu_s = number_of(text, "cpu_seconds") - number_of(text, "setup_cpu_seconds");
    run->received = number_of(text, "bytes_received");
    run->enters = number_of(text, "ring_enters");
    run->lost_races = number_of(text, "lost_races");
    run->visits = number_of(text, "visits");
    run->hosts = number_of(text, "hosts");
    run->queued = number_of(text, "queued");
    run->urls_in = number_of(text, "urls_in");
    double spilled = number_of(text, "urls_spilled"), stowed = number_of(text, "urls_stowed");
    run->on_disk = spilled > stowed ? spilled : stowed;
    run->failed = number_of(text, "urls_out") - number_of(text, "done");
    run->is_complete = strstr(text, "\"end\": \"complete\"");
    return run->pages > 0;
}

/* The status line of the middle, against what there was at the end. */
static double late_rate(const struct crawl_run *run, const char *output)
{
    double seconds, pages;
    if (sscanf(output, "%lfs pages %lf", &seconds, &pages) != 2 || seconds > run->seconds * 0.9)
        return 0;
    return ((double)run->pages - pages) / (run->seconds - seconds);
}

static void remove_crawl(const struct crawl_web *web)
{
    char path[CRAWL_WEB_PATH_BYTES];
    struct process_result result;
    crawl_web_path(web, "crawl", path);
    char *arguments[] = {(char[]){"rm"}, (char[]){"-rf"}, path, NULL};
    process_run(&(struct process_options){.arguments = arguments, .cpu = PROCESS_ANY_CPU}, &result);
}

bool crawl_run(const struct crawl_web *web, const struct crawl_run_options *options, struct crawl_run *run)
{
    char program[CRAWL_WEB_PATH_BYTES + 16], tuning[CRAWL_WEB_PATH_BYTES], directory[CRAWL_WEB_PATH_BYTES],
        seeds[CRAWL_WEB_PATH_BYTES], threads[16], seconds[16];
    static struct process_result result;
    snprintf(program, sizeof program, "%s/lycosa", options->build ? options->build->directory : web->programs);
    snprintf(threads, sizeof threads, "%u", options->threads ? options->threads : 1);
    snprintf(seconds, sizeof seconds, "%u", options->seconds_max ? options->seconds_max : 86400);
    crawl_web_path(web, "tuning.ini", tuning);
    crawl_web_path(web, "crawl", directory);
    crawl_web_path(web, options->seeds, seeds);
    char *arguments[] = {program,
                         (char[]){"crawl"},
                         (char[]){"-c"},
                         tuning,
                         (char[]){"-o"},
                         directory,
                         (char[]){"--threads"},
                         threads,
                         (char[]){"--max-time"},
                         seconds,
                         seeds,
                         NULL};
    /* One loop: its housekeeper shares the processor with it, so that the server has the other to itself. */
    struct process_options how = {
        .arguments = arguments,
        .cpu = options->threads > 1 ? PROCESS_ANY_CPU : 0,
        .takes_errors = true,
        .watches_memory = options->watches_memory};
    *run = (struct crawl_run){0};
    bool good = write_tuning(web, options) && process_run(&how, &result) && crawl_run_read(directory, run);
    run->late_rate = options->seconds_max > 1 ? late_rate(run, result.output) : 0;
    run->user_s = result.user_s;
    run->system_s = result.system_s;
    run->peak_bytes = result.peak_bytes;
    run->anonymous_bytes = result.anonymous_bytes;
    remove_crawl(web);
    if (!good)
        fprintf(stderr, "bench_crawl: the crawl failed: %s\n", result.output);
    return good;
}

void crawl_run_without(struct crawl_run *run, const struct crawl_run *setup)
{
    run->user_s -= setup->user_s;
    run->system_s -= setup->system_s;
}
