#include "macro/crawl_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "macro/process.h"
#include "macro/wrk.h"

enum { CONNECTIONS = 256 };

/* $1: the web's directory, with hosts, seeds and spider.py. As much at a time as each lets itself be told to;
 * nothing is kept of the pages. */
static const struct {
    const char *name, *command;
} peers[] = {
    [CRAWL_PEER_WGET2] = {"wget2",
                          "exec wget2 -q -r -l inf --span-hosts --robots=off --tries=1 --max-threads=64 "
                          "--delete-after -P \"$1/out\" -i \"$1/seeds\""},
    [CRAWL_PEER_HTTRACK] = {"httrack", "exec httrack --list \"$1/seeds\" -O \"$1/out\" -q -e -s0 -r999 -c256 "
                                       "-%c10000 -A1000000000 --disable-security-limits -I0 -o0 -K3 -p1"},
    [CRAWL_PEER_SCRAPY] = {"scrapy", "exec scrapy runspider --nolog \"$1/spider.py\" -a seeds=\"$1/seeds\""},
};

static const char spider[] =
    "import scrapy\n"
    "from scrapy.linkextractors import LinkExtractor\n"
    "class Spider(scrapy.Spider):\n"
    "    name = 'bench'\n"
    "    custom_settings = {'CONCURRENT_REQUESTS': 256, 'CONCURRENT_REQUESTS_PER_DOMAIN': 16,\n"
    "                       'ROBOTSTXT_OBEY': False, 'RETRY_ENABLED': False, 'COOKIES_ENABLED': False,\n"
    "                       'TELNETCONSOLE_ENABLED': False, 'REQUEST_FINGERPRINTER_IMPLEMENTATION': '2.7'}\n"
    "    extractor = LinkExtractor()\n"
    "    def start_requests(self):\n"
    "        for line in open(self.seeds):\n"
    "            yield scrapy.Request(line.strip())\n"
    "    def parse(self, response):\n"
    "        for link in self.extractor.extract_links(response):\n"
    "            yield scrapy.Request(link.url)\n";

const char *crawl_peer_name(enum crawl_peer peer)
{
    return peers[peer].name;
}

const char *crawl_peer_absent(enum crawl_peer peer)
{
    if (!process_is_installed(peers[peer].name))
        return "not installed";
    return geteuid() == 0 ? NULL : "needs root to give it a hosts file";
}

/* hosts from the zone file: "NAME. IN A ADDRESS" becomes "ADDRESS NAME". */
static bool write_hosts(const struct crawl_web *web)
{
    char path[CRAWL_WEB_PATH_BYTES], line[1024], name[512], address[64];
    if (!crawl_web_ask(web, (const char *const[]){"zone", NULL}, "zone"))
        return false;
    FILE *in = fopen(crawl_web_path(web, "zone", path), "re");
    FILE *out = fopen(crawl_web_path(web, "hosts", path), "we");
    while (in && out && fgets(line, sizeof line, in))
        if (sscanf(line, "%511s IN A %63s", name, address) == 2)
            fprintf(out, "%s %.*s\n", address, (int)strlen(name) - 1, name);
    if (in)
        fclose(in);
    return out && fclose(out) == 0;
}

static bool write_spider(const struct crawl_web *web)
{
    char path[CRAWL_WEB_PATH_BYTES];
    FILE *file = fopen(crawl_web_path(web, "spider.py", path), "we");
    return file && fputs(spider, file) >= 0 && fclose(file) == 0;
}

/* Answers that the journal has to the end: robots.txt and pages alike. */
static bool count_answers(const struct crawl_web *web, double *pages)
{
    char program[CRAWL_WEB_PATH_BYTES + 16], journal[CRAWL_WEB_PATH_BYTES], dump[CRAWL_WEB_PATH_BYTES],
        line[16384];
    struct process_result result;
    snprintf(program, sizeof program, "%s/websim", web->programs);
    crawl_web_path(web, "journal", journal);
    char *arguments[] = {program, (char[]){"journal"}, (char[]){"dump"}, journal, NULL};
    if (!process_run(&(struct process_options){.arguments = arguments,
                                               .cpu = PROCESS_ANY_CPU,
                                               .output = crawl_web_path(web, "dump", dump)},
                     &result))
        return false;
    FILE *file = fopen(dump, "re");
    *pages = 0;
    while (file && fgets(line, sizeof line, file))
        *pages += strstr(line, "\tend\t") && !strstr(line, "/robots.txt\n");
    if (file)
        fclose(file);
    return *pages > 0;
}

static bool measure(enum crawl_peer peer, const struct crawl_web *web, double seconds,
                    struct crawl_peer_result *result)
{
    static struct process_result process;
    char script[1024], directory[sizeof web->directory], bound[CRAWL_WEB_PATH_BYTES];
    snprintf(script, sizeof script, "mount --bind \"$0\" /etc/hosts && %s", peers[peer].command);
    snprintf(directory, sizeof directory, "%s", web->directory);
    crawl_web_path(web, "hosts", bound);
    char *arguments[] = {(char[]){"unshare"},
                         (char[]){"--mount"},
                         (char[]){"sh"},
                         (char[]){"-c"},
                         script,
                         bound,
                         directory,
                         NULL};
    process_run(
        &(struct process_options){.arguments = arguments, .cpu = 0, .seconds_max = seconds, .is_quiet = true},
        &process);
    result->seconds = process.seconds;
    result->cpu_s = process.user_s + process.system_s;
    result->peak_bytes = process.peak_bytes;
    return true;
}

bool crawl_peer_run(enum crawl_peer peer, const struct crawl_web_options *options, double seconds,
                    struct crawl_peer_result *result)
{
    struct crawl_web web;
    struct crawl_web_options journaled = *options;
    journaled.journal = true;
    *result = (struct crawl_peer_result){0};
    if (!crawl_web_begin(&web, &journaled))
        return false;
    bool good = crawl_web_write_seeds(&web) && write_hosts(&web) && write_spider(&web) &&
                measure(peer, &web, seconds, result);
    crawl_web_finish(&web, true);
    good = good && count_answers(&web, &result->pages);
    crawl_web_finish(&web, false);
    return good;
}

bool crawl_peer_wrk(uint16_t port, const char *url, double seconds, struct crawl_peer_result *result)
{
    char host[600], target[1200];
    const char *authority = strstr(url, "://"), *path = authority ? strchr(authority + 3, '/') : NULL;
    struct wrk_result wrk;
    if (!path)
        return false;
    snprintf(host, sizeof host, "Host: %.*s", (int)(path - authority - 3), authority + 3);
    snprintf(target, sizeof target, "http://127.0.0.1:%u%s", port, path);
    struct wrk_options options = {.url = target,
                                  .host = host,
                                  .connections = CONNECTIONS,
                                  .seconds = seconds < 1 ? 1 : (unsigned)seconds,
                                  .cpu = 0};
    if (!wrk_run(&options, &wrk))
        return false;
    *result = (struct crawl_peer_result){.pages = wrk.requests,
                                         .seconds = wrk.requests / wrk.per_second,
                                         .received = wrk.bytes,
                                         .cpu_s = wrk.user_s + wrk.system_s,
                                         .peak_bytes = wrk.peak_bytes};
    return true;
}
