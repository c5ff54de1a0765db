#include "engine/report/tasks.h"

#include "tests/support/check.h"

TEST(the_first_page_of_a_task_has_level_0)
{
    static struct tasks tasks;
    CHECK_INT(tasks_init(&tasks), 0);
    CHECK_INT(tasks_add(&tasks, 64, 10, 100), 0);
    CHECK_INT(tasks_add(&tasks, 65, 10, 100), 0);
    CHECK_INT(tasks_add(&tasks, 64, 20, 300), 1);
    CHECK_INT(tasks_add(&tasks, 64, 30, 200), 1);
    tasks_finish(&tasks);
    CHECK_INT(tasks.later_pages.count, 2);
    CHECK_INT(tasks.later_pages.sum, 2);
    CHECK_INT(tasks.took_ms.sum, 20 + 10);
    CHECK_INT(tasks.bytes.sum, 200 + 100);
    tasks_fini(&tasks);
}

/* However many come, each is counted once; one that goes on stays open. */
TEST(old_tasks_make_room_for_new_ones)
{
    static struct tasks tasks;
    const uint64_t many = 3 * TASKS_OPEN_MAX + 7;
    CHECK_INT(tasks_init(&tasks), 0);
    tasks_add(&tasks, 1, 1, 1);
    for (uint64_t i = 0; i < many; i++) {
        CHECK_INT(tasks_add(&tasks, 64 * (i + 1), 1, 1), 0);
        if (i % 1000 == 0)
            CHECK_INT(tasks_add(&tasks, 1, 1, 1), 1);
    }
    tasks_finish(&tasks);
    CHECK_INT(tasks.later_pages.count, many + 1);
    CHECK_INT(tasks.later_pages.sum, (many + 999) / 1000);
    tasks_fini(&tasks);
}
