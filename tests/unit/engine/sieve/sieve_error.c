#include "engine/sieve/sieve_error.h"

#include <errno.h>

#include "tests/support/check.h"

TEST(the_first_error_is_kept)
{
    struct sieve_error error = {0};
    CHECK_INT(sieve_error_of_call(&error, -ENOSPC, "write", "some/file"), -ENOSPC);
    CHECK_INT(sieve_error_set(&error, -EIO, "%s: another", "some/file"), -ENOSPC);
    CHECK_INT(error.code, -ENOSPC);
    CHECK_STR(error.text, "some/file: cannot write: No space left on device");
}

TEST(a_long_text_is_cut)
{
    struct sieve_error error = {0};
    char path[3000];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    CHECK_INT(sieve_error_set(&error, -EIO, "%s", path), -EIO);
    CHECK_INT(strlen(error.text), SIEVE_ERROR_TEXT_BYTES - 1);
}
