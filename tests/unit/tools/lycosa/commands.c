#include "tools/lycosa/commands.h"

#include <string.h>

#include "engine/url/canonical.h"
#include "tests/support/check.h"

static bool has_term(const struct command_term *terms, const char *term)
{
    for (; terms->term; terms++)
        if (strcmp(terms->term, term) == 0)
            return true;
    return false;
}

TEST(every_command_is_described)
{
    for (const struct command *const *at = lycosa_program.commands; *at; at++) {
        const struct command *command = *at;
        CHECK(strcmp(command->program, "lycosa") == 0 && command->run);
        CHECK(command->summary[0] && command->description[0] && command->synopsis);
        CHECK(command_find(&lycosa_program, command->name) == command);
        for (size_t i = 0; i < command_count(command->options); i++) {
            CHECK(command->options[i].meaning[0] && command->options[i].id != 'h' && command->options[i].id);
            for (size_t k = 0; k < i; k++)
                CHECK(command->options[i].id != command->options[k].id);
        }
    }
}

TEST(every_rule_of_canonical_is_told)
{
    for (unsigned i = 0; canonical_name(i); i++)
        CHECK(has_term(lycosa_url.sections[0].terms, canonical_name(i)));
}
