/* Where a URL is: a question that every loop answers from what it alone knows, one after the other, each in its own turn.
 * One question at a time; its memory is the crawl's. */
#include <string.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/loop.h"
#include "engine/crawl/visit.h"
#include "engine/url/hash.h"

bool crawl_ask(struct crawl *crawl, const struct url *url)
{
    struct crawl_question *question = &crawl->question;
    if (!crawl_is_answered(crawl))
        return false;
    struct crawl_whereabouts unknown = {.is_sure = !sieve_uses_disk(&crawl->sieve)};
    question->answer = unknown;
    url_init(&question->url, question->text, sizeof question->text);
    if (url_parse(&question->url, NULL, url_text(url)) != URL_OK)
        return false;
    lf_store(&question->left, crawl->loop_count, release); /* Hand-over: R7 pairs with A7 in crawl_answer_question. */
    return true;
}

bool crawl_is_answered(const struct crawl *crawl)
{
    return lf_load(&crawl->question.left, acquire) == 0; /* A8 pairs with R8 in crawl_answer_question */
}

static bool is_about(const struct crawl_question *question, const struct visit *visit)
{
    const struct host_item *item = visit->item;
    return item && item->kind != HOST_ITEM_ROBOTS && item->kind != HOST_ITEM_ANSWER &&
           slice_equals(host_item_path(item), url_path_query(&question->url));
}

static void look_at_visits(struct crawl_question *question, const struct visits *visits)
{
    for (unsigned i = 0; i < visits->max; i++) {
        const struct visit *visit = &visits->all[i];
        if (visit->state == VISIT_FREE || !visit->host ||
            !slice_equals(host_key(visit->host), url_host_key(&question->url)))
            continue;
        question->answer.is_host_visited = true;
        question->answer.is_in_flight |= is_about(question, visit);
    }
}

void crawl_answer_question(struct loop *loop)
{
    struct crawl *crawl = loop->crawl;
    struct crawl_question *question = &crawl->question;
    bool is_known = false;
    if (lf_load(&question->left, acquire) != loop->index + 1) /* A7 pairs with R7 in crawl_ask, and with R8 */
        return;
    uint64_t hash = url_hash(&question->url), host_hash = frontier_hash(&loop->frontier, &question->url);
    sieve_has(&loop->sieve, &hash, 1, &is_known);
    question->answer.is_known |= is_known;
    const struct host *host = hosts_find(&crawl->frontier.hosts, &question->url, host_hash);
    question->answer.has_host = host;
    question->answer.host_queued = host ? lf_load(&host->queued, relaxed) : 0;
    if (loop->visits.open)
        look_at_visits(question, &loop->visits);
    lf_store(&question->left, loop->index, release); /* Hand-over to the next one: R8 pairs with A7 and A8. */
}
