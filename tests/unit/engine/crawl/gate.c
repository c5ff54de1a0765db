#include "engine/crawl/gate.h"

#include "tests/support/check.h"

TEST(phases_have_names)
{
    CHECK_STR(gate_phase_name(CRAWL_RUNNING), "running");
    CHECK_STR(gate_phase_name(CRAWL_PAUSED), "paused");
    CHECK_STR(gate_phase_name(CRAWL_STOPPING), "stopping");
    CHECK_STR(gate_phase_name(CRAWL_ENDING), "ending");
}

TEST(the_gate_is_open_while_the_crawl_runs)
{
    struct gate gate = {0};
    CHECK(gate_is_open(&gate));
    gate_set_phase(&gate, CRAWL_STOPPING);
    CHECK(!gate_is_open(&gate));
    CHECK_INT(gate_phase(&gate), CRAWL_STOPPING);
}

TEST(there_are_as_many_places_as_pages)
{
    struct gate gate = {0};
    CHECK(gate_has_pages(&gate, 0) && gate_has_pages(&gate, 2));
    CHECK(gate_reserve_page(&gate, 2) && gate_reserve_page(&gate, 2));
    CHECK(!gate_has_pages(&gate, 2) && gate_has_pages(&gate, 0));
    CHECK(!gate_reserve_page(&gate, 2));
    gate_release_page(&gate);
    CHECK(gate_reserve_page(&gate, 2)); /* a refusal took nothing */
}
