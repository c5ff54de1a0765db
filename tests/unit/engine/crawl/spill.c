#include "engine/crawl/spill.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/check.h"

TEST(a_url_comes_back_as_it_went_in)
{
    char directory[] = "/tmp/lycosa-spill-XXXXXX";
    struct spill spill;
    struct record_url url = {.kind = 'E',
                             .redirects = 2,
                             .hops_off = 1,
                             .embed_hops = 3,
                             .is_requisite = true,
                             .depth = 9,
                             .hop_count = 10,
                             .recent_hops = 11,
                             .source = 12,
                             .text = SLICE("http://a.it/1")};
    struct record_url back;
    struct slice via;
    char prefix[64];
    CHECK(mkdtemp(directory) != NULL);
    snprintf(prefix, sizeof prefix, "%s/urls", directory);
    CHECK_INT(spill_init(&spill, &disk_system, prefix), 0);
    CHECK(spill_has_room(&spill));
    spill_push(&spill, &url, SLICE("http://from.it/"));
    url.text = SLICE("http://b.it/2");
    spill_push(&spill, &url, SLICE(""));
    CHECK_INT(spill_count(&spill), 2);
    CHECK(!spill_front(&spill, &back, &via));
    CHECK_INT(spool_serve(&spill.spool), 0);
    CHECK(spill_front(&spill, &back, &via));
    CHECK(slice_equals(back.text, SLICE("http://a.it/1")) && slice_equals(via, SLICE("http://from.it/")));
    CHECK(back.kind == 'E' && back.redirects == 2 && back.hops_off == 1 && back.embed_hops == 3);
    CHECK(back.is_requisite && back.depth == 9 && back.hop_count == 10 && back.recent_hops == 11);
    CHECK_INT(back.source, 12);
    spill_pop(&spill);
    CHECK(spill_front(&spill, &back, &via));
    CHECK(slice_equals(back.text, SLICE("http://b.it/2")) && via.len == 0);
    spill_pop(&spill);
    CHECK_INT(spill_count(&spill), 0);
    spill_fini(&spill);
    CHECK_INT(rmdir(directory), 0);
}
