#include "lockfree/container_of.h"

#include "tests/support/check.h"

struct link {
    struct link *next;
};

struct thing {
    int number;
    struct link first, second;
    char text[];
};

TEST(a_member_leads_to_its_struct)
{
    struct thing thing = {.number = 1};
    CHECK(container_of(&thing.first, struct thing, first) == &thing);
    CHECK(container_of(&thing.second, struct thing, second) == &thing);
    CHECK(container_of(&thing.number, struct thing, number) == &thing);
    const struct link *constant = &thing.second;
    CHECK_INT(container_of(constant, struct thing, second)->number, 1);
}
